// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "predict/robust.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace varve {
inline namespace v0 {
namespace predict {

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.size() % 2 != 0 ? *middle : (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double median_deviation(const std::vector<double>& values, double centre) {
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) {
    deviations.push_back(std::abs(value - centre));
  }
  return median(std::move(deviations));
}

double robust_score(double value, double centre, double median_deviation) noexcept {
  const double away = std::abs(value - centre);
  if (away == 0) {
    return 0;
  }
  return median_deviation > 0 ? away / (deviations_in_median * median_deviation)
                              : std::numeric_limits<double>::infinity();
}

trend find_trend(const std::vector<double>& places, const std::vector<double>& values) {
  std::vector<double> slopes;
  double balance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t k = i + 1; k < values.size(); ++k) {
      balance += values[k] > values[i] ? 1 : values[k] < values[i] ? -1 : 0;
      if (places[k] > places[i]) {
        slopes.push_back((values[k] - values[i]) / (places[k] - places[i]));
      }
    }
  }
  if (slopes.empty()) {
    return {};
  }
  const auto n = static_cast<double>(values.size());
  return {median(std::move(slopes)), balance / std::sqrt(n * (n - 1) * (2 * n + 5) / 18)};
}

}  // namespace predict
}  // namespace v0
}  // namespace varve
