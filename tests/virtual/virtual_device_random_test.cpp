// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Engines made up from seeds, whole and damaged, against the truth. A failure names its seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "proof.hpp"
#include "support/virtual_scenarios.hpp"
#include "support/virtual_truth.hpp"

namespace virtual_device {
namespace {

constexpr std::uint64_t seeds = 300;

/// What must hold whatever the definitions of the single measures are.
void expect_sums_to_agree(const varve::report& r) {
  std::map<std::uint32_t, double> shared;
  for (const varve::row& row : r.layers) {
    shared[row.device] += row.exclusive.shared_time;
  }
  for (const varve::device_row& d : r.devices) {
    EXPECT_NEAR(shared[d.device.id], static_cast<double>(d.busy), 1e-3) << "device " << d.device.id;
  }
  for (const varve::phase_row& p : r.phases) {
    EXPECT_EQ(p.partition.wall(), p.wall) << p.phase;
  }
}

TEST(virtual_device_random, whole_traces_are_reported_as_they_are) {
  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_sums_to_agree(proved(random_scenario(seed)));
  }
}

TEST(virtual_device_random, damaged_traces_are_reported_as_far_as_they_tell) {
  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    recording r = random_scenario(seed);
    random_source random{seed};
    damage(r, random);
    expect_sums_to_agree(proved(r));
  }
}

TEST(virtual_device_random, few_scenarios_are_open_to_more_than_one_answer) {
  std::uint64_t ambiguous = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    ambiguous += truth_of(random_scenario(seed)).ambiguous ? 1U : 0U;
  }
  EXPECT_LT(ambiguous, seeds / 5);
}

}  // namespace
}  // namespace virtual_device
