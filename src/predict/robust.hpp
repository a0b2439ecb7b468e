// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Statistics that a few odd values do not upset.
#ifndef VARVE_PREDICT_ROBUST_HPP
#define VARVE_PREDICT_ROBUST_HPP

#include <cstddef>
#include <vector>

namespace varve {
inline namespace v0 {
namespace predict {

inline constexpr std::size_t fewest_passes = 8;  ///< that a median and deviations are taken of
inline constexpr double score_limit = 3.5;  ///< robust deviations that stand out (Iglewicz and Hoaglin, 1993)
/// Standard deviations of a normal distribution in its median deviation (Rousseeuw and Croux, 1993).
inline constexpr double deviations_in_median = 1.4826;

/// Mean of the two middle ones of an even number of values; 0 of none.
[[nodiscard]] double median(std::vector<double> values);

/// Median of |value − centre|.
[[nodiscard]] double median_deviation(const std::vector<double>& values, double centre);

/// |value − centre| in standard deviations of a normal distribution with this median deviation. Infinite
/// where that is 0 and the value is not the centre.
[[nodiscard]] double robust_score(double value, double centre, double median_deviation) noexcept;

struct trend {
  double slope = 0;  ///< Theil and Sen's: median of the slopes between all pairs of points
  /// Kendall's S, pairs that rise less pairs that fall, in its standard deviations without a trend,
  /// √(n(n−1)(2n+5)/18) (Mann, 1945).
  double score = 0;
};

/// Of values at ascending places. Pairs grow with the square: give some hundreds of points at most.
[[nodiscard]] trend find_trend(const std::vector<double>& places, const std::vector<double>& values);

}  // namespace predict
}  // namespace v0
}  // namespace varve

#endif  // VARVE_PREDICT_ROBUST_HPP
