// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which thread writes which log, and the reader's way through one.
#ifndef VARVE_RECORD_REGISTRY_HPP
#define VARVE_RECORD_REGISTRY_HPP

#include "record/log.hpp"

#include <cstdint>

namespace varve::record {

/// The calling thread's log, or nullptr when it has none yet. One load from initial-exec storage.
extern thread_local thread_log* this_log __attribute__((tls_model("initial-exec")));

/// Logs are made for threads as they come, taken over by new threads when theirs have ended, and never
/// freed: there are as many as there were threads at one time. Thread safe.
class log_registry {
 public:
  /// Gives the calling thread a log. nullptr when none can be had: 65535 threads at once, or no memory.
  thread_log* acquire() noexcept;
  /// Threads that found no log, since the last call.
  std::uint64_t take_refused() noexcept;
  /// Logs numbered from 1; their count only grows.
  [[nodiscard]] std::uint32_t size() noexcept;
  thread_log* find(std::uint32_t number) noexcept;
  /// The log's thread has ended: another may take it over, and write on behind what was not read yet.
  void recycle(thread_log& log) noexcept;
  /// Around a fork.
  void lock() noexcept;
  void unlock() noexcept;
};
extern log_registry& registry;

/// The events of one log that were not read yet. One cursor a log at a time.
class log_cursor {
 public:
  explicit log_cursor(thread_log& log) noexcept : log_{log} {}
  /// First slot of the next event, its further slots behind it; nullptr when all was read.
  const slot* next() noexcept;
  /// Moves past the event of `slots` slots that next() gave.
  void advance(std::uint32_t slots) noexcept { log_.read_ += slots; }

 private:
  thread_log& log_;
};

}  // namespace varve::record

#endif  // VARVE_RECORD_REGISTRY_HPP
