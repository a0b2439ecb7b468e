// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_ANALYZE_ADD_TREES_HPP
#define VARVE_ANALYZE_ADD_TREES_HPP

#include "analyze/add_rows.hpp"

#include <varve/report.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Where rows or phases went, by their position before: of both reports. `none`: left out.
struct new_places {
  std::vector<std::uint32_t> of_total;
  std::vector<std::uint32_t> of_next;
};
struct joined {
  new_places phases;
  new_places layers;
};

/// Joins phases and layers, whose samples go together. `next` is used up.
joined join_trees(report& total, report& next, left_out& lost);
}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_ADD_TREES_HPP
