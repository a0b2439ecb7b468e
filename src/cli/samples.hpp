// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Of rates of repeated runs, on a processor or a GPU. 0 of none.
#ifndef VARVE_CLI_SAMPLES_HPP
#define VARVE_CLI_SAMPLES_HPP

#include <algorithm>
#include <cstddef>
#include <vector>

namespace varve::samples {

/// The middle one, or the mean of the middle two.
inline double median(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  const std::size_t half = of.size() / 2;
  return of.empty() ? 0 : of.size() % 2 == 1 ? of[half] : (of[half - 1] + of[half]) / 2;
}

inline double least(const std::vector<double>& of) {
  return of.empty() ? 0 : *std::min_element(of.begin(), of.end());
}

inline double most(const std::vector<double>& of) {
  return of.empty() ? 0 : *std::max_element(of.begin(), of.end());
}

/// From the least to the most, as a share of the median.
inline double spread(const std::vector<double>& of) {
  const double middle = median(of);
  return middle > 0 ? (most(of) - least(of)) / middle : 0;
}

}  // namespace varve::samples

#endif  // VARVE_CLI_SAMPLES_HPP
