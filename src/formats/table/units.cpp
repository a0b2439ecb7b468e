// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace varve::table {

namespace {

std::string fixed(double value, int decimals) {
  std::array<char, 400> buffer{};  // DBL_MAX has 309 digits
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
  return std::string(buffer.data(), static_cast<std::size_t>(length > 0 ? length : 0));
}

/// Inserts commas between thousands of the digits before the point.
std::string grouped(std::string digits) {
  const std::size_t first = digits.find_first_of("0123456789");
  const std::size_t point = std::min(digits.find('.'), digits.size());
  for (std::size_t at = point; first != std::string::npos && at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

/// Three significant digits of a value of at least 0.001.
std::string significant(double value) {
  int decimals = 5;
  for (double limit = 0.009995; decimals > 0 && value >= limit; limit *= 10) {
    --decimals;
  }
  return grouped(fixed(value, decimals));
}

template <std::size_t N>
std::string scaled(double value, const std::array<const char*, N>& units) {
  std::size_t unit = 0;
  while (unit + 1 < N && value >= 999.5) {
    value /= 1000;
    ++unit;
  }
  return (unit == 0 ? grouped(fixed(value, 0)) : significant(value)) + ' ' + units[unit];
}

}  // namespace

std::string duration(std::int64_t ns) {
  constexpr std::array units{"ns", "µs", "ms", "s"};
  if (ns == 0) {
    return "0";
  }
  const bool negative = ns < 0;
  const std::uint64_t magnitude =
      negative ? ~static_cast<std::uint64_t>(ns) + 1 : static_cast<std::uint64_t>(ns);
  const std::string sign = negative ? "-" : "";
  if (magnitude < 1000) {
    return sign + std::to_string(magnitude) + " ns";
  }
  // In integers, so that halves are rounded up whatever their binary fraction.
  std::uint64_t scale = 1000;
  for (std::size_t unit = 1; unit < units.size(); ++unit, scale *= 1000) {
    for (int decimals = 2; decimals >= 0; --decimals) {
      const std::uint64_t step = scale / (decimals == 2 ? 100 : decimals == 1 ? 10 : 1);
      const std::uint64_t steps = (magnitude + step / 2) / step;
      const bool last = unit + 1 == units.size() && decimals == 0;
      if (steps < 1000 || last) {
        std::string digits = std::to_string(steps);
        if (decimals != 0) {
          digits.insert(digits.size() - static_cast<std::size_t>(decimals), 1, '.');
        }
        return sign + grouped(digits) + ' ' + units[unit];
      }
    }
  }
  return {};
}

std::string some_time(std::int64_t ns) { return ns != 0 ? duration(ns) : ""; }
std::string some_time(double ns) { return ns != 0 ? duration(ns) : ""; }

std::string duration(double ns) {
  constexpr double limit = 9.2e18;
  if (std::isnan(ns)) {
    return "–";
  }
  const double rounded = std::round(ns);
  return duration(static_cast<std::int64_t>(rounded > limit ? limit : rounded < -limit ? -limit : rounded));
}

std::string count(std::int64_t n) { return grouped(std::to_string(n)); }

std::string count(double n) { return grouped(fixed(n, 0)); }

std::string counted(std::int64_t n, std::string_view one, std::string_view many) {
  std::string out = count(n) + ' ';
  if (n == 1 || many.empty()) {
    return out.append(one).append(n == 1 ? "" : "s");
  }
  return out.append(many);
}

std::string number(double value) {
  if (!std::isfinite(value)) {
    return "–";
  }
  if (value == 0) {
    return "0";
  }
  const double magnitude = std::fabs(value);
  return (value < 0 ? "-" : "") + (magnitude < 0.001 ? "<0.001" : significant(magnitude));
}

std::string percent(double part, double whole) {
  const double share = 100 * part / whole;
  if (part == 0 || !std::isfinite(share)) {
    return "0";
  }
  return share > 0 && share < 0.05 ? "<0.1" : fixed(share, 1);
}

std::string bytes(double n) { return scaled(n, std::array{"B", "kB", "MB", "GB", "TB"}); }

}  // namespace varve::table
