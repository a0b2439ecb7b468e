// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What was counted in the calls of a row, as sums that add up, and the means made of them.
#ifndef VARVE_ANALYZE_COUNTED_SUMS_HPP
#define VARVE_ANALYZE_COUNTED_SUMS_HPP

#include <varve/report.hpp>

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// What is counted as one: the parts of a count add up.
using quantity = std::tuple<count_kind, math_pipe, std::uint8_t>;

template <class Count>
quantity quantity_of(const Count& c) noexcept {
  return {c.what, c.pipe, c.part};
}

/// Operations of a call, or −1.
[[nodiscard]] double operations_in(const counted_work& c) noexcept;

/// Adds to the sum of the same quantity.
void add_sum(std::vector<count_sum>& to, const count_sum& more);

/// All that was counted in any row.
[[nodiscard]] std::set<quantity> quantities_of(const report& r);

/// Makes the means of the sums. `all` was counted in some row: where one of a kind was not counted here, what
/// there is of that kind is not known.
void set_means(counted_work& c, const std::set<quantity>& all);
/// Of all rows, by what was counted in any of them.
void set_means(report& r);

/// Adds the calls of `other`. The means are then to be set, but where there are no sums, as in reports that
/// were made by hand: there they are those of both.
void add_calls(counted_work& to, const counted_work& other);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_COUNTED_SUMS_HPP
