// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/budget.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "formats/small_report.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::small_report;
using varve::budget;
using varve::budget_entry;
using varve::budget_of;
using varve::budget_outcome;
using varve::budget_status;
using varve::check;
using varve::report;

budget_entry entry(budget_of of, std::string pattern, std::string figure) {
  budget_entry e;
  e.where.of = of;
  e.where.pattern = std::move(pattern);
  e.figure = std::move(figure);
  return e;
}

budget_entry at_most(budget_of of, std::string pattern, std::string figure, double limit) {
  budget_entry e = entry(of, std::move(pattern), std::move(figure));
  e.at_most = limit;
  return e;
}

budget_entry change(budget_of of, std::string pattern, std::string figure, double allowed) {
  budget_entry e = entry(of, std::move(pattern), std::move(figure));
  e.max_change = allowed;
  return e;
}

budget_outcome outcome_of(const report& r, const budget_entry& e, const report* baseline = nullptr) {
  budget b;
  b.entries = {e};
  return check(r, b, baseline).entries.at(0);
}

constexpr double us = 1e3;

// small_report(): attention takes 750 µs a call in layer 0 and 450 µs in layer 1.

TEST(a_budget, is_kept_up_to_its_limit) {
  const report r = small_report();
  const budget_outcome kept =
      outcome_of(r, at_most(budget_of::layer, "layer * / attention", "gpu_time", 750 * us));
  EXPECT_EQ(kept.status, budget_status::ok);
  EXPECT_EQ(kept.where, "layer 0 / attention (decode)") << "the row that is nearest to the limit";
  EXPECT_EQ(kept.actual, 750 * us);
  EXPECT_EQ(kept.used, 1);
  EXPECT_EQ(kept.rows, 2);
  EXPECT_EQ(kept.message, "layer 0 / attention (decode): gpu_time 750 µs a call, at most 750 µs");
}

TEST(a_budget, that_is_exceeded_names_the_worst_row) {
  const report r = small_report();
  const budget_outcome e =
      outcome_of(r, at_most(budget_of::layer, "layer * / attention", "gpu_time", 600 * us));
  EXPECT_EQ(e.status, budget_status::exceeded);
  EXPECT_EQ(e.rows_exceeded, 1);
  EXPECT_EQ(e.used, 1.25);  // 750 ÷ 600
  EXPECT_EQ(e.message,
            "layer 0 / attention (decode): gpu_time 750 µs a call, at most 600 µs: 25.0 % more; 1 of 2 rows "
            "exceed it");
  // By less than three digits show.
  const budget_outcome close =
      outcome_of(r, at_most(budget_of::layer, "layer 0 / attention", "gpu_time", 749.999 * us));
  EXPECT_THAT(close.message, HasSubstr("750 µs a call, at most 749.999 us"));
}

TEST(a_budget, can_be_one_from_below) {
  const report r = small_report();
  budget_entry e = entry(budget_of::phase, "", "tokens_per_second");
  e.at_least = 1000;  // 8 tokens in 10 ms are 800 a second
  const budget_outcome out = outcome_of(r, e);
  EXPECT_EQ(out.status, budget_status::exceeded);
  EXPECT_TRUE(out.least);
  EXPECT_EQ(out.used, 1.25);
  EXPECT_THAT(out.message,
              HasSubstr("decode: tokens_per_second 800 tokens/s, at least 1,000 tokens/s: 20.0 % less"));
  e.at_least = 800;
  EXPECT_EQ(outcome_of(r, e).status, budget_status::ok);
  e.at_most = 700;  // the worse of both limits counts
  EXPECT_EQ(outcome_of(r, e).status, budget_status::exceeded);
  EXPECT_FALSE(outcome_of(r, e).least);
}

TEST(a_budget, of_nothing_is_exceeded_by_anything) {
  const report r = small_report();
  EXPECT_EQ(outcome_of(r, at_most(budget_of::layer, "**", "allocations", 0)).status, budget_status::ok);
  const budget_outcome e = outcome_of(r, at_most(budget_of::layer, "**", "launches", 0));
  EXPECT_EQ(e.status, budget_status::exceeded);
  EXPECT_TRUE(std::isinf(e.used));
}

TEST(a_budget, that_fits_no_row_is_an_error_and_no_silent_pass) {
  const report r = small_report();
  const budget_outcome e = outcome_of(r, at_most(budget_of::layer, "layer * / atention", "gpu_time", 1));
  EXPECT_EQ(e.status, budget_status::error);
  EXPECT_THAT(e.message,
              AllOf(HasSubstr("no layer fits \"layer * / atention\""), HasSubstr("\"layer 0 / attention\"")));
  budget_entry phase = at_most(budget_of::phase, "", "step", 1);
  phase.where.phase = "prefill";
  EXPECT_THAT(outcome_of(r, phase).message, HasSubstr("no phase fits \"prefill\"; there is \"decode\""));
  budget_entry device = at_most(budget_of::layer, "**", "gpu_time", 1);
  device.where.device = 7;
  EXPECT_EQ(outcome_of(r, device).message,
            "no layer fits \"**\" on device 7: the report has no layers there");
  EXPECT_THAT(outcome_of(r, at_most(budget_of::kernel, "*", "gpu_time", 1)).message,
              HasSubstr("the report has no kernels there"));
}

TEST(a_budget, of_an_unknown_figure_or_without_limits_is_an_error) {
  const report r = small_report();
  EXPECT_EQ(
      outcome_of(r, at_most(budget_of::layer, "**", "gpu_tme", 1)).message,
      "there is no figure \"gpu_tme\" of layers; the nearest are \"gpu_time\", \"waves\" and \"bytes\"");
  EXPECT_THAT(outcome_of(r, entry(budget_of::layer, "**", "gpu_time")).message, HasSubstr("has no limit"));
  EXPECT_THAT(outcome_of(r, change(budget_of::layer, "**", "gpu_time", 0.05)).message,
              HasSubstr("needs a baseline"));
}

TEST(a_budget, of_an_empty_report_is_an_error) {
  for (const budget_entry& e :
       {at_most(budget_of::report, "", "losses", 0), at_most(budget_of::layer, "**", "calls", 9)}) {
    const budget_outcome out = outcome_of(report{}, e);
    EXPECT_EQ(out.status, budget_status::error);
    EXPECT_THAT(out.message, HasSubstr("the report is empty"));
  }
  EXPECT_FALSE(check(small_report(), budget{}).ok()) << "without entries nothing is checked";
}

TEST(a_budget, of_layers_is_not_measurable_where_little_belongs_to_them) {
  report r = small_report();
  r.quality.attributed = 0.71;
  budget b;
  b.entries = {at_most(budget_of::layer, "layer 0", "gpu_time", 1e9),
               at_most(budget_of::layer, "layer 0", "launches", 1e9),
               at_most(budget_of::phase, "", "gpu_time", 1e9)};
  const varve::budget_result result = check(r, b);
  EXPECT_EQ(result.entries[0].status, budget_status::not_measurable);
  EXPECT_EQ(result.entries[0].message,
            "layer 0 (decode): gpu_time is not measurable: only 71.0 % of the GPU time belongs to a layer, "
            "95.0 % are needed (least_attributed)");
  EXPECT_EQ(result.entries[1].status, budget_status::ok) << "calls are the host's";
  EXPECT_EQ(result.entries[2].status, budget_status::ok) << "phases need no layers";
  EXPECT_FALSE(result.ok());
  b.least_attributed = 0.7;
  EXPECT_TRUE(check(r, b).ok());
}

TEST(a_budget, is_not_measurable_where_one_row_is_not) {
  report r = small_report();
  budget_entry e = entry(budget_of::layer, "layer *", "efficiency");
  e.at_least = 0.5;
  r.layers[1].verdict.by = varve::bound::memory;
  r.layers[1].verdict.roof_share = 0.6;
  const budget_outcome out = outcome_of(r, e);
  EXPECT_EQ(out.status, budget_status::not_measurable);
  EXPECT_EQ(out.where, "layer 1 (decode)");
  EXPECT_EQ(out.rows_unknown, 1);
  EXPECT_THAT(out.message, HasSubstr("; 1 of 2 rows can't be measured"));
  r.layers[1].verdict.roof_share = 0.4;  // what is exceeded is so whatever the other row is
  EXPECT_EQ(outcome_of(r, e).status, budget_status::exceeded);
}

TEST(a_budget, may_ask_for_passes) {
  const report r = small_report();
  budget_entry e = at_most(budget_of::phase, "", "step.p50", 1e9);
  e.least_passes = 2;
  EXPECT_EQ(outcome_of(r, e).status, budget_status::ok);
  e.least_passes = 3;
  EXPECT_EQ(outcome_of(r, e).message,
            "decode: step.p50 is not measurable: it rests on 2 passes, 3 are needed (least_passes)");
}

TEST(a_budget, without_a_phase_is_not_of_preparation) {
  report r = small_report();
  r.phases.push_back(r.phases[0]);
  r.phases[1].phase = "warm-up";
  r.phases[1].step.max = 1'000'000'000;
  budget_entry e = at_most(budget_of::phase, "", "step.max", 6000 * us);
  EXPECT_EQ(outcome_of(r, e).status, budget_status::ok);
  e.where.phase = "warm-*";
  EXPECT_EQ(outcome_of(r, e).where, "warm-up");
  EXPECT_EQ(outcome_of(r, e).status, budget_status::exceeded);
}

// --- against a baseline ---

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

TEST(a_relative_budget, allows_what_the_passes_own_spread_does) {
  report before = small_report();
  before.layers[1].per_pass = {80, 90, 100, 110, 120};
  report now = before;
  const budget_entry e = change(budget_of::layer, "layer 0", "gpu_time", 0.05);
  // Median 100, deviations 20, 10, 0, 10, 20: their median is 10. Each run's standard error is
  // 1.4826 · 10 ÷ 100 · 1.2533 ÷ √5 = 0.08310; two of the difference 2 · √2 · 0.08310 = 0.23504.
  now.layers[1].per_call.mean = before.layers[1].per_call.mean * 1.235;
  EXPECT_EQ(outcome_of(now, e, &before).status, budget_status::ok);
  now.layers[1].per_call.mean = before.layers[1].per_call.mean * 1.236;
  EXPECT_EQ(outcome_of(now, e, &before).status, budget_status::exceeded);
  // An extreme moves as single passes do: 2 · √2 · 0.14826 = 0.41934.
  const budget_entry p95 = change(budget_of::layer, "layer 0", "gpu_time.p95", 0.05);
  now.layers[1].per_call.p95 = before.layers[1].per_call.p95 * 1419 / 1000;
  EXPECT_EQ(outcome_of(now, p95, &before).status, budget_status::ok);
  now.layers[1].per_call.p95 = before.layers[1].per_call.p95 * 1420 / 1000;
  EXPECT_EQ(outcome_of(now, p95, &before).status, budget_status::exceeded);
  // Four passes tell no spread.
  before.layers[1].per_pass.pop_back();
  now.layers[1].per_pass.pop_back();
  now.layers[1].per_call.mean = before.layers[1].per_call.mean * 1.06;
  EXPECT_EQ(outcome_of(now, e, &before).status, budget_status::exceeded);
}

TEST(a_relative_budget, needs_the_same_row_and_device) {
  report before = small_report();
  const report now = before;
  const budget_entry e = change(budget_of::layer, "layer 1", "gpu_time", 0.05);
  before.layers[4].path = "block 1";
  EXPECT_THAT(outcome_of(now, e, &before).message, HasSubstr("the baseline has no such row"));
  before = now;
  before.devices[0].device.name = "GPU Y";
  const budget_outcome other = outcome_of(now, e, &before);
  EXPECT_EQ(other.status, budget_status::not_measurable);
  EXPECT_THAT(other.message, HasSubstr("the baseline ran on another device (GPU Y, not GPU X)"));
  before = now;
  before.quality.activities = 0;
  EXPECT_THAT(outcome_of(now, e, &before).message, HasSubstr("of the baseline: nothing but markers"));
}

// --- a first budget ---

TEST(a_first_budget, has_phases_large_layers_and_attribution) {
  const report r = small_report();
  const budget b = varve::draft_budget(r);
  std::vector<std::string> lines;
  for (const budget_entry& e : b.entries) {
    const varve::figure_unit unit = *varve::unit_of(e.where.of, e.figure);
    lines.push_back(e.where.pattern + '|' + e.where.phase + '|' + e.figure + '|' +
                    (e.at_most ? "<= " + varve::exact_text(*e.at_most, unit)
                               : ">= " + varve::exact_text(*e.at_least, unit)));
  }
  // 4.9 · 1.1 = 5.39; 3.75 · 1.1 = 4.125; 700 launches in each pass; 10 ÷ 7.5 · 1.1 = 1.4667. Of the layers
  // the slower one: 2.25 · 1.1 = 2.475, 0.75 · 1.1 = 0.825, 1.5 · 1.1 = 1.65 ms. Embedding and sampling have
  // 0.4 %.
  EXPECT_THAT(lines,
              testing::ElementsAre("|decode|step.p50|<= 5.39 ms", "|decode|gpu_time|<= 4.13 ms",
                                   "|decode|launches|<= 700", "|decode|overhead_ratio|<= 1.47",
                                   "layer *|decode|gpu_time|<= 2.48 ms",
                                   "layer * / attention|decode|gpu_time|<= 825 us",
                                   "layer * / mlp|decode|gpu_time|<= 1.65 ms", "||attributed|>= 95 %"));
  EXPECT_TRUE(check(r, b).ok());
}

TEST(a_first_budget, has_the_figures_and_layers_that_are_asked_for) {
  const report r = small_report();
  varve::budget_draft_options options;
  options.headroom = 0;
  options.figures = {"launches", "step.max"};
  options.layers = "layer 1 / **";
  const budget b = varve::draft_budget(r, options);
  std::vector<std::string> lines;
  for (const budget_entry& e : b.entries) {
    lines.push_back(e.where.pattern + '|' + e.figure + '|' + std::to_string(*e.at_most));
  }
  EXPECT_THAT(lines, testing::ElementsAre(
                         "|launches|700.000000", "|step.max|5100000.000000", "layer 1|launches|340.000000",
                         "layer 1 / attention|launches|240.000000", "layer 1 / mlp|launches|100.000000"));
  EXPECT_TRUE(check(r, b).ok());
}

TEST(a_first_budget, leaves_out_layers_that_say_little) {
  report r = small_report();
  r.quality.attributed = 0.615;
  const budget b = varve::draft_budget(r);
  for (const budget_entry& e : b.entries) {
    EXPECT_NE(e.where.of, budget_of::layer);
  }
  EXPECT_EQ(b.entries.back().at_least, 0.61);
  EXPECT_TRUE(check(r, b).ok());
  varve::budget_draft_options options;
  options.layers = "layer *";
  const budget asked = varve::draft_budget(r, options);
  EXPECT_EQ(asked.least_attributed, 0.61);
  EXPECT_TRUE(check(r, asked).ok());
}

TEST(a_first_budget, of_markers_alone_is_of_the_host) {
  report r = small_report();
  r.quality.activities = 0;
  r.phases[0].step.total = 10'000'000;
  for (varve::row& layer : r.layers) {
    layer.inclusive.host_time = layer.inclusive.gpu_time;
  }
  const budget b = varve::draft_budget(r);
  ASSERT_EQ(b.entries.size(), 4U);
  EXPECT_EQ(b.entries[0].figure, "step.p50");
  EXPECT_EQ(b.entries[1].figure, "host_time");
  EXPECT_TRUE(check(r, b).ok());
  EXPECT_TRUE(varve::draft_budget(report{}).entries.empty());
}

}  // namespace
