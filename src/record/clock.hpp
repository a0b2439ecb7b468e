// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The clock that markers read, and its conversion to nanoseconds since the epoch.
#ifndef VARVE_RECORD_CLOCK_HPP
#define VARVE_RECORD_CLOCK_HPP

#include <varve/trace.hpp>

#include <ctime>

#include <cstdint>
#include <string>
#include <vector>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace varve::record {

/// Whether ticks are the processor's counter: where it is invariant. They are of CLOCK_MONOTONIC elsewhere.
extern bool clock_is_counter;

/// EDX of CPUID's leaf 0x80000007; 0 where there is none.
std::uint32_t power_features() noexcept;
/// Sets clock_is_counter by what power_features() gave. Before main; by tests, while nothing records.
bool choose_clock(std::uint32_t features) noexcept;

/// Ticks: of the processor's counter, or nanoseconds.
inline std::uint64_t now() noexcept {
#if defined(__x86_64__)
  if (__builtin_expect(clock_is_counter, 1)) {
    return __rdtsc();
  }
#elif defined(__aarch64__)
  if (__builtin_expect(clock_is_counter, 1)) {
    std::uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
  }
#endif
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(t.tv_nsec);
}

/// What the clock is and why: "invariant TSC", "CLOCK_MONOTONIC: the TSC is not invariant".
std::string clock_name();

/// CLOCK_MONOTONIC, for rates and waits.
time_ns monotonic() noexcept;

/// A clock of nanoseconds since the epoch: CLOCK_REALTIME, or that of a device's records.
using epoch_clock = time_ns (*)() noexcept;
time_ns realtime() noexcept;

/// One moment on all clocks, read as closely together as a few tries allow.
struct clock_anchor {
  std::uint64_t ticks = 0;
  time_ns monotonic = 0;
  time_ns epoch = 0;
  time_ns error = 0;  ///< bound on how far apart the readings are
};
clock_anchor read_anchor(epoch_clock clock = realtime) noexcept;

/// Ticks to nanoseconds since the epoch. Thread compatible.
class clock_mapping {
 public:
  clock_mapping() noexcept = default;
  /// The epoch's time at the first anchor plus the elapsed ticks at the rate that CLOCK_MONOTONIC showed
  /// between the anchors, so that steps of the real-time clock do not matter.
  clock_mapping(const clock_anchor& from, const clock_anchor& to) noexcept;
  /// Follows the epoch's clock through all anchors, which are in order, but for the steps that it made: time
  /// goes on. What else was read from that clock can be compared with ticks once settle() has been asked.
  explicit clock_mapping(const std::vector<clock_anchor>& anchors) noexcept;
  [[nodiscard]] time_ns operator()(std::uint64_t ticks) const noexcept;
  /// By how much the epoch's clock had been set when it showed `epoch`, which was at about `near`, converted,
  /// or soon after.
  [[nodiscard]] time_ns steps_until(time_ns epoch, time_ns near) const noexcept;
  [[nodiscard]] bool has_steps() const noexcept { return has_steps_; }

 private:
  struct piece {
    clock_anchor from;
    std::uint64_t rate = std::uint64_t{1} << 48U;  // nanoseconds a tick, times 2^48
    time_ns steps = 0;                             // until then, in all
  };
  std::vector<piece> pieces_{1};
  bool has_steps_ = false;
};

/// The device clock against CLOCK_MONOTONIC over the anchors of a recording.
struct clock_course {
  time_ns error = 0;        ///< bound on the disagreement between ticks and device times
  std::uint64_t steps = 0;  ///< that the device clock made
  time_ns furthest = 0;     ///< the largest of them, forwards or backwards
};
clock_course course_of(const std::vector<clock_anchor>& anchors) noexcept;

}  // namespace varve::record

#endif  // VARVE_RECORD_CLOCK_HPP
