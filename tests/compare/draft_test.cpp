// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/budget.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/small_report.hpp"

namespace {

using testing_support::small_report;
using varve::budget;
using varve::budget_entry;
using varve::budget_of;
using varve::check;
using varve::report;

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
