// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// From sums to a report's rows.
#ifndef VARVE_ANALYZE_ASSEMBLE_HPP
#define VARVE_ANALYZE_ASSEMBLE_HPP

#include "analyze/activities.hpp"
#include "analyze/distribution.hpp"
#include "analyze/host.hpp"
#include "analyze/rows.hpp"
#include "analyze/structure.hpp"
#include "analyze/sweep.hpp"
#include "analyze/wall.hpp"

#include <varve/report.hpp>

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
  const pass_walls& walls;
  const sweep_result& sweep;
  const std::vector<launch_record>& launches;
};

/// The rows of the tree in the report's order: by phase, model, batch and device, then depth first.
struct tree_order {
  std::vector<std::uint32_t> row;       ///< by position: in row_table::rows
  std::vector<std::uint32_t> position;  ///< by row
  std::vector<std::uint32_t> last;      ///< by position: past its subtree
  std::vector<std::uint32_t> rank;      ///< by row_group: its place in the order
};

[[nodiscard]] tree_order order_rows(const structure& s, const row_table& rows);

/// Values for distributions, by position in the tree, each row's own.
struct row_samples {
  grouped_values calls;    ///< GPU time of each call, with what ran in the ranges inside
  grouped_values latency;  ///< of each launch
  grouped_values queue;    ///< of each launch whose activity waited
};

[[nodiscard]] row_samples collect_samples(const results& from, const tree_order& order);

/// Fills report::layers and report::phases.
void add_layers(const results& from, const tree_order& order, const row_samples& samples, report& to);
/// Fills report::labels; needs report::layers.
void add_labels(const results& from, const tree_order& order, const row_samples& samples, report& to);
/// Fills report::kernels and report::categories.
void add_kernels(const results& from, const tree_order& order, report& to);
void add_devices(const results& from, report& to);
void add_requests(const results& from, report& to);

/// Sorts rows without a tree: by phase and device (`ranks`, one a row), then by GPU time.
void sort_flat(std::vector<row>& rows, const std::vector<std::uint32_t>& ranks);
/// Adds what overlapping activities share to sums of what ran alone.
void add_joint(measures& to, const union_length& joint, const sharing& share);
/// Fills in what identifies a row's group.
void name_group(const results& from, std::uint32_t group, row& to);
/// The sums of activities and calls, GPU time as far as it ran alone on its device.
[[nodiscard]] measures to_measures(const activity_sums& a, const call_sums& c);
/// Adds up what is the sum of its parts.
void add_parts(measures& to, const measures& part);
void add_parts(starved_time& to, const starved_time& part);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_ASSEMBLE_HPP
