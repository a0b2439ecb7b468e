// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The built-in source of what devices did. It writes calls into the logs of the threads that make them, and
// hands activities over in batches. Implemented in cuda/, which sees this interface and is seen by nobody.
#ifndef VARVE_RECORD_DEVICE_SOURCE_HPP
#define VARVE_RECORD_DEVICE_SOURCE_HPP

#include <varve/session.hpp>
#include <varve/trace.hpp>

#include <vector>

namespace varve::record {

class device_source {
 public:
  virtual ~device_source();

  /// Keeps the labels of graph nodes from now on, until disarm(); with `kernels` devices also make records
  /// that are thrown away, so that a later start changes little.
  virtual void arm(bool kernels) noexcept = 0;
  virtual void disarm() noexcept = 0;

  /// Begins to record. Where it cannot, status() says why.
  virtual void start(const gpu_options& options) noexcept = 0;
  /// Ends it, waits for the devices, and has their last records.
  virtual void stop() noexcept = 0;
  [[nodiscard]] virtual bool running() const noexcept = 0;
  /// It has been started, and records as soon as CUDA is in use.
  [[nodiscard]] virtual bool waiting() const noexcept = 0;
  /// cuda_starts() will be called: until then it keeps its hands off CUPTI, so that a process may fork.
  virtual void expect_cuda() noexcept = 0;
  virtual void cuda_starts() noexcept = 0;
  /// Nanoseconds on the clock of its records. Thread safe.
  [[nodiscard]] virtual time_ns now() const noexcept = 0;

  /// To be called now and then while it runs, without a lock: fetches what devices have done, if there is
  /// time for that; `now`: in any case.
  virtual void poll(bool now) noexcept = 0;
  /// Moves the activities since the last call into `batch`, which is always the same one while a session
  /// runs: its tables grow and its rows point into them; of graph nodes only the ids are set. `full`: nothing
  /// more can be kept; what comes until the next call is only counted. Thread safe.
  virtual void hand_over(trace& batch, bool full) noexcept = 0;
  /// The same, and tables begin anew: the next batch is an empty one. False where memory is short, and it is
  /// the same one.
  [[nodiscard]] virtual bool hand_over_last(trace& batch) noexcept = 0;

  [[nodiscard]] virtual std::vector<device_info> devices() const = 0;
  [[nodiscard]] virtual std::vector<loss> losses() const = 0;
  /// Host time, in nanoseconds, that the source has cost the program so far, as far as it knows.
  [[nodiscard]] virtual time_ns own_overhead() const noexcept = 0;
  [[nodiscard]] virtual collector_status status() const = 0;

  /// Whether a child that is forked now must leave the devices to this process. Asks the driver nothing.
  [[nodiscard]] virtual bool in_use() noexcept = 0;
  /// Around a fork; leave_to_parent() in the child. Devices that are `in_use` stay with the parent; else a
  /// session of the child's own may record them.
  virtual void before_fork(bool in_use) noexcept = 0;
  virtual void after_fork() noexcept = 0;
  virtual void leave_to_parent() noexcept = 0;
};

/// There is one, for as long as the process.
device_source& built_in_source() noexcept;

}  // namespace varve::record

#endif  // VARVE_RECORD_DEVICE_SOURCE_HPP
