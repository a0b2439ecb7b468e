// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/add_rows.hpp"

#include "analyze/add_sums.hpp"
#include "analyze/distribution.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

auto key_of(const row& r, bool moves) noexcept {
  return std::tuple{std::string_view{r.path},
                    std::string_view{r.label},
                    r.index,
                    r.depth,
                    group_of(r),
                    moves && (r.inclusive.copies > 0 || r.inclusive.sets > 0)};
}

void add_row(row& to, const row& next, left_out& lost) {
  if (to.main_kernel.empty() ||
      (!next.main_kernel.empty() && next.exclusive.gpu_time > to.exclusive.gpu_time)) {
    to.main_kernel = next.main_kernel;
  }
  if (next.shapes > 0) {
    const auto same = [](const launch_shape& a, const launch_shape& b) {
      return std::equal(a.grid, std::end(a.grid), b.grid) &&
             std::equal(a.block, std::end(a.block), b.block) && a.registers == b.registers &&
             a.static_shared_memory == b.static_shared_memory &&
             a.dynamic_shared_memory == b.dynamic_shared_memory;
    };
    const bool differ = to.shapes > 0 && !same(to.shape, next.shape);
    if (to.shapes == 0 || (differ && next.inclusive.calls > to.inclusive.calls)) {
      to.shape = next.shape;
      to.occupied = next.occupied;
    }
    to.shapes = std::max({to.shapes, next.shapes, std::int64_t{differ ? 2 : 1}});
  }
  add_window(to.inclusive, next.inclusive);
  add_window(to.exclusive, next.exclusive);
  add_window(to.per_call, next.per_call, lost);
  add_window(to.launch_latency, next.launch_latency, lost);
  add_window(to.queue_delay, next.queue_delay, lost);
  add_window(to.counted, next.counted);
}

}  // namespace

void add_window(distribution& to, const distribution& next, left_out& lost) {
  lost.distributions += add_distribution(to, next) ? 0U : 1U;
}

std::vector<std::uint32_t> join_rows(std::vector<row>& total, std::vector<row>& next, bool moves,
                                     left_out& lost) {
  std::vector<std::uint32_t> places = match(total, next, [&](const row& r) { return key_of(r, moves); });
  for (std::uint32_t i = 0; i < next.size(); ++i) {
    if (places[i] != none) {
      add_row(total[places[i]], next[i], lost);
      continue;
    }
    const bool has_parent = next[i].parent < i;
    const std::uint32_t parent = has_parent ? places[next[i].parent] : none;
    if (total.size() >= most_rows || (has_parent && parent == none)) {
      ++lost.rows;
      continue;
    }
    next[i].parent = parent;
    places[i] = static_cast<std::uint32_t>(total.size());
    total.push_back(std::move(next[i]));
  }
  return places;
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
