// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/comparison_words.hpp"

#include "formats/table/units.hpp"

#include <cmath>
#include <cstdio>

namespace varve::table {

std::string signed_percent(double share) {
  constexpr double tenfold = 9;
  if (std::isnan(share)) {
    return "–";
  }
  constexpr double hundredfold = 99;
  if (share > tenfold) {
    return share > hundredfold ? ">×100" : "×" + number(share + 1);
  }
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * share);
  const std::string out{text};
  return out == "+0.0 %" || out == "-0.0 %" ? "0 %" : out;
}

std::string times(double n) { return n == std::floor(n) ? count(n) : number(n); }

std::string signed_duration(double ns) { return (ns > 0 ? "+" : "") + duration(ns); }

const char* name_of(outcome o) {
  switch (o) {
    case outcome::same:
      return "same";
    case outcome::better:
      return "better";
    case outcome::worse:
      return "worse";
    case outcome::inconclusive:
      break;
  }
  return "inconclusive";
}

std::string change(const time_change& c) {
  return c.base_mean > 0 && c.fresh_mean > 0 ? signed_percent(c.relative) : "";
}

std::string interval(const time_change& c) {
  return c.has_interval ? signed_percent(c.low) + " to " + signed_percent(c.high) : "";
}

std::string time(double ns) { return ns > 0 ? duration(ns) : "–"; }

bool is_by_mean(const time_change& t) {
  const double sign = t.mean_relative > 0 ? 1 : -1;
  return changed(t) && t.mean_p < t.p &&
         (sign * t.relative < 0.5 * sign * t.mean_relative || (t.low <= 0 && t.high >= 0));
}

}  // namespace varve::table
