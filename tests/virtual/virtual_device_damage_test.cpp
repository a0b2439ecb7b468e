// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Traces that lack something: what is missing is counted, never taken for idle time, and what is there stays
// as it was. Default costs (ns): launch 5000, graph launch 10000, synchronise 2000, graph construction 50000,
// captured call 1500.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proof.hpp"
#include "support/virtual_device.hpp"

namespace virtual_device {
namespace {

struct virtual_device_damage : testing::Test {
  machine m;
  stream s = (m.device(0), m.new_stream(0));
  host& h = m.new_host();
  random_source random{1};

  /// Two layers of one kernel (4000 and 6000) in a graph, replayed in three passes of 20000 from 53000 on:
  /// launch 10000, then 10000 to the end of the graph, for which the pass waits.
  recording three_replays() {
    h.begin_capture(s);
    for (int i = 0; i < 2; ++i) {
      const scope layer = h.layer("block", i);
      h.launch(s, "a", 4'000 + 2'000 * i);
    }
    const executable e = h.instantiate(h.end_capture(s));
    for (int step = 0; step < 3; ++step) {
      const scope pass = h.phase("decode");
      h.launch(s, e);
      h.synchronise(s);
    }
    return m.run();
  }
};

TEST_F(virtual_device_damage, a_replay_without_records_is_unrecorded_not_idle) {
  recording r = three_replays();
  r.activities[2].recorded = r.activities[3].recorded = false;  // the second replay's
  const varve::report report = proved(r);
  const varve::wall_partition& p = phase_of(report).partition;
  EXPECT_EQ(p.compute, 2 * 10'000);
  EXPECT_EQ(p.starved.launching, 2 * 10'000);  // of the first and third
  EXPECT_EQ(p.unrecorded, 20'000);             // from the second's launch to the end of its synchronising
  EXPECT_EQ(report.quality.graph_launches_without_kernels, 1);
  EXPECT_EQ(report.quality.graph_launches_short, 0);
  EXPECT_EQ(layer_of(report, "block 0").inclusive.gpu_time, 2 * 4'000);
}

TEST_F(virtual_device_damage,
       a_replay_with_fewer_records_than_its_siblings_is_unrecorded_where_it_seems_idle) {
  recording r = three_replays();
  r.activities[3].recorded = false;  // block 1 of the second replay
  const varve::report report = proved(r);
  const varve::wall_partition& p = phase_of(report).partition;
  EXPECT_EQ(p.compute, 3 * 10'000 - 6'000);
  EXPECT_EQ(p.starved.launching, 2 * 10'000);
  EXPECT_EQ(p.unrecorded, 10'000 + 6'000);  // the launch, and where block 1 ran
  EXPECT_EQ(report.quality.graph_launches_short, 1);
  EXPECT_EQ(layer_of(report, "block 0").inclusive.calls, 3);
}

TEST_F(virtual_device_damage, replays_before_and_after_an_update_are_siblings) {
  h.begin_capture(s);
  h.launch(s, "a", 4'000);
  h.launch(s, "b", 6'000);
  const graph g = h.end_capture(s);       // 0–3000
  const executable e = h.instantiate(g);  // 3000–53000
  {
    const scope pass = h.phase("decode");
    h.launch(s, e);    // 53000–63000, runs 63000–67000–73000
    h.synchronise(s);  // 63000–73000
    h.update(e, g);    // 73000–123000: the same node ids
    h.launch(s, e);    // 123000–133000, runs 133000–137000–143000
    h.synchronise(s);  // 133000–143000
  }
  recording r = m.run();
  r.activities[3].recorded = false;  // the last one
  const varve::report report = proved(r);
  EXPECT_EQ(report.quality.graph_launches_short, 1);
  EXPECT_EQ(phase_of(report).partition.unrecorded, 10'000 + 6'000);
}

TEST_F(virtual_device_damage, one_record_a_graph_launch_counts_as_its_time) {
  recording r = three_replays();
  merge_graph_records(r);
  const varve::report report = proved(r);
  EXPECT_EQ(phase_of(report).partition.compute, 3 * 10'000);
  EXPECT_EQ(phase_of(report).partition.unrecorded, 0);
  EXPECT_EQ(report.quality.graph_launches_without_kernels, 0);
  EXPECT_EQ(layer_of(report, "").inclusive.gpu_time, 3 * 10'000);
}

TEST_F(virtual_device_damage, graphs_captured_before_arming_belong_to_the_launching_pass) {
  recording r = three_replays();
  forget_labels(r, 60'000);
  const varve::report report = proved(r);
  EXPECT_EQ(layer_of(report, "").inclusive.gpu_time, 3 * 10'000);
  EXPECT_EQ(report.quality.unlabelled_nodes, 6);
  EXPECT_EQ(report.quality.attributed, 0);
}

TEST_F(virtual_device_damage, work_launched_before_the_window_is_unmatched) {
  {
    const scope pass = h.phase("decode");
    const scope layer = h.layer("a");
    h.launch(s, "a", 20'000);  // call 0–5000, runs 5000–25000
    h.launch(s, "b", 10'000);  // call 5000–10000, runs 25000–35000
    h.spend(2'000);            // 10000–12000
    h.launch(s, "c", 4'000);   // call 12000–17000, runs 35000–39000
  }
  recording r = m.run();
  start_window(r, 11'000);  // "a" left no record, "b" lost its launch, the pass begins at 11000
  const varve::report report = proved(r);
  EXPECT_EQ(report.quality.activities, 2);
  EXPECT_EQ(report.quality.unmatched, 1);
  EXPECT_EQ(report.quality.clipped_ranges, 2);
  EXPECT_EQ(layer_of(report, "a").inclusive.gpu_time, 4'000);
  EXPECT_EQ(layer_of(report, "", "").inclusive.gpu_time, 10'000);
  // 11000–25000 seems idle, before work of which nobody knows when it was launched.
  EXPECT_EQ(phase_of(report).partition.unrecorded, 14'000);
  EXPECT_EQ(phase_of(report).partition.compute, 14'000);
  EXPECT_EQ(phase_of(report).wall, 28'000);
}

TEST_F(virtual_device_damage, work_without_times_is_counted_and_never_summed) {
  {
    const scope pass = h.phase("decode");
    const scope layer = h.layer("a");
    h.launch(s, "a", 1'000);
    h.launch(s, "b", 1'000);
  }
  recording r = m.run();
  r.activities[1].untimed = true;
  const varve::report report = proved(r);
  EXPECT_EQ(report.quality.untimed, 1);
  EXPECT_EQ(report.quality.activities, 2);
  EXPECT_EQ(layer_of(report, "a").inclusive.gpu_time, 1'000);
  EXPECT_EQ(layer_of(report, "a").inclusive.launches, 2);
}

TEST_F(virtual_device_damage, work_before_its_own_launch_says_that_clocks_disagree) {
  {
    const scope pass = h.phase("decode");
    const scope layer = h.layer("a");
    h.launch(s, "a", 10'000);  // call 0–5000, runs 5000–15000
    h.launch(s, "b", 1'000);   // call 5000–10000, runs 15000–16000
  }
  recording r = m.run();
  skew_devices(r, 6'000);  // "a" seems to begin at -1000, "b" at 9000
  const varve::report report = proved(r);
  EXPECT_EQ(report.quality.negative_delays, 1);
  EXPECT_EQ(layer_of(report, "a").launch_latency.count, 1);
  EXPECT_EQ(layer_of(report, "a").launch_latency.total, 4'000);
  EXPECT_EQ(layer_of(report, "a").inclusive.gpu_time, 11'000);
}

TEST_F(virtual_device_damage, correlation_ids_that_come_again_find_the_latest_launch) {
  for (int i = 0; i < 6; ++i) {
    const scope pass = h.phase("decode");
    const scope layer = h.layer("a", i);
    h.launch(s, "a", 1'000 * (i + 1));  // ids 1, 3, 1, 3, …
    h.synchronise(s);                   // ids 2, 4, 2, 4, …
  }
  recording r = m.run();
  EXPECT_FALSE(wrap_correlations(r, 1));
  EXPECT_TRUE(wrap_correlations(r, 4));
  const varve::report report = proved(r);
  EXPECT_EQ(report.quality.duplicate_correlations, 4);  // three launches with 1, three with 3
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(layer_of(report, "a " + std::to_string(i)).inclusive.gpu_time, 1'000 * (i + 1)) << i;
  }
}

}  // namespace
}  // namespace virtual_device
