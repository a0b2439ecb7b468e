// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_COMPARE_LIMIT_HPP
#define VARVE_COMPARE_LIMIT_HPP

#include "compare/figures.hpp"

#include <cmath>
#include <limits>

namespace varve {
inline namespace v0 {
namespace budgets {

/// One limit, as it is for one row.
struct bound_value {
  double limit = 0;
  bool least = false;
  maybe baseline;
  double change = 0;   ///< that is allowed of the baseline
  bool noisy = false;  ///< … which the noise sets, not the entry
  /// Where the noise is too large to tell: what keeps the entry's own limit whatever the noise does.
  maybe surely;
};

/// actual ÷ limit or limit ÷ actual: beyond 1 is exceeded.
[[nodiscard]] inline double used_of(double actual, const bound_value& b) noexcept {
  const double part = b.least ? b.limit : actual;
  const double whole = b.least ? actual : b.limit;
  if (part == whole) {
    return 1;
  }
  return whole > 0 ? part / whole : part > 0 ? std::numeric_limits<double>::infinity() : 0;
}

[[nodiscard]] inline bool is_exceeded(double actual, const bound_value& b) noexcept {
  constexpr double rounding = 1e-12;  // of sums and products of limits that were given in decimals
  const double slack = rounding * std::fabs(b.limit);
  // A limit that is no number is kept by nothing.
  return b.least ? !(actual >= b.limit - slack) : !(actual <= b.limit + slack);
}

/// Of an actual value that is not exceeded: whether the noise may hide that it should be.
[[nodiscard]] inline bool is_unsure(double actual, const bound_value& b) noexcept {
  return b.surely && (b.least ? actual < *b.surely : actual > *b.surely);
}

}  // namespace budgets
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_LIMIT_HPP
