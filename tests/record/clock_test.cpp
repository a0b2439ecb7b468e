// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/clock.hpp"

#include <varve/collector.hpp>
#include <varve/session.hpp>

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

#if defined(__x86_64__)

class clock_choice : public testing::Test {
 protected:
  void TearDown() override { varve::record::choose_clock(varve::record::power_features()); }

  static constexpr std::uint32_t invariant = 0x100;  // bit 8

  static std::uint64_t nanoseconds() { return static_cast<std::uint64_t>(varve::record::monotonic()); }
  /// A session of one layer, with the clock that it names.
  static varve::trace record() {
    varve::session session;
    { const varve::layer layer{"layer"}; }
    EXPECT_EQ(session.status().clock, varve::record::clock_name());
    return session.stop();
  }
};

TEST_F(clock_choice, is_the_counter_where_it_is_invariant) {
  EXPECT_TRUE(varve::record::choose_clock(invariant));
  EXPECT_TRUE(varve::record::choose_clock(0xFFFF'FFFF));
  const std::uint64_t before = __rdtsc();
  const std::uint64_t ticks = varve::clock_ticks();
  const std::uint64_t after = __rdtsc();
  EXPECT_LE(before, ticks);
  EXPECT_LE(ticks, after);
  EXPECT_EQ(record().clock, "invariant TSC");
}

TEST_F(clock_choice, is_the_systems_where_the_counter_is_not_invariant) {
  for (const std::uint32_t features : {0U, ~invariant}) {
    EXPECT_FALSE(varve::record::choose_clock(features));
    const std::uint64_t before = nanoseconds();
    const std::uint64_t ticks = varve::clock_ticks();
    const std::uint64_t after = nanoseconds();
    EXPECT_LE(before, ticks);
    EXPECT_LE(ticks, after);
    const varve::trace t = record();
    EXPECT_EQ(t.clock, "CLOCK_MONOTONIC (the TSC is not invariant on this machine)");
    ASSERT_EQ(t.ranges.size(), 1U);
    EXPECT_LE(t.begin, t.ranges[0].begin);
    EXPECT_LE(t.ranges[0].begin, t.ranges[0].end);
    EXPECT_LE(t.ranges[0].end, t.end);
    // A tick is a nanosecond.
    EXPECT_EQ(varve::clock_nanoseconds(ticks + 1000) - varve::clock_nanoseconds(ticks), 1000);
  }
}

TEST_F(clock_choice, follows_the_processor) {
  const std::uint32_t features = varve::record::power_features();
  EXPECT_EQ(varve::record::clock_is_counter, (features & invariant) != 0);
}

#else

TEST(clock, has_a_name) { EXPECT_FALSE(varve::record::clock_name().empty()); }

#endif

}  // namespace
