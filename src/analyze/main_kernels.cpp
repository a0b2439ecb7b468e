// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which kernel takes most of a layer's own time, and of all layers' of one label.
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
  std::vector<std::uint32_t> label_of_row(rows.rows.size(), none);  // in report::labels, likewise
  std::uint32_t layer = 0;
  std::uint32_t phase = none;
  bool any = false;
  const auto counts = [&](const row& of) {
    const auto own = static_cast<double>(of.exclusive.gpu_time);
    return own > 0 && own >= least_share * static_cast<double>(to.phases[phase].total.gpu_time);
  };
  // report::phases and report::layers are in the order of the tree, a phase before its layers.
  for (const std::uint32_t r : order.row) {
    if (rows.rows[r].path == whole_pass) {
      ++phase;
      continue;
    }
    if (counts(to.layers[layer])) {
      layer_of_row[r] = layer;
      any = true;
    }
    if (const std::uint32_t label = rows.rows[r].last_label; label != none && counts(to.labels[label])) {
      label_of_row[r] = label;
      any = true;
    }
    ++layer;
  }
  if (!any) {
    return;
  }
  struct kernel_time {
    std::uint32_t row;  // in report::layers, and behind these in report::labels
    std::uint32_t kernel;
    time_ns time;
  };
  std::vector<kernel_time> times;
  flat_map ids;
  const activity_columns& columns = from.source.activities;
  const auto add = [&](std::uint32_t of, std::uint32_t kernel, time_ns time) {
    std::uint32_t& id = ids[pair_key(of, kernel)];
    if (id == none) {
      id = static_cast<std::uint32_t>(times.size());
      times.push_back({of, kernel, 0});
    }
    add_to(times[id].time, time);
  };
  const auto layers = static_cast<std::uint32_t>(to.layers.size());
  for (std::uint32_t pos = 0; pos < from.activities.size; ++pos) {
    const std::uint32_t r = rows.slots[from.activities.slot[pos]].row;
    const std::uint32_t i = from.activities.record_at(pos);
    if (columns.kind[i] != activity_kind::kernel) {
      continue;
    }
    const std::uint32_t kernel = from.sweep.kernel[pos];
    const time_ns time = columns.end[i] - columns.begin[i];
    if (layer_of_row[r] != none) {
      add(layer_of_row[r], kernel, time);
    }
    if (label_of_row[r] != none) {
      add(layers + label_of_row[r], kernel, time);
    }
  }
  const auto name = [&](const kernel_time& k) { return from.source.strings[rows.kernels[k.kernel].name]; };
  std::sort(times.begin(), times.end(), [&](const kernel_time& a, const kernel_time& b) {
    return std::tuple{a.row, -a.time, name(a)} < std::tuple{b.row, -b.time, name(b)};
  });
  for (std::size_t k = 0; k < times.size(); ++k) {
    const std::uint32_t of = times[k].row;
    if (k == 0 || of != times[k - 1].row) {
      (of < layers ? to.layers[of] : to.labels[of - layers]).main_kernel = name(times[k]);
    }
  }
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
