// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/wall.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace varve {
inline namespace v0 {
namespace analysis {

wall_partition to_partition(const wall_parts& parts) noexcept {
  const auto part = [&](instant what) { return parts[static_cast<std::size_t>(what)]; };
  wall_partition out;
  out.compute = part(instant::compute);
  out.exposed_communication = part(instant::communication);
  out.exposed_copy = part(instant::copy);
  out.starved.launching = part(instant::launching);
  out.starved.graph_building = part(instant::graph_building);
  out.starved.synchronising = part(instant::synchronising);
  out.starved.allocating = part(instant::allocating);
  out.starved.other = part(instant::other);
  out.device_gap = part(instant::device_gap);
  out.unrecorded = part(instant::unrecorded);
  return out;
}

namespace {

pass_walls read_walls(const structure& s, const std::vector<std::uint32_t>& passes) {
  const auto all_passes = static_cast<std::uint32_t>(s.keys.size());
  pass_walls walls;
  walls.length.assign(s.keys.size(), 0);
  std::vector<std::pair<std::uint32_t, interval>> order;  // by key
  for (const std::uint32_t p : passes) {
    order.push_back({s.passes[p].key, {s.passes[p].begin, s.passes[p].end}});
  }
  for (const pass& p : s.passes) {
    order.push_back({all_passes, {p.begin, p.end}});
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::tuple{a.first, a.second.begin} < std::tuple{b.first, b.second.begin};
  });
  for (std::size_t k = 0; k < order.size();) {
    const std::uint32_t key = order[k].first;
    const time_ns begin = order[k].second.begin;
    time_ns end = begin;
    for (; k < order.size() && order[k].first == key && order[k].second.begin <= end; ++k) {
      end = std::max(end, order[k].second.end);
    }
    walls.boundaries.push_back({begin, key, true});
    walls.boundaries.push_back({end, key, false});
    if (key != all_passes) {
      walls.length[key] += end - begin;
    }
  }
  std::stable_sort(walls.boundaries.begin(), walls.boundaries.end(),
                   [](const boundary& a, const boundary& b) { return a.at < b.at; });
  if (!walls.boundaries.empty()) {
    walls.begin = walls.boundaries.front().at;
    walls.end = walls.boundaries.back().at;
  }
  return walls;
}

}  // namespace

std::vector<pass_walls> read_walls(const structure& s, const range_devices& devices, std::size_t count) {
  std::vector<std::vector<std::uint32_t>> passes(count);
  for (std::uint32_t p = 0; p < s.passes.size(); ++p) {
    devices.each_of(s.passes[p], [&](std::uint32_t device) { passes[device].push_back(p); });
  }
  std::vector<pass_walls> out;
  for (const auto& of_device : passes) {
    out.push_back(read_walls(s, of_device));
  }
  return out;
}

wall_clock::wall_clock(const pass_walls& walls, std::size_t keys)
    : boundaries_{walls.boundaries}, parts_(keys + 1), open_(keys + 1, 0) {
  if (!boundaries_.empty()) {
    next_at_ = boundaries_[0].at;
  }
}

time_ns wall_clock::add_across(time_ns begin, time_ns end, instant what, std::uint32_t key) {
  time_ns inside = 0;
  const auto advance = [&](time_ns to) {
    if (to > begin) {
      sums_[static_cast<std::size_t>(what)] += to - begin;
      inside += open_[key] != 0 ? to - begin : 0;
      begin = to;
    }
  };
  while (next_at_ < end) {
    advance(next_at_);
    pass_boundary();
  }
  advance(end);
  return inside;
}

// What was summed up before a wall opens is taken off, what was until it ends is added.
void wall_clock::pass_boundary() {
  const boundary& b = boundaries_[next_++];
  next_at_ = next_ < boundaries_.size() ? boundaries_[next_].at : far;
  const auto settle = [&](wall_parts& parts) {
    for (std::size_t k = 0; k < parts.size(); ++k) {
      parts[k] += b.opens ? -sums_[k] : sums_[k];
    }
  };
  open_[b.key] = b.opens ? 1 : 0;
  settle(parts_[b.key]);
  open_count_ += b.opens ? 1U : ~0U;
}

void wall_clock::finish() {
  while (next_ < boundaries_.size()) {
    pass_boundary();
  }
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
