// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The model's rules, each on a schedule worked out by hand. Default costs: launch 5000 ns, synchronise 2000,
// event 1000, copy 6000.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

#include "support/virtual_device.hpp"

namespace virtual_device {
namespace {

using testing::ElementsAre;
using testing::Pair;
using varve::call_kind;

using interval = std::pair<time_ns, time_ns>;

/// Begin and end of everything that ran, in the order of the launches.
std::vector<interval> activity_times(const recording& r) {
  std::vector<interval> out;
  for (const activity_record& a : r.activities) {
    out.emplace_back(a.begin, a.end);
  }
  return out;
}

std::vector<interval> calls(const recording& r, call_kind kind) {
  std::vector<interval> out;
  for (const call_record& c : r.calls) {
    if (c.kind == kind) {
      out.emplace_back(c.begin, c.end);
    }
  }
  return out;
}

struct virtual_device_schedule : testing::Test {
  machine m;
  stream s = (m.device(0), m.new_stream(0));
  host& h = m.new_host();
};

TEST_F(virtual_device_schedule, work_begins_at_its_calls_end_or_when_the_stream_is_free) {
  h.launch(s, "a", 10'000);  // call 0–5000, runs 5000–15000
  h.launch(s, "b", 1'000);   // call 5000–10000, waits for a: 15000–16000
  h.spend(10'000);           // 10000–20000
  h.launch(s, "c", 3'000);   // call 20000–25000, stream free: 25000–28000
  const recording r = m.run();
  EXPECT_THAT(activity_times(r),
              ElementsAre(Pair(5'000, 15'000), Pair(15'000, 16'000), Pair(25'000, 28'000)));
  EXPECT_THAT(calls(r, call_kind::launch),
              ElementsAre(Pair(0, 5'000), Pair(5'000, 10'000), Pair(20'000, 25'000)));
}

TEST_F(virtual_device_schedule, submit_latency_lets_work_begin_before_its_call_ends) {
  h.submit_latency = 2'000;
  h.launch(s, "a", 1'000);  // call 0–5000, submitted at 2000
  h.submit_latency = 9'000;
  h.launch(s, "b", 1'000);  // call 5000–10000, submitted at 14000
  EXPECT_THAT(activity_times(m.run()), ElementsAre(Pair(2'000, 3'000), Pair(14'000, 15'000)));
}

TEST_F(virtual_device_schedule, a_delay_passes_after_work_is_ready) {
  h.launch(s, {"a", 10'000, 300});  // ready 5000, runs 5300–15300
  h.launch(s, {"b", 1'000, 200});   // ready 15300, runs 15500–16500
  EXPECT_THAT(activity_times(m.run()), ElementsAre(Pair(5'300, 15'300), Pair(15'500, 16'500)));
}

TEST_F(virtual_device_schedule, synchronising_lasts_until_the_stream_is_done) {
  h.launch(s, "a", 10'000);  // runs 5000–15000
  h.synchronise(s);          // call 5000–15000
  h.synchronise(s);          // nothing to wait for: its cost, 15000–17000
  h.launch(s, "b", 100);     // call 17000–22000, runs 22000–22100
  h.synchronise(s);          // call 22000–24000: done before its cost is over
  const recording r = m.run();
  EXPECT_THAT(calls(r, call_kind::synchronise),
              ElementsAre(Pair(5'000, 15'000), Pair(15'000, 17'000), Pair(22'000, 24'000)));
  EXPECT_THAT(activity_times(r), ElementsAre(Pair(5'000, 15'000), Pair(22'000, 22'100)));
}

TEST_F(virtual_device_schedule, events_order_streams) {
  const stream other = m.new_stream(0);
  const event e = m.new_event();
  h.launch(s, "a", 20'000);     // call 0–5000, runs 5000–25000
  h.record(e, s);               // 5000–6000
  h.launch(s, "late", 50'000);  // 6000–11000, runs 25000–75000: after the record
  h.launch(other, "b", 1'000);  // 11000–16000, runs 16000–17000: before the wait
  h.wait(other, e);             // 16000–17000
  h.launch(other, "c", 2'000);  // 17000–22000, waits for a: runs 25000–27000
  h.synchronise(e);             // 22000–25000
  h.synchronise_device(0);      // 25000–75000
  const recording r = m.run();
  EXPECT_THAT(activity_times(r), ElementsAre(Pair(5'000, 25'000), Pair(25'000, 75'000), Pair(16'000, 17'000),
                                             Pair(25'000, 27'000)));
  EXPECT_THAT(calls(r, call_kind::synchronise), ElementsAre(Pair(22'000, 25'000), Pair(25'000, 75'000)));
}

TEST_F(virtual_device_schedule, a_wait_is_for_the_last_record_made_before_it) {
  const stream other = m.new_stream(0);
  const event e = m.new_event();
  h.wait(other, e);             // 0–1000: never recorded, nothing to wait for
  h.launch(s, "a", 10'000);     // 1000–6000, runs 6000–16000
  h.record(e, s);               // 6000–7000
  h.wait(other, e);             // 7000–8000
  h.launch(other, "b", 1'000);  // 8000–13000, runs 16000–17000
  h.launch(s, "c", 40'000);     // 13000–18000, runs 18000–58000
  h.record(e, s);               // 18000–19000
  h.launch(other, "d", 1'000);  // 19000–24000, runs 24000–25000: the wait before it was for the first record
  EXPECT_THAT(activity_times(m.run()), ElementsAre(Pair(6'000, 16'000), Pair(16'000, 17'000),
                                                   Pair(18'000, 58'000), Pair(24'000, 25'000)));
}

TEST_F(virtual_device_schedule, an_early_kernel_overlaps_its_predecessor) {
  h.launch(s, "a", 20'000);              // runs 5000–25000
  h.launch(s, {"b", 10'000, 0, 4'000});  // submitted 10000, a has 4000 to go at 21000: runs 21000–31000
  h.launch(s, {"c", 1'000, 0, 50'000});  // submitted 15000, b has begun at 21000: runs 21000–22000
  h.launch(s, "d", 1'000);               // submitted 20000, all before it done at 31000: runs 31000–32000
  EXPECT_THAT(activity_times(m.run()), ElementsAre(Pair(5'000, 25'000), Pair(21'000, 31'000),
                                                   Pair(21'000, 22'000), Pair(31'000, 32'000)));
}

TEST_F(virtual_device_schedule, an_early_kernel_completes_no_sooner_than_its_predecessor) {
  h.launch(s, "a", 20'000);             // runs 5000–25000
  h.launch(s, {"b", 1'000, 0, 9'000});  // runs 16000–17000, complete at 25000
  h.synchronise(s);                     // 10000–25000
  const recording r = m.run();
  EXPECT_THAT(activity_times(r), ElementsAre(Pair(5'000, 25'000), Pair(16'000, 17'000)));
  EXPECT_THAT(calls(r, call_kind::synchronise), ElementsAre(Pair(10'000, 25'000)));
}

TEST(VirtualDevice, kernels_beyond_the_devices_limit_wait_for_a_slot) {
  machine m;
  m.device(0, 2);
  host& h = m.new_host();
  for (const time_ns duration : {30'000, 12'000, 4'000, 1'000}) {
    const stream s = m.new_stream(0);
    h.launch(s, "k", duration);
  }
  h.copy(m.new_stream(0), 64, 500);
  // Ready at 5000, 10000, 15000, 20000. The first two take both slots: 5000–35000, 10000–22000. The third has
  // waited since 15000 and gets the slot of 22000; the fourth the next one, at 26000. The copy, submitted at
  // 26000, takes none.
  EXPECT_THAT(activity_times(m.run()),
              ElementsAre(Pair(5'000, 35'000), Pair(10'000, 22'000), Pair(22'000, 26'000),
                          Pair(26'000, 27'000), Pair(26'000, 26'500)));
}

TEST_F(virtual_device_schedule, a_copy_that_waits_returns_when_it_is_done) {
  h.launch(s, "a", 20'000);       // runs 5000–25000
  h.copy_and_wait(s, 64, 3'000);  // call 5000–28000, submitted 11000, runs 25000–28000
  h.set(s, 64, 1'000);            // call 28000–32000, runs 32000–33000
  const recording r = m.run();
  EXPECT_THAT(activity_times(r),
              ElementsAre(Pair(5'000, 25'000), Pair(25'000, 28'000), Pair(32'000, 33'000)));
  EXPECT_THAT(calls(r, call_kind::copy), ElementsAre(Pair(5'000, 28'000)));
}

TEST_F(virtual_device_schedule, threads_share_streams_in_order_of_time) {
  host& other = m.new_host();
  h.launch(s, "a", 1'000);  // call 0–5000, runs 5000–6000
  h.spend(20'000);          // to 25000
  const flag f = h.post();  // at 25000
  h.launch(s, "b", 1'000);  // call 25000–30000, runs 30000–31000
  other.spend(2'000);
  other.launch(s, "c", 9'000);  // call 2000–7000, runs 7000–16000: before b, after a
  other.await(f);               // at 25000
  other.launch(s, "d", 1'000);  // call 25000–30000, on the stream behind b, whose thread comes first
  const recording r = m.run();
  // In the order of the calls: a, c, b, d.
  EXPECT_THAT(activity_times(r), ElementsAre(Pair(5'000, 6'000), Pair(7'000, 16'000), Pair(30'000, 31'000),
                                             Pair(31'000, 32'000)));
  EXPECT_EQ(r.activities[1].name, "c");
  EXPECT_EQ(r.calls[r.activities[1].call].thread, 1U);
}

TEST_F(virtual_device_schedule, a_thread_that_waits_for_ever_is_an_error) {
  host& other = m.new_host();
  flag never = h.post();
  never.id += 1;
  other.await(never);
  EXPECT_THROW(m.run(), std::logic_error);
}

TEST_F(virtual_device_schedule, devices_do_not_wait_for_one_another) {
  m.device(5, 1);
  const stream far = m.new_stream(5);
  h.launch(s, "a", 50'000);    // 5000–55000
  h.launch(far, "b", 10'000);  // 10000–20000
  h.synchronise_device(5);     // 10000–20000
  const recording r = m.run();
  EXPECT_THAT(activity_times(r), ElementsAre(Pair(5'000, 55'000), Pair(10'000, 20'000)));
  EXPECT_THAT(calls(r, call_kind::synchronise), ElementsAre(Pair(10'000, 20'000)));
  EXPECT_EQ(r.streams[r.activities[1].stream].device, 5U);
}

TEST_F(virtual_device_schedule, markers_take_no_time_and_nest) {
  {
    const scope pass = h.phase("decode", "target");
    h.spend(100);
    {
      const scope layer = h.layer("attention", 3);
      h.launch(s, "a", 50'000);  // call 100–5100
      const scope op = h.op("softmax");
      h.spend(10);
    }
    h.spend(1);
  }
  h.launch(s, "outside", 1);
  const recording r = m.run();
  ASSERT_EQ(r.ranges.size(), 3U);
  EXPECT_EQ(r.ranges[0].model, "target");
  EXPECT_EQ(interval(r.ranges[0].begin, r.ranges[0].end), interval(0, 5'111));
  EXPECT_EQ(interval(r.ranges[1].begin, r.ranges[1].end), interval(100, 5'110));
  EXPECT_EQ(interval(r.ranges[2].begin, r.ranges[2].end), interval(5'100, 5'110));
  EXPECT_EQ(r.ranges[1].parent, 0U);
  EXPECT_EQ(r.ranges[2].parent, 1U);
  EXPECT_EQ(r.calls[0].range, 1U);
  EXPECT_EQ(r.calls[1].range, none);
}

TEST_F(virtual_device_schedule, adopted_ranges_take_in_another_threads_work) {
  host& worker = m.new_host();
  scope pass = h.phase("decode");
  scope layer = h.layer("mlp", 1);
  const flag handed = h.post();
  worker.await(handed);
  {
    const scope here = worker.adopt(layer);
    worker.launch(s, "a", 1'000);
    const scope op = worker.op("up");
    worker.launch(s, "b", 1'000);
  }
  worker.launch(s, "c", 1'000);
  h.spend(7'000);
  layer.end();
  pass.end();
  const recording r = m.run();
  EXPECT_EQ(interval(r.ranges[1].begin, r.ranges[1].end), interval(0, 7'000));
  EXPECT_EQ(interval(r.ranges[2].begin, r.ranges[2].end), interval(5'000, 10'000));
  EXPECT_EQ(r.ranges[2].parent, 1U);
  EXPECT_EQ(r.ranges[2].thread, 1U);
  EXPECT_THAT((std::vector<ref>{r.calls[0].range, r.calls[1].range, r.calls[2].range}),
              ElementsAre(1U, 2U, none));
}

TEST(VirtualDevice, nested_calls_take_the_middle_half_of_the_launch) {
  for (const auto nesting : {machine::nesting::same_correlation, machine::nesting::own_correlation}) {
    machine m;
    m.device(0);
    m.nested_calls = nesting;
    host& h = m.new_host();
    h.launch(m.new_stream(0), "a", 10);
    const recording r = m.run();
    ASSERT_EQ(r.calls.size(), 2U);
    EXPECT_EQ(interval(r.calls[0].begin, r.calls[0].end), interval(0, 5'000));
    EXPECT_EQ(interval(r.calls[1].begin, r.calls[1].end), interval(1'250, 3'750));
    EXPECT_EQ(r.calls[1].outer, 0U);
    EXPECT_EQ(r.calls[0].correlation == r.calls[1].correlation,
              nesting == machine::nesting::same_correlation);
    EXPECT_EQ(r.activities[0].call, 0U);
  }
}

}  // namespace
}  // namespace virtual_device
