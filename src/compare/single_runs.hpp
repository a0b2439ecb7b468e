// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// One run against another, by their passes.
#ifndef VARVE_COMPARE_SINGLE_RUNS_HPP
#define VARVE_COMPARE_SINGLE_RUNS_HPP

#include "compare/change.hpp"

#include <vector>

namespace varve {
inline namespace v0 {
namespace comparing {

/// The two have more than one pass each, which took time.
void compare_passes(time_change& out, const run_times& base_run, const run_times& fresh_run,
                    const compare_options& options, resampler& draws);

/// Of what runs in few passes, or in other ones, the mean is known, with the zeros in it.
void compare_means(time_change& out, const std::vector<double>& base, const std::vector<double>& fresh,
                   const compare_options& options, resampler& draws);

}  // namespace comparing
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_SINGLE_RUNS_HPP
