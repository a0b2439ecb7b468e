// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Arithmetic on times that may be anything: nothing here overflows.
#ifndef VARVE_ANALYZE_NUMBERS_HPP
#define VARVE_ANALYZE_NUMBERS_HPP

#include <varve/trace.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Times are cut to ±far, so that the difference of any two fits.
inline constexpr time_ns far = (time_ns{1} << 62) - 1;

constexpr time_ns clamp_time(time_ns t) noexcept { return t < -far ? -far : t > far ? far : t; }

/// a + b, or the nearest number that there is.
constexpr std::int64_t plus(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  }
  return sum;
}

constexpr void add_to(std::int64_t& a, std::int64_t b) noexcept { a = plus(a, b); }

constexpr void add_to(work& a, const work& b) noexcept {
  a.pipe = common_pipe(a, b);
  add_to(a.flops, b.flops);
  add_to(a.weight_bytes, b.weight_bytes);
  add_to(a.kv_bytes, b.kv_bytes);
  add_to(a.activation_bytes, b.activation_bytes);
  add_to(a.bytes_below, b.bytes_below);
  add_to(a.bytes_above, b.bytes_above);
  add_to(a.doubled_bytes, b.doubled_bytes);
}

constexpr bool declares_work(const work& w) noexcept { return w != work{}; }

/// Half-open.
struct interval {
  time_ns begin = 0;
  time_ns end = 0;
};

/// Sorts intervals and joins those that touch; empty ones go.
inline void unite(std::vector<interval>& intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const interval& a, const interval& b) {
    return std::tuple{a.begin, a.end} < std::tuple{b.begin, b.end};
  });
  std::size_t kept = 0;
  for (const interval& i : intervals) {
    if (i.begin >= i.end) {
      continue;
    }
    if (kept > 0 && i.begin <= intervals[kept - 1].end) {
      intervals[kept - 1].end = std::max(intervals[kept - 1].end, i.end);
    } else {
      intervals[kept++] = i;
    }
  }
  intervals.resize(kept);
}

/// From the first begin to the last end.
struct time_extent {
  time_ns first = far;
  time_ns last = -far;

  void add(time_ns begin, time_ns end) noexcept {
    first = std::min(first, begin);
    last = std::max(last, end);
  }
  void add(const time_extent& other) noexcept { add(other.first, other.last); }
  [[nodiscard]] time_ns length() const noexcept { return last >= first ? last - first : 0; }
};

/// Length of the union of intervals that come in order of their begin.
class union_length {
 public:
  void add(time_ns begin, time_ns end) noexcept {
    if (end > end_) {
      total_ += end - std::max(begin, end_);
      end_ = end;
    }
  }
  [[nodiscard]] time_ns total() const noexcept { return total_; }

 private:
  time_ns total_ = 0;
  time_ns end_ = -far;
};

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_NUMBERS_HPP
