// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/change.hpp"

#include "compare/noise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <cstdio>
#include <utility>
#include <vector>

namespace {

using testing_support::noise;
using testing_support::noise_source;
using varve::compare_options;
using varve::outcome;
using varve::time_change;
using varve::comparing::resampler;
using varve::comparing::run_times;
using varve::comparing::side_times;

run_times run_of(std::vector<double> samples) {
  const double sum = std::accumulate(samples.begin(), samples.end(), 0.0);
  const auto count = static_cast<double>(samples.size());
  return {std::move(samples), sum / count};
}

time_change change_of(const side_times& base, const side_times& fresh, resampler& draws,
                      const compare_options& options = {}) {
  time_change c = varve::comparing::change_of(base, fresh, options, draws);
  varve::comparing::judge({&c}, options);
  return c;
}

time_change change_of(const side_times& base, const side_times& fresh) {
  resampler draws{999, 1};
  return change_of(base, fresh, draws);
}

/// How often, of 1,000 pairs of which the new side takes `factor` times as long.
struct rates {
  int missed = 0;  ///< the interval does not hold the truth
  int better = 0;
  int worse = 0;
  int same = 0;
};

constexpr int pairs = 1000;

rates study(noise kind, std::size_t base_passes, std::size_t fresh_passes, double spread, double factor,
            std::size_t runs = 1, double run_spread = 0) {
  noise_source source{static_cast<std::uint64_t>(kind) * 1000 + base_passes};
  resampler draws{199, 1};
  rates out;
  constexpr double level = 1e6;
  for (int i = 0; i < pairs; ++i) {
    side_times base;
    side_times fresh;
    for (std::size_t r = 0; r < runs; ++r) {
      base.push_back(
          run_of(source.times(kind, base_passes, level * (1 + run_spread * source.normal()), spread)));
      fresh.push_back(run_of(
          source.times(kind, fresh_passes, factor * level * (1 + run_spread * source.normal()), spread)));
    }
    const time_change c = change_of(base, fresh, draws);
    out.missed += c.low > factor - 1 || c.high < factor - 1 ? 1 : 0;
    out.better += c.verdict == outcome::better ? 1 : 0;
    out.worse += c.verdict == outcome::worse ? 1 : 0;
    out.same += c.verdict == outcome::same ? 1 : 0;
  }
  return out;
}

// Of 1,000 pairs 5 % are 50, with a standard deviation of √(1000 · 0.05 · 0.95) = 6.9: 64 are the upper end
// of the interval that holds 95 % of all counts.
constexpr int nominal = 64;

class false_alarms : public testing::TestWithParam<noise> {};

TEST_P(false_alarms, are_as_rare_as_promised) {
  for (const auto& [base, fresh] : {std::pair<std::size_t, std::size_t>{20, 20}, {100, 100}, {60, 90}}) {
    const rates r = study(GetParam(), base, fresh, 0.05, 1);
    EXPECT_LE(r.missed, nominal) << base << " passes against " << fresh;
    EXPECT_LE(r.better + r.worse, nominal) << base << " passes against " << fresh;
    RecordProperty("missed", r.missed);
    RecordProperty("alarms", r.better + r.worse);
  }
}

std::string name_of(const testing::TestParamInfo<noise>& instance) {
  constexpr const char* names[] = {"normal",         "student",     "lognormal",
                                   "autoregressive", "random_walk", "drift_below_noise"};
  return names[static_cast<int>(instance.param)];
}

INSTANTIATE_TEST_SUITE_P(kinds, false_alarms,
                         testing::Values(noise::normal, noise::student, noise::lognormal, noise::autoregressive,
                                         noise::random_walk, noise::drift_below_noise),
                         name_of);

TEST(change, of_nothing_is_the_same) {
  const time_change c = change_of({run_of({100, 110, 105})}, {run_of({100, 110, 105})});
  EXPECT_EQ(c.verdict, outcome::same);
  EXPECT_EQ(c.relative, 0);
  EXPECT_EQ(c.low, 0);
  EXPECT_EQ(c.high, 0);
}

// TEMP
TEST(study, prints) {
  for (auto kind : {noise::normal, noise::student, noise::lognormal, noise::autoregressive, noise::random_walk, noise::drift_below_noise})
    for (const auto& [b, f] : {std::pair<std::size_t, std::size_t>{3, 3}, {5,5}, {10, 10}, {20, 20}, {30,50}, {100, 100}, {60, 90}, {500,500}}) {
      const rates r = study(kind, b, f, 0.02, 1);
      const rates q = study(kind, b, f, 0.02, 1.05);
      std::printf("%d %zu %zu: missed %d alarms %d same %d | 5%%: missed %d worse %d\n", int(kind), b, f, r.missed, r.better + r.worse, r.same, q.missed, q.worse);
    }
  for (auto kind : {noise::student, noise::random_walk}) for (std::size_t runs : {2U, 3U, 5U}) {
      const rates r = study(kind, 50, 50, 0.02, 1, runs, 0.01);
      const rates q = study(kind, 50, 50, 0.02, 1.05, runs, 0.01);
      std::printf("runs %zu: missed %d alarms %d same %d | 5%%: missed %d worse %d\n", runs, r.missed, r.better + r.worse, r.same, q.missed, q.worse);
  }
}

}  // namespace
