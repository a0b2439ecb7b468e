// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which kernel takes most of a layer's own time.
#include "analyze/assemble.hpp"

#include "analyze/flat_map.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

constexpr double least_share = 0.01;  ///< of the phase's GPU time: of what takes less nobody asks

}  // namespace

void add_main_kernels(const results& from, const tree_order& order, report& to) {
  const row_table& rows = from.rows;
  std::vector<std::uint32_t> layer_of_row(rows.rows.size(), none);  // in report::layers, of those that count
  std::uint32_t layer = 0;
  std::uint32_t phase = none;
  bool any = false;
  // report::phases and report::layers are in the order of the tree, a phase before its layers.
  for (const std::uint32_t r : order.row) {
    if (rows.rows[r].path == whole_pass) {
      ++phase;
      continue;
    }
    const auto own = static_cast<double>(to.layers[layer].exclusive.gpu_time);
    if (own > 0 && own >= least_share * static_cast<double>(to.phases[phase].total.gpu_time)) {
      layer_of_row[r] = layer;
      any = true;
    }
    ++layer;
  }
  if (!any) {
    return;
  }
  struct kernel_time {
    std::uint32_t layer;
    std::uint32_t kernel;
    time_ns time;
  };
  std::vector<kernel_time> times;
  flat_map ids;
  const activity_columns& columns = from.source.activities;
  for (std::uint32_t pos = 0; pos < from.activities.size; ++pos) {
    const std::uint32_t of = layer_of_row[rows.slots[from.activities.slot[pos]].row];
    const std::uint32_t i = from.activities.record_at(pos);
    if (of == none || columns.kind[i] != activity_kind::kernel) {
      continue;
    }
    const std::uint32_t kernel = from.sweep.kernel[pos];
    std::uint32_t& id = ids[pair_key(of, kernel)];
    if (id == none) {
      id = static_cast<std::uint32_t>(times.size());
      times.push_back({of, kernel, 0});
    }
    add_to(times[id].time, columns.end[i] - columns.begin[i]);
  }
  const auto name = [&](const kernel_time& k) { return from.source.strings[rows.kernels[k.kernel].name]; };
  std::sort(times.begin(), times.end(), [&](const kernel_time& a, const kernel_time& b) {
    return std::tuple{a.layer, -a.time, name(a)} < std::tuple{b.layer, -b.time, name(b)};
  });
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (k == 0 || times[k].layer != times[k - 1].layer) {
      to.layers[times[k].layer].main_kernel = name(times[k]);
    }
  }
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
