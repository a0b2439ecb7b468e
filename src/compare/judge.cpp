// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/change.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace varve {
inline namespace v0 {
namespace comparing {

namespace {

/// Of two tests, among which chance is divided: most to the median, which tells more. Where both tell, each
/// may take all of it (Simes' inequality, weighted).
double chance(const time_change& c) {
  constexpr double of_median = 0.8;
  return std::min({c.p / of_median, c.mean_p / (1 - of_median), std::max(c.p, c.mean_p)});
}

/// A tail that grew, or a few slow passes, show in the mean alone.
bool is_within(const time_change& c, double noise) {
  const bool median = c.has_interval ? c.low >= -noise && c.high <= noise : std::fabs(c.relative) <= noise;
  return median && std::fabs(c.mean_relative) <= noise;
}

outcome direction(const time_change& c, double level) {
  if (std::max(c.p, c.mean_p) <= level && (c.relative > 0) != (c.mean_relative > 0)) {
    return outcome::inconclusive;  // they contradict each other
  }
  return (c.mean_p < c.p ? c.mean_relative : c.relative) > 0 ? outcome::worse : outcome::better;
}

}  // namespace

void judge(const std::vector<time_change*>& family, const compare_options& options) {
  std::vector<time_change*> tested;
  for (time_change* const c : family) {
    if (c->has_interval) {
      tested.push_back(c);
    }
  }
  std::stable_sort(tested.begin(), tested.end(),
                   [](const time_change* a, const time_change* b) { return chance(*a) < chance(*b); });
  double least = 1;
  for (std::size_t i = tested.size(); i-- > 0;) {
    least =
        std::min(least, chance(*tested[i]) * static_cast<double>(tested.size()) / static_cast<double>(i + 1));
    tested[i]->q = least;
  }
  for (time_change* const c : family) {
    const bool known = c->base_mean > 0 && c->fresh_mean > 0;
    const double level = 1 - options.confidence;
    const bool differs = known && c->has_interval && c->q <= level;
    c->verdict = is_within(*c, options.noise) && (known || c->base_mean == c->fresh_mean) ? outcome::same
                 : differs ? direction(*c, level)
                           : outcome::inconclusive;
  }
}

}  // namespace comparing
}  // namespace v0
}  // namespace varve
