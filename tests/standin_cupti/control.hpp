// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Drives the stand-in libcupti: a simulated CUDA whose calls make the callbacks and records that CUPTI would
// make, in good order or in bad. What it does is what we believe of CUPTI; tapes from a GPU correct it.
//
// State is the process's; tests call reset() between them, with no other thread in a call. All else may be
// called from any thread and from inside callbacks. A call of the simulated CUDA, in the order in which it
// happens: callback on entering the runtime function, the same for the driver function inside it, resource
// callbacks, `inside`, callbacks on leaving, API records. Records of the GPU's work come where
// `config::order` says.
#ifndef VARVE_TESTS_STANDIN_CUPTI_CONTROL_HPP
#define VARVE_TESTS_STANDIN_CUPTI_CONTROL_HPP

#include "cupti/abi.hpp"
#include "cupti/records.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#define STANDIN_EXPORT __attribute__((visibility("default")))

namespace standin {

namespace cupti = varve::cupti;

// ---- what the library is like -------------------------------------------------------------------------

enum class api {
  nested,
  runtime,
  driver
};  ///< which callbacks a call makes: nested is the driver's inside the runtime's

/// Where records of the GPU's work come.
enum class record_order {
  api_first,     ///< after the API record of their call, on its thread
  kernel_first,  ///< before it
  at_flush       ///< with the next flush, synchronising call or deliver(), of all threads
};

/// Correlation ids of a driver call inside a runtime call.
enum class nested_correlation {
  shared,  ///< both have one id
  outer,   ///< each has its own, the record has the runtime call's
  inner    ///< each has its own, the record has the driver call's
};

/// Who gets full buffers back to the client. Flushing always delivers, on its own thread.
enum class delivery { worker, filler, flush_only };

/// What `graph` holds in the callback for a node cloned into an executable graph.
enum class exec_clone_graph { own, source, null };

struct config {
  std::uint32_t version =
      cupti::cuda_13_0 + 1;       ///< from 130100 on a longer kernel record that nobody has declared
  bool driver = true;             ///< without one nearly every function returns `unknown`
  bool other_subscriber = false;  ///< another tool has CUPTI
  record_order order = record_order::api_first;
  nested_correlation correlation = nested_correlation::shared;
  delivery deliver = delivery::worker;
  std::size_t records_per_buffer = 0;  ///< a buffer is full with so many; 0: when the next does not fit
  std::optional<std::uint32_t>
      shuffle;                        ///< seed: records in a buffer, and buffers of a flush, in random order
  bool names_die_with_buffer = true;  ///< kernels' names are overwritten when the completion callback returns
  bool callbacks_after_unsubscribe = false;  ///< the last subscriber is still called
  bool flush_withholds = false;              ///< a flush that isn't forced returns with nothing delivered
  bool forced_flush_withholds = false;       ///< one that is forced does so; deliver() brings what is there
  bool recycle_handles = true;               ///< handles of destroyed graphs and nodes are used again
  exec_clone_graph exec_clone = exec_clone_graph::own;
  std::uint64_t correlation_data = 0;  ///< what `*correlation_data` holds on entering
  std::uint64_t launch_latency =
      2000;  ///< nanoseconds from a call's entry to the start of its work on an idle stream
  std::uint64_t duration = 1000;  ///< of work that names no times
};

/// Back to a fresh process, but for client buffers still held: they are forgotten. Ends the worker.
STANDIN_EXPORT void reset(const config& settings = {});
STANDIN_EXPORT void change(const std::function<void(config&)>& edit);

// ---- calls of the simulated CUDA --------------------------------------------------------------------

struct stream {
  cupti::stream_handle handle = nullptr;  ///< null: the default stream of device 0
  std::uint32_t device = 0;
};
struct interval {
  std::uint64_t begin = 0, end = 0;
};

/// How any call is made.
struct call {
  api through = api::nested;
  std::uint32_t runtime_id = 0;  ///< 0: the function's usual callback id
  std::uint32_t driver_id = 0;
  int result = 0;                ///< not 0: the call fails and makes no work
  std::function<void()> inside;  ///< run between entering and leaving, on the calling thread
};

struct work {
  std::optional<interval> times;  ///< as they are, also 0 or reversed; none: from the stream's clock
  bool running = false;           ///< ends with the next synchronising call or finish_running(), not before
  std::uint64_t duration = 0;     ///< 0: the configuration's
  bool from_device = false;  ///< of graph launches: a kernel made it, so there is no call and no correlation
  call how;
};

struct launch_shape {
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{128, 1, 1}, cluster{0, 0, 0};
  std::uint16_t registers = 32;
  std::uint32_t static_shared = 0, dynamic_shared = 0;
  bool cooperative = false;
  launch_shape() = default;
};

/// What a call did: the truth that a collector's result is compared with.
struct done {
  std::uint32_t correlation = 0;        ///< as in the records of its work
  std::uint32_t outer_correlation = 0;  ///< of its outermost callbacks
  bool captured = false;                ///< it only made a node
  cupti::graph_node_handle node = nullptr;
  std::vector<interval> times;          ///< of its work, in order
  std::vector<std::uint64_t> node_ids;  ///< of a graph launch, one for each of `times` (GRAPH_TRACE: none)
  int result = 0;
};

/// CUDA's; any call does it, once. `between`: run after the driver's initialisation, before it has contexts.
STANDIN_EXPORT void initialise(std::uint32_t devices = 1, const std::function<void()>& between = {});
STANDIN_EXPORT stream create_stream(std::uint32_t device = 0);
STANDIN_EXPORT void destroy_stream(stream s);
STANDIN_EXPORT std::uint32_t stream_id(stream s);

STANDIN_EXPORT done launch(stream s, std::string_view name, const launch_shape& shape = {},
                           const work& w = {});
STANDIN_EXPORT done copy(stream s, cupti::copy_direction direction, std::uint64_t bytes, const work& w = {},
                         std::uint64_t count = 1);
STANDIN_EXPORT done peer_copy(stream s, std::uint32_t to_device, std::uint64_t bytes, const work& w = {});
STANDIN_EXPORT done memset(stream s, std::uint32_t value, std::uint64_t bytes, const work& w = {});
STANDIN_EXPORT std::uint64_t allocate(std::uint64_t bytes, std::uint32_t device = 0, const call& how = {});
STANDIN_EXPORT void free(std::uint64_t address, const call& how = {});
STANDIN_EXPORT done host_function(stream s, const call& how = {});
STANDIN_EXPORT done
synchronize(stream s, const call& how = {});  ///< ends running work of the stream; waits for nothing
STANDIN_EXPORT done synchronize_device(std::uint32_t device = 0, const call& how = {});
STANDIN_EXPORT std::uint64_t create_event(const call& how = {});
/// Recorded while its stream captures, it makes the streams that wait for it capture too.
STANDIN_EXPORT done record_event(std::uint64_t event, stream s, const call& how = {});
STANDIN_EXPORT done wait_event(stream s, std::uint64_t event, const call& how = {});
STANDIN_EXPORT done synchronize_event(std::uint64_t event, const call& how = {});
STANDIN_EXPORT done query_event(std::uint64_t event, const call& how = {});
STANDIN_EXPORT void destroy_event(std::uint64_t event, const call& how = {});
/// Any other call, by callback ids; an id of 0 leaves that domain out.
STANDIN_EXPORT done any_call(std::uint32_t runtime_id, std::uint32_t driver_id, const call& how = {});

/// For benchmarks: so many bare pairs of callbacks, entering and leaving, and nothing else; ids count on.
STANDIN_EXPORT void call_back(cupti::callback_domain domain, std::uint32_t id, std::size_t pairs);
/// The same of a driver's call inside a runtime's, which have an id each.
STANDIN_EXPORT void call_back_nested(std::uint32_t runtime_id, std::uint32_t driver_id, std::size_t times);

// ---- graphs --------------------------------------------------------------------------------------------

struct graph {
  cupti::graph_handle handle = nullptr;
};
struct executable {
  cupti::graph_exec_handle handle = nullptr;
};

/// While a stream captures, launches, copies and sets on it make nodes and no work.
STANDIN_EXPORT void begin_capture(stream s, const call& how = {});
STANDIN_EXPORT void begin_capture_to(stream s, graph g, const call& how = {});
STANDIN_EXPORT graph end_capture(stream s, const call& how = {});
STANDIN_EXPORT graph create_graph(const call& how = {});
STANDIN_EXPORT cupti::graph_node_handle add_kernel(graph g, std::string_view name,
                                                   const launch_shape& shape = {}, const call& how = {});
STANDIN_EXPORT cupti::graph_node_handle add_empty(graph g, const call& how = {});
/// Clones `child` into the node, as CUDA does.
STANDIN_EXPORT cupti::graph_node_handle add_child(graph g, graph child, const call& how = {});
/// The body of a conditional node, empty: fill it by begin_capture_to or add_kernel. It runs `times` times a
/// launch.
STANDIN_EXPORT graph add_conditional(graph g, std::uint32_t times = 1, const call& how = {});
STANDIN_EXPORT graph clone(graph g, const call& how = {});
STANDIN_EXPORT executable instantiate(graph g, const call& how = {});
/// 0, or 910 where the graphs differ in their nodes. From 13.0 on each node's update has a callback.
STANDIN_EXPORT int update(executable e, graph g, const call& how = {});
/// Another kernel for a node of `g` (and of no executable), or for the copy in `e` of a node of the graph
/// that it was made of.
STANDIN_EXPORT void set_kernel(graph g, cupti::graph_node_handle node, std::string_view name,
                               const call& how = {});
STANDIN_EXPORT void set_kernel(executable e, cupti::graph_node_handle node, std::string_view name,
                               const call& how = {});
/// Of each node that makes records, in order; children and bodies at their place, once.
STANDIN_EXPORT std::vector<std::uint64_t> node_ids(graph g);
STANDIN_EXPORT std::vector<std::uint64_t> node_ids(executable e);
STANDIN_EXPORT std::uint32_t exec_id(executable e);
/// All records share the launch's correlation id; each has its node's id. `times` holds for each node alike.
STANDIN_EXPORT done launch(stream s, executable e, const work& w = {});
STANDIN_EXPORT void destroy(graph g, const call& how = {});
STANDIN_EXPORT void destroy(executable e, const call& how = {});

// ---- records and buffers in bad shape -----------------------------------------------------------------

STANDIN_EXPORT void finish_running();  ///< running work ends now
STANDIN_EXPORT void deliver();         ///< waits for the worker; then delivers all that has ended, here
STANDIN_EXPORT void drop_records(std::size_t n);  ///< the next n are lost and counted
STANDIN_EXPORT void truncate_buffers(std::size_t bytes,
                                     std::size_t buffers = 1);  ///< the next ones' valid size is cut
/// `with_data`: its record holds memory that whoever reads it must free (from 12.4 on).
STANDIN_EXPORT void write_overhead(cupti::overhead_kind what, interval times, bool with_data = false);
STANDIN_EXPORT void write_unknown_record(std::uint32_t kind = 9000, std::size_t size = 64);
STANDIN_EXPORT void write_bytes(
    const std::vector<std::uint8_t>& bytes);           ///< as they are, of a size divisible by 8
STANDIN_EXPORT void write_padding(std::size_t bytes);  ///< zeros inside the valid size

// ---- faults ---------------------------------------------------------------------------------------------

struct fault {
  std::string function;  ///< "cuptiSubscribe"; "": every function
  cupti::result code = cupti::result::unknown;
  std::size_t after = 0;  ///< calls that still work
  std::size_t times = static_cast<std::size_t>(-1);
  std::optional<std::uint64_t> argument{};  ///< only for this record kind, callback id, domain or attribute
};
STANDIN_EXPORT void fail(const fault& f);
STANDIN_EXPORT void clear_faults();
/// Run inside every function of CUPTI, on the thread that calls it. Not run inside itself.
STANDIN_EXPORT void on_entry(std::function<void(std::string_view function)> hook);
/// A foreign thread launches a kernel inside every function of CUPTI, which waits for it: whoever holds a
/// lock over a call of CUPTI and takes it in a callback never returns.
STANDIN_EXPORT void traffic_inside_every_function();
STANDIN_EXPORT void use_clock(std::function<std::uint64_t()> nanoseconds);  ///< null: CLOCK_REALTIME
STANDIN_EXPORT void set_next_correlation(std::uint32_t id);
/// CUPTI tells of an error of its own.
STANDIN_EXPORT void notify(cupti::state_event event, cupti::result code, const char* message);
/// A name of a later CUDA: any_call and `call` may use its id.
STANDIN_EXPORT void add_callback(cupti::callback_domain domain, std::uint32_t id, std::string_view name);

// ---- inspection -------------------------------------------------------------------------------------------

struct call_entry {
  std::string function;
  std::vector<std::uint64_t> arguments;  ///< numbers only
  cupti::result result;
};
/// Functions of CUPTI called, in order; the frequent ones (times, names, ids) are only counted, GetNextRecord
/// not even that.
STANDIN_EXPORT std::vector<call_entry> calls();
STANDIN_EXPORT std::size_t call_count(std::string_view function);
STANDIN_EXPORT bool subscribed();
STANDIN_EXPORT std::vector<std::uint32_t> enabled_callbacks(cupti::callback_domain domain);
STANDIN_EXPORT std::vector<cupti::record_kind> enabled_kinds();
STANDIN_EXPORT std::size_t buffers_outstanding();  ///< handed out and not back
STANDIN_EXPORT std::size_t buffers_requested();
STANDIN_EXPORT std::size_t records_written();
STANDIN_EXPORT std::size_t records_dropped();  ///< in all; not reset by the client
STANDIN_EXPORT std::size_t callbacks_made();
STANDIN_EXPORT std::size_t callbacks_running();
/// What a client must not do and did, in words: none is right.
STANDIN_EXPORT std::vector<std::string> misuses();

}  // namespace standin

#endif  // VARVE_TESTS_STANDIN_CUPTI_CONTROL_HPP
