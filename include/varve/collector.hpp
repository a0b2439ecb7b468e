// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// For engines and devices without CUPTI: the program itself reports its launches and what ran. Also the
// interface of every source that a session starts and stops.
//
//     varve::host_device device{{0, "my accelerator"}};          // once
//     {
//       varve::host_call call{device, varve::call_kind::launch}; // around the launch, on its thread
//       queue.push(job, call.correlation());
//     }
//     device.report({stream, correlation, "gemm", begin, end});  // on any thread, when it has run
#ifndef VARVE_COLLECTOR_HPP
#define VARVE_COLLECTOR_HPP

#include <varve/marker.hpp>
#include <varve/trace.hpp>

#include <cstdint>

namespace varve {
inline namespace v0 {

/// Ticks of the clock that markers read. Cheap, monotonic, the same on all cores. Meaningful within one
/// process only; a session converts them to nanoseconds.
[[nodiscard]] VARVE_API std::uint64_t clock_ticks() noexcept;
/// The same moment in nanoseconds of the running session's clock (of the last session, when none runs).
[[nodiscard]] VARVE_API time_ns clock_nanoseconds(std::uint64_t ticks) noexcept;

/// A piece of work that ran. Times are clock_ticks(); `name` lives as long as the program, or is a label's.
struct host_activity {
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;  ///< from host_call; 0 when unknown
  const char* name = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  activity_kind kind = activity_kind::kernel;
  std::uint64_t node = 0;  ///< graph node id, or 0
  std::int64_t bytes = 0;  ///< of a copy or set
};

/// A device whose work the program reports. Immovable; lives longer than its streams. All functions are
/// thread safe and noexcept; with no session running they cost a load and a branch.
class VARVE_API host_device {
 public:
  /// `shares_host_cores`: its work runs on the cores that the engine's threads run on, so that idle times
  /// measure the machine's scheduler too; reports say so.
  explicit host_device(device_info info, bool shares_host_cores = false);
  host_device(const host_device&) = delete;
  host_device& operator=(const host_device&) = delete;
  ~host_device();

  /// Records work that has run. Costs about a marker; allocates nothing after a thread's first call.
  void report(const host_activity& what) noexcept;

  /// A new id for a graph node, unique in the process, that remembers the label path open on this thread,
  /// while a session runs or varve::arm() is on.
  [[nodiscard]] std::uint64_t capture_node() noexcept;
  /// A node of an executable made from `from`: carries the same labels.
  [[nodiscard]] std::uint64_t clone_node(std::uint64_t from) noexcept;
  /// An executable's node was updated in place from node `from`: it takes that node's labels.
  void update_node(std::uint64_t node, std::uint64_t from) noexcept;
  /// The node is gone; its labels are forgotten unless a running session still needs them.
  void destroy_node(std::uint64_t node) noexcept;

  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }

 private:
  std::uint32_t id_;
};

/// A call on the host, for as long as it lives, made in the innermost range of the thread.
class VARVE_API host_call {
 public:
  explicit host_call(host_device& device, call_kind kind, bool captured = false) noexcept;
  host_call(const host_call&) = delete;
  host_call& operator=(const host_call&) = delete;
  ~host_call();

  /// What the activities that this call launches carry; 0 when nothing records.
  [[nodiscard]] std::uint32_t correlation() const noexcept { return correlation_; }

 private:
  std::uint32_t correlation_;
};

/// A source of records that a session drives. Functions are called from the session's thread, never
/// concurrently, and must not throw.
class VARVE_API collector {
 public:
  virtual ~collector();
  /// Begins to record. Where it cannot, says why in status(); the session runs on without it.
  virtual void start() noexcept = 0;
  virtual void stop() noexcept = 0;
  /// Adds what was recorded to `out`, times in nanoseconds of the session's clock. Called once, when the
  /// session has stopped: its snapshots do not hold these records.
  virtual void drain(trace& out) noexcept = 0;
  [[nodiscard]] virtual collector_status status() const = 0;
};

}  // namespace v0
}  // namespace varve

#endif  // VARVE_COLLECTOR_HPP
