// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What add_report() joins: the phases and rows of a window's report with those of the windows before.
#ifndef VARVE_ANALYZE_ADD_ROWS_HPP
#define VARVE_ANALYZE_ADD_ROWS_HPP

#include <varve/report.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// What was left out of a sum.
struct left_out {
  std::uint64_t rows = 0;           ///< beyond `most_rows` of a list
  std::uint64_t distributions = 0;  ///< that lack a histogram on one side
};

inline constexpr std::size_t most_rows = 65536;  ///< of each list

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
/// Joins rows without a tree; `moves`: those of kernels are others than those of copies and sets of one name.
void join_rows(std::vector<row>& total, std::vector<row>& next, bool moves, left_out& lost);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_ADD_ROWS_HPP
