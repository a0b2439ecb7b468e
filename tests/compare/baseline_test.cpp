// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/budget.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "compare/entries.hpp"
#include "compare/noise.hpp"
#include "formats/small_report.hpp"

namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing_support::change;
using testing_support::outcome_of;
using testing_support::small_report;
using varve::budget_entry;
using varve::budget_of;
using varve::budget_outcome;
using varve::budget_status;
using varve::report;

TEST(a_relative_budget, allows_its_change_and_no_more) {
  const report before = small_report();
  report now = before;
  now.phases[0].step.p50 = 5'145'000;  // 4.9 ms + 5 %
  const budget_entry e = change(budget_of::phase, "", "step.p50", 0.05);
  EXPECT_EQ(outcome_of(now, e, &before).status, budget_status::ok);
  now.phases[0].step.p50 = 5'145'001;
  const budget_outcome out = outcome_of(now, e, &before);
  EXPECT_EQ(out.status, budget_status::exceeded);
  EXPECT_EQ(out.baseline, 4'900'000);
  EXPECT_THAT(out.message, HasSubstr("(4.90 ms before, +5.00 % allowed)"));
  now.phases[0].step.p50 = 1'000'000;
  EXPECT_EQ(outcome_of(now, e, &before).status, budget_status::ok) << "it may always fall";
}

TEST(a_relative_budget, with_a_minus_allows_to_fall) {
  const report before = small_report();
  report now = before;
  now.phases[0].decode_tokens = 7;  // 700 tokens a second after 800: -12.5 %
  EXPECT_EQ(outcome_of(now, change(budget_of::phase, "", "tokens_per_second", -0.13), &before).status,
            budget_status::ok);
  EXPECT_EQ(outcome_of(now, change(budget_of::phase, "", "tokens_per_second", -0.12), &before).status,
            budget_status::exceeded);
  now.phases[0].decode_tokens = 80;
  EXPECT_EQ(outcome_of(now, change(budget_of::phase, "", "tokens_per_second", -0.01), &before).status,
            budget_status::ok);
}

TEST(a_relative_budget, allows_single_runs_two_percent) {
  const report before = small_report();
  report now = before;
  const budget_entry e = change(budget_of::layer, "layer 0", "gpu_time.p50", 0);
  now.layers[1].per_call.p50 = before.layers[1].per_call.p50 * 102 / 100;
  const budget_outcome kept = outcome_of(now, e, &before);
  EXPECT_EQ(kept.status, budget_status::ok);
  EXPECT_THAT(kept.message, HasSubstr("+2.00 % allowed by its noise"));
  now.layers[1].per_call.p50 = before.layers[1].per_call.p50 * 103 / 100;
  EXPECT_EQ(outcome_of(now, e, &before).status, budget_status::exceeded);
}

TEST(a_relative_budget, allows_counts_no_noise) {
  const report before = small_report();
  report now = before;
  now.layers[1].inclusive.launches = 701;
  EXPECT_EQ(outcome_of(now, change(budget_of::layer, "layer 0", "launches", 0), &before).status,
            budget_status::exceeded);
}

// Identical runs of 60 passes of 1 ms, of which 5 % are held up by 0 to 5 ms: that adds 0.125 ms to the mean
// and 0.05 · 25 ÷ 3 − 0.125² = 0.633² ms² to the variance, so the mean's error is 0.633 ÷ 1.125 ÷ √60 = 7.3
// %. The median does not see it. Three passes of 60 are far from normal, so more than the 2.3 % above two
// standard errors are named, 5 % at most: 20 of 400, whose interval of 95 % ends at 20 + 1.96 · 4.4 = 28.
TEST(a_relative_budget, of_a_mean_allows_what_passes_that_are_held_up_do) {
  testing_support::noise_source source{31};
  const auto run = [&] {
    report out = small_report();
    varve::row& layer = out.layers[1];
    layer.per_pass.clear();
    double sum = 0;
    for (const double time : source.times(testing_support::noise::normal, 60, 1e6, 0.005)) {
      const double held_up = source.uniform() < 0.05 ? 5e6 * source.uniform() : 0;
      layer.per_pass.push_back(static_cast<varve::time_ns>(time + held_up));
      sum += static_cast<double>(layer.per_pass.back());
    }
    layer.per_call.mean = sum / 60;
    return out;
  };
  int exceeded = 0;
  for (int i = 0; i < 400; ++i) {
    const report before = run();
    const budget_outcome one =
        outcome_of(run(), change(budget_of::layer, "layer 0", "gpu_time", 0.05), &before);
    exceeded += one.status == budget_status::exceeded ? 1 : 0;
  }
  EXPECT_LE(exceeded, 28);
  RecordProperty("exceeded", exceeded);
}

TEST(a_relative_budget, allows_what_the_passes_own_spread_does) {
  report before = small_report();
  before.layers[1].per_pass = {80, 90, 100, 110, 120};
  report now = before;
  const budget_entry e = change(budget_of::layer, "layer 0", "gpu_time", 0.05);
  // Median 100, deviations 20, 10, 0, 10, 20: their median is 10. Each run's standard error is
  // 1.4826 · 10 ÷ 100 · 1.2533 ÷ √5 = 0.08310; two of the difference 2 · √2 · 0.08310 = 0.23504.
  const auto at = [&](const budget_entry& entry, double factor) {
    now.layers[1].per_call.mean = before.layers[1].per_call.mean * factor;
    now.layers[1].per_call.p95 =
        static_cast<varve::time_ns>(static_cast<double>(before.layers[1].per_call.p95) * factor);
    return outcome_of(now, entry, &before);
  };
  EXPECT_EQ(at(change(budget_of::layer, "layer 0", "gpu_time", 0.24), 1.24).status, budget_status::ok);
  EXPECT_EQ(at(e, 1.236).status, budget_status::exceeded) << "no noise explains it";
  const budget_outcome unsure = at(e, 1.235);
  EXPECT_EQ(unsure.status, budget_status::not_measurable) << "so few passes can't tell 5 %";
  EXPECT_EQ(
      unsure.message,
      "layer 0 (decode): gpu_time is not measurable: by chance alone two such runs differ by 23.5 %, more "
      "than the 5.00 % of max_change: record more passes, or allow more");
  // 1.05 − 0.23504 = 0.81496: so fast that the noise hides no 5 %.
  EXPECT_EQ(at(e, 0.815).status, budget_status::not_measurable);
  EXPECT_EQ(at(e, 0.814).status, budget_status::ok);
  // Likewise of what may fall by 5 %: 0.95 + 0.23504 = 1.18504.
  const budget_entry falls = change(budget_of::layer, "layer 0", "gpu_time", -0.05);
  EXPECT_EQ(at(falls, 0.76).status, budget_status::exceeded);
  EXPECT_EQ(at(falls, 1.185).status, budget_status::not_measurable);
  EXPECT_EQ(at(falls, 1.186).status, budget_status::ok);
  // An extreme moves as single passes do: 2 · √2 · 0.14826 = 0.41934.
  const budget_entry p95 = change(budget_of::layer, "layer 0", "gpu_time.p95", 0.05);
  EXPECT_EQ(at(p95, 1.419).status, budget_status::not_measurable);
  EXPECT_EQ(at(p95, 1.42).status, budget_status::exceeded);
  // Four passes tell no spread.
  before.layers[1].per_pass.pop_back();
  now.layers[1].per_pass.pop_back();
  EXPECT_EQ(at(e, 1.06).status, budget_status::exceeded);
}

TEST(a_relative_budget, compares_with_the_median_of_several_runs) {
  const report now = small_report();  // 4.9 ms
  std::vector<report> before(3, now);
  before[0].phases[0].step.p50 = 4'600'000;
  before[1].phases[0].step.p50 = 4'000'000;
  before[2].phases[0].step.p50 = 4'500'000;  // the median; they differ by 0.6 of 4.5 ms: 13.3 %
  const auto with = [&](const std::vector<report>& runs, double allowed) {
    varve::budget b;
    b.entries = {change(budget_of::phase, "", "step.p50", allowed)};
    return varve::check(now, b, runs).entries.at(0);
  };
  EXPECT_EQ(with(before, 0.14).status, budget_status::ok);
  EXPECT_EQ(with(before, 0.14).baseline, 4'500'000);
  EXPECT_THAT(with(before, 0.08).message, HasSubstr("two such runs differ by 13.3 %, more than the 8.00 %"));
  before[1] = before[0];
  before[1].phases[0].step.p50 = 4'400'000;  // 0.2 of 4.5 ms: 4.4 %; now is 8.9 % more
  EXPECT_EQ(with(before, 0.08).status, budget_status::exceeded);
  before.pop_back();  // of two their mean, 4.5 ms
  EXPECT_EQ(with(before, 0.09).baseline, 4'500'000);
  before[1].phases[0].phase = "prefill";
  EXPECT_THAT(with(before, 0.09).message, HasSubstr("the baseline has no such row"));
  EXPECT_THAT(with({}, 0.09).message, HasSubstr("needs a baseline"));
}

TEST(a_relative_budget, asks_of_the_baseline_what_it_asks_of_the_run) {
  report before = small_report();
  const report now = before;
  budget_entry e = change(budget_of::layer, "layer 0", "gpu_time", 0.05);
  before.quality.attributed = 0.7;
  const budget_outcome unattributed = outcome_of(now, e, &before);
  EXPECT_EQ(unattributed.status, budget_status::not_measurable);
  EXPECT_THAT(unattributed.message,
              HasSubstr("of the baseline: only 70.0 % of the GPU time belongs to a layer"));
  before = now;
  before.phases[0].passes = 1;
  e.least_passes = 2;
  EXPECT_THAT(outcome_of(now, e, &before).message,
              HasSubstr("of the baseline: it rests on 1 pass, 2 are needed (least_passes)"));
  before = now;
  before.devices[0].device.name = "GPU Y";
  EXPECT_THAT(outcome_of(now, change(budget_of::report, "", "duration", 0.05), &before).message,
              HasSubstr("does not compare: device: GPU Y against GPU X"));
}

TEST(a_relative_budget, needs_the_same_row_and_device) {
  report before = small_report();
  const report now = before;
  const budget_entry e = change(budget_of::layer, "layer 1", "gpu_time", 0.05);
  before.layers[4].path = "block 1";
  EXPECT_THAT(outcome_of(now, e, &before).message, EndsWith("the baseline has no such row"));
  before = now;
  before.devices[0].device.id = before.layers[4].device = before.phases[0].device = 3;
  EXPECT_THAT(
      outcome_of(now, e, &before).message,
      HasSubstr("the baseline has no such row on device 0, but on device 3: measure both on the same"));
  before = now;
  before.devices[0].device.name = "GPU Y";
  const budget_outcome other = outcome_of(now, e, &before);
  EXPECT_EQ(other.status, budget_status::not_measurable);
  EXPECT_THAT(
      other.message,
      HasSubstr("the baseline does not compare: device: GPU Y against GPU X; force compares it all the "
                "same"));
  before = now;
  before.quality.activities = 0;
  EXPECT_THAT(outcome_of(now, e, &before).message, HasSubstr("of the baseline: nothing but markers"));
}

budget_outcome outcome_with(const report& now, const budget_entry& e, const report& before, bool force) {
  varve::budget b;
  b.entries = {e};
  return varve::check(now, b, std::vector{before}, {force}).entries.at(0);
}

// 1,980 against 1,755 MHz: whatever got slower by 12 % did so by that. Launches do not.
TEST(a_relative_budget, compares_times_at_the_same_clocks_alone) {
  report before = small_report();
  before.devices[0].device.clock = 1'980'000'000;
  report now = before;
  now.devices[0].device.clock = 1'755'000'000;
  const budget_entry time = change(budget_of::phase, "", "step.p50", 0.05);
  EXPECT_EQ(outcome_of(before, time, &before).status, budget_status::ok);
  const budget_outcome out = outcome_of(now, time, &before);
  EXPECT_EQ(out.status, budget_status::not_measurable);
  EXPECT_THAT(out.message, HasSubstr("the baseline does not compare: the device's highest clock: 1,980 MHz "
                                     "against 1,755 MHz; force compares it all the same"));
  EXPECT_EQ(outcome_of(now, change(budget_of::phase, "", "launches", 0), &before).status, budget_status::ok);
  EXPECT_EQ(outcome_with(now, time, before, false).status, budget_status::not_measurable);
  EXPECT_EQ(outcome_with(now, time, before, true).status, budget_status::ok);
  now = before;
  now.devices[0].device.memory_clock = 1'593'000'000;  // the baseline's is not known
  EXPECT_EQ(outcome_of(now, time, &before).status, budget_status::ok);
  before.devices[0].device.memory_clock = 2'619'000'000;
  EXPECT_THAT(outcome_of(now, time, &before).message, HasSubstr("clock of the device's memory"));
}

TEST(a_relative_budget, compares_with_another_device_by_force_alone) {
  report before = small_report();
  const report now = before;
  before.devices[0].device.name = "GPU Y";
  const budget_entry e = change(budget_of::layer, "layer 1", "gpu_time", 0.05);
  EXPECT_EQ(outcome_with(now, e, before, false).status, budget_status::not_measurable);
  EXPECT_EQ(outcome_with(now, e, before, true).status, budget_status::ok);
  before = now;
  before.quality.live_cpu = !now.quality.live_cpu;
  EXPECT_THAT(outcome_with(now, e, before, false).message, HasSubstr("processor cores"));
}

}  // namespace
