// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/clock.hpp"

#include <varve/collector.hpp>

#include <gtest/gtest.h>

namespace {

using varve::record::clock_anchor;
using varve::record::clock_mapping;

TEST(clock, turns_ticks_into_nanoseconds_at_the_rate_between_two_anchors) {
  if (!varve::record::clock_is_counter) {
    GTEST_SKIP() << "no counter on this machine: ticks are nanoseconds";
  }
  // 3 ticks a nanosecond: 3000 ticks take 1000 ns.
  const clock_anchor from{1'000'000, 50, 7'000'000};
  const clock_anchor to{1'000'000 + 3'000'000'000ULL, 50 + 1'000'000'000, 0};
  const clock_mapping map{from, to};
  EXPECT_EQ(map(1'000'000), 7'000'000);
  EXPECT_NEAR(static_cast<double>(map(1'003'000)), 7'001'000, 1);
  EXPECT_NEAR(static_cast<double>(map(1'000'000 - 3'000)), 6'999'000, 1);
  // A day later: 86,400e9 ns are 259,200e9 ticks; still right to the nanosecond.
  EXPECT_NEAR(static_cast<double>(map(1'000'000 + 259'200'000'000'000ULL) - 7'000'000), 86'400e9, 30);
}

TEST(clock, falls_back_to_one_nanosecond_a_tick_for_anchors_that_tell_nothing) {
  const clock_anchor one{100, 50, 1000};
  EXPECT_EQ((clock_mapping{one, one}(250)), 1150);
  EXPECT_EQ((clock_mapping{one, {90, 40, 0}}(250)), 1150);
}

TEST(clock, never_goes_back) {
  std::uint64_t last = varve::clock_ticks();
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t now = varve::clock_ticks();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(clock, has_a_name) { EXPECT_FALSE(varve::record::clock_name().empty()); }

}  // namespace
