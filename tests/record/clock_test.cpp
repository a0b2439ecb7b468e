// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/clock.hpp"

#include <varve/collector.hpp>
#include <varve/session.hpp>

#include <gtest/gtest.h>

#include <vector>

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

TEST(clock, follows_a_device_clock_from_anchor_to_anchor) {
  // 2 ticks a nanosecond of CLOCK_MONOTONIC. The device clock gains 1 ns a µs in the first second, nothing in
  // the next.
  const std::vector<clock_anchor> anchors{{0, 0, 500'000'000, 20},
                                          {2'000'000'000, 1'000'000'000, 1'501'000'000, 30},
                                          {4'000'000'000, 2'000'000'000, 2'501'000'000, 10}};
  const clock_mapping map{anchors};
  EXPECT_NEAR(static_cast<double>(map(1'000'000'000)), 1'000'500'000, 1);  // half a second: 0.5 + 0.5005 s
  EXPECT_NEAR(static_cast<double>(map(3'000'000'000)), 2'001'000'000, 1);  // 1.501 + 0.5 s
  EXPECT_NEAR(static_cast<double>(map(5'000'000'000)), 3'001'000'000, 1);  // behind the last, at its rate
  // The rate changed by 1/1000 over 1 s: what lies between two anchors may be off by 1 ms, and by 10 ns of
  // reading.
  const auto course = varve::record::course_of(anchors);
  EXPECT_EQ(course.error, 1'000'010);
  EXPECT_EQ(course.steps, 0U);
}

TEST(clock, tells_of_a_device_clock_that_was_set) {
  // 1 tick a nanosecond; between the second and the third anchor the device clock goes back by 3 s.
  const std::vector<clock_anchor> anchors{{0, 0, 10'000'000'000, 5},
                                          {1'000'000'000, 1'000'000'000, 11'000'000'000, 5},
                                          {2'000'000'000, 2'000'000'000, 9'000'000'000, 5},
                                          {3'000'000'000, 3'000'000'000, 10'000'000'000, 5}};
  const auto course = varve::record::course_of(anchors);
  EXPECT_EQ(course.steps, 1U);
  EXPECT_EQ(course.furthest, -3'000'000'000);
  EXPECT_EQ(course.error, 5);
  // Time goes on at the rate of CLOCK_MONOTONIC, and then at that of the device clock, without the step.
  const clock_mapping map{anchors};
  EXPECT_TRUE(map.has_steps());
  EXPECT_NEAR(static_cast<double>(map(1'500'000'000)), 11'500'000'000, 1);
  EXPECT_NEAR(static_cast<double>(map(2'500'000'000)), 12'500'000'000, 1);
  // What the device clock showed at 1.4 s and 2.5 s; at 1.7 s, after the step and before the anchor that
  // shows it; and of work of a call at 1.5 s that ran at 2.2 s.
  EXPECT_EQ(map.steps_until(11'400'000'000, 11'400'000'000), 0);
  EXPECT_EQ(map.steps_until(9'500'000'000, 12'500'000'000), -3'000'000'000);
  EXPECT_EQ(map.steps_until(8'700'000'000, 11'700'000'000), -3'000'000'000);
  EXPECT_EQ(map.steps_until(9'200'000'000, 11'500'000'000), -3'000'000'000);
}

TEST(clock, takes_a_step_out_that_only_the_last_anchor_shows) {
  const std::vector<clock_anchor> anchors{{0, 0, 10'000'000'000, 5},
                                          {1'000'000'000, 1'000'000'000, 21'000'000'000, 5}};
  const clock_mapping map{anchors};
  EXPECT_NEAR(static_cast<double>(map(500'000'000)), 10'500'000'000, 1);
  EXPECT_NEAR(static_cast<double>(map(1'500'000'000)), 11'500'000'000, 1);
  EXPECT_EQ(map.steps_until(20'900'000'000, 10'900'000'000), 10'000'000'000);
  EXPECT_EQ(map.steps_until(10'100'000'000, 10'100'000'000), 0);
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
