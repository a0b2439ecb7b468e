// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What gauges showed while passes were open. docs/gauges.md has the rules.
#ifndef VARVE_ANALYZE_GAUGES_HPP
#define VARVE_ANALYZE_GAUGES_HPP

#include "analyze/results.hpp"

#include <varve/report.hpp>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Fills in the gauges of phases and devices; after tidy().
void add_gauges(const results& from, report& to);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_GAUGES_HPP
