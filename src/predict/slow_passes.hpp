// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What gauges showed in passes that took longer than the others of their kind.
#ifndef VARVE_PREDICT_SLOW_PASSES_HPP
#define VARVE_PREDICT_SLOW_PASSES_HPP

#include <varve/report.hpp>

#include <vector>

namespace varve {
inline namespace v0 {
namespace predict {

/// Adds findings of clocks that dropped, page faults and context switches in slow passes.
void find_causes_of_slow_passes(const report& r, std::vector<finding>& found);

}  // namespace predict
}  // namespace v0
}  // namespace varve

#endif  // VARVE_PREDICT_SLOW_PASSES_HPP
