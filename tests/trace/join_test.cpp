// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/trace.hpp>

#include <gtest/gtest.h>

namespace {

class join_test : public testing::Test {
 protected:
  std::uint32_t add_range(std::uint16_t thread, varve::time_ns begin, varve::time_ns end) {
    varve::range r;
    r.thread = thread;
    r.begin = begin;
    r.end = end;
    t.ranges.push_back(r);
    return static_cast<std::uint32_t>(t.ranges.size() - 1);
  }
  std::size_t add_call(std::uint16_t thread, varve::time_ns begin, varve::time_ns end) {
    varve::call c;
    c.thread = thread;
    c.begin = begin;
    c.end = end;
    t.add_call(c);
    return t.calls.size() - 1;
  }
  varve::trace t;
};

TEST_F(join_test, gives_a_call_to_the_innermost_range_that_holds_its_middle) {
  const auto outer = add_range(0, 0, 100);
  const auto inner = add_range(0, 20, 40);
  const auto in_inner = add_call(0, 15, 30);  // middle 22
  const auto in_outer = add_call(0, 35, 60);  // middle 47
  const auto outside = add_call(0, 90, 130);  // middle 110
  varve::join_calls_to_ranges(t);
  EXPECT_EQ(t.calls.range[in_inner], inner);
  EXPECT_EQ(t.calls.range[in_outer], outer);
  EXPECT_EQ(t.calls.range[outside], varve::none);
}

TEST_F(join_test, keeps_threads_apart) {
  const auto a = add_range(0, 0, 100);
  const auto b = add_range(2, 0, 100);
  const auto on_a = add_call(0, 10, 12);
  const auto on_nobody = add_call(1, 10, 12);
  const auto on_b = add_call(2, 10, 12);
  const auto unknown = add_call(varve::narrow_none, 10, 12);
  varve::join_calls_to_ranges(t);
  EXPECT_EQ(t.calls.range[on_a], a);
  EXPECT_EQ(t.calls.range[on_nobody], varve::none);
  EXPECT_EQ(t.calls.range[on_b], b);
  EXPECT_EQ(t.calls.range[unknown], varve::none);
}

TEST_F(join_test, takes_records_in_any_order) {
  const auto inner = add_range(0, 20, 40);
  const auto outer = add_range(0, 0, 100);
  const auto second = add_call(0, 50, 60);
  const auto first = add_call(0, 25, 30);
  varve::join_calls_to_ranges(t);
  EXPECT_EQ(t.calls.range[first], inner);
  EXPECT_EQ(t.calls.range[second], outer);
}

TEST_F(join_test, counts_both_ends_as_inside_and_the_longer_of_equal_begins_as_outer) {
  const auto inner = add_range(0, 10, 20);
  const auto outer = add_range(0, 10, 30);
  const auto at_begin = add_call(0, 10, 10);
  const auto at_end = add_call(0, 20, 20);
  const auto at_outer_end = add_call(0, 30, 30);
  varve::join_calls_to_ranges(t);
  EXPECT_EQ(t.calls.range[at_begin], inner);
  EXPECT_EQ(t.calls.range[at_end], inner);
  EXPECT_EQ(t.calls.range[at_outer_end], outer);
}

TEST_F(join_test, leaves_calls_alone_that_know_their_range) {
  const auto outer = add_range(0, 0, 100);
  add_range(0, 20, 40);
  const auto known = add_call(0, 25, 30);
  t.calls.range[known] = outer;
  varve::join_calls_to_ranges(t);
  EXPECT_EQ(t.calls.range[known], outer);
}

TEST_F(join_test, follows_ranges_that_overlap_without_nesting) {
  add_range(0, 0, 50);
  const auto later = add_range(0, 30, 80);
  const auto call = add_call(0, 60, 62);
  varve::join_calls_to_ranges(t);
  EXPECT_EQ(t.calls.range[call], later);
}

}  // namespace
