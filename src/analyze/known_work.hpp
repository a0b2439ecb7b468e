// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Of which activities the work is known, by whose word, and which kernels do it. Passes over the activities
// of a trace that tells any work; nothing for others.
#ifndef VARVE_ANALYZE_KNOWN_WORK_HPP
#define VARVE_ANALYZE_KNOWN_WORK_HPP

#include "analyze/activities.hpp"
#include "analyze/range_devices.hpp"
#include "analyze/roofs.hpp"
#include "analyze/rows.hpp"

#include <varve/report.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Adds to the rows the time of what has no known work, and to the quality by whose word it is known.
/// `known` is of operators_of_known_work().
void count_known_work(const trace& t, const structure& s, const std::vector<bool>& known,
                      const activity_table& activities, row_table& rows, report_quality& quality);

/// Work of one kernel row.
struct kernel_work {
  work declared;
  roof_sums roof;
  time_ns time = 0;          ///< duration of the kernels whose work it is
  std::int64_t kernels = 0;  ///< their number
};

/// By kernel row, empty where none is known: a kernel does the work of the operator, range or replay that
/// launched it and no other kernel; in predictions each kernel does its own. `kernel` is the row of each
/// activity.
[[nodiscard]] std::vector<kernel_work> find_kernel_work(const trace& t, const structure& s,
                                                        const activity_table& activities,
                                                        const std::vector<std::uint32_t>& kernel,
                                                        const row_table& rows);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_KNOWN_WORK_HPP
