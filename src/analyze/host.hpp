// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the host did: ranges and their work, calls and their time, and on which device's rows they count.
#ifndef VARVE_ANALYZE_HOST_HPP
#define VARVE_ANALYZE_HOST_HPP

#include "analyze/activities.hpp"
#include "analyze/calls.hpp"
#include "analyze/memory_use.hpp"
#include "analyze/range_devices.hpp"
#include "analyze/rows.hpp"
#include "analyze/structure.hpp"

#include <varve/trace.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Counts ranges, their memory, declared work and calls, and makes the rows of those that ran nothing.
/// Returns the row of each graph launch: of the range that it was made in; none of those that launched
/// nothing.
std::vector<std::uint32_t> count_host(const trace& t, const structure& s, const call_index& calls,
                                      const activity_table& activities, const range_devices& devices,
                                      const memory_use& memory, row_table& rows, report_quality& quality);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_HOST_HPP
