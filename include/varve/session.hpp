// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A session: from its start to its stop, markers and collectors record.
//
//     varve::session session;
//     ... run the engine ...
//     const varve::report report = varve::analyze(session.stop());
#ifndef VARVE_SESSION_HPP
#define VARVE_SESSION_HPP

#include <varve/trace.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {

class collector;

enum class log_level : std::uint8_t { info, warning, error };

/// How a session records what GPUs do. Needs an NVIDIA driver, and a libcupti of CUDA 12.0 or later, which is
/// looked for at run time; without them status() says so and the rest is recorded, and passes that name their
/// stream (phase::stream()) are measured by CUDA events where a driver is.
struct gpu_options {
  bool enabled = true;
  /// Path of libcupti; empty: a copy that is loaded already, then those of CUDA_HOME and of the system's
  /// search path. The environment's VARVE_CUPTI_LIBRARY counts where this is empty.
  std::string cupti_library{};
  /// CUPTI's buffers, in bytes each and how many at most: what does not fit is counted.
  std::size_t buffer_bytes = std::size_t{4} << 20U;
  std::size_t buffers = 32;
  /// One record for a whole launch of a graph, which costs less than one for each of its kernels: layers
  /// inside of graphs are then unknown. Graphs that exist before the session may go on with a record for each
  /// kernel.
  bool whole_graphs = false;
};

/// What a session reads at intervals, on a thread of its own. A period of 0 turns its readings off; with both
/// off there is no thread.
struct gauge_options {
  /// Page faults and context switches of the process.
  time_ns host_period = 10'000'000;
  /// Clocks and what limits them, temperature, power and memory of the GPUs that the process uses, by the
  /// driver's libnvidia-ml. Only where gpu_options::enabled.
  time_ns gpu_period = 50'000'000;
  /// Path of libnvidia-ml; empty: what the loader finds.
  std::string nvml_library{};
  /// Cap on the memory of readings, in bytes. When it is full every other one is dropped, and counted, and
  /// the periods double.
  std::size_t memory = std::size_t{2} << 20U;
};

/// Turns the session into one that counts what GPUs do in layers, in place of timing them: bytes read from
/// and written to their memory, and operations. Times of such a run say nothing; add_counted() puts its
/// counts beside the times of another. Needs a libcupti of CUDA 12.6 or later and the permission to count.
/// docs/counters.md has the rules.
struct counter_options {
  bool enabled = false;
  /// Which ranges are counted: 0 whole passes, 1 the outermost ranges in them, 2 those inside of these, …
  /// Ranges deeper count for the one around them; what is in no range of this depth is not counted.
  std::uint32_t depth = 1;
  /// If any: in place of `depth`, the outermost ranges with one of these names.
  std::vector<std::string> labels{};
  /// Operations too. Where one pass cannot count all, passes take turns.
  bool operations = true;
  /// Ranges that are counted before the GPU is waited for and its counts are read, at a pass's end at most.
  std::size_t ranges = 1024;
};

struct session_options {
  /// Cap on the memory of undrained marker events, all threads together, in bytes; rounded up to 64 KiB.
  /// When it is full, whole ranges are dropped and counted.
  std::size_t marker_memory = std::size_t{16} << 20U;
  /// Cap on the memory of the records that are kept, in bytes; what comes later is counted, not kept.
  std::size_t trace_memory = std::size_t{1} << 30U;
  gpu_options gpu{};
  gauge_options gauges{};
  counter_options counters{};
  /// Called for what is worth a line in a log, from any thread, never from a marker. None: silence.
  /// What it throws is ignored.
  std::function<void(log_level, std::string_view)> log;
  /// Sources beside the built-in ones; they are started and stopped with the session. Null ones are skipped
  /// and counted.
  std::vector<std::shared_ptr<collector>> collectors;
};

/// How a session and its sources fare.
struct session_status {
  bool running = false;
  std::string error;                         ///< why the session does not run; empty when it does or has
  std::vector<collector_status> collectors;  ///< one each, the unavailable ones with the reason
  std::vector<loss> losses;                  ///< so far
  std::string clock;                         ///< "invariant TSC", "CLOCK_MONOTONIC", …, and why
  double marker_ns = 0;  ///< what one begin and end cost on this machine, measured at start
};

/// Records from construction to stop(). One session runs in a process at a time: a second one is refused,
/// its status().error names the cause, and its trace says so too. The constructor does not throw. stop(),
/// snapshot(), take() and status() may be called from any thread; the object itself is not to be moved
/// meanwhile.
class VARVE_API session {
 public:
  session() noexcept : session(session_options{}) {}
  /// `headers` is the version that the caller was compiled against: a session is refused where it does not go
  /// with the loaded library's (same major and minor).
  explicit session(session_options options, int headers = VARVE_VERSION) noexcept;
  session(session&&) noexcept;
  session& operator=(session&&) noexcept;
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  /// Stops a running session; its records are discarded.
  ~session();

  /// Stops recording and hands over what was recorded. A second call gives an empty trace. The recorded
  /// window ends at the call; reading what is still undrained comes after it, takes time in proportion, and
  /// may allocate.
  [[nodiscard]] trace stop();
  /// A copy of what has been recorded until now; recording goes on. Ranges still open end at its moment
  /// and say so.
  [[nodiscard]] trace snapshot();
  /// What is finished by now, as a trace that begins where the one before ended; the session forgets it and
  /// goes on. So a session may run for days: analyze() each such trace, and add_report() the reports up.
  /// Passes are handed over whole, once they have ended and their work on devices has come (a second later
  /// where they replay graphs). The trace ends where no pass is open and devices are idle, and is empty as
  /// long as there is no such moment. Without one for 5 s (10 s where passes overlap on the host), or where a
  /// quarter of the memory is used, traces overlap by the passes that are under way. Passes inside of a range
  /// that stays open wait for its end, requests for theirs. stop() and snapshot() have what was not taken;
  /// `collectors` hand over at the stop. Losses are those since the last call. Takes time, and memory, in
  /// proportion to what the session holds. Throws only std::bad_alloc; records lost by that are counted.
  [[nodiscard]] trace take();
  [[nodiscard]] session_status status() const;
  [[nodiscard]] explicit operator bool() const noexcept;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace v0
}  // namespace varve

#endif  // VARVE_SESSION_HPP
