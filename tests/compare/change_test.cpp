// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/change.hpp"

#include "compare/noise.hpp"
#include "compare/pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace {

using testing_support::nearly_all;
using testing_support::noise;
using testing_support::noise_source;
using testing_support::nominal;
using testing_support::pairs;
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

class false_alarms : public testing::TestWithParam<noise> {};

// The interval misses the truth in 5 % of all pairs at most, and no verdict is wrong more often.
TEST_P(false_alarms, are_as_rare_as_promised) {
  for (const auto& [base, fresh] : {std::pair<std::size_t, std::size_t>{20, 20}, {100, 100}, {30, 50}}) {
    const rates same = study(GetParam(), base, fresh, 0.05, 1);
    EXPECT_LE(same.missed, nominal) << base << " passes against " << fresh;
    EXPECT_LE(same.better + same.worse, nominal) << base << " passes against " << fresh;
    const std::string of = std::to_string(base) + '_' + std::to_string(fresh);  // for docs/compare.md
    RecordProperty("missed_" + of, same.missed);
    RecordProperty("wrong_" + of, same.better + same.worse);
  }
  const rates slower = study(GetParam(), 60, 60, 0.02, 1.1);
  EXPECT_LE(slower.missed, nominal);
  EXPECT_LE(slower.better + slower.same, nominal);
}

std::string name_of(const testing::TestParamInfo<noise>& instance) {
  constexpr const char* names[] = {"normal",         "student",     "lognormal",
                                   "autoregressive", "random_walk", "drift_below_noise"};
  return names[static_cast<int>(instance.param)];
}

INSTANTIATE_TEST_SUITE_P(kinds, false_alarms,
                         testing::Values(noise::normal, noise::student, noise::lognormal,
                                         noise::autoregressive, noise::random_walk, noise::drift_below_noise),
                         name_of);

TEST(change, of_nothing_is_the_same) {
  const time_change c = change_of({run_of({100, 110, 105})}, {run_of({100, 110, 105})});
  EXPECT_EQ(c.verdict, outcome::same);
  EXPECT_EQ(c.relative, 0);
  EXPECT_EQ(c.low, 0);
  EXPECT_EQ(c.high, 0);
}

// How passes depend on each other does not show in so few, so nothing is named by them.
TEST(false_alarms_of_few_passes, are_none) {
  for (const noise kind : {noise::normal, noise::autoregressive, noise::random_walk}) {
    for (const std::size_t passes : {2U, 3U, 5U, 6U, 7U, 8U, 15U}) {
      const rates same = study(kind, passes, passes, 0.05, 1);
      EXPECT_EQ(same.better + same.worse, 0) << passes << " passes";
    }
  }
  EXPECT_EQ(study(noise::normal, 15, 100, 0.001, 1.5).worse, 0);
  EXPECT_GE(study(noise::normal, 16, 100, 0.001, 1.5).worse, nearly_all);
}

// Of 16 passes at a correlation of 0.95 much is not seen.
TEST(false_alarms_of_slow_drift, are_as_rare_as_promised) {
  for (const std::size_t passes : {16U, 20U, 60U}) {
    const rates same = study(noise::slow_autoregressive, passes, passes, 0.05, 1);
    EXPECT_LE(same.better + same.worse, nominal) << passes << " passes";
    RecordProperty("wrong_" + std::to_string(passes), same.better + same.worse);
  }
}

// A run that stays in one of two states shows nothing of the other; five runs a side do.
TEST(false_alarms_of_two_states, are_as_rare_as_promised_of_repeated_runs_alone) {
  const rates single = study(noise::two_states, 20, 20, 0.05, 1);
  EXPECT_GT(single.better + single.worse, nominal);
  RecordProperty("wrong_of_single_runs", single.better + single.worse);
  const rates repeated = study(noise::two_states, 20, 20, 0.05, 1, 5);
  EXPECT_LE(repeated.better + repeated.worse, nominal);
  RecordProperty("wrong_of_repeated_runs", repeated.better + repeated.worse);
}

// Power: of 1,000 layers that take 5 % longer, in 100 passes with a spread of 2 %.
TEST(power, finds_five_percent_in_a_hundred_passes) {
  for (const noise kind : {noise::normal, noise::student, noise::lognormal}) {
    const int found = study(kind, 100, 100, 0.02, 1.05).worse;
    EXPECT_GE(found, nearly_all);
    RecordProperty("found_" + std::to_string(static_cast<int>(kind)), found);
  }
  EXPECT_GE(study(noise::normal, 100, 100, 0.02, 1).same, pairs * 8 / 10);
}

// A level that differs by 1 % from run to run: single runs would take it for a change, repeated ones do not.
TEST(repeated_runs, count_as_one_observation_each) {
  const rates same = study(noise::student, 40, 40, 0.02, 1, 5, 0.01);
  EXPECT_LE(same.missed, nominal);
  EXPECT_LE(same.better + same.worse, nominal);
  EXPECT_GE(study(noise::student, 40, 40, 0.02, 1.05, 5, 0.01).worse, nearly_all);
}

// Medians 100 and 110 of sides of different lengths: a tenth more. Means 102 and 112, 112 ÷ 102 − 1 = 9.8 %.
TEST(change, of_sides_of_different_lengths_is_that_of_their_medians) {
  const time_change c = change_of({run_of({100, 100, 110, 99, 101})}, {run_of({110, 110, 110, 118})});
  EXPECT_FALSE(c.paired);
  EXPECT_EQ(c.base, 100);
  EXPECT_EQ(c.fresh, 110);
  EXPECT_NEAR(c.relative, 0.1, 1e-12);
  EXPECT_NEAR(c.mean_relative, 112.0 / 102 - 1, 1e-12);
  EXPECT_LE(c.low, c.relative);
  EXPECT_GE(c.high, c.relative);
}

// A spread of 0.3 %, and in the new run every fourth pass takes three times as long: (3 · 1 + 3) ÷ 4 = 1.5 in
// the mean, while the median is that of the others.
TEST(change, that_the_median_does_not_show_is_told_by_the_mean) {
  noise_source source{3};
  const std::vector<double> base = source.times(noise::normal, 100, 1e6, 0.003);
  std::vector<double> fresh = source.times(noise::normal, 100, 1e6, 0.003);
  for (std::size_t i = 0; i < fresh.size(); i += 4) {
    fresh[i] *= 3;
  }
  const time_change slower = change_of({run_of(base)}, {run_of(fresh)});
  EXPECT_NEAR(slower.relative, 0, 0.005);
  EXPECT_NEAR(slower.mean_relative, 0.5, 0.005);
  EXPECT_EQ(slower.verdict, outcome::worse);
  EXPECT_EQ(change_of({run_of(fresh)}, {run_of(base)}).verdict, outcome::better);
}

// One pass of a hundred takes twenty times as long, 119 ÷ 100 in the mean: by chance or not, it is not the
// same.
TEST(change, of_the_mean_by_a_single_pass_is_not_the_same) {
  const std::vector<double> base(100, 1e6);
  std::vector<double> fresh = base;
  fresh[40] = 20e6;
  const time_change c = change_of({run_of(base)}, {run_of(fresh)});
  EXPECT_EQ(c.relative, 0);
  EXPECT_NEAR(c.mean_relative, 0.19, 1e-12);
  EXPECT_EQ(c.verdict, outcome::inconclusive);
}

// The median falls by a tenth, the mean rises to (3 · 0.9 + 4) ÷ 4 = 1.675.
TEST(change, whose_mean_and_median_contradict_each_other_is_inconclusive) {
  const std::vector<double> base(100, 1e6);
  std::vector<double> fresh(100, 0.9e6);
  for (std::size_t i = 0; i < fresh.size(); i += 4) {
    fresh[i] = 4e6;
  }
  EXPECT_EQ(change_of({run_of(base)}, {run_of(fresh)}).verdict, outcome::inconclusive);
}

// The context grows: passes take 100, 101, … 149 ns, and 4 % longer in the new run. Pass by pass nothing else
// differs; the two medians alone would lie within the spread.
TEST(change, that_passes_share_is_no_noise) {
  std::vector<double> base;
  std::vector<double> fresh;
  for (int i = 0; i < 50; ++i) {
    base.push_back(100'000 + 1000 * i);
    fresh.push_back(1.04 * base.back());
  }
  const time_change c = change_of({run_of(base)}, {run_of(fresh)});
  EXPECT_TRUE(c.paired);
  EXPECT_NEAR(c.relative, 0.04, 1e-9);
  EXPECT_EQ(c.verdict, outcome::worse);
  fresh.pop_back();
  EXPECT_EQ(change_of({run_of(base)}, {run_of(fresh)}).verdict, outcome::inconclusive);
}

// The same of an engine whose passes are held up now and then, other ones on each side: of 50 five take 2.5
// ms more. The median is that of the 40 ratios that are left, 1.04 with a noise of √2 · 0.1 %.
TEST(change, that_passes_share_is_seen_beside_some_that_were_held_up) {
  noise_source source{4};
  const auto passes = [&](double factor, int held_up) {
    std::vector<double> out;
    for (int i = 0; i < 50; ++i) {
      out.push_back(factor * (100'000 + 1000 * i) * (1 + 0.001 * source.normal()) +
                    (i % 10 == held_up ? 2'500'000 : 0));
    }
    return out;
  };
  const time_change c = change_of({run_of(passes(1, 3))}, {run_of(passes(1.04, 6))});
  EXPECT_TRUE(c.paired);
  EXPECT_NEAR(c.relative, 0.04, 1e-3);
  EXPECT_EQ(c.verdict, outcome::worse);
}

// Of 50 passes that drift by 10 % five were held up by 2.5 ms: 10 % of 2.5 ms is 250 of the mean's 355 µs,
// and its error 2500 · √(0.1 · 0.9 ÷ 50) = 106 µs, 30 %; of two sides 42 %, in 95 % of all cases 1.96 · 42 =
// 83 %. The drift, of the others, does not count for those.
TEST(change, of_the_mean_is_as_sure_as_its_held_up_passes_are_many) {
  noise_source source{5};
  const auto passes = [&] {
    std::vector<double> out;
    for (int i = 0; i < 50; ++i) {
      out.push_back(
          std::round((100'000 + 200 * i) * (1 + 0.001 * source.normal()) + (i % 10 == 3 ? 2'500'000 : 0)));
    }
    return out;
  };
  const time_change c = change_of({run_of(passes())}, {run_of(passes())});
  EXPECT_LT(c.mean_high, 2);
  EXPECT_GT(c.mean_low, -0.75);
}

// Every second of 100 passes against each of 50: as many samples, of other passes.
TEST(change, of_samples_of_other_passes_is_not_paired) {
  std::vector<double> samples;
  for (int i = 0; i < 50; ++i) {
    samples.push_back(100'000 + 1000 * i);
  }
  run_times all = run_of(samples);
  all.stride = 1;
  all.passes = 50;
  EXPECT_TRUE(change_of({all}, {all}).paired);
  run_times second = all;
  second.stride = 2;
  EXPECT_FALSE(change_of({all}, {second}).paired);
  run_times more = all;
  more.passes = 51;
  EXPECT_FALSE(change_of({all}, {more}).paired);
}

// A layer that runs in every third of 60 passes: its twenty are compared, 1000 against 1100 ns.
TEST(change, of_what_runs_in_some_passes_is_that_of_these) {
  std::vector<double> base;
  std::vector<double> fresh;
  for (int i = 0; i < 60; ++i) {
    base.push_back(i % 3 == 0 ? 1000 : 0);
    fresh.push_back(i % 3 == 0 ? 1100 : 0);
  }
  const time_change c = change_of({run_of(base)}, {run_of(fresh)});
  EXPECT_EQ(c.base, 1000);
  EXPECT_NEAR(c.relative, 0.1, 1e-12);
  EXPECT_EQ(c.verdict, outcome::worse);
  EXPECT_EQ(change_of({run_of(base)}, {run_of(base)}).verdict, outcome::same);
}

/// Each pass by chance with a probability of 30 %, which takes 1 ms (with a spread of 2 %) times `factor`.
run_times in_some_passes(noise_source& source, std::size_t passes, double factor) {
  std::vector<double> out = source.times(noise::normal, passes, factor * 1e6, 0.02);
  for (double& v : out) {
    v = source.uniform() < 0.3 ? v : 0;
  }
  return run_of(out);
}

// Eight experts of 60 passes, each in 30 % of them, that did not change: 18 passes more or less, whose number
// alone varies by √(0.7 ÷ 18) = 20 %. Of 100 comparisons 5 may name one; 9 end the interval that holds 95 %
// of all.
TEST(judge, names_no_expert_that_ran_in_other_passes) {
  noise_source source{11};
  resampler draws{199, 1};
  int alarms = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<time_change> all;
    for (int expert = 0; expert < 8; ++expert) {
      const run_times base = in_some_passes(source, 60, 1);
      all.push_back(
          varve::comparing::change_of({base}, {in_some_passes(source, 60, 1)}, compare_options{}, draws));
      EXPECT_TRUE(all.back().has_interval);
    }
    std::vector<time_change*> family;
    for (time_change& one : all) {
      family.push_back(&one);
    }
    varve::comparing::judge(family, {});
    alarms += std::any_of(all.begin(), all.end(),
                          [](const time_change& c) { return c.verdict != outcome::inconclusive; })
                  ? 1
                  : 0;
  }
  EXPECT_LE(alarms, 9);
}

TEST(change, of_what_runs_in_a_single_pass_of_both_sides_is_that_of_totals) {
  std::vector<double> once(30, 0);
  once[7] = 1000;
  const time_change c = change_of({run_of(once)}, {run_of(once)});
  EXPECT_FALSE(c.has_interval);
  EXPECT_EQ(c.verdict, outcome::same);
}

TEST(change, of_an_expert_that_takes_three_times_as_long_shows_in_its_mean) {
  noise_source source{12};
  const time_change c = change_of({in_some_passes(source, 200, 1)}, {in_some_passes(source, 200, 3)});
  EXPECT_GT(c.relative, 1);
  EXPECT_NEAR(c.relative, c.mean_relative, 1e-9);
  EXPECT_EQ(c.verdict, outcome::worse);
}

TEST(change, of_totals_alone_is_never_told_beyond_the_noise_floor) {
  const time_change within = change_of({{{}, 1000}}, {{{}, 1019}});
  EXPECT_FALSE(within.has_interval);
  EXPECT_EQ(within.verdict, outcome::same);
  EXPECT_NEAR(change_of({{{}, 1000}}, {{{}, 1021}}).relative, 0.021, 1e-12);
  EXPECT_EQ(change_of({{{}, 1000}}, {{{}, 1021}}).verdict, outcome::inconclusive);
  EXPECT_EQ(change_of({{{}, 1000}}, {{{}, 500}}).verdict, outcome::inconclusive);
  EXPECT_EQ(change_of({run_of({1000})}, {run_of({1500})}).verdict, outcome::inconclusive);  // single passes
  EXPECT_EQ(change_of({{{}, 1000}}, {{{}, 0}}).verdict, outcome::inconclusive);
  EXPECT_EQ(change_of({}, {{{}, 10}}).verdict, outcome::inconclusive);
}

// Two runs against two without samples: means 100, 102 and 120, 122, as logarithms. 20 % apart, spread 2 %:
// t = ln(121/101) ÷ √(2·s²/2), s² = (ln 1.02)²/2 ≈ 1.96e-4 → 0.181 ÷ 0.0139 ≈ 13, far beyond 4.3.
TEST(repeated_runs, need_no_samples) {
  const side_times base{{{}, 100}, {{}, 102}};
  EXPECT_EQ(change_of(base, {{{}, 120}, {{}, 122}}).verdict, outcome::worse);
  EXPECT_EQ(change_of(base, {{{}, 103}, {{}, 105}}).verdict, outcome::inconclusive);
}

// A context that grows by half over 64 passes, in each run, with a spread of 0.3 % of passes and of runs:
// five runs a side see 10 %, and 4 % (the error of their difference is √(2 ÷ 5) · 0.3 %, 0.2 %).
TEST(repeated_runs, take_what_all_of_them_share_for_no_noise) {
  noise_source source{22};
  resampler draws{99, 1};
  const auto runs = [&](double factor) {
    side_times out;
    for (int r = 0; r < 5; ++r) {
      std::vector<double> passes =
          source.times(noise::normal, 64, factor * 1e6 * (1 + 0.003 * source.normal()), 0.003);
      for (std::size_t i = 0; i < passes.size(); ++i) {
        passes[i] *= 1 + 0.5 * static_cast<double>(i) / 64;
      }
      out.push_back(run_of(passes));
    }
    return out;
  };
  int tenth = 0;
  int little = 0;
  int wrong = 0;
  for (int i = 0; i < pairs / 5; ++i) {
    const side_times base = runs(1);
    tenth += change_of(base, runs(1.1), draws).verdict == outcome::worse ? 1 : 0;
    little += change_of(base, runs(1.04), draws).verdict == outcome::worse ? 1 : 0;
    wrong += change_of(base, runs(1), draws).verdict != outcome::same ? 1 : 0;
  }
  EXPECT_EQ(tenth, pairs / 5);
  EXPECT_GE(little, nearly_all / 5);
  EXPECT_LE(wrong, nominal / 5);
  RecordProperty("tenth", tenth);
  RecordProperty("little", little);
  RecordProperty("wrong", wrong);
}

/// Of 1,000 pairs, how often one run against nine is named where levels of runs vary by Student's t of 1 %.
int named_of_one_run(std::size_t passes, double factor) {
  noise_source source{21};
  resampler draws{99, 1};
  const auto some = [&](std::size_t runs, double times) {
    side_times out;
    for (std::size_t r = 0; r < runs; ++r) {
      out.push_back(
          run_of(source.times(noise::normal, passes, times * 1e6 * (1 + 0.01 * source.student()), 0.005)));
    }
    return out;
  };
  int named = 0;
  for (int i = 0; i < pairs; ++i) {
    const side_times base = some(9, 1);
    const outcome is = change_of(base, some(1, factor), draws).verdict;
    named += is == outcome::better || is == outcome::worse ? 1 : 0;
  }
  return named;
}

// One run of a single pass, as of a prefill, names nothing; of 20 passes it must be beyond the noise floor
// too.
TEST(repeated_runs, against_one_run_need_its_passes_and_the_noise_floor) {
  EXPECT_EQ(named_of_one_run(2, 1), 0);
  EXPECT_EQ(named_of_one_run(15, 1.5), 0);
  const int wrong = named_of_one_run(20, 1);
  EXPECT_LE(wrong, pairs / 40);
  RecordProperty("wrong", wrong);
  EXPECT_GE(named_of_one_run(20, 1.15), pairs * 3 / 4);
}

TEST(change, of_absurd_times_is_finite_or_nothing) {
  const double far = 4.6e18;
  for (const side_times& base : {side_times{run_of({0, 0, 0})}, side_times{run_of({1, far, 0, far})},
                                 side_times{run_of({far, far})}, side_times{run_of({1})}}) {
    for (const side_times& fresh : {side_times{run_of({far, 1, 1, far, far})}, side_times{run_of({0, 0})},
                                    side_times{run_of({1, 0, 0, 0}), run_of({5, 5})}}) {
      const time_change c = change_of(base, fresh);
      EXPECT_FALSE(std::isnan(c.relative));
      EXPECT_FALSE(std::isnan(c.low));
      EXPECT_FALSE(std::isnan(c.high));
      EXPECT_FALSE(std::isnan(c.p));
    }
  }
}

// Two tests each, of median and mean, of which the means tell nothing: p of 0.01, 0.02, 0.03, 0.2 and 0.9 is
// that of the medians ÷ 0.8. q = min over what follows of p·5 ÷ rank: 0.05, 0.05, 0.05, 0.25, 0.9.
TEST(judge, is_benjamini_and_hochbergs) {
  std::vector<time_change> all(5);
  const double p[] = {0.16, 0.008, 0.72, 0.024, 0.016};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].p = p[i];
    all[i].has_interval = true;
    all[i].base_mean = all[i].fresh_mean = 1;
    all[i].relative = all[i].high = 0.1;
    all[i].low = 0.01;
  }
  std::vector<time_change*> family;
  for (time_change& one : all) {
    family.push_back(&one);
  }
  varve::comparing::judge(family, {});
  EXPECT_NEAR(all[0].q, 0.25, 1e-12);
  EXPECT_NEAR(all[1].q, 0.05, 1e-12);
  EXPECT_NEAR(all[2].q, 0.9, 1e-12);
  EXPECT_NEAR(all[3].q, 0.05, 1e-12);
  EXPECT_NEAR(all[4].q, 0.05, 1e-12);
  EXPECT_EQ(all[0].verdict, outcome::inconclusive);
}

// 4.5 % by the median is 5.6 % where the mean says nothing, and 4.5 % where that tells too.
TEST(judge, takes_all_of_the_rate_where_median_and_mean_both_tell) {
  time_change c;
  c.has_interval = true;
  c.base_mean = c.fresh_mean = 1;
  c.relative = c.mean_relative = -0.57;
  c.low = -0.63;
  c.high = -0.07;
  c.p = 0.045;
  c.mean_p = 1;
  varve::comparing::judge({&c}, {});
  EXPECT_NEAR(c.q, 0.05625, 1e-12);
  EXPECT_EQ(c.verdict, outcome::inconclusive);
  c.mean_p = 0.04;
  varve::comparing::judge({&c}, {});
  EXPECT_NEAR(c.q, 0.045, 1e-12);
  EXPECT_EQ(c.verdict, outcome::better);
}

// Twenty layers of which none changed, 200 times: 5 % of all comparisons may name one. The interval of 200
// that holds 95 % of all counts ends at 16.
TEST(judge, names_no_layer_in_nineteen_of_twenty_comparisons) {
  noise_source source{7};
  resampler draws{199, 1};
  const compare_options options{0.95, 0.0, 199, 1};
  int alarms = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<time_change> all;
    for (int layer = 0; layer < 20; ++layer) {
      all.push_back(varve::comparing::change_of({run_of(source.times(noise::student, 40, 1e6, 0.02))},
                                                {run_of(source.times(noise::student, 40, 1e6, 0.02))},
                                                options, draws));
    }
    std::vector<time_change*> family;
    for (time_change& one : all) {
      family.push_back(&one);
    }
    varve::comparing::judge(family, options);
    alarms += std::any_of(all.begin(), all.end(),
                          [](const time_change& c) {
                            return c.verdict == outcome::better || c.verdict == outcome::worse;
                          })
                  ? 1
                  : 0;
  }
  EXPECT_LE(alarms, 16);
}

}  // namespace
