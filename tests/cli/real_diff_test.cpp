// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// `varve diff` on traces of real GPUs, which are no part of the project.
#include <varve/compare.hpp>
#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/process.hpp"
#include "formats/real_traces.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing_support::outcome;
using testing_support::run;

class real_diff : public real_traces {};

// Six steps; every layer's samples are the same on both sides.
TEST_F(real_diff, of_v100_graphs_with_itself_is_no_difference) {
  const outcome o = run({"diff", path("v100-cuda-graphs"), path("v100-cuda-graphs"), "--width", "160"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("\nNo difference.\n"), HasSubstr("6 → 6 passes"),
                           HasSubstr("0 layers worse, 0 better, 900 the same"),
                           Not(HasSubstr("inconclusive")), Not(HasSubstr("What made"))));
}

// Two steps a rank: intervals are as wide as that is little.
TEST_F(real_diff, of_two_ranks_lists_differences_with_intervals_and_warns) {
  const outcome o = run({"diff", path("two-ranks.rank0"), path("two-ranks.rank1"), "--width", "160"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("! these are ranks 0 and 1 of 128"), HasSubstr("2 → 2 passes"),
                           HasSubstr("alltoall_bwd_single"), HasSubstr("What made "),
                           HasSubstr("Kernels that changed")));

  const varve::comparison c = compare(analyze(read("two-ranks.rank0")), analyze(read("two-ranks.rank1")));
  EXPECT_FALSE(c.no_difference());
  ASSERT_EQ(c.phases.size(), 1U);
  const varve::phase_change& p = c.phases[0];
  EXPECT_TRUE(p.step.has_interval);
  EXPECT_LT(p.step.low, p.step.relative);
  EXPECT_GT(p.step.high, p.step.relative);
  double sum = 0;
  for (const varve::contribution& one : p.contributions) {
    sum += one.change();
  }
  EXPECT_NEAR(sum, p.fresh_wall - p.base_wall, 1e-3);
}

}  // namespace
