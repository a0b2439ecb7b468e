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

/// One moment on all clocks, read as closely together as a few tries allow.
struct clock_anchor {
  std::uint64_t ticks = 0;
  time_ns monotonic = 0;
  time_ns realtime = 0;
};
clock_anchor read_anchor() noexcept;

/// Ticks to nanoseconds since the epoch: the real time at the first anchor plus the elapsed ticks at the
/// rate that CLOCK_MONOTONIC showed between the anchors, so that steps of the real-time clock do not matter.
class clock_mapping {
 public:
  clock_mapping() noexcept = default;
  clock_mapping(const clock_anchor& from, const clock_anchor& to) noexcept;
  [[nodiscard]] time_ns operator()(std::uint64_t ticks) const noexcept;

 private:
  clock_anchor from_;
  std::uint64_t rate_ = std::uint64_t{1} << 48U;  // nanoseconds a tick, times 2^48
};

}  // namespace varve::record

#endif  // VARVE_RECORD_CLOCK_HPP
