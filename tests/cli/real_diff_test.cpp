// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// `varve diff` on traces of real GPUs, which are no part of the project.
#include <varve/compare.hpp>
#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cli/process.hpp"
#include "formats/real_traces.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing_support::outcome;
using testing_support::run;

class real_diff : public real_traces {};

TEST_F(real_diff, of_v100_graphs_with_itself_is_no_difference) {
  const outcome o = run({"diff", path("v100-cuda-graphs"), path("v100-cuda-graphs"), "--width", "160"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("\nNo difference.\n"), HasSubstr("comparable to 100.0 %"), Not(HasSubstr("worse.")),
                           Not(HasSubstr("What made"))));
}

TEST_F(real_diff, of_two_ranks_lists_differences_and_warns) {
  const outcome o = run({"diff", path("two-ranks.rank0"), path("two-ranks.rank1"), "--width", "160"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("! these are ranks 0 and 1 of "));
}

}  // namespace
