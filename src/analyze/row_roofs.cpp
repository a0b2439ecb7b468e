// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Roofs, summed up as the work that they are of.
#include "analyze/assemble.hpp"

#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

/// Of the row at position `k`; work of a pass itself is that of no layer.
roof_times own_roof(const results& from, const tree_order& order, std::uint32_t k) {
  const layer_row& source = from.rows.rows[order.row[k]];
  roof_times out;
  const auto add = [&](std::uint32_t row) {
    if (const roof_sums* const roof = from.rows.roofs.own(row); roof != nullptr) {
      add_to(out, roof->times);
    }
  };
  if (source.path != whole_pass) {
    add(order.row[k]);
  }
  if (source.path == outside) {
    add(source.parent);
  }
  return out;
}

void add_layer_roofs(const results& from, const tree_order& order, report& to) {
  std::vector<roof_times*> inclusive;  // by position
  std::uint32_t phase = 0;
  std::uint32_t layer = 0;
  for (const std::uint32_t r : order.row) {
    inclusive.push_back(from.rows.rows[r].path == whole_pass ? &to.phases[phase++].total.roof
                                                             : &to.layers[layer++].inclusive.roof);
  }
  for (auto k = static_cast<std::uint32_t>(order.row.size()); k-- > 0;) {
    const layer_row& source = from.rows.rows[order.row[k]];
    const roof_times one = own_roof(from, order, k);
    add_to(*inclusive[k], one);
    if (source.path != whole_pass) {
      to.layers[--layer].exclusive.roof = one;
    }
    if (source.parent != none) {
      add_to(*inclusive[order.position[source.parent]], *inclusive[k]);
    }
    for (std::uint32_t n = 0; n < source.label_count; ++n) {
      add_to(to.labels[from.rows.label_lists[source.first_label + n]].inclusive.roof, one);
    }
    if (source.last_label != none) {
      add_to(to.labels[source.last_label].exclusive.roof, one);
    }
  }
}

}  // namespace

void add_roofs(const results& from, const tree_order& order, report& to) {
  if (!from.rows.roofs.empty()) {
    add_layer_roofs(from, order, to);
  }
  for (std::size_t k = 0; k < from.kernel_works.size(); ++k) {
    row& kernel = to.kernels[k];
    kernel.inclusive.roof = kernel.exclusive.roof = from.kernel_works[k].roof.times;
    row& category = to.categories[from.rows.kernels[k].category];
    add_to(category.inclusive.roof, kernel.inclusive.roof);
    category.exclusive.roof = category.inclusive.roof;
  }
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
