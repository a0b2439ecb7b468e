// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/repair.hpp"

#include "analyze/numbers.hpp"
#include "analyze/time_order.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

std::array<std::size_t, 7> sizes(const call_columns& c) noexcept {
  return {c.begin.size(),  c.end.size(),  c.correlation.size(), c.range.size(),
          c.thread.size(), c.kind.size(), c.captured.size()};
}

std::array<std::size_t, 8> sizes(const activity_columns& a) noexcept {
  return {a.begin.size(), a.end.size(),    a.correlation.size(), a.name.size(),
          a.node.size(),  a.detail.size(), a.stream.size(),      a.kind.size()};
}

template <class Columns>
bool are_even(const Columns& columns) noexcept {
  const auto all = sizes(columns);
  return std::all_of(all.begin(), all.end(), [&](std::size_t n) { return n == all[0] && n < none; });
}

/// The size that all columns have records for; adds what is beyond to `lost`.
template <class Columns>
std::size_t even_size(const Columns& columns, std::uint64_t& lost) {
  const auto all = sizes(columns);
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  const std::size_t kept = std::min<std::size_t>(*least, none - 1);
  lost += *most - kept;
  return kept;
}

/// Bit 63 is set when any time lies outside [−2^62, 2^62).
std::uint64_t excess(const std::vector<time_ns>& times) noexcept {
  std::uint64_t bits = 0;
  for (const time_ns t : times) {
    bits |= static_cast<std::uint64_t>(t) + (std::uint64_t{1} << 62);
  }
  return bits;
}

bool has_reversed(const call_columns& c) noexcept {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < c.begin.size(); ++i) {
    bits |= static_cast<std::uint64_t>(c.end[i]) - static_cast<std::uint64_t>(c.begin[i]);
  }
  return bits >> 63 != 0;
}

// Records in a random order: each would be fetched from memory anew in every walk along the time. Records
// that come in buffers, or a little late, are fine.
bool is_scattered(const std::vector<time_ns>& begin) {
  constexpr std::size_t stride = 16;
  if (begin.size() < 1000 * stride) {
    return false;
  }
  const auto [least, most] = std::minmax(begin.front(), begin.back());
  const time_ns far_back = most / 1024 - least / 1024;
  std::size_t jumps = 0;
  for (std::size_t i = stride; i < begin.size(); i += stride) {
    jumps += begin[i] / 2 < begin[i - 1] / 2 - far_back / 2 ? 1U : 0U;
  }
  return jumps > begin.size() / stride / 64;
}

template <class T>
void permute(std::vector<T>& column, const std::vector<std::uint32_t>& order) {
  if (column.size() < order.size()) {
    return;  // a column that the trace lacks
  }
  std::vector<T> out;
  out.reserve(column.size());
  for (const std::uint32_t i : order) {
    out.push_back(column[i]);
  }
  column.swap(out);
}

std::vector<std::uint32_t> order_of(const std::vector<time_ns>& begin) {
  std::vector<std::uint32_t> order(begin.size());
  std::iota(order.begin(), order.end(), 0U);
  sort_by_time(
      std::span{order}, [&](std::uint32_t i) { return begin[i]; },
      [&](std::uint32_t a, std::uint32_t b) { return begin[a] != begin[b] ? begin[a] < begin[b] : a < b; });
  return order;
}

}  // namespace

bool needs_repair(const trace& t) noexcept {
  return !are_even(t.calls) || !are_even(t.activities) ||
         ((excess(t.calls.begin) | excess(t.calls.end) | excess(t.activities.begin) |
           excess(t.activities.end)) >>
          63) != 0 ||
         has_reversed(t.calls) || is_scattered(t.calls.begin) || is_scattered(t.activities.begin);
}

repairs repair(trace& t) {
  repairs r;
  call_columns& c = t.calls;
  const std::size_t calls = even_size(c, r.incomplete);
  c.begin.resize(calls);
  c.end.resize(calls);
  c.correlation.resize(calls);
  c.range.resize(calls);
  c.thread.resize(calls);
  c.kind.resize(calls);
  c.captured.resize(calls);
  activity_columns& a = t.activities;
  const std::size_t activities = even_size(a, r.incomplete);
  a.begin.resize(activities);
  a.end.resize(activities);
  a.correlation.resize(activities);
  a.name.resize(activities);
  a.node.resize(activities);
  a.detail.resize(activities);
  a.stream.resize(activities);
  a.kind.resize(activities);

  for (std::size_t i = 0; i < calls; ++i) {
    if (c.end[i] < c.begin[i]) {
      c.end[i] = c.begin[i];
      ++r.reversed_calls;
    }
  }
  for (std::vector<time_ns>* times : {&c.begin, &c.end, &a.begin, &a.end}) {
    for (time_ns& time : *times) {
      r.absurd_times += time != clamp_time(time) ? 1U : 0U;
      time = clamp_time(time);
    }
  }
  if (is_scattered(c.begin)) {
    const std::vector<std::uint32_t> order = order_of(c.begin);
    permute(c.begin, order);
    permute(c.end, order);
    permute(c.correlation, order);
    permute(c.range, order);
    permute(c.thread, order);
    permute(c.kind, order);
    permute(c.captured, order);
    permute(t.operator_of_call, order);
    permute(t.call_names, order);
  }
  if (is_scattered(a.begin)) {
    const std::vector<std::uint32_t> order = order_of(a.begin);
    permute(a.begin, order);
    permute(a.end, order);
    permute(a.correlation, order);
    permute(a.name, order);
    permute(a.node, order);
    permute(a.detail, order);
    permute(a.stream, order);
    permute(a.kind, order);
    permute(t.operator_of_activity, order);
    permute(t.range_of_activity, order);
    std::vector<std::uint32_t> place(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
    }
    for (collective& x : t.collectives) {
      x.activity = x.activity < place.size() ? place[x.activity] : none;
    }
  }
  return r;
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
