// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/noise.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace varve {
inline namespace v0 {
namespace compare {

namespace {

double median(std::vector<double> values) {
  const std::size_t half = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half), values.end());
  const double upper = values[half];
  if (values.size() % 2 != 0) {
    return upper;
  }
  return (upper + *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half))) / 2;
}

/// The times of single passes that a figure follows; empty when they were not kept.
const std::vector<time_ns>& passes_of(const figure& f, const subject& s) {
  static const std::vector<time_ns> none_kept;
  if (s.one != nullptr) {
    return s.one->per_pass;
  }
  if (s.phase == nullptr) {
    return none_kept;
  }
  const rests_on on = f.of->on;
  return on == rests_on::markers || on == rests_on::calls ? s.phase->samples.step : s.phase->samples.gpu_time;
}

/// Variance of single passes or of their median, in shares of it; 0 of too few passes.
double variance(const std::vector<time_ns>& times, bool of_median) {
  if (times.size() < passes_for_spread) {
    return 0;
  }
  std::vector<double> values(times.begin(), times.end());
  const double centre = median(values);
  if (!(centre > 0)) {
    return 0;
  }
  for (double& v : values) {
    v = std::fabs(v - centre);
  }
  constexpr double normal = 1.4826;  // standard deviations of a normal distribution in a median deviation
  constexpr double median_to_mean = 1.2533;  // standard error of a median in that of a mean, √(π/2)
  double deviation = normal * median(values) / centre;
  deviation *= of_median ? median_to_mean / std::sqrt(static_cast<double>(times.size())) : 1;
  return deviation * deviation;
}

}  // namespace

double noise_of(const figure& f, const subject& now, const subject& before) {
  if (f.exact()) {
    return 0;
  }
  const bool extreme = f.which == statistic::p95 || f.which == statistic::p99 || f.which == statistic::max ||
                       f.which == statistic::min || f.which == statistic::deviation;
  const double both = variance(passes_of(f, now), !extreme) + variance(passes_of(f, before), !extreme);
  return std::max(noise_floor, 2 * std::sqrt(both));
}

}  // namespace compare
}  // namespace v0
}  // namespace varve
