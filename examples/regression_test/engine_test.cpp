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

TEST(engine, decodes_with_few_launches_and_nothing_that_waits) {
  engine tested{4, true};
  const varve::measured_passes run = varve::run_passes([&] { tested.decode_step(); });

  EXPECT_THAT(run.report, varve::attributed_at_least(0.99));
  EXPECT_THAT(run, varve::no_copies());
  EXPECT_THAT(run, varve::no_allocations());
  EXPECT_THAT(run, varve::no_synchronisation());
  EXPECT_THAT(varve::phase_of(run.report, varve::decode), varve::launches_at_most(8));
  EXPECT_EQ(run.step(varve::decode).count, 20);
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
