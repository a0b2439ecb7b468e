// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Waiting for a word to change, from signal handlers too: no locks, and no file descriptors, which engines
// that become daemons close.
#ifndef VARVE_INJECT_FUTEX_HPP
#define VARVE_INJECT_FUTEX_HPP

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>

namespace varve::inject {

using word = std::atomic<std::uint32_t>;
static_assert(sizeof(word) == sizeof(std::uint32_t) && word::is_always_lock_free);

/// Returns when `w` may not hold `value` any more, or after `most`.
inline void wait_while(word& w, std::uint32_t value, std::chrono::milliseconds most) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(most);
  const timespec time{static_cast<std::time_t>(seconds.count()),
                      static_cast<long>(std::chrono::nanoseconds{most - seconds}.count())};
  static_cast<void>(::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&w), FUTEX_WAIT_PRIVATE, value,
                              &time, nullptr, 0));
}

inline void wake_all(word& w) noexcept {
  static_cast<void>(::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&w), FUTEX_WAKE_PRIVATE, INT_MAX,
                              nullptr, nullptr, 0));
}

}  // namespace varve::inject

#endif  // VARVE_INJECT_FUTEX_HPP
