// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// How much a time changed and how sure that is. docs/compare.md has the formulas.
#ifndef VARVE_COMPARE_CHANGE_HPP
#define VARVE_COMPARE_CHANGE_HPP

#include "compare/resample.hpp"

#include <varve/compare.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace comparing {

/// A time in one run: what sampled passes took, and the mean over all passes. None of it is negative.
struct run_times {
  std::vector<double> samples;
  double mean = 0;
  // Of which passes samples are: every stride-th of so many.
  std::size_t stride = 1;
  std::int64_t passes = 0;
};

[[nodiscard]] inline bool of_same_passes(const run_times& a, const run_times& b) {
  return a.samples.size() == b.samples.size() && a.stride == b.stride && a.passes == b.passes;
}

/// How passes of one run depend on each other shows in so many at least; fewer tell their spread alone.
constexpr std::int64_t fewest_passes_to_tell = 16;

/// The runs of one side that have it.
using side_times = std::vector<run_times>;

/// Everything but q and verdict. `options` as compare() takes them.
[[nodiscard]] time_change change_of(const side_times& base, const side_times& fresh,
                                    const compare_options& options, resampler& draws);

/// Sets q of all changes that have an interval (Benjamini and Hochberg, 1995), and then all verdicts.
void judge(const std::vector<time_change*>& family, const compare_options& options);

}  // namespace comparing
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_CHANGE_HPP
