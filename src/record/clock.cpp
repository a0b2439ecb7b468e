// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/clock.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <utility>

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

time_ns realtime() noexcept { return read(CLOCK_REALTIME); }

clock_anchor read_anchor(epoch_clock clock) noexcept {
  clock_anchor best;
  best.error = std::numeric_limits<time_ns>::max();
  for (int attempt = 0; attempt < 8; ++attempt) {
    clock_anchor a;
    const std::uint64_t before = now();
    const time_ns first = monotonic();
    a.epoch = clock();
    a.monotonic = monotonic();
    const std::uint64_t after = now();
    a.error = a.monotonic - first;
    a.monotonic = first + a.error / 2;
    a.ticks = before + (after - before) / 2;
    if (a.error < best.error) {
      best = a;
    }
  }
  return best;
}

namespace {

std::uint64_t rate_of(time_ns elapsed, std::uint64_t ticks) noexcept {
  return static_cast<std::uint64_t>((static_cast<uint128>(elapsed) << 48U) / ticks);
}

time_ns gain(const clock_anchor& a, const clock_anchor& b) noexcept {
  return b.epoch - a.epoch - (b.monotonic - a.monotonic);
}

/// A clock that is slewed runs up to 500 ppm fast or slow (adjtimex(2)); beyond twice that, and 50 us, it was
/// set, as far as the readings tell.
bool was_set(const clock_anchor& a, const clock_anchor& b) noexcept {
  return std::abs(gain(a, b)) > 50'000 + a.error + b.error + (b.monotonic - a.monotonic) / 1000;
}

}  // namespace

clock_mapping::clock_mapping(const clock_anchor& from, const clock_anchor& to) noexcept {
  pieces_[0].from = from;
  if (clock_is_counter && to.ticks > from.ticks && to.monotonic > from.monotonic) {
    pieces_[0].rate = rate_of(to.monotonic - from.monotonic, to.ticks - from.ticks);
  }
}

clock_mapping::clock_mapping(const std::vector<clock_anchor>& anchors) noexcept {
  pieces_.clear();
  piece next;
  const auto begin = [&](const clock_anchor& at) {
    next.from = at;
    next.from.epoch -= next.steps;
  };
  for (std::size_t i = 0; i + 1 < anchors.size(); ++i) {
    const clock_anchor& a = anchors[i];
    const clock_anchor& b = anchors[i + 1];
    const bool set = was_set(a, b);
    const time_ns elapsed = set ? b.monotonic - a.monotonic : b.epoch - a.epoch;
    if (b.ticks > a.ticks && elapsed > 0) {
      begin(a);
      next.rate = rate_of(elapsed, b.ticks - a.ticks);
      pieces_.push_back(next);
    }
    next.steps += set ? gain(a, b) : 0;
    has_steps_ = has_steps_ || set;
  }
  if (!anchors.empty()) {
    begin(anchors.back());
  }
  if (pieces_.empty() || has_steps_) {
    pieces_.push_back(next);
  }
}

time_ns clock_mapping::steps_until(time_ns epoch, time_ns near) const noexcept {
  auto next = std::upper_bound(pieces_.begin(), pieces_.end(), near,
                               [](time_ns t, const piece& p) { return t < p.from.epoch; });
  time_ns best = next == pieces_.begin() ? next->steps : std::prev(next)->steps;
  for (int soon = 0; soon < 4 && next != pieces_.end(); ++soon, ++next) {
    best = std::abs(epoch - next->steps - near) < std::abs(epoch - best - near) ? next->steps : best;
  }
  return best;
}

time_ns clock_mapping::operator()(std::uint64_t ticks) const noexcept {
  auto next = std::upper_bound(pieces_.begin(), pieces_.end(), ticks,
                               [](std::uint64_t t, const piece& p) { return t < p.from.ticks; });
  const piece& p = next == pieces_.begin() ? *next : *std::prev(next);
  const bool later = ticks >= p.from.ticks;
  const std::uint64_t distance = later ? ticks - p.from.ticks : p.from.ticks - ticks;
  const auto elapsed = static_cast<time_ns>((static_cast<uint128>(distance) * p.rate) >> 48U);
  return later ? p.from.epoch + elapsed : p.from.epoch - elapsed;
}

clock_course course_of(const std::vector<clock_anchor>& anchors) noexcept {
  clock_course out;
  double before = 0;  // what the epoch's clock gains on the monotonic one, a nanosecond
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    out.error = std::max(out.error, anchors[i].error);
    if (i == 0) {
      continue;
    }
    const time_ns elapsed = anchors[i].monotonic - anchors[i - 1].monotonic;
    const time_ns gained = gain(anchors[i - 1], anchors[i]);
    if (was_set(anchors[i - 1], anchors[i])) {
      ++out.steps;
      out.furthest = std::abs(gained) > std::abs(out.furthest) ? gained : out.furthest;
    } else if (elapsed > 0) {
      // Between anchors the rate is taken as constant; as far as it changes from one to the next it was not.
      const double now = static_cast<double>(gained) / static_cast<double>(elapsed);
      const double bend = i > 1 ? std::abs(now - before) * static_cast<double>(elapsed) : 0;
      out.error = std::max(out.error, anchors[i].error + static_cast<time_ns>(bend));
      before = now;
    }
  }
  return out;
}

}  // namespace varve::record
