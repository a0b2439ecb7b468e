// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/range_order.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

void order_ranges(trace& t, std::uint32_t marked) {
  std::vector<range>& ranges = t.ranges;
  std::vector<bool> moves(ranges.size(), false);
  for (std::uint32_t r = 0; r < marked; ++r) {
    moves[r] = ranges[r].parent >= marked ? ranges[r].parent != none : moves[ranges[r].parent];
  }
  std::vector<std::uint32_t> order(ranges.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_partition(order.begin(), order.end(), [&](std::uint32_t r) { return !moves[r]; });
  std::vector<std::uint32_t> moved_to(ranges.size());
  std::vector<range> sorted;
  sorted.reserve(ranges.size());
  for (const std::uint32_t r : order) {
    moved_to[r] = static_cast<std::uint32_t>(sorted.size());
    range next = ranges[r];
    next.parent = next.parent == none ? none : moved_to[next.parent];
    if (moves[r]) {
      label_node label = t.labels[next.label];
      label.parent = sorted[next.parent].label;
      next.label = t.labels.intern(label);
    }
    sorted.push_back(next);
  }
  ranges.swap(sorted);
  const auto follow = [&](std::uint32_t& r) { r = r < moved_to.size() ? moved_to[r] : r; };
  for (auto* column : {&t.calls.range, &t.operators.range, &t.range_of_activity}) {
    std::for_each(column->begin(), column->end(), follow);
  }
  for (range_attribute& a : t.attributes) {
    follow(a.range);
  }
  for (sequence_shape& s : t.sequences) {
    follow(s.range);
  }
  for (range_model& m : t.models) {
    follow(m.range);
  }
  for (range_work& w : t.works) {
    follow(w.range);
  }
  for (request_link& l : t.requests) {
    follow(l.request);
    follow(l.pass);
  }
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
