// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/student.hpp"

#include <cmath>

namespace varve {
inline namespace v0 {
namespace comparing {

namespace {

/// ln Γ(x), x > 0. std::lgamma writes a global variable.
double log_gamma(double x) noexcept {
  double shift = 0;
  while (x < 10) {
    shift += std::log(x);
    x += 1;
  }
  const double y = 1 / (x * x);  // Stirling's series; its next term is below 1e-13 here
  const double series = (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y / 1188)))) / x;
  constexpr double half_log_two_pi = 0.91893853320467274178;
  return (x - 0.5) * std::log(x) - x + half_log_two_pi + series - shift;
}

/// Continued fraction of the incomplete beta function (Abramowitz and Stegun, 26.5.8), by Lentz's method.
double beta_fraction(double a, double b, double x) noexcept {
  constexpr double tiny = 1e-300;
  constexpr double enough = 1e-14;
  constexpr int most_steps = 10'000;
  const auto away_from_0 = [](double v) { return std::fabs(v) < tiny ? tiny : v; };
  double c = 1;
  double d = 1 / away_from_0(1 - (a + b) * x / (a + 1));
  double result = d;
  for (int i = 1; i <= most_steps; ++i) {
    const double m = i;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_0(1 + even * d);
    c = away_from_0(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_0(1 + odd * d);
    c = away_from_0(1 + odd / c);
    result *= d * c;
    if (std::fabs(d * c - 1) < enough) {
      break;
    }
  }
  return result;
}

/// Regularised incomplete beta function. `y` is 1 − x, for those who know it better.
double incomplete_beta(double a, double b, double x, double y) noexcept {
  if (!(x > 0)) {
    return 0;
  }
  if (!(y > 0)) {
    return 1;
  }
  const double front =
      std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log(y));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                   : 1 - front * beta_fraction(b, a, y) / b;
}

}  // namespace

double student_two_sided(double t, double freedom) noexcept {
  const double square = t * t;
  if (!(square > 0)) {
    return 1;
  }
  if (std::isinf(square)) {
    return 0;
  }
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + square), square / (freedom + square));
}

double student_quantile(double two_sided, double freedom) noexcept {
  double low = 0;
  double high = 1;
  while (high < 1e12 && student_two_sided(high, freedom) > two_sided) {
    high *= 2;
  }
  for (int i = 0; i < 100 && high - low > 1e-12 * high; ++i) {
    const double middle = (low + high) / 2;
    (student_two_sided(middle, freedom) > two_sided ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace comparing
}  // namespace v0
}  // namespace varve
