// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/trace.hpp>

#include <algorithm>
#include <numeric>

namespace varve {
inline namespace v0 {

namespace {

template <class Columns>
time_ns middle(const Columns& calls, std::uint32_t i) {
  return calls.begin[i] + (calls.end[i] - calls.begin[i]) / 2;
}

// A sweep along each thread: ranges open in order of their begin onto a stack, and the innermost that still
// holds the middle of a call owns it. Both ends of a range count as inside.
template <class Columns>
void join_to_ranges(const trace& t, Columns& calls) {
  std::vector<std::uint32_t> ranges(t.ranges.size());
  std::iota(ranges.begin(), ranges.end(), 0U);
  // Outer before inner where two begin together: the longer first, then in the order of the records.
  std::stable_sort(ranges.begin(), ranges.end(), [&](std::uint32_t a, std::uint32_t b) {
    const range& x = t.ranges[a];
    const range& y = t.ranges[b];
    return x.thread != y.thread ? x.thread < y.thread
           : x.begin != y.begin ? x.begin < y.begin
                                : x.end > y.end;
  });
  std::vector<std::uint32_t> order(calls.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::uint16_t x = calls.thread[a];
    const std::uint16_t y = calls.thread[b];
    return x != y ? x < y : middle(calls, a) < middle(calls, b);
  });

  std::vector<std::uint32_t> open;
  std::uint16_t thread = narrow_none;
  auto next = ranges.begin();
  for (const std::uint32_t c : order) {
    if (calls.thread[c] == narrow_none) {
      continue;
    }
    if (calls.thread[c] != thread) {
      thread = calls.thread[c];
      open.clear();
      next = std::find_if(next, ranges.end(), [&](std::uint32_t r) { return t.ranges[r].thread >= thread; });
    }
    const time_ns at = middle(calls, c);
    for (; next != ranges.end() && t.ranges[*next].thread == thread && t.ranges[*next].begin <= at; ++next) {
      if (t.ranges[*next].kind != range_kind::request) {
        open.push_back(*next);
      }
    }
    while (!open.empty() && t.ranges[open.back()].end < at) {
      open.pop_back();
    }
    if (calls.range[c] == none) {
      // Ranges that overlap without nesting: one below the top may have ended before it.
      calls.range[c] = open.empty() ? none : open.back();
    }
  }
}

}  // namespace

void join_calls_to_ranges(trace& t) { join_to_ranges(t, t.calls); }

void join_calls_to_ranges(const trace& t, call_columns& calls) { join_to_ranges(t, calls); }

void join_operators_to_ranges(trace& t) { join_to_ranges(t, t.operators); }

}  // namespace v0
}  // namespace varve
