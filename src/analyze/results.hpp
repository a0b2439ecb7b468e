// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_ANALYZE_RESULTS_HPP
#define VARVE_ANALYZE_RESULTS_HPP

#include "analyze/activities.hpp"
#include "analyze/calls.hpp"
#include "analyze/known_work.hpp"
#include "analyze/memory_use.hpp"
#include "analyze/pass_times.hpp"
#include "analyze/range_devices.hpp"
#include "analyze/rows.hpp"
#include "analyze/structure.hpp"
#include "analyze/sweep.hpp"
#include "analyze/wall.hpp"

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Everything that the rows are made from.
struct results {
  const trace& source;
  const structure& marks;
  const call_index& calls;
  const activity_table& activities;
  const row_table& rows;
  const range_devices& devices;
  const std::vector<pass_walls>& walls;  ///< by device
  const sweep_result& sweep;
  const spans_found& spans;
  const pass_times& passes;
  const memory_use& memory;
  const std::vector<std::uint32_t>& graph_rows;  ///< by graph launch: the layer that it was made in
  const std::vector<kernel_work>& kernel_works;  ///< by kernel row; empty where none is known
  bool histograms = false;                       ///< of distributions
};

/// The rows of the tree in the report's order: by phase, model, batch and device, then depth first.
struct tree_order {
  std::vector<std::uint32_t> row;       ///< by position: in row_table::rows
  std::vector<std::uint32_t> position;  ///< by row
  std::vector<std::uint32_t> last;      ///< by position: past its subtree
};

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_RESULTS_HPP
