// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Where a session's records are cut. Times in the traces are microseconds from 0 on.
#include "record/cut.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

using testing::ElementsAre;
using varve::none;
using varve::time_ns;
using varve::record::cut;

constexpr time_ns us = 1000;

class cut_test : public testing::Test {
 protected:
  cut_test() {
    t.end = 1000 * us;
    t.intern_stream({0, 0, 0});
    t.intern_thread(1);
  }

  std::uint32_t pass(time_ns begin, time_ns end, std::uint32_t parent = none) {
    varve::range r;
    r.begin = begin * us;
    r.end = end * us;
    r.parent = parent;
    r.thread = 0;
    r.kind = parent == none ? varve::range_kind::phase : varve::range_kind::layer;
    t.ranges.push_back(r);
    return static_cast<std::uint32_t>(t.ranges.size() - 1);
  }
  std::uint32_t open(time_ns begin) {
    const std::uint32_t r = pass(begin, t.end / us);
    t.ranges[r].clipped_end = true;
    return r;
  }
  std::uint32_t call(time_ns begin, std::uint32_t range, varve::call_kind kind = varve::call_kind::launch) {
    const auto correlation = static_cast<std::uint32_t>(t.calls.size() + 1);
    t.add_call({begin * us, (begin + 1) * us, correlation, range, 0, kind});
    return correlation;
  }
  void ran(std::uint32_t correlation, time_ns begin, time_ns end) {
    t.add_activity({begin * us, end * us, correlation, none, none, none, 0});
  }
  [[nodiscard]] cut made(const std::vector<std::uint32_t>& held = {}) const { return cut{t, {held}}; }
  [[nodiscard]] cut made_in_need(double memory_used = 0.26) const { return cut{t, {{}, memory_used}}; }

  varve::trace t;
};

// pass 0..100, 120..200; now is 1000: the latest moment without one.
TEST_F(cut_test, is_now_where_all_has_ended) {
  pass(0, 100);
  pass(120, 200);
  EXPECT_EQ(made().at(), 1000 * us);
  EXPECT_THAT(made().ranges(), ElementsAre(true, true));
}

TEST_F(cut_test, is_at_the_begin_of_a_pass_that_is_open) {
  const std::uint32_t first = pass(0, 100);
  pass(10, 90, first);
  open(120);
  EXPECT_EQ(made().at(), 120 * us);
  EXPECT_THAT(made().ranges(), ElementsAre(true, true, false));
}

TEST_F(cut_test, is_nowhere_while_one_pass_is_open_that_began_first) {
  open(0);
  pass(120, 200);
  EXPECT_EQ(made().at(), 0);
  EXPECT_FALSE(made().overlaps());
  EXPECT_THAT(made().ranges(), ElementsAre(false, false));
}

// 0..100 and 50..150 overlap; 160 is the first moment after both.
TEST_F(cut_test, is_never_inside_of_a_pass) {
  pass(0, 100);
  pass(50, 150);
  open(160);
  EXPECT_EQ(made().at(), 160 * us);
  t.ranges[2].begin = 140 * us;
  EXPECT_EQ(made().at(), 0);
}

TEST_F(cut_test, waits_for_the_activities_of_a_pass) {
  const std::uint32_t first = pass(0, 100);
  const std::uint32_t a = call(10, first);
  const std::uint32_t second = pass(120, 200);
  const std::uint32_t b = call(130, second);
  EXPECT_EQ(made().at(), 0);
  ran(b, 140, 150);  // of the first none has come
  EXPECT_EQ(made().at(), 0);
  t.calls.end[1] = t.end;
  t.ranges[1].end = t.end;  // and the second is open
  t.ranges[1].clipped_end = true;
  ran(a, 20, 30);
  EXPECT_EQ(made().at(), 120 * us);
  EXPECT_THAT(made().calls(), ElementsAre(true, false));
  EXPECT_TRUE(made().takes(a, 20 * us));
  EXPECT_FALSE(made().takes(b, 20 * us));
  EXPECT_TRUE(made().takes(77, 119 * us));  // of no call here: by its begin
  EXPECT_FALSE(made().takes(77, 120 * us));
}

// How many records a graph makes is not known: a second after the last, those of a later launch tell.
TEST_F(cut_test, waits_until_a_graph_has_settled) {
  const std::uint32_t first = pass(0, 100);
  ran(call(10, first, varve::call_kind::graph_launch), 20, 300);
  const std::uint32_t second = pass(400, 410);
  ran(call(405, second), 406, 407);
  t.end = 300 * us + varve::record::cut_options{}.settling;
  EXPECT_EQ(made().at(), 0);
  t.end += 1;
  EXPECT_EQ(made().at(), t.end);
}

// Where nothing is launched later, time alone.
TEST_F(cut_test, waits_longer_for_the_last_graph) {
  const std::uint32_t first = pass(0, 100);
  ran(call(10, first, varve::call_kind::graph_launch), 20, 300);
  t.end = 300 * us + cut::lag;
  EXPECT_EQ(made().at(), 0);
  t.end += 1;
  EXPECT_EQ(made().at(), t.end);
}

TEST_F(cut_test, waits_no_longer_than_its_patience_for_activities_that_are_missing) {
  const std::uint32_t first = pass(0, 100);
  call(10, first);
  t.end = 100 * us + cut::patience;
  EXPECT_EQ(made().at(), 0);
  t.end += 1;
  EXPECT_EQ(made().at(), t.end);
}

// Records of launches 5 s later are there: what is missing is lost.
TEST_F(cut_test, waits_no_longer_than_its_lag_where_later_launches_have_their_records) {
  const std::uint32_t first = pass(0, 100);
  call(10, first);
  const time_ns later = 100 + cut::lag / us;
  const std::uint32_t second = pass(200, later + 10);
  ran(call(later, second), later + 1, later + 2);
  t.end = (later + 20) * us;
  EXPECT_EQ(made().at(), 0);
  EXPECT_THAT(made_in_need().ranges(), ElementsAre(false, true));
  EXPECT_THAT(made_in_need(0.76).ranges(), ElementsAre(true, true));  // then any later one will do
  t.calls.begin[1] += 1;
  EXPECT_EQ(made().at(), t.end);
}

TEST_F(cut_test, waits_for_no_activity_of_a_call_that_a_capture_recorded) {
  const std::uint32_t first = pass(0, 100);
  call(10, first);
  t.calls.captured[0] = 1;
  call(20, first, varve::call_kind::synchronise);
  EXPECT_EQ(made().at(), t.end);
}

// The device was at pass 0 until 130, when pass 1 had begun on the host; it was done with both at 210. Before
// pass d it was still at c, and before the open one at d: 230 is the last quiet moment.
TEST_F(cut_test, is_where_devices_had_done_all_too_if_there_is_such_a_moment) {
  const std::uint32_t a = pass(0, 100);
  const std::uint32_t b = pass(120, 200);
  ran(call(10, a), 20, 130);
  ran(call(125, b), 130, 210);
  const std::uint32_t c = pass(230, 300);
  ran(call(240, c), 250, 320);
  const std::uint32_t d = pass(310, 400);
  ran(call(311, d), 320, 420);
  const std::uint32_t e = open(410);
  EXPECT_EQ(made().at(), 230 * us);
  EXPECT_THAT(made().ranges(), ElementsAre(true, true, false, false, false));
  t.activities.end[1] = 235 * us;  // now there is none
  EXPECT_EQ(made().at(), 0);
  EXPECT_EQ(made_in_need().at(), 410 * us);  // the latest at which the host was in no pass
  t.ranges[e].end = t.end = cut::patience_for_quiet;
  EXPECT_EQ(made().at(), 0);
  t.ranges[e].end = t.end += 1;
  EXPECT_EQ(made().at(), 410 * us);
  EXPECT_THAT(made().ranges(), ElementsAre(true, true, true, true, false));
}

TEST_F(cut_test, holds_launches_outside_of_passes_as_passes) {
  const std::uint32_t a = call(10, none);
  open(120);
  EXPECT_EQ(made().at(), 10 * us);  // nothing was before that
  EXPECT_THAT(made().calls(), ElementsAre(false));
  ran(a, 20, 30);
  ran(call(130, 0), 140, 150);
  EXPECT_EQ(made().at(), 120 * us);
  EXPECT_THAT(made().calls(), ElementsAre(true, false));
}

TEST_F(cut_test, is_not_held_up_by_a_thread_that_waits) {
  call(10, none, varve::call_kind::synchronise);
  t.calls.end[0] = t.end;
  pass(20, 100);
  open(120);
  EXPECT_EQ(made().at(), 120 * us);
  EXPECT_THAT(made().calls(), ElementsAre(false));
}

TEST_F(cut_test, keeps_a_pass_that_a_thread_has_taken_over) {
  const std::uint32_t first = pass(0, 100);
  const std::uint32_t inner = pass(10, 90, first);
  EXPECT_EQ(made().at(), t.end);
  EXPECT_EQ(made({inner}).at(), 0);
}

TEST_F(cut_test, overlaps_where_passes_were_open_for_long) {
  pass(0, 100);
  open(50);
  pass(60, 200);
  t.ranges[1].end = t.end = cut::patience_with_overlap;
  EXPECT_EQ(made().at(), 0);
  EXPECT_TRUE(made_in_need().overlaps());
  t.ranges[1].end = t.end += 1;
  EXPECT_TRUE(made().overlaps());
  EXPECT_EQ(made().at(), t.end);
  EXPECT_THAT(made().ranges(), ElementsAre(true, false, true));
}

TEST_F(cut_test, takes_requests_that_have_ended) {
  pass(0, 100);
  for (const bool is_open : {false, true}) {
    varve::range r;
    r.end = is_open ? t.end : 90 * us;
    r.clipped_end = is_open;
    r.kind = varve::range_kind::request;
    t.ranges.push_back(r);
  }
  EXPECT_THAT(made().ranges(), ElementsAre(true, true, false));
}

}  // namespace
