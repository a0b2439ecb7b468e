// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the streams of one CPU device share.
#ifndef DECODER_CPU_DEVICE_HPP
#define DECODER_CPU_DEVICE_HPP

#include <varve/collector.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

namespace decoder {

/// A kernel or copy with its arguments.
struct task {
  const char* name = "";  ///< a literal: varve keeps the pointer
  varve::activity_kind kind = varve::activity_kind::kernel;
  std::int64_t bytes = 0;  ///< of a copy
  std::function<void()> run;
};

/// Thread safe.
class cpu_device {
 public:
  [[nodiscard]] varve::host_device& reporter() noexcept { return reporter_; }
  [[nodiscard]] std::uint32_t next_stream() noexcept { return ++streams_; }

  /// Runs a task and reports it. An exception from it fails the device: nothing runs any more, and each
  /// check() throws that exception.
  void execute(const task& what, std::uint32_t stream, std::uint32_t correlation, std::uint64_t node);
  void check() const;

 private:
  varve::host_device reporter_{{0, "CPU worker threads"}, true};
  std::atomic<std::uint32_t> streams_{0};
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  std::exception_ptr error_;  // guarded by mutex_
};

}  // namespace decoder

#endif  // DECODER_CPU_DEVICE_HPP
