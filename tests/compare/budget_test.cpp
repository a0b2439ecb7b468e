// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/budget.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compare/entries.hpp"
#include "formats/small_report.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::at_most;
using testing_support::change;
using testing_support::entry;
using testing_support::outcome_of;
using testing_support::small_report;
using varve::budget;
using varve::budget_entry;
using varve::budget_of;
using varve::budget_outcome;
using varve::budget_status;
using varve::check;
using varve::report;

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
  EXPECT_THAT(close.message, HasSubstr("gpu_time 750 us a call, at most 749.999 us: <0.001 % more"));
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
  EXPECT_EQ(outcome_of(r, at_most(budget_of::layer, "**", "gpu_tme", 1)).message,
            "there is no figure \"gpu_tme\" of layers; the nearest are \"gpu_time\", \"host_time\" and "
            "\"alone_time\"");
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

TEST(a_budget, is_not_kept_where_records_are_missing) {
  const budget_entry gpu = at_most(budget_of::layer, "layer 0", "gpu_time", 1e9);
  const budget_entry step = at_most(budget_of::phase, "", "step.p50", 1e9);
  report r = small_report();  // of 1400 activities, of which 1 % are 14
  r.quality.losses = {{"activity records dropped by CUPTI", "cupti", 14}};
  EXPECT_EQ(outcome_of(r, gpu).status, budget_status::ok);
  r.quality.losses[0].count = 15;
  EXPECT_EQ(outcome_of(r, gpu).status, budget_status::not_measurable);
  EXPECT_THAT(outcome_of(r, step).message,
              HasSubstr("step.p50 is not measurable: records are missing, more than "
                        "1 % of the activities: activity records dropped by CUPTI (15)"));
  EXPECT_EQ(outcome_of(r, at_most(budget_of::report, "", "losses", 99)).status, budget_status::ok);
  r.quality.losses = {{"the file ends after event 7, at byte 900", "t.json", 1}};
  EXPECT_THAT(outcome_of(r, gpu).message, HasSubstr("records are missing: the file ends after event 7"));
  r.quality.losses = {{"bytes that are not UTF-8: replaced by U+FFFD", "t.json", 5000}};
  EXPECT_EQ(outcome_of(r, gpu).status, budget_status::ok) << "what was repaired is there";
}

TEST(a_budget, is_not_kept_where_launches_ran_nothing) {
  report r = small_report();  // layer 0 launches 700 times, the phase 1400 times
  r.phases[0].total.kernels = 1400;
  r.layers[1].inclusive.kernels = 664;
  r.layers[1].inclusive.copies = 1;
  const budget_entry e = at_most(budget_of::layer, "layer 0", "gpu_time", 1e9);
  EXPECT_EQ(outcome_of(r, e).status, budget_status::ok) << "35 of 700 are 5 %";
  r.layers[1].inclusive.kernels = 663;
  EXPECT_THAT(outcome_of(r, e).message, HasSubstr("700 launches ran 664 kernels, copies and sets"));
  EXPECT_EQ(outcome_of(r, at_most(budget_of::layer, "layer 0", "launches", 1e9)).status, budget_status::ok);
  r.phases[0].total.kernels = 1000;
  EXPECT_EQ(outcome_of(r, at_most(budget_of::phase, "", "gpu_time", 1e9)).status,
            budget_status::not_measurable);
}

TEST(a_budget, is_not_kept_where_a_number_is_none) {
  report r = small_report();
  r.quality.attributed = std::nan("");
  const budget_outcome e = outcome_of(r, at_most(budget_of::layer, "layer 0", "gpu_time", 1e9));
  EXPECT_EQ(e.status, budget_status::not_measurable);
  EXPECT_THAT(e.message, HasSubstr("an unknown share of the GPU time belongs to a layer, 95.0 % are needed"));
  for (const budget_entry& made : varve::draft_budget(r, {0.1, {}, "**", 0.05}).entries) {
    EXPECT_FALSE(made.at_least && std::isnan(*made.at_least)) << made.figure;
  }
  r = small_report();
  EXPECT_EQ(outcome_of(r, at_most(budget_of::layer, "layer 0", "gpu_time", std::nan(""))).status,
            budget_status::exceeded);
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

}  // namespace
