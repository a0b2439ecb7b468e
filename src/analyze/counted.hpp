// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What devices counted in ranges. docs/counters.md has the rules.
#ifndef VARVE_ANALYZE_COUNTED_HPP
#define VARVE_ANALYZE_COUNTED_HPP

#include "analyze/results.hpp"

#include <varve/report.hpp>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Fills in what was counted in the calls of layers and phases, with findings of what differs from the
/// declared work; after tidy().
void add_counts(const results& from, const tree_order& order, report& to);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_COUNTED_HPP
