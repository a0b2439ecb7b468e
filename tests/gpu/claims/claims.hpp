// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What reports of a run on a GPU must show, as lines of ./dev gpu's summary.
#ifndef VARVE_TESTS_GPU_CLAIMS_CLAIMS_HPP
#define VARVE_TESTS_GPU_CLAIMS_CLAIMS_HPP

#include <varve/report.hpp>

#include <string>
#include <string_view>

namespace varve_gpu {

struct claim {
  bool holds = false;
  std::string text;  ///< what, and the numbers behind it
};

/// 99.9 % of GPU time and of all kernels belong to a layer.
[[nodiscard]] claim attributed(const varve::report& r);

/// The verdict of the first phase of this kind on a device.
[[nodiscard]] claim bound_by(const varve::report& r, std::string_view phase, varve::bound by);

/// Of decode: as graphs a pass takes what the report of eager launches predicted, to within a quarter or
/// between its best and its worst, and the overhead ratio is less.
[[nodiscard]] claim graphs_as_predicted(const varve::report& eager, const varve::report& replayed);

/// In prefill and decode the same rows ran something, with as many calls and kernels, and MLPs have as many
/// FLOPs.
[[nodiscard]] claim same_work(const varve::report& own, const varve::report& from_outside);

/// Each outermost row in prefill and decode has DRAM bytes counted; those called "layer", of a model that no
/// cache holds, some.
[[nodiscard]] claim counted(const varve::report& joined);

/// Of each of these "layers" it is told by how much what DRAM moved differs from what is declared, and why.
[[nodiscard]] claim explained(const varve::report& joined);

}  // namespace varve_gpu

#endif  // VARVE_TESTS_GPU_CLAIMS_CLAIMS_HPP
