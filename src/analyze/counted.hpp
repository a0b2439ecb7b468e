// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What devices counted in ranges. docs/counters.md has the rules.
#ifndef VARVE_ANALYZE_COUNTED_HPP
#define VARVE_ANALYZE_COUNTED_HPP

#include "analyze/results.hpp"

#include <varve/report.hpp>

#include <functional>
#include <string>

namespace varve {
inline namespace v0 {
namespace analysis {

/// What a call is declared to move and do; zeros where none is known. Where calls without declared work are
/// among them, of those with it.
struct declared_work {
  double bytes = 0;
  double flops = 0;
};
[[nodiscard]] declared_work declared_in(const measures& m) noexcept;
[[nodiscard]] declared_work declared_in(const phase_row& p) noexcept;

/// What there is against letting rates rest on the counts of a row or phase; empty: nothing.
struct count_check {
  std::function<std::string(const varve::row&)> row;
  std::function<std::string(const phase_row&)> phase;
};

/// Explains the counts that are there, lets rates and verdicts rest on those that nothing is against, and
/// finds what differs from the declared work.
void settle_counts(report& r, const count_check& check);

/// Fills in what was counted in the calls of layers and phases, with findings of what differs from the
/// declared work; after tidy().
void add_counts(const results& from, const tree_order& order, report& to);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_COUNTED_HPP
