// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Where the wall went, on schedules worked out by hand. Default costs (ns): launch 5000, graph launch 10000,
// copy 6000, set 4000, synchronise 2000, allocate 20000, graph construction 50000, event 1000, captured 1500.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proof.hpp"
#include "support/virtual_device.hpp"

namespace virtual_device {
namespace {

constexpr const char* all_reduce = "ncclDevKernel_AllReduce_Sum_bf16";

struct virtual_device_wall : testing::Test {
  machine m;
  stream s = (m.device(0), m.new_stream(0));
  host& h = m.new_host();
};

TEST_F(virtual_device_wall, starved_time_is_split_by_what_the_host_did) {
  {
    const scope pass = h.phase("decode");
    h.allocate();  // 0–20000
    {
      const scope layer = h.layer("a");
      h.launch(s, "a", 1'000);  // 20000–25000, runs 25000–26000
    }
    h.spend(3'000);           // 25000–28000
    h.launch(s, "b", 1'000);  // 28000–33000, runs 33000–34000
    h.synchronise(s);         // 33000–35000
    h.call(varve::call_kind::other, 700);
    h.begin_capture(s);
    h.launch(s, "x", 1);                                   // captured 35700–37200
    const executable e = h.instantiate(h.end_capture(s));  // 37200–87200
    h.launch(s, e);                                        // 87200–97200, runs 97200–97201
  }
  const varve::report r = proved(m.run());
  const varve::phase_row& decode = phase_of(r);
  const varve::wall_partition& p = decode.partition;
  EXPECT_EQ(decode.wall, 97'201);
  EXPECT_EQ(p.compute, 2'001);
  // Gaps: 0–25000, 26000–33000, 34000–97200, all with nothing submitted.
  EXPECT_EQ(p.starved.total(), 25'000 + 7'000 + 63'200);
  EXPECT_EQ(p.starved.allocating, 20'000);
  EXPECT_EQ(p.starved.launching, 5'000 + 5'000 + 10'000);
  EXPECT_EQ(p.starved.synchronising, 1'000);
  EXPECT_EQ(p.starved.graph_building, 1'500 + 50'000);
  EXPECT_EQ(p.starved.other, 2'000 + 700);
  EXPECT_EQ(p.device_gap, 0);
  EXPECT_EQ(layer_of(r, "a").inclusive.starved.allocating, 20'000);
  EXPECT_EQ(layer_of(r, "a").inclusive.starved.total(), 25'000);
  EXPECT_EQ(decode.total.allocations, 1);
  EXPECT_EQ(decode.total.allocate_time, 20'000);
}

TEST_F(virtual_device_wall, idle_after_submission_is_the_devices) {
  {
    const scope pass = h.phase("decode");
    h.launch(s, {"a", 1'000, 700});  // call 0–5000, runs 5700–6700
    h.submit_latency = 9'000;
    const scope layer = h.layer("b");
    h.launch(s, {"b", 2'000});  // call 5000–10000, submitted 14000, runs 14000–16000
  }
  const varve::report r = proved(m.run());
  const varve::wall_partition& p = phase_of(r).partition;
  EXPECT_EQ(p.compute, 3'000);
  EXPECT_EQ(p.starved.launching, 5'000 + 3'300);  // 0–5000, 6700–10000
  EXPECT_EQ(p.device_gap, 700 + 4'000);           // 5000–5700, 10000–14000
  EXPECT_EQ(layer_of(r, "b").inclusive.device_gap, 4'000);
  EXPECT_EQ(layer_of(r, "b").inclusive.starved.total(), 3'300);
}

TEST_F(virtual_device_wall, work_submitted_for_later_makes_idle_the_devices_too) {
  const stream side = m.new_stream(0);
  host& other = m.new_host();
  {
    const scope pass = h.phase("decode");
    h.launch(side, {"late", 1'000, 30'000});  // call 0–5000, runs 35000–36000
    h.spend(5'000);
    h.launch(s, "b", 1'000);  // call 10000–15000, runs 15000–16000
    h.spend(20'000);          // to 35000
  }
  other.spend(1);
  const varve::wall_partition p = phase_of(proved(m.run())).partition;
  EXPECT_EQ(p.starved.total(), 5'000);       // 0–5000
  EXPECT_EQ(p.device_gap, 10'000 + 19'000);  // 5000–15000 and 16000–35000: "late" is submitted
  EXPECT_EQ(p.compute, 2'000);
}

TEST_F(virtual_device_wall, communication_and_copies_count_where_no_compute_hides_them) {
  const stream comm = m.new_stream(0);
  const stream io = m.new_stream(0);
  h.submit_latency = 0;
  h.cost.launch = h.cost.copy = 1'000;
  {
    const scope pass = h.phase("decode");
    h.launch(s, "forward", 10'000);                                   // 0–10000
    h.launch(comm, kernel{all_reduce, 14'000, 0, -1, "collective"});  // 1000–15000: 5000 exposed
    h.copy(io, 64, 20'000);                                           // 2000–22000: 7000 exposed
  }
  const varve::wall_partition p = phase_of(proved(m.run())).partition;
  EXPECT_EQ(p.compute, 10'000);
  EXPECT_EQ(p.exposed_communication, 5'000);
  EXPECT_EQ(p.exposed_copy, 7'000);
  EXPECT_EQ(p.wall(), 22'000);
}

TEST_F(virtual_device_wall, passes_that_overlap_share_one_wall) {
  for (int step = 0; step < 2; ++step) {
    const scope pass = h.phase("decode");
    h.launch(s, "a", 30'000);
  }
  h.spend(100'000);
  {
    const scope pass = h.phase("decode");
    h.launch(s, "a", 1'000);
  }
  // Calls 0–5000 and 5000–10000; work 5000–35000 and 35000–65000. So passes 0–35000 and 5000–65000. The
  // third: call 110000–115000, work 115000–116000.
  const varve::report r = proved(m.run());
  const varve::phase_row& decode = phase_of(r);
  EXPECT_EQ(decode.wall, 65'000 + 6'000);
  EXPECT_EQ(decode.step.total, 35'000 + 60'000 + 6'000);
  EXPECT_EQ(decode.step.max, 60'000);
  EXPECT_EQ(decode.partition.compute, 61'000);
  EXPECT_EQ(decode.partition.starved.launching, 10'000);
  EXPECT_EQ(decode.gpu_span, 116'000 - 5'000);
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_EQ(r.devices[0].partition.no_pass, 110'000 - 65'000);
  EXPECT_EQ(r.devices[0].partition.wall(), 116'000);
}

TEST_F(virtual_device_wall, the_tail_of_a_pass_belongs_to_its_own_thread) {
  {
    const scope pass = h.phase("decode");
    const scope layer = h.layer("a");
    h.launch(s, "a", 1'000);  // call 0–5000, runs 5000–6000
    h.allocate();             // 5000–25000
  }
  const varve::report r = proved(m.run());
  EXPECT_EQ(phase_of(r).partition.starved.allocating, 19'000);
  EXPECT_EQ(phase_of(r).partition.starved.launching, 5'000);
  EXPECT_EQ(layer_of(r, "a").inclusive.starved.total(), 5'000);  // the tail is charged to no row
}

TEST_F(virtual_device_wall, the_tail_is_not_that_of_a_pass_that_has_ended) {
  host& other = m.new_host();
  {
    const scope pass = h.phase("decode");
    h.launch(s, "a", 1'000);  // call 0–5000, runs 5000–6000
    h.spend(30'000);          // 5000–35000
  }
  {
    other.spend(2'000);
    const scope pass = other.phase("prefill");  // 2000–7000, begun last
    other.spend(5'000);
  }
  other.spend(3'000);
  other.allocate();  // 10000–30000, in no pass of its own
  const varve::report r = proved(m.run());
  EXPECT_EQ(phase_of(r).partition.starved.launching, 5'000);
  EXPECT_EQ(phase_of(r).partition.starved.other, 29'000);
  EXPECT_EQ(phase_of(r).partition.starved.allocating, 0);
}

TEST_F(virtual_device_wall, a_gap_counts_for_a_row_only_inside_its_own_phase) {
  h.spend(40'000);
  {
    const scope pass = h.phase("decode");
    const scope layer = h.layer("a");
    h.launch(s, "a", 1'000);  // call 40000–45000, runs 45000–46000
  }
  h.spend(10'000);
  {
    const scope pass = h.phase("prefill");
    h.spend(2'000);
    const scope layer = h.layer("b");
    h.launch(s, "b", 1'000);  // pass from 55000; call 57000–62000, runs 62000–63000
  }
  const varve::report r = proved(m.run());
  EXPECT_EQ(layer_of(r, "a").inclusive.starved.total(), 5'000);
  EXPECT_EQ(layer_of(r, "b", "prefill").inclusive.starved.launching, 5'000);
  EXPECT_EQ(layer_of(r, "b", "prefill").inclusive.starved.other, 2'000);
  // 46000–55000 is in no pass.
  EXPECT_EQ(r.devices[0].partition.no_pass, 9'000);
}

TEST_F(virtual_device_wall, without_passes_the_whole_trace_is_one) {
  h.spend(1'000);
  {
    const scope layer = h.layer("a");
    h.launch(s, "a", 3'000);  // 1000–6000, runs 6000–9000
  }
  h.synchronise(s);  // 6000–9000
  const varve::report r = proved(m.run());
  EXPECT_TRUE(r.quality.implicit_pass);
  EXPECT_EQ(phase_of(r, "(trace)").wall, 8'000);  // from the layer's begin
  EXPECT_EQ(phase_of(r, "(trace)").partition.starved.launching, 5'000);
  EXPECT_EQ(layer_of(r, "a", "(trace)").inclusive.gpu_time, 3'000);
}

TEST_F(virtual_device_wall, nested_calls_count_once) {
  m.nested_calls = machine::nesting::same_correlation;
  {
    const scope pass = h.phase("decode");
    const scope layer = h.layer("a");
    h.launch(s, "a", 3'000);  // call 0–5000, in it a driver call 1250–3750; runs 5000–8000
  }
  const varve::report r = proved(m.run());
  EXPECT_EQ(layer_of(r, "a").inclusive.launches, 1);
  EXPECT_EQ(layer_of(r, "a").inclusive.launch_time, 5'000);
  EXPECT_EQ(layer_of(r, "a").launch_latency.total, 5'000);
  EXPECT_EQ(layer_of(r, "a").queue_delay.count, 0);
  EXPECT_EQ(phase_of(r).partition.starved.launching, 5'000);
}

}  // namespace
}  // namespace virtual_device
