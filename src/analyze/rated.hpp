// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Rates, roofs and verdicts by what was counted. docs/counters.md has the rules.
#ifndef VARVE_ANALYZE_RATED_HPP
#define VARVE_ANALYZE_RATED_HPP

#include <varve/report.hpp>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Of operations that are tensor cores'; other cores work beside them.
[[nodiscard]] bool is_tensor(math_pipe pipe) noexcept;

/// DRAM bytes of a call, or −1.
[[nodiscard]] double bytes_in(const counted_work& c) noexcept;

/// Whether all calls declare their work, up to what verdicts allow.
[[nodiscard]] bool declares_all(const measures& m) noexcept;

/// Lets rates and verdicts of the rows of `r`, and of those around them, rest on the counts that are `used`,
/// and says so in its quality. What rested on counts before goes back to what is declared.
void rate_by_counts(report& r);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_RATED_HPP
