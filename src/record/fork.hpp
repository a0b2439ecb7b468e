// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Locks that are held over a fork, so that the child finds what they guard in order.
#ifndef VARVE_RECORD_FORK_HPP
#define VARVE_RECORD_FORK_HPP

#include "record/clock.hpp"

#include <varve/trace.hpp>

#include <chrono>
#include <mutex>
#include <thread>

namespace varve::record {

/// A fork waits so long for a thread that may itself wait for a device.
inline constexpr time_ns fork_patience = 200'000'000;

/// False where that took too long.
inline bool lock_within(std::mutex& m, time_ns patience) noexcept {
  const time_ns until = monotonic() + patience;
  while (!m.try_lock()) {
    if (monotonic() > until) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::microseconds{50});
  }
  return true;
}

}  // namespace varve::record

#endif  // VARVE_RECORD_FORK_HPP
