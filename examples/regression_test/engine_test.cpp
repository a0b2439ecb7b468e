// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Tests that keep an engine fast. What the program decides (launches, kernels, copies) is tested exactly, on
// any machine; times with a limit far above what is usual, so that they fail for an order of magnitude and
// not for a busy machine. docs/testing.md says how to choose limits.
#include "engine.hpp"

#include <varve/testing.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace {

using namespace std::chrono_literals;

struct fused_decoding {
  engine tested{4, true};
  void pass() { tested.decode_step(); }
};

// All tests of `fused_engine` look at the same 20 passes, which run before the first, after three to warm up.
using fused_engine = varve::passes_test<fused_decoding>;

TEST_F(fused_engine, decodes_with_few_launches) {
  EXPECT_THAT(report(), varve::attributed_at_least(0.99));
  EXPECT_THAT(passes_of(varve::decode), varve::launches_at_most(8));
  EXPECT_THAT(layer({"mlp", 2, varve::decode}), varve::launches_at_most(1));
}

TEST_F(fused_engine, waits_for_nothing_in_a_pass) {
  EXPECT_THAT(run(), varve::no_copies());
  EXPECT_THAT(run(), varve::no_allocations());
  EXPECT_THAT(run(), varve::no_synchronisation());
}

TEST_F(fused_engine, decodes_fast) {
  EXPECT_EQ(step(varve::decode).count, 20);
  EXPECT_LT(step(varve::decode).p50, varve::time_ns{1'000'000'000});  // it takes some tens of µs
}

TEST(engine, keeps_its_kernels) {
  engine tested{4, true};
  varve::pass_options options;
  options.passes = 3;
  const varve::measured_passes first = varve::run_passes(options, [&] { tested.decode_step(); });
  const varve::measured_passes second = varve::run_passes(options, [&] { tested.decode_step(); });
  EXPECT_THAT(second.report, varve::same_kernels_as(first.report));
}

class every_block : public testing::TestWithParam<int> {};

TEST_P(every_block, has_a_fast_attention) {
  engine tested{4, false};
  const varve::measured_passes run = varve::run_passes([&] { tested.decode_step(); });
  const auto attention = varve::layer_of(run.report, {"attention", GetParam(), varve::decode});
  EXPECT_THAT(attention, varve::gpu_time_below(250ms));  // it takes some µs
  EXPECT_THAT(attention, varve::launches_at_most(1));
}

INSTANTIATE_TEST_SUITE_P(engine, every_block, testing::Range(0, 4));

}  // namespace
