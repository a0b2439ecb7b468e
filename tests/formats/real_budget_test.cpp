// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/budget.hpp>

#include <gmock/gmock.h>

#include <sstream>

#include "formats/real_traces.hpp"

namespace {

using testing::HasSubstr;
using varve::budget;
using varve::budget_of;
using varve::budget_result;
using varve::report;

class real_budget : public real_traces {};

std::string messages(const budget_result& result) {
  std::string out;
  for (const varve::budget_outcome& e : result.entries) {
    out += e.message + '\n';
  }
  return out;
}

TEST_F(real_budget, a_run_keeps_the_budget_that_is_made_of_it) {
  for (const char* const name : {"h100-qwen1.5-0.5b", "h100-transformer-block", "v100-cuda-graphs",
                                 "two-ranks.rank0", "b200-vllm-prefill"}) {
    const report r = analyze(read(name));
    const budget b = draft_budget(r);
    EXPECT_GE(b.entries.size(), 2U) << name;
    const budget_result result = check(r, b, &r);
    EXPECT_TRUE(result.ok()) << name << '\n' << messages(result);
  }
}

TEST_F(real_budget, a_run_is_within_its_noise_of_itself) {
  const report r = analyze(read("h100-qwen1.5-0.5b"));
  budget b = varve::draft_budget(r);
  for (varve::budget_entry& e : b.entries) {
    e.at_most.reset();
    e.at_least.reset();
    e.max_change = 0;
  }
  const budget_result result = check(r, b, &r);
  EXPECT_TRUE(result.ok()) << messages(result);
}

// v100-cuda-graphs has 12 of them, REFERENCE.md says.
TEST_F(real_budget, launches_of_graphs_are_counted) {
  const report r = analyze(read("v100-cuda-graphs"));
  budget b;
  b.entries.emplace_back();
  b.entries[0].where.of = budget_of::phase;
  b.entries[0].figure = "graph_launches.total";
  b.entries[0].at_most = 11;
  const budget_result result = check(r, b);
  EXPECT_EQ(result.entries[0].status, varve::budget_status::exceeded);
  EXPECT_THAT(result.entries[0].message, HasSubstr("graph_launches.total 12, at most 11"));
}

}  // namespace
