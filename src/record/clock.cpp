// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/clock.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace varve::record {

namespace {

__extension__ using uint128 = unsigned __int128;

time_ns read(clockid_t clock) noexcept {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<time_ns>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

std::uint32_t power_features() noexcept {
  std::uint32_t d = 0;
#if defined(__x86_64__)
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  if (__get_cpuid(0x80000007U, &a, &b, &c, &d) == 0) {
    d = 0;
  }
#endif
  return d;
}

bool choose_clock([[maybe_unused]] std::uint32_t features) noexcept {
#if defined(__x86_64__)
  // The counter runs at one rate in all power states (Intel SDM vol. 3, 17.17).
  clock_is_counter = (features & (1U << 8U)) != 0;
#elif defined(__aarch64__)
  clock_is_counter = true;  // the generic timer's rate is fixed by the architecture
#endif
  return clock_is_counter;
}

bool clock_is_counter = choose_clock(power_features());

std::string clock_name() {
#if defined(__x86_64__)
  return clock_is_counter ? "invariant TSC" : "CLOCK_MONOTONIC (the TSC is not invariant on this machine)";
#elif defined(__aarch64__)
  return "generic timer (cntvct)";
#else
  return "CLOCK_MONOTONIC";
#endif
}

time_ns monotonic() noexcept { return read(CLOCK_MONOTONIC); }

clock_anchor read_anchor() noexcept {
  clock_anchor best;
  std::uint64_t closest = UINT64_MAX;
  for (int attempt = 0; attempt < 8; ++attempt) {
    clock_anchor a;
    const std::uint64_t before = now();
    a.monotonic = monotonic();
    const std::uint64_t after = now();
    a.realtime = read(CLOCK_REALTIME);
    a.ticks = before + (after - before) / 2;
    if (after - before < closest) {
      closest = after - before;
      best = a;
    }
  }
  return best;
}

clock_mapping::clock_mapping(const clock_anchor& from, const clock_anchor& to) noexcept : from_{from} {
  if (clock_is_counter && to.ticks > from.ticks && to.monotonic > from.monotonic) {
    const auto elapsed = static_cast<uint128>(to.monotonic - from.monotonic);
    rate_ = static_cast<std::uint64_t>((elapsed << 48U) / (to.ticks - from.ticks));
  }
}

time_ns clock_mapping::operator()(std::uint64_t ticks) const noexcept {
  const bool later = ticks >= from_.ticks;
  const std::uint64_t distance = later ? ticks - from_.ticks : from_.ticks - ticks;
  const auto elapsed = static_cast<time_ns>((static_cast<uint128>(distance) * rate_) >> 48U);
  return later ? from_.realtime + elapsed : from_.realtime - elapsed;
}

}  // namespace varve::record
