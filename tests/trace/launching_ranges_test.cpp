// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "trace/launching_ranges.hpp"

#include <gtest/gtest.h>

namespace {

using varve::none;

class launching_ranges_test : public testing::Test {
 protected:
  void add_call(std::uint32_t correlation, std::uint32_t range) {
    varve::call c;
    c.correlation = correlation;
    c.range = range;
    t.add_call(c);
  }
  std::size_t add_activity(std::uint32_t correlation) {
    varve::activity a;
    a.correlation = correlation;
    t.add_activity(a);
    return t.activities.size() - 1;
  }
  varve::trace t;
};

TEST_F(launching_ranges_test, are_those_of_calls_with_the_id_of_the_activity) {
  t.ranges.resize(3);
  add_call(9, 2);
  add_call(7, 2);
  add_call(7, 1);     // the driver's below the runtime's
  add_call(8, none);  // in no range
  add_call(6, 3);     // nor in one that there is
  add_call(0, 1);     // 0 is no id
  const std::size_t first = add_activity(7);
  const std::size_t second = add_activity(9);
  const std::size_t others[] = {add_activity(8), add_activity(6), add_activity(0), add_activity(5)};
  const varve::launching_ranges launched{t};
  EXPECT_EQ(launched.of(first), 1U);
  EXPECT_EQ(launched.of(second), 2U);
  for (const std::size_t i : others) {
    EXPECT_EQ(launched.of(i), none);
  }
}

TEST_F(launching_ranges_test, are_else_those_that_the_trace_names) {
  t.ranges.resize(2);
  add_call(7, 0);
  const std::size_t called = add_activity(7);
  const std::size_t named = add_activity(8);
  t.range_of_activity = {1, 1};
  const varve::launching_ranges launched{t};
  EXPECT_EQ(launched.of(called), 0U);
  EXPECT_EQ(launched.of(named), 1U);
}

}  // namespace
