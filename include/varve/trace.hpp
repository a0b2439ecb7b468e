// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The plain records that every collector and importer produces and that analyze() reads. Nothing
// after a trace knows where it came from. All times are nanoseconds on the trace's one clock. Records
// of which there are millions are columns; the others are rows.
//
// A trace is a value: copyable, movable, not synchronised. Concurrent reads are safe.
#ifndef VARVE_TRACE_HPP
#define VARVE_TRACE_HPP

#include <varve/varve.h>
#include <varve/work.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace varve {
inline namespace v0 {

/// Nanoseconds on the trace's clock, or a length in nanoseconds.
using time_ns = std::int64_t;

/// "None" for every index into a table of a trace.
inline constexpr std::uint32_t none = 0xFFFFFFFFU;
/// "None" for the narrow indices (threads, streams). Index 65534 stands for all beyond the table.
inline constexpr std::uint16_t narrow_none = 0xFFFFU;
/// A label without an index.
inline constexpr std::int32_t no_index = VARVE_NO_INDEX;

enum class range_kind : std::uint8_t { phase, layer, op, request };

/// What a call on the host did. Only launch and graph_launch are launching calls.
enum class call_kind : std::uint8_t {
  launch,
  graph_launch,
  copy,
  set,
  synchronise,
  allocate,
  graph_build,  ///< graph construction, instantiation and update
  event,
  host_function,
  other
};

enum class activity_kind : std::uint8_t {
  kernel,
  copy,
  set,
  graph,  ///< one record for a whole graph launch, its kernels unknown
  other
};

/// Texts, each stored once. Views stay valid for the life of the table, also when it grows or moves.
class VARVE_API string_table {
 public:
  string_table() = default;
  string_table(const string_table& other);
  string_table& operator=(const string_table& other);
  string_table(string_table&&) noexcept = default;
  string_table& operator=(string_table&&) noexcept = default;
  ~string_table() = default;

  /// The id of `text`, added if new.
  std::uint32_t intern(std::string_view text);
  /// The id of `text`, or `none`.
  [[nodiscard]] std::uint32_t find(std::string_view text) const noexcept;
  /// The text with this id; empty for an id that is not in the table.
  [[nodiscard]] std::string_view operator[](std::uint32_t id) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint32_t> ids_;
};

/// One step of a label path: a named, optionally indexed range inside its parent.
struct label_node {
  std::uint32_t parent = none;  ///< index of the enclosing label, always smaller than its own
  std::uint32_t name = none;    ///< in trace::strings
  std::int32_t index = no_index;
  range_kind kind = range_kind::layer;
};

/// All label paths of a trace as one tree: a path is the index of its last step.
class VARVE_API label_table {
 public:
  /// The index of the path `parent` / (kind, name, index), added if new.
  std::uint32_t intern(const label_node& node);
  /// The index of that path, or `none`.
  [[nodiscard]] std::uint32_t find(const label_node& node) const noexcept;
  [[nodiscard]] const label_node& operator[](std::uint32_t label) const noexcept { return nodes_[label]; }
  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }

 private:
  struct hash {
    std::size_t operator()(const label_node& node) const noexcept;
  };
  struct equal {
    bool operator()(const label_node& a, const label_node& b) const noexcept;
  };
  std::vector<label_node> nodes_;
  std::unordered_map<label_node, std::uint32_t, hash, equal> ids_;
};

/// One instance of a marker, or of an annotation of a foreign trace.
struct range {
  time_ns begin = 0;
  time_ns end = 0;
  std::uint32_t label = none;   ///< its full label path
  std::uint32_t parent = none;  ///< the enclosing range's index in trace::ranges
  std::uint16_t thread = narrow_none;
  range_kind kind = range_kind::layer;
  bool clipped_begin = false;  ///< was open before the session began: `begin` is the session's
  bool clipped_end = false;    ///< was still open at the end of its thread or of the session
  bool derived = false;        ///< nobody marked it: made for what was launched in it on another thread
};

/// A number that a pass carries (varve_attribute), as last set.
struct range_attribute {
  std::uint32_t range = none;
  varve_attribute key = VARVE_PREFILL_TOKENS;
  std::int64_t value = 0;
};

/// One sequence of a pass's batch, for what depends on each one's length (attention windows).
struct sequence_shape {
  std::uint32_t range = none;
  bool decode = false;
  std::uint32_t tokens = 0;   ///< query tokens
  std::uint32_t context = 0;  ///< tokens attended to by the last query
};

/// The model that a pass belongs to.
struct range_model {
  std::uint32_t range = none;
  std::uint32_t name = none;
};

/// Who says how much work a range does, in order of trust.
enum class work_source : std::uint8_t { counters, engine, shapes, description };
inline constexpr std::size_t work_sources = 4;

/// Work of one operator in a range; several entries of one range add up.
struct range_work {
  std::uint32_t range = none;
  work declared;
  work_source source = work_source::engine;
};

/// Work that a model description tells of a label path in the graphs that a pass replayed; several entries of
/// one pass and path add up. In place of what graph_node::declared tells of the path, which is of the
/// capture.
struct path_work {
  std::uint32_t range = none;  ///< the pass
  std::uint32_t label = none;  ///< whatever kind of pass it begins with
  work declared;
};

/// A pass that served a request.
struct request_link {
  std::uint32_t request = none;
  std::uint32_t pass = none;
};

/// What served a request before the trace began: passes of a trace that was taken from the same session.
struct earlier_service {
  std::uint32_t request = none;
  std::int64_t passes = 0;
  time_ns first_begin = 0;  ///< of the first pass
  time_ns first_end = 0;    ///< the same pass's, with its work on devices
  time_ns last_end = 0;
};

struct thread_info {
  std::uint64_t id = 0;  ///< as the operating system counts it
  std::uint32_t process = 0;
  std::string name;
};

struct stream_info {
  std::uint32_t device = 0;
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
};

struct device_info {
  std::uint32_t id = 0;
  std::string name;                     ///< as the device prints it; empty when unknown
  std::int32_t multiprocessors = 0;     ///< 0 when unknown
  std::int32_t compute_capability = 0;  ///< 90 for 9.0; 0 when unknown
  std::int64_t memory_bytes = 0;
  // As the driver tells; 0 when unknown.
  std::int64_t clock = 0;         ///< the highest of its multiprocessors, in Hz
  std::int64_t memory_clock = 0;  ///< the highest, in Hz; data moves twice in each
  std::int32_t memory_bus = 0;    ///< bits
  std::int64_t l2_bytes = 0;
};

/// Grid, block and resources of a kernel; interned, since few differ.
struct launch_shape {
  std::uint32_t grid[3] = {0, 0, 0};
  std::uint32_t block[3] = {0, 0, 0};
  std::uint32_t registers = 0;             ///< per thread
  std::uint32_t static_shared_memory = 0;  ///< bytes per block
  std::uint32_t dynamic_shared_memory = 0;
};

/// Where the label path of a graph's node comes from.
enum class label_source : std::uint8_t {
  captured,       ///< it was open when the node was captured
  capture_trace,  ///< of a trace of the capture that was given beside this one: matched in order
  inferred,       ///< a layer taken from repeated kernels
  position        ///< no more than its place in the graph
};

/// A node of a graph with the label path that was open when it was captured.
struct graph_node {
  std::uint64_t id = 0;  ///< as activities carry it
  std::uint32_t label = none;
  bool stale = false;  ///< the executable was updated and the match could not be shown
  /// Of a captured node the part that it carries of what was declared in the innermost range around it; of
  /// others the work of all nodes of the path, which each of them has and which counts once a replay.
  work declared;
  label_source source = label_source::captured;
  bool told_by_look = false;  ///< no id was recorded: graph and node are told by what ran, in which order
  work_source told_by = work_source::engine;  ///< of a captured node: who says `declared`
};

/// Calls on the host, one column a field.
struct VARVE_API call_columns {
  std::vector<time_ns> begin;
  std::vector<time_ns> end;
  std::vector<std::uint32_t> correlation;  ///< 0: none
  std::vector<std::uint32_t> range;        ///< innermost open range at the call, or none
  std::vector<std::uint16_t> thread;
  std::vector<call_kind> kind;
  std::vector<std::uint8_t> captured;  ///< 1 when the call only recorded a graph node

  [[nodiscard]] std::size_t size() const noexcept { return begin.size(); }
  void reserve(std::size_t n);
};

/// Work on devices, one column a field.
struct VARVE_API activity_columns {
  std::vector<time_ns> begin;
  std::vector<time_ns> end;
  std::vector<std::uint32_t> correlation;  ///< of the call that launched it; 0: none
  std::vector<std::uint32_t> name;         ///< in trace::strings
  std::vector<std::uint32_t> node;         ///< in trace::graph_nodes, or none
  std::vector<std::uint32_t>
      detail;  ///< kernels: in trace::shapes; copies and sets: in trace::bytes; or none
  std::vector<std::uint16_t> stream;  ///< in trace::streams
  std::vector<activity_kind> kind;

  [[nodiscard]] std::size_t size() const noexcept { return begin.size(); }
  void reserve(std::size_t n);
  void resize(std::size_t n);
};

/// What one stream did for a pass, between two events around it. Kernels in it are not known, nor when the
/// stream stood still.
struct event_span {
  time_ns begin = 0;
  time_ns end = 0;
  std::uint32_t range = none;          ///< the pass
  std::uint16_t stream = narrow_none;  ///< in trace::streams, where context and stream are addresses
};

enum class operator_source : std::uint8_t {
  operation,         ///< of the framework: "aten::mm"
  annotation,        ///< of the user, under its full name
  overhead,          ///< of the profiler itself, on a thread that is not known
  device_annotation  ///< the span on a device of what was launched in an annotation
};

/// An operator by its name and what it was called with.
struct operator_kind {
  std::uint32_t name = none;    ///< in trace::strings
  std::uint32_t shapes = none;  ///< of its inputs, "[[16, 64], [64, 8]]", in trace::strings; or none
  std::uint32_t types = none;   ///< of its inputs, as recorded, likewise
  operator_source source = operator_source::operation;
  work declared;  ///< of one call, from shapes and types; empty where that is not known
};

/// Calls of operators, one column a field: threads one after the other, on each by begin, outer before inner.
struct VARVE_API operator_columns {
  std::vector<time_ns> begin;
  std::vector<time_ns> end;
  std::vector<std::uint32_t> kind;    ///< in trace::operator_kinds
  std::vector<std::uint32_t> parent;  ///< the operator or annotation around it on its thread, or none
  std::vector<std::uint32_t> range;   ///< innermost range around it, or none
  std::vector<std::uint16_t> thread;

  [[nodiscard]] std::size_t size() const noexcept { return begin.size(); }
};

/// A collective operation as one rank's trace tells of it: what the kernel that ran it was called for.
struct collective {
  std::uint32_t activity = none;  ///< in trace::activities
  std::uint32_t name = none;      ///< as recorded, "_allgather_base" or "nccl:all_reduce", in trace::strings
  std::int64_t bytes_in = -1;     ///< of the message that this rank gave; −1 when unknown
  std::int64_t bytes_out = -1;    ///< of the message that it got
  std::uint32_t ranks = 0;        ///< that took part; 0 when unknown
};

/// Calls whose range was found on another thread than their own, and activities whose range is known though
/// their call isn't.
struct elsewhere_counts {
  std::uint64_t by_operator = 0;  ///< the operator that they belong to lies in a range
  std::uint64_t by_forward = 0;   ///< backward work, by the range around the forward operator that it is of
  std::uint64_t backward = 0;     ///< backward work of which no such range is known, by the open pass
  std::uint64_t by_pass = 0;      ///< by the one pass of their process that was open: an inference
  std::uint64_t activities_by_operator = 0;  ///< in trace::range_of_activity: the range around their operator
  std::uint64_t activities_by_flow = 0;      ///< likewise: around the instant that a flow leads from
};

/// Memory that an allocator of the framework handed out, or took back.
struct memory_event {
  time_ns at = 0;
  std::int64_t bytes = 0;  ///< negative: taken back
  bool on_device = false;
};

/// What is read at intervals. The last four are the process's since it began, and grow.
enum class gauge_kind : std::uint8_t {
  sm_clock,            ///< of the multiprocessors, Hz
  memory_clock,        ///< Hz
  clock_limits,        ///< what holds the clocks down: a bit, 1 << clock_limit, each
  temperature,         ///< °C
  power,               ///< milliwatts
  memory_used,         ///< bytes of the device, whoever uses them
  minor_faults,        ///< page faults that needed no reading
  major_faults,        ///< those that did
  voluntary_switches,  ///< a thread waited for something
  involuntary_switches
};
inline constexpr std::size_t gauge_kinds = 10;

[[nodiscard]] constexpr bool grows(gauge_kind what) noexcept { return what >= gauge_kind::minor_faults; }

/// Why a device's clocks are lower than they could be, as its driver says.
enum class clock_limit : std::uint8_t {
  idle,
  application_clocks,
  power_cap,
  hardware_slowdown,
  sync_boost,
  thermal,
  hardware_thermal,
  power_brake,
  display
};
inline constexpr std::size_t clock_limits = 9;

/// One reading of one gauge.
struct gauge_sample {
  time_ns at = 0;
  std::int64_t value = 0;
  std::uint32_t device = none;  ///< none: of the process
  gauge_kind what = gauge_kind::sm_clock;
};

enum class count_kind : std::uint8_t {
  dram_read,     ///< bytes
  dram_written,  ///< bytes
  operations     ///< a fused multiplication and addition counts two
};
inline constexpr std::size_t count_kinds = 3;

/// What a device counted while a range was open, in a run that was made to count.
struct range_count {
  std::uint32_t range = none;
  std::uint32_t device = 0;
  std::int64_t value = 0;
  count_kind what = count_kind::dram_read;
  math_pipe pipe = math_pipe::unknown;  ///< of operations: where they ran
  std::uint8_t part = 0;  ///< different parts of one count add up: no pass can count them together
};

/// Something that was dropped, unmatched or repaired, and how often. Nothing is lost silently.
struct loss {
  std::string what;   ///< "marker ranges dropped: buffer full"
  std::string where;  ///< collector, thread or file
  std::uint64_t count = 0;
};

enum class collector_state : std::uint8_t { running, stopped, unavailable };

/// A source of records and how it fared.
struct collector_status {
  std::string name;  ///< "markers", "host", "cupti", "pytorch"
  std::string version;
  collector_state state = collector_state::stopped;
  std::string detail;  ///< why it is unavailable and what to do, or what it found
};

/// What passes were inferred from, where nothing marks them.
enum class pass_inference : std::uint8_t {
  not_inferred,         ///< they are marked, or there are none
  module_calls,         ///< calls of a framework's outermost modules
  repeated_annotations  ///< annotations that repeat and hold most launches
};

/// One call on the host, as add_call() takes it.
struct call {
  time_ns begin = 0;
  time_ns end = 0;
  std::uint32_t correlation = 0;
  std::uint32_t range = none;
  std::uint16_t thread = narrow_none;
  call_kind kind = call_kind::launch;
  bool captured = false;
};

/// One piece of work on a device, as add_activity() takes it.
struct activity {
  time_ns begin = 0;
  time_ns end = 0;
  std::uint32_t correlation = 0;
  std::uint32_t name = none;
  std::uint32_t node = none;
  std::uint32_t detail = none;
  std::uint16_t stream = narrow_none;
  activity_kind kind = activity_kind::kernel;
};

struct VARVE_API trace {
  string_table strings;
  label_table labels;

  std::vector<range> ranges;  ///< parents before children
  std::vector<range_attribute> attributes;
  std::vector<sequence_shape> sequences;
  std::vector<range_model> models;
  std::vector<range_work> works;
  std::vector<path_work> path_works;
  std::vector<request_link> requests;

  call_columns calls;
  activity_columns activities;
  std::vector<graph_node> graph_nodes;
  std::vector<launch_shape> shapes;
  std::vector<std::int64_t> bytes;      ///< sizes of copies and sets
  std::vector<event_span> event_spans;  ///< where activities could not be recorded

  std::vector<operator_kind> operator_kinds;
  operator_columns operators;
  std::vector<memory_event> memory_events;      ///< by time
  std::vector<std::uint32_t> operator_of_call;  ///< the innermost around it, or none; empty without operators
  std::vector<std::uint32_t> operator_of_activity;  ///< likewise, of the launch
  std::vector<std::uint32_t> call_names;            ///< of calls, in strings; empty without operators
  /// Where activities belong whose call is missing, or none. Looked at for those alone; empty where nothing
  /// is known.
  std::vector<std::uint32_t> range_of_activity;

  std::vector<collective> collectives;  ///< at most one an activity
  elsewhere_counts elsewhere;
  std::vector<gauge_sample> gauges;  ///< by time
  std::vector<range_count> counts;
  std::vector<earlier_service> earlier_services;  ///< at most one a request

  std::vector<thread_info> threads;
  std::vector<stream_info> streams;
  std::vector<device_info> devices;

  std::vector<loss> losses;
  std::vector<collector_status> collectors;

  std::string source;           ///< "session", or the file's name
  std::int32_t rank = -1;       ///< of the process among those that work together; −1 when unknown
  std::int32_t world_size = 0;  ///< how many those are; 0 when unknown
  std::string backend;          ///< by which they communicate: "nccl"
  std::string clock;            ///< name of the clock behind the times
  time_ns clock_error = 0;      ///< bound on the disagreement of host and device times; 0: one clock
  time_ns begin = 0;            ///< of the recorded window
  time_ns end = 0;
  time_ns own_overhead = 0;  ///< host time that varve itself took on the engine's threads, estimated
  pass_inference inferred_passes = pass_inference::not_inferred;
  /// Inferred passes that count as a prefill since they are the first in a call of `generate`.
  std::uint64_t inferred_prefills = 0;
  bool captures_given = false;  ///< traces of graph captures were read beside this one
  bool live_cpu = false;        ///< activities ran on the host's own cores: idle measures its scheduler too

  void add_call(const call& record);
  void add_activity(const activity& record);
  /// Index in `streams`, added if new; 65534 when there are more than that.
  std::uint16_t intern_stream(const stream_info& stream);
  std::uint16_t intern_thread(std::uint64_t id, std::uint32_t process = 0);
  std::uint32_t intern_shape(const launch_shape& shape);
  std::uint32_t intern_bytes(std::int64_t count);
  /// Adds to the entry of the same `what` and `where`; nothing when `count` is 0.
  void lose(std::string_view what, std::string_view where, std::uint64_t count = 1);

 private:
  std::unordered_map<std::string, std::uint32_t> interned_;  // streams, threads, shapes, byte counts
};

/// Sets the range of every call that has none to the innermost range on the call's thread whose
/// interval holds the middle of the call. For sources that join markers and launches by time.
VARVE_API void join_calls_to_ranges(trace& t);
/// The same for `calls` that are not in the trace.
VARVE_API void join_calls_to_ranges(const trace& t, call_columns& calls);
/// The same for operators and annotations.
VARVE_API void join_operators_to_ranges(trace& t);

/// "decode / layer 3 / attention": the path's steps, outermost first, with `separator` between them.
VARVE_API std::string label_text(const trace& t, std::uint32_t label, std::string_view separator = " / ");

}  // namespace v0
}  // namespace varve

#endif  // VARVE_TRACE_HPP
