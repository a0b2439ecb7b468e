// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the wall of passes was spent on.
#include <gtest/gtest.h>

#include "analyze/trace_builder.hpp"

namespace {

using namespace varve_test;
using varve::call_kind;

/// Every trace of these tests has one phase and one device: its parts sum to its wall.
const varve::wall_partition& parts_of(const varve::report& r, std::string_view phase = "decode") {
  const varve::phase_row& row = phase_of(r, phase);
  EXPECT_EQ(row.partition.wall(), row.wall);
  return row.partition;
}

TEST(partition, busy_time_is_compute_exposed_communication_and_exposed_copy) {
  trace_builder b;
  const auto side = b.stream(0, 8);
  const auto copies = b.stream(0, 9);
  const auto pass = b.phase("decode", 0, 100);
  b.launched_kernel(pass, 0, 0, 0, 20, "gemm");
  b.launched_kernel(pass, 0, 0, 10, 40, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", side);
  b.copy(b.call(call_kind::copy, pass, 0, 0), 30, 60, 4096, copies);
  b.launched_kernel(pass, 0, 0, 55, 100, "gemm");
  const varve::report r = b.analyze();
  const varve::wall_partition& p = parts_of(r);
  EXPECT_EQ(p.compute, 20 + 45);           // [0, 20) and [55, 100), whatever runs beside
  EXPECT_EQ(p.exposed_communication, 20);  // [20, 40): the collective, with a copy or without
  EXPECT_EQ(p.exposed_copy, 15);           // [40, 55)
  EXPECT_EQ(p.busy(), 100);
  EXPECT_DOUBLE_EQ(phase_of(r, "decode").overhead_ratio(), 1.0);
}

TEST(partition, a_gap_before_the_submission_is_starved_and_after_it_the_devices) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  const auto one = b.layer(pass, "one", no_index, 0, 10);
  const auto two = b.layer(pass, "two", no_index, 10, 70);
  b.launched_kernel(one, 0, 5, 5, 30);
  b.launched_kernel(two, 40, 60, 65, 100);
  const varve::report r = b.analyze();
  const varve::wall_partition& p = parts_of(r);
  // [0, 5): nothing submitted until the call ends at 5: starved, inside a launch.
  // [30, 65): submitted at 60. [30, 40) own code, [40, 60) launching, [60, 65) the device's.
  EXPECT_EQ(p.compute, 25 + 35);
  EXPECT_EQ(p.starved.launching, 5 + 20);
  EXPECT_EQ(p.starved.other, 10);
  EXPECT_EQ(p.device_gap, 5);
  EXPECT_EQ(p.wall(), 100);
  EXPECT_DOUBLE_EQ(phase_of(r, "decode").overhead_ratio(), 100.0 / 60);
  // Charged to what ended the gap.
  EXPECT_EQ(row_of(r.layers, "one", "decode").inclusive.starved.total(), 5);
  const varve::measures& m = row_of(r.layers, "two", "decode").inclusive;
  EXPECT_EQ(m.starved.launching, 20);
  EXPECT_EQ(m.starved.other, 10);
  EXPECT_EQ(m.device_gap, 5);
  EXPECT_EQ(phase_of(r, "decode").total.starved.total(), 35);
  EXPECT_EQ(row_of(r.kernels, "k", "decode").inclusive.starved.total(), 35);
  EXPECT_EQ(row_of(r.kernels, "k", "decode").inclusive.device_gap, 5);
}

TEST(partition, starved_time_is_divided_by_what_the_launching_thread_did) {
  trace_builder b;
  const auto other_thread = b.t.intern_thread(101);
  const auto pass = b.phase("decode", 0, 200);
  b.launched_kernel(pass, 0, 0, 0, 10);
  b.call(call_kind::synchronise, pass, 5, 20);                  // [10, 20) of the gap
  b.call(call_kind::allocate, pass, 30, 35);                    // 5
  b.call(call_kind::graph_build, pass, 40, 60);                 // 20
  b.call(call_kind::launch, pass, 60, 70, 0, true);             // captured: building a graph, 10
  b.call(call_kind::copy, pass, 80, 82);                        // launching, 2
  b.call(call_kind::event, pass, 90, 95);                       // other
  b.call(call_kind::synchronise, pass, 20, 150, other_thread);  // not the launching thread
  b.launched_kernel(pass, 100, 104, 110, 200);                  // launching, 4
  const varve::report r = b.analyze();
  const varve::wall_partition& p = parts_of(r);
  EXPECT_EQ(p.starved.synchronising, 10);
  EXPECT_EQ(p.starved.allocating, 5);
  EXPECT_EQ(p.starved.graph_building, 30);
  EXPECT_EQ(p.starved.launching, 6);
  // [10, 104) is starved, 94: less 10 + 5 + 30 + 6 is 43.
  EXPECT_EQ(p.starved.other, 43);
  EXPECT_EQ(p.device_gap, 6);  // [104, 110)
}

TEST(partition, work_that_waits_on_another_stream_makes_a_gap_the_devices) {
  trace_builder b;
  const auto side = b.stream(0, 8);
  const auto pass = b.phase("decode", 0, 100);
  b.launched_kernel(pass, 0, 2, 2, 20);
  // Submitted at 10, but waits for an event of the other stream; in between something submitted at 40 ends
  // the gap [20, 50).
  b.launched_kernel(pass, 5, 10, 60, 100, "k", side);
  b.launched_kernel(pass, 30, 40, 50, 60);
  const varve::report r = b.analyze();
  const varve::wall_partition& p = parts_of(r);
  EXPECT_EQ(p.starved.total(), 2);  // [0, 2)
  EXPECT_EQ(p.device_gap, 30);      // [20, 50): work was submitted all along
}

TEST(partition, what_comes_after_the_last_activity_is_starved_and_nobodys) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  b.launched_kernel(pass, 0, 0, 0, 40);
  b.call(call_kind::synchronise, pass, 30, 50);
  const varve::report r = b.analyze();
  const varve::wall_partition& p = parts_of(r);
  EXPECT_EQ(p.compute, 40);
  EXPECT_EQ(p.starved.synchronising, 10);  // [40, 50)
  EXPECT_EQ(p.starved.other, 50);          // [50, 100)
  EXPECT_EQ(phase_of(r, "decode").total.starved.total(), 0);
}

TEST(partition, a_pass_lasts_until_its_last_activity_ends) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 10);
  b.launched_kernel(pass, 0, 5, 5, 80);
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "decode").wall, 80);
  EXPECT_EQ(phase_of(r, "decode").step.total, 80);
  EXPECT_EQ(phase_of(r, "decode").total.host_time, 10);
  EXPECT_EQ(parts_of(r).compute, 75);
}

TEST(partition, overlapping_passes_of_a_kind_share_one_wall) {
  trace_builder b;
  for (const time_ns at : {0, 50}) {
    const auto pass = b.phase("decode", at, at + 10);
    b.launched_kernel(pass, at, at + 5, at + 20, at + 80);
  }
  // The first lasts [0, 80), the second [50, 130): 160 of steps, 130 of wall. Kernels [20, 80), [80, 130).
  const varve::report r = b.analyze();
  const varve::phase_row& phase = phase_of(r, "decode");
  EXPECT_EQ(phase.passes, 2);
  EXPECT_EQ(phase.step.total, 160);
  EXPECT_EQ(phase.wall, 130);
  EXPECT_EQ(parts_of(r).compute, 110);
  EXPECT_EQ(parts_of(r).starved.total(), 5);  // [0, 5), all of it in a call
  EXPECT_EQ(parts_of(r).device_gap, 15);
  EXPECT_EQ(phase.total.overlap, 10);  // the second kernel began at 70 on the same stream
  EXPECT_EQ(r.devices.at(0).partition.wall(), 130);
}

TEST(partition, an_instant_counts_in_each_phase_that_is_open_whoever_the_work_belongs_to) {
  trace_builder b;
  const auto other_thread = b.t.intern_thread(101);
  const auto decode = b.phase("decode", 0, 100);
  b.phase("prefill", 40, 60, none, other_thread);
  b.launched_kernel(decode, 0, 0, 0, 50);
  b.launched_kernel(decode, 1, 2, 70, 100);
  const varve::report r = b.analyze();
  EXPECT_EQ(parts_of(r, "prefill").compute, 10);     // [40, 50)
  EXPECT_EQ(parts_of(r, "prefill").device_gap, 10);  // [50, 60): the next kernel was submitted at 2
  EXPECT_EQ(parts_of(r, "decode").device_gap, 20);
  EXPECT_EQ(phase_of(r, "prefill").total.device_gap, 0);  // charged to decode, which ended the gap
  EXPECT_EQ(phase_of(r, "decode").total.device_gap, 20);
}

TEST(partition, a_gap_is_charged_only_as_far_as_it_lies_in_the_own_phases_wall) {
  trace_builder b;
  const auto first = b.phase("decode", 0, 20);
  b.launched_kernel(first, 0, 0, 0, 20);
  const auto second = b.phase("decode", 50, 100);
  b.launched_kernel(second, 60, 70, 70, 100);
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "decode").wall, 70);
  EXPECT_EQ(parts_of(r).starved.total(), 20);                  // [50, 70)
  EXPECT_EQ(phase_of(r, "decode").total.starved.total(), 20);  // of the gap [20, 70)
  // The device's whole time: the rest of the gap lies in no pass.
  EXPECT_EQ(r.devices.at(0).partition.no_pass, 30);
  EXPECT_EQ(r.devices.at(0).partition.wall(), 100);
  EXPECT_EQ(r.devices.at(0).partition.busy(), 50);
}

TEST(partition, work_in_no_pass_fills_no_pass_time) {
  trace_builder b;
  const auto first = b.phase("decode", 0, 20);
  b.launched_kernel(first, 0, 0, 0, 20);
  b.launched_kernel(none, 22, 23, 25, 30);
  const auto second = b.phase("decode", 50, 60);
  b.launched_kernel(second, 50, 50, 50, 60);
  const varve::report r = b.analyze();
  EXPECT_EQ(r.devices.at(0).partition.no_pass, 30);
  EXPECT_EQ(r.devices.at(0).partition.compute, 30);
  EXPECT_EQ(r.devices.at(0).busy, 35);
  EXPECT_EQ(row_of(r.layers, "", "").inclusive.gpu_time, 5);
  ASSERT_EQ(r.phases.size(), 1U);
}

TEST(partition, a_gap_before_an_activity_without_a_launch_is_unrecorded) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  b.launched_kernel(pass, 0, 0, 0, 20);
  b.kernel(0, 60, 70);                       // unknown when it was submitted
  b.launched_kernel(pass, 80, 90, 95, 100);  // its gap is known: [70, 95), submitted at 90
  const varve::report r = b.analyze();
  const varve::wall_partition& p = parts_of(r);
  EXPECT_EQ(p.unrecorded, 40);
  EXPECT_EQ(p.starved.total(), 20);
  EXPECT_EQ(p.device_gap, 5);
  EXPECT_EQ(p.compute, 35);
}

TEST(partition, the_idle_time_of_a_graph_launch_without_kernels_is_unrecorded) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 200);
  b.launched_kernel(pass, 0, 0, 0, 20);
  b.call(call_kind::graph_launch, pass, 30, 35);  // nothing is known to have come of it
  b.call(call_kind::synchronise, pass, 40, 120);  // by its end it had run
  b.launched_kernel(pass, 140, 150, 150, 200);
  const varve::report r = b.analyze();
  const varve::wall_partition& p = parts_of(r);
  EXPECT_EQ(p.compute, 70);
  EXPECT_EQ(p.unrecorded, 90);     // [30, 120)
  EXPECT_EQ(p.starved.other, 30);  // [20, 30) and [120, 140)
  EXPECT_EQ(p.starved.launching, 10);
  EXPECT_EQ(r.quality.graph_launches_without_kernels, 1);
  EXPECT_EQ(r.quality.graph_launches_short, 0);
}

TEST(partition, without_a_synchronisation_unrecorded_time_ends_with_the_pass) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 200);
  b.call(call_kind::graph_launch, pass, 30, 35);
  const varve::report r = b.analyze();
  EXPECT_EQ(parts_of(r).unrecorded, 170);
  EXPECT_EQ(parts_of(r).starved.other, 30);
}

TEST(partition, a_record_of_a_whole_graph_is_a_record) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 200);
  b.activity(varve::activity_kind::graph, b.call(call_kind::graph_launch, pass, 0, 10), 20, 120, "graph");
  const varve::report r = b.analyze();
  EXPECT_EQ(parts_of(r).compute, 100);
  EXPECT_EQ(parts_of(r).unrecorded, 0);
  EXPECT_EQ(r.quality.graph_launches_without_kernels, 0);
  EXPECT_EQ(r.quality.unlabelled_nodes, 0);
  EXPECT_EQ(phase_of(r, "decode").total.kernels, 0);
  EXPECT_EQ(phase_of(r, "decode").total.gpu_time, 100);
}

TEST(partition, devices_have_a_timeline_each) {
  trace_builder b;
  const auto second = b.stream(1, 7);
  const auto pass = b.phase("decode", 0, 100);
  b.launched_kernel(pass, 0, 0, 0, 30);
  b.launched_kernel(pass, 20, 30, 40, 100, "k", second);
  const varve::report r = b.analyze();
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_EQ(phase_of(r, "decode", 0).partition.compute, 30);
  EXPECT_EQ(phase_of(r, "decode", 0).partition.starved.other, 70);  // the tail [30, 100)
  EXPECT_EQ(phase_of(r, "decode", 0).partition.starved.launching, 0);
  EXPECT_EQ(phase_of(r, "decode", 1).partition.compute, 60);
  EXPECT_EQ(phase_of(r, "decode", 1).partition.starved.total(), 30);
  EXPECT_EQ(phase_of(r, "decode", 1).partition.device_gap, 10);
}

TEST(partition, passes_that_ran_nothing_are_starved_to_the_end) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  b.call(call_kind::synchronise, pass, 10, 40);
  const varve::report r = b.analyze();
  EXPECT_EQ(parts_of(r).starved.synchronising, 30);
  EXPECT_EQ(parts_of(r).starved.other, 70);
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_EQ(r.devices[0].partition.wall(), 100);
  EXPECT_DOUBLE_EQ(phase_of(r, "decode").overhead_ratio(), 0);
}

}  // namespace
