// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The built-in source of GPU spans: where device_source has no records, events around passes that name their
// stream. Implemented in cuda/, which sees this interface and is seen by nobody.
#ifndef VARVE_RECORD_SPAN_SOURCE_HPP
#define VARVE_RECORD_SPAN_SOURCE_HPP

#include <varve/trace.hpp>

#include <cstdint>
#include <vector>

namespace varve::record {

/// What a stream did for a pass.
struct device_span {
  std::uint64_t pass = 0;  ///< token of the range
  stream_info stream;
  std::uint64_t ticks = 0;  ///< a moment of the host's clock
  time_ns begin = 0;        ///< from that moment
  time_ns end = 0;
};

class span_source {
 public:
  virtual ~span_source();

  /// Begins to measure.
  virtual void start() noexcept = 0;
  /// Ends it, waits a bounded time for what is pending, and gives all events back to the driver.
  virtual void stop() noexcept = 0;
  [[nodiscard]] virtual bool running() const noexcept = 0;

  /// On the engine's threads: a pass has named a stream, and ends.
  virtual void begin(std::uint64_t pass, void* stream) noexcept = 0;
  virtual void end(std::uint64_t pass) noexcept = 0;
  /// The pass ends where no event can be recorded.
  virtual void abandon(std::uint64_t pass) noexcept = 0;
  /// A stream was named for what is no open pass of its thread.
  virtual void refuse() noexcept = 0;

  /// To be called now and then while it runs, without a lock: asks which events are done.
  virtual void poll() noexcept = 0;
  /// Moves the spans since the last call behind those in `spans`; they wait where there is no memory. Thread
  /// safe.
  virtual void hand_over(std::vector<device_span>& spans) noexcept = 0;
  /// Adds the passes whose spans are to come. False while a pass names a stream or ends, or somebody polls:
  /// ask again. Throws only std::bad_alloc.
  [[nodiscard]] virtual bool await(std::vector<std::uint64_t>& passes) = 0;

  [[nodiscard]] virtual std::vector<device_info> devices() const = 0;
  [[nodiscard]] virtual std::vector<loss> losses() const = 0;
  /// How far a span handed over may be from its place on the host's clock.
  [[nodiscard]] virtual time_ns error() const noexcept = 0;
  /// Host time that it has cost the engine's threads.
  [[nodiscard]] virtual time_ns own_overhead() const noexcept = 0;
  /// Whether there is anything to tell of: a driver is in the process, or a pass has named a stream, or the
  /// devices are a parent's.
  [[nodiscard]] virtual bool concerned() const noexcept = 0;
  [[nodiscard]] virtual collector_status status() const = 0;

  /// Around a fork; leave_to_parent() in the child. Devices that are `in_use` stay with the parent; else a
  /// session of the child's own may measure on them.
  virtual void before_fork(bool in_use) noexcept = 0;
  virtual void after_fork() noexcept = 0;
  virtual void leave_to_parent() noexcept = 0;
};

/// There is one, for as long as the process.
span_source& built_in_spans() noexcept;

}  // namespace varve::record

#endif  // VARVE_RECORD_SPAN_SOURCE_HPP
