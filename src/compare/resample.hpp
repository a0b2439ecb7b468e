// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What passes would have shown if others of their kind had been recorded.
#ifndef VARVE_COMPARE_RESAMPLE_HPP
#define VARVE_COMPARE_RESAMPLE_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace comparing {

/// All of at least one value.
[[nodiscard]] double median_of(std::vector<double> values);
[[nodiscard]] double mean_of(const std::vector<double>& values);
/// Of the sample, around its mean; 0 of a single value.
[[nodiscard]] double variance_of(const std::vector<double>& values);
[[nodiscard]] bool all_positive(const std::vector<double>& values);

/// Distances from the median, of which those beyond three deviations, by the median deviation, are cut to as
/// many.
[[nodiscard]] std::vector<double> cut_far(std::vector<double> values);

/// Variance of the mean of `values`, far ones cut, over that of as many independent ones: 1 + 4 ÷ count at
/// least, which is what is taken for fewer than 8.
[[nodiscard]] double inflation_of(const std::vector<double>& values);
/// The same of the mean with what was cut, which counts by its own dependence and its share of the variance:
/// passes that were held up are few and far, and do not drift with the others.
[[nodiscard]] double inflation_of_mean(const std::vector<double>& values);

/// Indices of resamples by number of passes; the same for all series of a comparison, so that rows which
/// rose in the same passes rise in the same resamples.
class resampler {
 public:
  using indices_ptr = std::shared_ptr<const std::vector<std::uint32_t>>;
  resampler(int resamples, std::uint64_t seed) : resamples_{resamples}, seed_{seed} {}
  /// `resamples` times `passes` indices below `passes`, for one of two sides.
  indices_ptr indices(std::size_t passes, int side);

 private:
  int resamples_;
  std::uint64_t seed_;
  std::map<std::pair<std::size_t, int>, indices_ptr> made_;
  std::size_t kept_ = 0;
};

/// Of each resample.
[[nodiscard]] std::vector<double> resampled_medians(const std::vector<double>& values,
                                                    const std::vector<std::uint32_t>& indices);
[[nodiscard]] std::vector<double> resampled_means(const std::vector<double>& values,
                                                  const std::vector<std::uint32_t>& indices);

}  // namespace comparing
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_RESAMPLE_HPP
