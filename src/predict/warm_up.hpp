// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Phases whose first passes take far longer than the others.
#ifndef VARVE_PREDICT_WARM_UP_HPP
#define VARVE_PREDICT_WARM_UP_HPP

#include <varve/report.hpp>

#include <vector>

namespace varve {
inline namespace v0 {
namespace predict {

/// Once a phase, whatever the number of its devices.
void find_warm_ups(const report& r, std::vector<finding>& found);

}  // namespace predict
}  // namespace v0
}  // namespace varve

#endif  // VARVE_PREDICT_WARM_UP_HPP
