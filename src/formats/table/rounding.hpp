// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What of a prediction is an effect of whole nanoseconds.
#ifndef VARVE_FORMATS_TABLE_ROUNDING_HPP
#define VARVE_FORMATS_TABLE_ROUNDING_HPP

#include <varve/report.hpp>

#include <algorithm>
#include <cmath>

namespace varve::table {

inline constexpr double rounded = 0.001;  ///< of a time: less is no difference

/// Whether predicted rows take equally long: to a thousandth, or to a nanosecond for each kernel.
[[nodiscard]] inline bool is_rounding(const measures& a, const measures& b) noexcept {
  const auto larger = static_cast<double>(std::max(a.gpu_time, b.gpu_time));
  const auto kernels = static_cast<double>(std::max(a.kernels, b.kernels));
  return std::abs(static_cast<double>(a.gpu_time) - static_cast<double>(b.gpu_time)) <=
         std::max(rounded * larger, kernels);
}

}  // namespace varve::table

#endif  // VARVE_FORMATS_TABLE_ROUNDING_HPP
