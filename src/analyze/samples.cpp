// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/assemble.hpp"

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

grouped_values collect_calls(const results& from, const tree_order& order) {
  const std::vector<call_slot>& slots = from.rows.slots;
  std::vector<time_ns> solo(slots.size());
  for (std::size_t s = slots.size(); s-- > 0;) {
    solo[s] += slots[s].solo;
    if (slots[s].parent != none) {
      solo[slots[s].parent] += solo[s];
    }
  }
  grouped_values calls{order.row.size()};
  for (const call_slot& s : slots) {
    calls.count(order.position[s.row], s.counted ? 1 : 0);
  }
  calls.allocate();
  for (std::size_t s = 0; s < slots.size(); ++s) {
    if (slots[s].counted) {
      calls.add(order.position[slots[s].row], solo[s] + slots[s].joint.total());
    }
  }
  return calls;
}

}  // namespace

row_samples collect_samples(const results& from, const tree_order& order) {
  row_samples samples{collect_calls(from, order), grouped_values{order.row.size()},
                      grouped_values{order.row.size()}};
  const auto start_of = [&](std::uint32_t call) {
    return clamp_time(
        from.source.activities.begin[from.activities.record[from.activities.first_of_call[call]]]);
  };
  const auto each = [&](const auto& latency, const auto& queue) {
    for (const launch_record& l : from.launches) {
      const time_ns start = start_of(l.call);
      if (start >= from.calls.begin(l.call)) {
        latency(order.position[l.row], start - from.calls.begin(l.call));
      }
      if (start > from.calls.end(l.call)) {
        queue(order.position[l.row], start - from.calls.end(l.call));
      }
    }
  };
  each([&](std::uint32_t row, time_ns) { samples.latency.count(row); },
       [&](std::uint32_t row, time_ns) { samples.queue.count(row); });
  samples.latency.allocate();
  samples.queue.allocate();
  each([&](std::uint32_t row, time_ns delay) { samples.latency.add(row, delay); },
       [&](std::uint32_t row, time_ns delay) { samples.queue.add(row, delay); });
  return samples;
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
