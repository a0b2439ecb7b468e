// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/noise.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace varve {
inline namespace v0 {
namespace budgets {

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

/// What a figure follows: single passes, their median, or their mean, which those that were held up move.
enum class follows : std::uint8_t { single, median, mean };

follows followed(statistic which) {
  switch (which) {
    case statistic::own:
    case statistic::pass:
    case statistic::total:
    case statistic::mean:
      return follows::mean;
    case statistic::p50:
      return follows::median;
    default:
      return follows::single;
  }
}

/// Variance of single passes in shares of their mean.
double plain_variance(const std::vector<time_ns>& times) {
  const auto n = static_cast<double>(times.size());
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / n;
  double squares = 0;
  for (const time_ns t : times) {
    squares += (static_cast<double>(t) - mean) * (static_cast<double>(t) - mean);
  }
  return mean > 0 ? squares / (n - 1) / (mean * mean) : 0;
}

/// Variance of what a figure follows, in shares of it; 0 of too few passes.
double variance(const std::vector<time_ns>& times, follows of) {
  if (times.size() < passes_for_spread) {
    return 0;
  }
  std::vector<double> values(times.begin(), times.end());
  const double centre = median(values);
  const auto n = static_cast<double>(times.size());
  const double least = of == follows::mean ? plain_variance(times) / n : 0;
  if (!(centre > 0)) {
    return least;
  }
  for (double& v : values) {
    v = std::fabs(v - centre);
  }
  constexpr double normal = 1.4826;  // standard deviations of a normal distribution in a median deviation
  constexpr double median_to_mean = 1.2533;  // standard error of a median in that of a mean, √(π/2)
  double deviation = normal * median(values) / centre;
  deviation *= of == follows::single ? 1 : median_to_mean / std::sqrt(n);
  return std::max(least, deviation * deviation);
}

}  // namespace

double noise_of(const figure& f, const subject& now, const subject& before) {
  if (f.exact()) {
    return 0;
  }
  const follows of = followed(f.which);
  const double both = variance(passes_of(f, now), of) + variance(passes_of(f, before), of);
  return std::max(noise_floor, 2 * std::sqrt(both));
}

}  // namespace budgets
}  // namespace v0
}  // namespace varve
