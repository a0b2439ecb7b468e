// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// How much a time changed and how sure that is. docs/compare.md has the formulas.
#ifndef VARVE_COMPARE_CHANGE_HPP
#define VARVE_COMPARE_CHANGE_HPP

#include <varve/compare.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace comparing {

/// A time in one run: what sampled passes took, and the mean over all passes. None of it is negative.
struct run_times {
  std::vector<double> samples;
  double mean = 0;
};

/// The runs of one side that have it.
using side_times = std::vector<run_times>;

/// Indices of resamples by number of passes; the same for all series of a comparison, so that rows which
/// rose in the same passes rise in the same resamples.
class resampler {
 public:
  resampler(int resamples, std::uint64_t seed) : resamples_{resamples}, seed_{seed} {}
  /// `resamples` times `passes` indices below `passes`, for one of two sides.
  const std::vector<std::uint32_t>& indices(std::size_t passes, int side);
  [[nodiscard]] int resamples() const noexcept { return resamples_; }

 private:
  int resamples_;
  std::uint64_t seed_;
  std::map<std::pair<std::size_t, int>, std::vector<std::uint32_t>> made_;
};

/// Everything but q and verdict. `options` as compare() takes them.
[[nodiscard]] time_change change_of(const side_times& base, const side_times& fresh,
                                    const compare_options& options, resampler& draws);

/// Variance of the mean of `values` over that of as many independent ones, 1 + 4 ÷ count at least, which is
/// what is taken for fewer than 8.
[[nodiscard]] double inflation_of(const std::vector<double>& values);

/// Sets q of all changes that have an interval (Benjamini and Hochberg, 1995), and then all verdicts.
void judge(const std::vector<time_change*>& family, const compare_options& options);

}  // namespace comparing
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_CHANGE_HPP
