// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Collectives: their common names, their messages' bytes, and the rows by name and number of ranks.
#ifndef VARVE_ANALYZE_COLLECTIVES_HPP
#define VARVE_ANALYZE_COLLECTIVES_HPP

#include "analyze/activities.hpp"
#include "analyze/rows.hpp"
#include "analyze/structure.hpp"
#include "analyze/sweep.hpp"

#include <varve/report.hpp>

#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// "all-reduce" of "allreduce_coalesced", "nccl:all_reduce" or a kernel's name; empty when it tells none.
[[nodiscard]] std::string_view collective_name(std::string_view recorded);

/// By its sums.
void set_bandwidth(collective_row& row) noexcept;

/// Adds the bytes of messages to the rows of layers and kernels, and makes the rows of collectives, the one
/// with the most GPU time first in each kind of pass.
[[nodiscard]] std::vector<collective_row> count_collectives(const trace& t, const structure& s,
                                                            const activity_table& activities,
                                                            const sweep_result& sweep, row_table& rows);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_COLLECTIVES_HPP
