// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_ANALYZE_ALIKE_HPP
#define VARVE_ANALYZE_ALIKE_HPP

#include <varve/report.hpp>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Brings reports of two windows to what analyze() would have made of each beside the other: where one lacks
/// passes, activities or work, it counts otherwise.
void make_alike(report& total, report& next);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_ALIKE_HPP
