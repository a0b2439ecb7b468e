// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// analyze(): a trace in, a report out. Pure: no clock, no files, no device. A report is a value that can
// be copied, queried, compared and printed. docs/metrics.md defines every measure with a worked example.
#ifndef VARVE_REPORT_HPP
#define VARVE_REPORT_HPP

#include <varve/device.hpp>
#include <varve/trace.hpp>
#include <varve/work.hpp>

#include <array>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {

/// How many times of a distribution fall into a bucket. Those below 64 ns have one each; of longer ones each
/// octave has 64: with s = ⌊log2 t⌋ − 6, or 0 if that is less, t is in bucket 64·s + ⌊t ÷ 2^s⌋.
struct time_bucket {
  std::int32_t bucket = 0;
  std::int64_t count = 0;
};

/// What a set of times looks like, in nanoseconds. Percentiles are nearest-rank; `deviation` is the
/// population's standard deviation. All zero when `count` is.
struct distribution {
  std::int64_t count = 0;
  time_ns total = 0;
  time_ns min = 0;
  time_ns max = 0;
  time_ns p50 = 0;
  time_ns p95 = 0;
  time_ns p99 = 0;
  double mean = 0;
  double deviation = 0;
  /// Ascending, without those of no time; empty unless analyze_options::histograms asks for it.
  std::vector<time_bucket> histogram;
};

/// Starved time by what the launching thread did meanwhile.
struct starved_time {
  time_ns launching = 0;
  time_ns graph_building = 0;
  time_ns synchronising = 0;
  time_ns allocating = 0;
  time_ns other = 0;  ///< the engine's own code, or calls that are none of the above

  [[nodiscard]] time_ns total() const noexcept {
    return launching + graph_building + synchronising + allocating + other;
  }
};

/// A wall divided by what one device did in each instant. The parts sum to the wall.
struct wall_partition {
  time_ns compute = 0;                ///< busy with kernels that are no collectives
  time_ns exposed_communication = 0;  ///< busy with collectives, and no compute
  time_ns exposed_copy = 0;           ///< busy with copies and sets only
  starved_time starved;               ///< idle, nothing submitted
  time_ns device_gap = 0;             ///< idle, work submitted
  time_ns unrecorded = 0;  ///< idle as far as the trace tells, but its records are known to be missing
  time_ns no_pass = 0;     ///< no pass open (only in the partition of a whole trace)

  [[nodiscard]] time_ns busy() const noexcept { return compute + exposed_communication + exposed_copy; }
  [[nodiscard]] time_ns wall() const noexcept {
    return busy() + starved.total() + device_gap + unrecorded + no_pass;
  }
};

/// What declared work takes at least, by the ceilings of its device, in nanoseconds. Sums over operators.
struct roof_times {
  double total = 0;    ///< of max(FLOPs ÷ peak of their pipe, bytes ÷ bandwidth): not the roof of the sums
  double compute = 0;  ///< of FLOPs ÷ peak
  double memory = 0;   ///< of bytes ÷ bandwidth
  double total_below = 0;   ///< how much less `total` is if the fewest experts are touched
  double total_above = 0;   ///< how much more if the most are
  double memory_below = 0;  ///< likewise of `memory`
  double memory_above = 0;
  /// `total` of other work, for predictions: weights in half and in a quarter of the bytes, a KV cache in
  /// half of them, and twice the batch, which is FLOPs, KV cache and activations twice and the weights once.
  double half_weights = 0;
  double quarter_weights = 0;
  double half_kv = 0;
  double double_batch = 0;
  std::int64_t unrated_flops = 0;  ///< on a pipe that is not known or has no known peak: in none of the above
  std::array<double, math_pipes> compute_by_pipe{};  ///< of `compute`
};

/// What keeps work from being faster.
enum class bound : std::uint8_t { unknown, compute, memory, communication, copy, starved, latency };

inline constexpr std::size_t bounds = static_cast<std::size_t>(bound::latency) + 1;

/// "unknown", "compute", "memory", …: as the enumeration has it.
constexpr const char* bound_name(bound by) noexcept {
  switch (by) {
    case bound::compute:
      return "compute";
    case bound::memory:
      return "memory";
    case bound::communication:
      return "communication";
    case bound::copy:
      return "copy";
    case bound::starved:
      return "starved";
    case bound::latency:
      return "latency";
    case bound::unknown:
      break;
  }
  return "unknown";
}

/// A verdict with the numbers behind it. docs/metrics.md has its rules.
struct verdict {
  bound by = bound::unknown;  ///< unknown: withheld; `why` has the reason
  bound side =
      bound::unknown;  ///< compute or memory, whichever takes longer by the roof, wherever work is known
  math_pipe pipe = math_pipe::unknown;  ///< that takes most of the compute time
  double roof_share = 0;                ///< roof time ÷ GPU time; 0 when unknown
  double compute_share = 0;             ///< compute time ÷ GPU time
  double memory_share = 0;              ///< memory time ÷ GPU time
  std::string why;                      ///< one sentence
};

/// What a set of activities and calls adds up to on one device. Times in nanoseconds.
struct measures {
  std::int64_t calls = 0;     ///< instances: ranges, and replays of captured ones
  time_ns gpu_time = 0;       ///< length of the union of the activities' intervals
  time_ns kernel_time = 0;    ///< sum of kernel durations, as torch and nsys print it
  time_ns span = 0;           ///< first start to last end
  double shared_time = 0;     ///< each instant divided among the rows active in it
  time_ns alone_time = 0;     ///< instants in which no other row was active
  time_ns overlap = 0;        ///< cut off kernels that began before their predecessor on the stream ended
  time_ns host_time = 0;      ///< sum of the ranges' own walls
  std::int64_t launches = 0;  ///< launching calls that were not captured, a graph launch counting one
  std::int64_t graph_launches = 0;
  time_ns launch_time = 0;  ///< inside outermost launching calls that were not captured: "launch (CPU)"
  time_ns graph_build_time = 0;
  time_ns synchronise_time = 0;
  time_ns allocate_time = 0;
  std::int64_t synchronisations = 0;
  std::int64_t allocations = 0;
  std::int64_t kernels = 0;
  std::int64_t copies = 0;
  std::int64_t sets = 0;
  std::int64_t copy_bytes = 0;
  std::int64_t collective_bytes = 0;  ///< of collectives' messages, as far as their sizes are known
  starved_time starved;               ///< of the gaps that these activities ended
  time_ns device_gap = 0;             ///< likewise
  work declared;                      ///< by the engine, summed over calls
  std::int64_t calls_with_work = 0;
  /// Where any work of the trace is known: duration of the activities of which none is.
  time_ns unknown_work_time = 0;
  roof_times roof;  ///< of `declared`; zero where the device's ceilings are not known
  /// Bytes of devices' memory that allocators handed out and took back while the ranges were open, whoever
  /// asked and on whichever device.
  std::int64_t allocated_bytes = 0;
  std::int64_t freed_bytes = 0;
  /// Most of what a single call was handed out, less what was taken back, at one instant. Inclusive only.
  std::int64_t peak_bytes = 0;
  time_ns activity_time = 0;            ///< sum of the durations of all activities
  time_ns collective_time = 0;          ///< of these, of collectives
  time_ns unknown_collective_time = 0;  ///< of `unknown_work_time`, of collectives
  time_ns copy_time = 0;                ///< of `activity_time`, of copies and sets
  time_ns first_start = 0;              ///< where `span` begins, on the trace's clock; 0 when nothing ran
};

/// What a gauge showed while the passes of a kind were open, or in a whole trace. A reading holds until the
/// next. docs/gauges.md has the rules.
struct gauge_row {
  gauge_kind what = gauge_kind::sm_clock;
  /// Of clock_limits, which of them: "power cap". A row each; the numbers are shares of the time.
  std::string limit;
  std::int64_t samples = 0;  ///< readings meanwhile
  double mean = 0;           ///< over time; of what grows: a pass
  double min = 0;            ///< of what grows: in one pass
  double max = 0;
  double total = 0;  ///< of what grows: in all passes
  /// Of the passes that phase_row::samples has, in the same order: the mean over each, or by how much it
  /// grew.
  std::vector<double> per_pass;
};

/// One count (range_count) in all calls of a row in which it was counted.
struct count_sum {
  count_kind what = count_kind::dram_read;
  math_pipe pipe = math_pipe::unknown;
  std::uint8_t part = 0;
  std::int64_t calls = 0;
  double sum = 0;
};

/// What devices counted in the calls of a row, in a run that was made to count. Means of a call; −1: unknown.
struct counted_work {
  std::int64_t calls = 0;  ///< that were counted
  double dram_read = -1;   ///< bytes
  double dram_written = -1;
  double tensor_ops = -1;
  double core_flops = -1;
  double intensity = 0;  ///< operational: operations ÷ bytes of DRAM; 0 when unknown
  std::string why;       ///< one sentence on what differs from the declared work; empty where none is
  /// By the pipe that they ran on, where all kinds of operations were counted; else zeros.
  std::array<double, math_pipes> operations{};
  bool all_operations = false;
  bool used = false;        ///< rates and verdict rest on it; beside times where it is not, `why` says why
  bool other_work = false;  ///< of other tokens or other declared work than these calls: not used
  std::vector<count_sum> sums;  ///< what the means are of, each once, ascending by `what`, `pipe`, `part`
};

/// What rates and a verdict rest on where counters tell some of the work: what they counted, and of the rest
/// what was declared. Of all calls.
struct rated_work {
  double flops = 0;
  double bytes = 0;
  double counted_share = 0;  ///< of the time of activities, collectives left out, whose work was counted
  double unknown_share = 0;  ///< of that time, whose work nobody tells
  /// By the ceilings of the device; what was counted in a range counts as one operator. `half_weights` and
  /// those after it are zeros: predictions rest on the declared work.
  roof_times roof;
};

/// One row of a view. Its key is (path, phase, model, device[, batch]).
struct row {
  std::string path;   ///< "layer 3 / attention" below the pass; a kernel's or category's name
  std::string label;  ///< last step's name
  std::int32_t index = no_index;
  range_kind kind = range_kind::layer;
  std::string phase;  ///< kind of pass; empty outside any
  std::string model;  ///< empty when the engine names none
  std::uint32_t device = 0;
  std::string batch;            ///< the batch's shape, when asked for
  std::uint32_t parent = none;  ///< in the same vector; parents come before children
  std::uint32_t depth = 0;

  measures inclusive;           ///< with what ran in the ranges inside
  measures exclusive;           ///< without
  distribution per_call;        ///< GPU time of each call, inclusive
  distribution launch_latency;  ///< activity start − call start, one each launch (a graph's first node)
  distribution queue_delay;     ///< activity start − call end where positive, one each launch
  /// Of layers: `inclusive.gpu_time` in each pass that phase_row::samples has, in the same order; host time
  /// where the trace has no devices. Empty for work outside of passes.
  std::vector<time_ns> per_pass;
  /// Of layers and labels with a hundredth of their phase's GPU time: longest of `exclusive`.
  std::string main_kernel;
  launch_shape shape;                 ///< kernels only: the commonest
  std::int64_t shapes = 0;            ///< kernels only: how many different ones
  std::optional<occupancy> occupied;  ///< kernels only: by `shape`
  varve::verdict verdict;
  std::optional<counted_work> counted;  ///< layers only
  std::optional<rated_work> rated;      ///< layers only, where counters tell work of it
};

/// What single passes took, for statistics over passes: of all in order of time, or of every `stride`-th
/// where there are more than analyze_options::most_samples.
struct pass_samples {
  std::int64_t stride = 0;        ///< 0: there are none
  std::vector<time_ns> step;      ///< as in phase_row::step
  std::vector<time_ns> gpu_time;  ///< union of each pass's activities on the device
  /// Bytes of devices' memory that had been handed out, less what had been taken back, since the first such
  /// event, when each pass ended on the host. Empty where the trace tells of none.
  std::vector<std::int64_t> held_bytes;
};

/// All passes of one kind and model on one device.
struct phase_row {
  std::string phase;  ///< "(trace)" when the trace has no passes and is taken as one
  std::string model;
  std::uint32_t device = 0;
  std::string batch;
  std::int64_t passes = 0;
  time_ns wall = 0;   ///< union of the passes' intervals
  distribution step;  ///< each pass: host begin to the later of host end and last activity's end
  pass_samples samples;
  wall_partition partition;  ///< of `wall`
  time_ns gpu_span = 0;      ///< first to last device event, which other tools measure idle against
  /// Where no activities could be recorded: of each pass that CUDA events stand around, the time between them
  /// on this device. An upper bound of its GPU time, which is not known.
  distribution event_span;
  std::int64_t prefill_tokens = 0;
  std::int64_t decode_tokens = 0;
  std::int64_t sequences = 0;  ///< both sides, summed over passes
  std::int64_t emitted_tokens = 0;
  measures total;
  distribution launch_latency;
  distribution queue_delay;
  varve::verdict verdict;
  std::vector<gauge_row> gauges;        ///< of the device, then of the process
  std::optional<counted_work> counted;  ///< of whole passes
  std::optional<rated_work> rated;      ///< where counters tell work of it

  [[nodiscard]] std::int64_t tokens() const noexcept { return prefill_tokens + decode_tokens; }
  /// wall ÷ busy; 0 when nothing ran.
  [[nodiscard]] double overhead_ratio() const noexcept {
    return partition.busy() > 0 ? static_cast<double>(wall) / static_cast<double>(partition.busy()) : 0.0;
  }
};

/// Collectives of one name among one number of ranks, in one kind of pass on one device.
struct collective_row {
  std::string name;  ///< "all-reduce", "all-gather", "reduce-scatter", "all-to-all", …, or as recorded
  std::int64_t ranks = 0;  ///< that took part; 0 when unknown
  std::string phase;       ///< kind of pass; empty outside any
  std::string model;
  std::uint32_t device = 0;
  std::string batch;
  std::int64_t calls = 0;
  std::int64_t sized_calls = 0;    ///< of these, calls whose message's size is known
  std::int64_t bytes = 0;          ///< of the messages: of a call the larger of what the rank gave and got
  time_ns gpu_time = 0;            ///< union; takes in what the rank waited for others
  time_ns exposed_time = 0;        ///< instants of it in which no compute ran
  time_ns sized_time = 0;          ///< sum of the durations of the sized calls
  double algorithm_bandwidth = 0;  ///< bytes ÷ sized_time, in bytes a second; 0 when unknown
  double bus_bandwidth = 0;        ///< that × what each link carries of a message by NCCL's formula
};

/// One device over the whole trace.
struct device_row {
  device_info device;
  std::optional<varve::ceilings> ceilings;  ///< of analyze_options, else of the table of GPUs
  wall_partition partition;                 ///< of the makespan: first pass's begin to last pass's end
  time_ns busy = 0;                         ///< union of all activities, in passes or not
  time_ns kernel_time = 0;
  time_ns kernel_union = 0;  ///< union of kernels alone
  time_ns gpu_span = 0;
  std::int64_t kernels = 0;
  struct stream {
    stream_info stream;
    std::int64_t kernels = 0;
    time_ns kernel_time = 0;
    time_ns kernel_union = 0;
  };
  std::vector<stream> streams;    ///< that ran anything
  std::vector<gauge_row> gauges;  ///< of the device, from first to last reading
  time_ns first_start = 0;        ///< where `gpu_span` begins; 0 when nothing ran
  time_ns passes_begin = 0;       ///< where `partition` begins and ends; both 0 where it is empty
  time_ns passes_end = 0;
};

/// A request and the passes that served it. Times in nanoseconds, −1 where unknown.
struct request_row {
  std::string label;
  std::int32_t index = no_index;
  std::int64_t passes = 0;
  time_ns total = -1;                  ///< begin to end
  time_ns queue_wait = -1;             ///< begin to the first serving pass's begin
  time_ns time_to_first_token = -1;    ///< begin to the first serving pass's end
  time_ns time_per_output_token = -1;  ///< first to last serving pass's end ÷ (passes − 1)
};

/// An operator of a framework, an annotation or a call of the runtime, and all of the same name on any thread
/// and device: what torch.profiler's key_averages() counts. docs/metrics.md has the definitions. Sums, which
/// unlike GPU time elsewhere count overlaps as often as they occur. Times in nanoseconds.
struct operator_row {
  std::string name;
  std::string shapes;       ///< "[[16, 64], [64, 8]]" of its inputs; empty in rows by name, and for none
  bool annotation = false;  ///< of the user
  bool on_device = false;   ///< a kernel, copy, set or span of an annotation, not a function of the host
  std::int64_t calls = 0;
  time_ns cpu_total = 0;
  time_ns cpu_self = 0;              ///< without what it called
  time_ns gpu_total = 0;             ///< of what was launched in it
  time_ns gpu_self = 0;              ///< of what it launched itself
  std::int64_t cpu_memory = 0;       ///< bytes allocated less bytes freed while it ran
  std::int64_t cpu_memory_self = 0;  ///< without what it called
  std::int64_t gpu_memory = 0;
  std::int64_t gpu_memory_self = 0;
  work declared;  ///< known from the shapes of its inputs
  std::int64_t calls_with_work = 0;
  roof_times roof;  ///< of `declared`, where all devices have the same ceilings
  varve::verdict verdict;
};

struct operator_tables {
  std::vector<operator_row> by_name;
  std::vector<operator_row> by_shape;
  double work_share = 0;  ///< of the time of all activities: launched in operators whose work is known
};

/// What the numbers rest on.
struct report_quality {
  double attributed = 0;  ///< share of kernel, copy and set time that belongs to a layer or op
  /// Share of that time for which work is known, by work_source.
  std::array<double, work_sources> work_known{};
  std::int64_t activities = 0;
  std::int64_t matched = 0;            ///< activities whose launch is in the trace
  std::int64_t unmatched = 0;          ///< no such call: launched before the window, or its record is missing
  std::int64_t unmatched_kernels = 0;  ///< of these, kernels
  std::int64_t event_spans = 0;        ///< of streams in passes, between CUDA events: no activities in them
  std::int64_t untimed = 0;            ///< start = end = 0 or end < start: counted, never summed
  std::int64_t negative_delays = 0;    ///< activities that begin before their call: clocks disagree
  std::int64_t duplicate_correlations = 0;
  std::int64_t unlabelled_nodes = 0;  ///< graph activities whose node has no label: captured before arming
  std::int64_t stale_nodes = 0;       ///< graph activities whose label may be of an older version
  std::int64_t lent_nodes = 0;        ///< graph activities whose layer is that of a trace of the capture
  std::int64_t inferred_nodes = 0;    ///< graph activities whose layer is inferred from repeated kernels
  std::int64_t positioned_nodes = 0;  ///< graph activities of which only their place in the graph is known
  std::int64_t graph_launches_without_kernels = 0;
  std::int64_t graph_launches_short = 0;          ///< with fewer activities than their siblings
  std::int64_t graph_launches_short_by_look = 0;  ///< of these, those whose graph no recorded id tells
  std::int64_t clipped_ranges = 0;                ///< open at the session's begin or end
  std::int64_t calls_by_operator = 0;  ///< calls whose range was found on another thread, by their operator
  std::int64_t calls_by_forward = 0;   ///< backward calls, by the range around their forward operator
  std::int64_t calls_backward = 0;     ///< backward calls of which no such range is known
  std::int64_t calls_by_pass = 0;  ///< calls in the one pass that was open on another thread: an inference
  std::int64_t activities_by_operator = 0;  ///< of the unmatched: in the range around their operator
  std::int64_t activities_by_flow = 0;      ///< of the unmatched: in the range that a flow leads from
  bool implicit_pass = false;               ///< no passes marked: the whole trace is taken as one
  pass_inference inferred_passes =
      pass_inference::not_inferred;  ///< passes are not marked but inferred: from what
  std::int64_t inferred_prefills =
      0;                           ///< of them: first in a call of `generate`, the others in it are decode
  bool steady = false;             ///< the steady view was asked for (analyze_options::steady)
  std::int64_t ramp_passes = 0;    ///< passes that it set apart
  std::int64_t unsized_kinds = 0;  ///< kinds of pass in which it could not tell ramps
  std::vector<std::string> unsized_names;  ///< of the first eight of these kinds
  bool captures_given = false;             ///< traces of graph captures were read too
  bool live_cpu = false;
  std::vector<loss> losses;
  std::vector<collector_status> collectors;
  std::string clock;
  time_ns clock_error = 0;
  time_ns own_overhead = 0;
};

/// Something worth a look, with the numbers that say so.
struct finding {
  enum class kind : std::uint8_t {
    slowest,
    stands_out,
    drift,
    memory_jump,
    warming_up,
    overhead,
    work_difference,
    clocks_dropped,
    page_faults,
    context_switches,
    counted_difference
  };
  kind what = kind::slowest;
  std::uint32_t phase = none;  ///< in report::phases
  std::uint32_t layer = none;  ///< in report::layers
  double value = 0;            ///< what was measured: a share, a score, a slope, bytes, a ratio
  double threshold = 0;        ///< beyond which it is told
  std::string text;            ///< one sentence for people, with both
  std::string next_step;       ///< a command or a place to look at; may be empty
};

/// What would change if. Times are of one pass of the phase, in nanoseconds.
struct prediction {
  enum class change : std::uint8_t {
    graphs,
    half_weight_bytes,
    quarter_weight_bytes,
    half_kv_bytes,
    double_batch,
    fused,
    left_out
  };
  change what = change::graphs;
  std::uint32_t phase = none;  ///< in report::phases
  std::uint32_t layer = none;  ///< in report::layers, where one is fused or left out
  double now = 0;
  double at_best = 0;
  double expected = 0;
  double at_worst = 0;
  bool helps = false;  ///< by a twentieth at least
  std::string text;    ///< one sentence with these times
  std::string model;   ///< what they rest on
};

/// Selects rows. Empty or absent members match everything.
struct row_query {
  std::string_view label{};
  std::optional<std::int32_t> index{};
  std::string_view phase{};
  std::string_view model{};
  std::optional<std::uint32_t> device{};
  std::string_view path{};
};

struct VARVE_API report {
  std::string source;
  std::int32_t rank = -1;       ///< of the process among those that work together; −1 when unknown
  std::int32_t world_size = 0;  ///< how many those are; 0 when unknown
  std::string backend;          ///< by which they communicate: "nccl"
  time_ns begin = 0;
  time_ns end = 0;
  std::optional<time_ns> unprofiled_wall;  ///< as given in analyze_options
  std::vector<device_row> devices;
  std::vector<phase_row> phases;
  std::vector<row> layers;      ///< by label path: one tree a phase; work outside any layer has an empty path
  std::vector<row> labels;      ///< by label name alone, wherever it stands and whatever its index; no tree
  std::vector<row> kernels;     ///< by kernel, copy or set name
  std::vector<row> categories;  ///< attention, linear, collective, copy, …
  std::vector<collective_row> collectives;  ///< by name and number of ranks
  std::vector<request_row> requests;
  operator_tables operators;  ///< empty when the source knows none
  std::vector<finding> findings;
  std::vector<prediction> predictions;
  report_quality quality;
  /// Bytes of devices' memory that had been handed out, less what had been taken back, from the first such
  /// event to the end; absent where the trace tells of none.
  std::optional<std::int64_t> held_bytes;

  /// The matching row of `layers` with the most GPU time, or nullptr.
  [[nodiscard]] const row* find(const row_query& query) const noexcept;
  /// All matching rows of `layers`, in the report's order.
  [[nodiscard]] std::vector<const row*> select(const row_query& query) const;
  /// Wall of the profiled passes ÷ unprofiled_wall; 0 when that is not given.
  [[nodiscard]] double inflation() const noexcept;
};

struct analyze_options {
  bool by_batch = false;                     ///< rows and phases apart for each batch shape
  std::optional<time_ns> unprofiled_wall{};  ///< wall of the same passes without varve
  /// Passes whose batch is not the usual one of their kind, and those right after a change, become a kind of
  /// their own, "decode (ramp)". docs/metrics.md has the rule.
  bool steady = false;
  /// Of every device of the trace, in place of those of the table of GPUs.
  std::optional<varve::ceilings> ceilings{};
  /// Of the multiprocessors meanwhile, in Hz: ceilings are those at_clock(). 0: as gauges read it, if they
  /// did.
  double clock = 0;
  std::size_t most_samples = 512;  ///< passes of a phase that report::phases and report::layers keep apart
  bool histograms = false;         ///< distributions have one: what add_report() makes percentiles of
};

/// The report of a trace. Deterministic; throws only std::bad_alloc.
[[nodiscard]] VARVE_API report analyze(const trace& t, const analyze_options& options = {});

/// Puts what `counted` counted beside the rows of `r`, by path, phase, model and device, and by batch where
/// both have it; and findings of what differs from the declared work. For a report of a session that counted
/// (session_options::counters) and one of a session that timed. analyze() does it for a trace that has both.
/// Counts are trusted most: rates and verdicts rest on them, unless tokens a pass or the declared work of a
/// call differ by more than a twentieth, which row::counted says. docs/counters.md has the rules.
VARVE_API void add_counted(report& r, const report& counted);

/// Adds the report of a window to that of the windows before, so that `total` tells of all of them: what a
/// program keeps that is watched for days, in bounded memory. An empty `total` becomes a copy of `next`. The
/// windows are those of one session (same process, devices and options), cut where no pass is open, in order
/// of time, and analyzed with analyze_options::histograms. Sums, counts, extremes, means, deviations, rates,
/// shares and verdicts are then those that analyze() gives of the whole; percentiles are of the histograms,
/// at most 1/128 off. docs/metrics.md ("Reports that add up") says what is not, and what is bounded how.
///
/// A `next` that cannot follow (of another rank or another GPU, or that begins before `total` ends) is left
/// out; that, and whatever else leaves something out or mixes what differs, is a loss in report::quality.
/// Throws only std::bad_alloc; `total` may then hold a part of `next`. To keep it whole, add to a copy and
/// move that back, which does not throw.
VARVE_API void add_report(report& total, const report& next);

/// What analyze() puts into report::findings and report::predictions.
[[nodiscard]] VARVE_API std::vector<finding> findings_of(const report& r);
[[nodiscard]] VARVE_API std::vector<prediction> predictions_of(const report& r);

/// "attention", "linear", "normalisation", "activation", "kv cache", "router", "embedding", "sampling",
/// "collective", "copy" or "other", from a kernel's name. Arithmetic on activations, element by element, is
/// "activation"; rotary embedding and softmax are "attention"; kernels that only move or fill are "copy".
[[nodiscard]] VARVE_API std::string_view kernel_category(std::string_view kernel_name) noexcept;

/// Where a kernel multiplies, as far as its name tells: names of cuBLAS, cuDNN, CUTLASS, FlashAttention,
/// FlashInfer, TensorRT-LLM, DeepGEMM, Marlin, llama.cpp and others. Of kernels that go element by element,
/// or normalise, fp32. `unknown` for other names, and where factors or accumulator stay open. Throws only
/// std::bad_alloc.
[[nodiscard]] VARVE_API math_pipe pipe_of_kernel(std::string_view kernel_name);

enum class view : std::uint8_t { layer, label, phase, kernel, category, operators };
enum class sort_key : std::uint8_t {
  gpu_time,
  calls,
  average,
  maximum,
  launches,
  launch_time,
  starved,
  order,
  self_gpu_time,
  cpu_time,
  self_cpu_time
};

struct table_options {
  view by = view::layer;
  sort_key sort = sort_key::gpu_time;
  std::size_t top = 0;  ///< at most this many rows a phase; 0: all
  /// Rows with a smaller share of their phase's GPU time become one line; of siblings that are more than a
  /// fifth together, the ten largest stay. What is below the blocks that a model repeats is judged by its
  /// share in all of them; parts of more than ten blocks are shown as long as that takes 200 lines at most.
  double fold_below = 0.01;
  bool by_shape = false;  ///< operators apart for each set of shapes of their inputs
  std::string filter;     ///< only rows whose path holds this text, whatever its case; none is folded then
  /// Levels of the tree of layers to show, 0: all; what lies deeper counts for the rows above it. Absent:
  /// down to the parts of the blocks that the model repeats, where it does and neither `filter` nor `layers`
  /// is set.
  std::optional<std::size_t> depth{};
  /// An ECMAScript regular expression without back references, at most 512 bytes long: of layers and labels
  /// only those are rows in whose own name ("attention" or "attention 3") it is found; none is folded then.
  std::string layers;
  int width = 0;  ///< columns of the terminal; 0: as wide as the table needs
  bool colour = false;
  bool header = true;  ///< phases, partition and quality around the rows
};

/// The report as text, for people. Names are stripped of control characters. Throws std::invalid_argument,
/// which says why, where table_options::layers is no such expression.
[[nodiscard]] VARVE_API std::string to_table(const report& r, const table_options& options = {});
/// Reports of several ranks side by side: what each one's devices did, and the time of each phase and of the
/// rows that differ most, with their spread. Empty unless at least two reports name different ranks. Times
/// are lengths on each rank's own clock; no times of different ranks are subtracted.
[[nodiscard]] VARVE_API std::string to_ranks_table(const std::vector<report>& reports,
                                                   const table_options& options = {});
VARVE_API std::ostream& operator<<(std::ostream& out, const report& r);

}  // namespace v0
}  // namespace varve

#endif  // VARVE_REPORT_HPP
