// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Runs of one side against runs of the other.
#ifndef VARVE_COMPARE_REPEATED_RUNS_HPP
#define VARVE_COMPARE_REPEATED_RUNS_HPP

#include "compare/change.hpp"

namespace varve {
inline namespace v0 {
namespace comparing {

/// Runs differ by more than their passes tell, so each counts as one observation. `sampled`: all have passes
/// that took time, whose medians count.
void compare_runs(time_change& out, const side_times& base, const side_times& fresh,
                  const compare_options& options, resampler& draws, bool sampled);

}  // namespace comparing
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_REPEATED_RUNS_HPP
