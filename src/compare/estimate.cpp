// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/estimate.hpp"

#include "compare/change.hpp"
#include "compare/resample.hpp"
#include "compare/student.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace varve {
inline namespace v0 {
namespace comparing {

estimator::estimator(const compare_options& options, bool single)
    : alpha_{1 - options.confidence},
      normal_{student_quantile(alpha_, 1e9)},
      up_{single ? std::log1p(options.noise) : 0},
      down_{single ? -std::log1p(-options.noise) : 0} {}

estimate estimator::of_resamples(double value, std::vector<double> drawn, double stretch,
                                 double freedom) const {
  std::sort(drawn.begin(), drawn.end());
  const auto at = [&](double share) {
    return drawn[static_cast<std::size_t>(std::lround(share * static_cast<double>(drawn.size() - 1)))];
  };
  const double factor = student_quantile(alpha_, freedom) / normal_ * std::sqrt(stretch);
  return {value, std::max(0.0, value - at(alpha_ / 2)) * factor,
          std::max(0.0, at(1 - alpha_ / 2) - value) * factor, freedom};
}

estimate estimator::of_error(double value, double error, double freedom) const {
  const double arm = error * student_quantile(alpha_, freedom);
  return {value, arm, arm, freedom};
}

double estimator::chance(const estimate& e) const {
  const double beyond = e.value > 0 ? e.value - up_ : -e.value - down_;
  if (!(beyond > 0)) {
    return 1;
  }
  const double arm = e.value > 0 ? e.below : e.above;
  return arm > 0 ? student_two_sided(beyond / arm * student_quantile(alpha_, e.freedom), e.freedom) : 0;
}

spread spread_of(std::vector<double> drawn, std::size_t passes, double inflation) {
  spread out;
  out.logs = std::move(drawn);
  for (double& v : out.logs) {
    v = std::log(std::max(v, 0.5));  // half a nanosecond stands for nothing
  }
  out.variance = variance_of(out.logs);
  const auto n = static_cast<double>(passes);
  out.stretch = inflation * n / (n - 1);  // resamples vary by (n − 1) / n too little
  out.freedom = std::max(1.0, n / inflation - 1);
  return out;
}

estimate apart(const estimator& by, double value, const spread& base, const spread& fresh) {
  std::vector<double> logs = fresh.logs;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    logs[i] -= base.logs[i];
  }
  const double of_base = base.variance * base.stretch;
  const double of_fresh = fresh.variance * fresh.stretch;
  if (!(of_base + of_fresh > 0)) {
    return by.of_resamples(value, std::move(logs), 1, std::min(base.freedom, fresh.freedom));
  }
  // Welch and Satterthwaite's degrees of freedom.
  const double freedom = (of_base + of_fresh) * (of_base + of_fresh) /
                         (of_base * of_base / base.freedom + of_fresh * of_fresh / fresh.freedom);
  return by.of_resamples(value, std::move(logs), (of_base + of_fresh) / (base.variance + fresh.variance),
                         freedom);
}

void set(time_change& to, const estimator& by, const estimate& median, const estimate& mean) {
  to.has_interval = true;
  to.relative = std::expm1(median.value);
  to.low = std::expm1(median.value - median.below);
  to.high = std::expm1(median.value + median.above);
  const double centre = std::log1p(to.mean_relative);  // of all passes, not of the sampled ones alone
  to.mean_low = std::expm1(centre - mean.below);
  to.mean_high = std::expm1(centre + mean.above);
  to.p = by.chance(median);
  to.mean_p = by.chance(mean);
}

std::size_t passes_that_ran(const std::vector<double>& of) {
  return static_cast<std::size_t>(std::count_if(of.begin(), of.end(), [](double v) { return v > 0; }));
}

void withhold(time_change& of, std::size_t passes) {
  if (passes < static_cast<std::size_t>(fewest_passes_to_tell)) {
    of.p = of.mean_p = 1;
  }
}

}  // namespace comparing
}  // namespace v0
}  // namespace varve
