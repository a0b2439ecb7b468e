// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// How sure a change is: estimates of logarithms, from resampled passes or from errors of runs.
#ifndef VARVE_COMPARE_ESTIMATE_HPP
#define VARVE_COMPARE_ESTIMATE_HPP

#include <varve/compare.hpp>

#include <cstddef>
#include <vector>

namespace varve {
inline namespace v0 {
namespace comparing {

/// An estimate of a logarithm and its uncertainty: what a resample is off, and how much more that is for
/// few passes and such as depend on each other.
struct estimate {
  double value = 0;
  double below = 0;  ///< distance to the interval's ends
  double above = 0;
  double freedom = 1;
};

class estimator {
 public:
  /// `single`: of one run a side, which are off by their noise.
  estimator(const compare_options& options, bool single);

  /// Of resamples whose spread stands for `stretch` times their variance.
  [[nodiscard]] estimate of_resamples(double value, std::vector<double> drawn, double stretch,
                                      double freedom) const;
  [[nodiscard]] estimate of_error(double value, double error, double freedom) const;
  /// How likely so large a change is where there is none, or none beyond the noise of single runs.
  [[nodiscard]] double chance(const estimate& e) const;

 private:
  double alpha_;
  double normal_;
  double up_;
  double down_;
};

/// What one side's resamples say: their spread, and what stretches it.
struct spread {
  std::vector<double> logs;
  double variance = 0;
  double stretch = 1;
  double freedom = 1;
};

[[nodiscard]] spread spread_of(std::vector<double> drawn, std::size_t passes, double inflation);

/// Of two sides that were not recorded pass by pass together.
[[nodiscard]] estimate apart(const estimator& by, double value, const spread& base, const spread& fresh);

/// Fills in a change's intervals and how likely they are by chance.
void set(time_change& to, const estimator& by, const estimate& median, const estimate& mean);

[[nodiscard]] std::size_t passes_that_ran(const std::vector<double>& of);
/// So few passes tell no chance.
void withhold(time_change& of, std::size_t passes);

}  // namespace comparing
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_ESTIMATE_HPP
