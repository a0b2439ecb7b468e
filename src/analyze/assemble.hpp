// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// From sums to a report's rows. Distributions are only asked for; tidy() comes when they are there.
#ifndef VARVE_ANALYZE_ASSEMBLE_HPP
#define VARVE_ANALYZE_ASSEMBLE_HPP

#include "analyze/results.hpp"
#include "analyze/samples.hpp"

#include <varve/report.hpp>

#include <cstdint>

namespace varve {
inline namespace v0 {
namespace analysis {

[[nodiscard]] tree_order order_rows(const structure& s, const row_table& rows);

/// Fills report::layers and report::phases.
void add_layers(const results& from, const tree_order& order, samples& values, report& to);
/// Fills in row::main_kernel of report::layers and report::labels, which are there; before tidy().
void add_main_kernels(const results& from, const tree_order& order, report& to);
/// Fills report::labels; needs report::layers.
void add_labels(const results& from, const tree_order& order, samples& values, report& to);
/// Fills report::kernels and report::categories.
void add_kernels(const results& from, samples& values, report& to);
/// Fills in the roofs of all views; before tidy().
void add_roofs(const results& from, const tree_order& order, report& to);
/// What sources say of the same work, where they differ; after tidy().
void add_differences(const results& from, const tree_order& order, report& to);
void add_devices(const results& from, report& to);
void add_requests(const results& from, report& to);
/// Brings the rows that have no tree into their order: as the phases, then by GPU time.
void sort_rows(report& r);
/// That, and drops what is in no pass from the phases.
void tidy(report& r);

/// Adds what overlapping activities share to sums of what ran alone.
void add_joint(measures& to, const union_length& joint, const sharing& share);
/// Fills in what identifies a row's group.
void name_group(const results& from, std::uint32_t group, row& to);
/// The sums of activities and calls, GPU time as far as it ran alone on its device.
[[nodiscard]] measures to_measures(const activity_sums& a, const call_sums& c);
void set_span(measures& to, const time_extent& extent) noexcept;
/// Adds up what is the sum of its parts.
void add_parts(measures& to, const measures& part);
void add_parts(starved_time& to, const starved_time& part);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_ASSEMBLE_HPP
