// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Layers after which more of the device's memory is in use than after their peers, and phases whose passes
// leave more and more in use.
#ifndef VARVE_PREDICT_MEMORY_JUMPS_HPP
#define VARVE_PREDICT_MEMORY_JUMPS_HPP

#include "predict/peers.hpp"

#include <varve/report.hpp>

#include <vector>

namespace varve {
inline namespace v0 {
namespace predict {

/// What several devices tell of the same passes is told once.
void find_memory_jumps(const report& r, const std::vector<peers>& groups, std::vector<finding>& found);

}  // namespace predict
}  // namespace v0
}  // namespace varve

#endif  // VARVE_PREDICT_MEMORY_JUMPS_HPP
