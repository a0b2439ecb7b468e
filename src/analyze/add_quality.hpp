// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_ANALYZE_ADD_QUALITY_HPP
#define VARVE_ANALYZE_ADD_QUALITY_HPP

#include <varve/report.hpp>

#include <cstdint>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace analysis {

/// What shares of the quality are of, in a report whose rows are not added yet.
struct quality_weights {
  double activities = 0;  ///< their durations
  double working = 0;     ///< without collectives
};
[[nodiscard]] quality_weights weigh(const report& r);

/// Counts add up, shares by their weights, statuses are the latest.
void add_window(report_quality& to, const quality_weights& here, const report_quality& next,
                const quality_weights& there);

/// Adds a loss of what add_report() leaves out or mixes.
void lose(report_quality& q, std::string_view what, std::uint64_t count);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_ADD_QUALITY_HPP
