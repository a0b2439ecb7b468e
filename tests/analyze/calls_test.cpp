// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Times of calls on the host, and the joining of launches and activities.
#include <gtest/gtest.h>

#include "analyze/trace_builder.hpp"

namespace {

using namespace varve_test;
using varve::call_kind;

TEST(calls, launch_time_is_the_time_inside_launching_calls) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  const auto layer = b.layer(pass, "layer", 0, 0, 500);
  const auto op = b.layer(layer, "op", no_index, 100, 200);
  b.launched_kernel(layer, 10, 14, 20, 30);
  b.launched_kernel(op, 110, 117, 120, 130);
  b.kernel(b.call(call_kind::graph_launch, pass, 600, 620), 700, 710);
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").exclusive.launch_time, 4);
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").inclusive.launch_time, 11);
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").inclusive.launches, 2);
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").inclusive.graph_launches, 0);
  EXPECT_EQ(row_of(r.layers, "", "decode").inclusive.launch_time, 20);
  EXPECT_EQ(phase_of(r, "decode").total.launch_time, 31);
  EXPECT_EQ(phase_of(r, "decode").total.launches, 3);
  EXPECT_EQ(phase_of(r, "decode").total.graph_launches, 1);
}

TEST(calls, only_the_outermost_of_nested_calls_counts) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  const auto inner_thread = b.t.intern_thread(101);
  // The runtime's call holds the driver's, whose correlation the kernel carries; another thread's call at
  // the same time is no part of it.
  b.call(call_kind::launch, pass, 10, 20);
  const auto driver = b.call(call_kind::launch, pass, 12, 18);
  b.kernel(driver, 30, 40);
  b.kernel(b.launch(pass, 12, 18, inner_thread), 50, 60);
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "decode").total.launches, 2);
  EXPECT_EQ(phase_of(r, "decode").total.launch_time, 10 + 6);
  EXPECT_EQ(r.quality.matched, 2);
  // Latency from the outer call's begin: 30 − 10, and 50 − 12.
  EXPECT_EQ(phase_of(r, "decode").launch_latency.min, 20);
  EXPECT_EQ(phase_of(r, "decode").launch_latency.max, 38);
  // Queue delay from its end: 30 − 20, and 50 − 18.
  EXPECT_EQ(phase_of(r, "decode").queue_delay.min, 10);
  EXPECT_EQ(phase_of(r, "decode").queue_delay.max, 32);
}

TEST(calls, nested_calls_are_found_whatever_the_order_of_their_records) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  b.kernel(b.call(call_kind::launch, pass, 12, 18), 30, 40);  // recorded when it ended: before the outer one
  b.call(call_kind::launch, pass, 10, 20);
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "decode").total.launches, 1);
  EXPECT_EQ(phase_of(r, "decode").total.launch_time, 10);
  EXPECT_EQ(phase_of(r, "decode").launch_latency.min, 20);
}

TEST(calls, a_call_of_another_kind_hides_no_launch) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  b.call(call_kind::other, pass, 0, 50);
  b.launched_kernel(pass, 10, 20, 30, 40);
  // Calls that follow each other are not nested, even where times are so coarse that they touch.
  b.launched_kernel(pass, 20, 25, 40, 50);
  b.launched_kernel(pass, 25, 25, 50, 60);
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "decode").total.launches, 3);
  EXPECT_EQ(phase_of(r, "decode").total.launch_time, 15);
}

TEST(calls, captured_calls_count_nowhere) {
  trace_builder b;
  const auto pass = b.phase("capture", 0, 100);
  const auto layer = b.layer(pass, "layer", 0, 0, 50);
  b.call(call_kind::launch, layer, 10, 20, 0, true);
  b.call(call_kind::copy, layer, 20, 30, 0, true);
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "capture").total.launches, 0);
  EXPECT_EQ(phase_of(r, "capture").total.launch_time, 0);
  EXPECT_EQ(row_of(r.layers, "layer 0", "capture").inclusive.calls, 1);
}

TEST(calls, building_synchronising_and_allocating_count_apart) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  const auto layer = b.layer(pass, "layer", 0, 0, 900);
  b.launched_kernel(layer, 0, 3, 5, 6);
  b.call(call_kind::graph_build, layer, 10, 110);
  b.call(call_kind::synchronise, layer, 200, 230);
  b.call(call_kind::synchronise, layer, 300, 340);
  b.call(call_kind::allocate, layer, 400, 405);
  b.call(call_kind::copy, layer, 500, 550);  // launches work, yet is no launch of a kernel or graph
  b.call(call_kind::event, layer, 600, 601);
  const varve::report r = b.analyze();
  const varve::measures& m = row_of(r.layers, "layer 0", "decode").inclusive;
  EXPECT_EQ(m.launches, 1);
  EXPECT_EQ(m.launch_time, 3);
  EXPECT_EQ(m.graph_build_time, 100);
  EXPECT_EQ(m.synchronise_time, 70);
  EXPECT_EQ(m.synchronisations, 2);
  EXPECT_EQ(m.allocate_time, 5);
  EXPECT_EQ(m.allocations, 1);
}

TEST(calls, latency_and_queue_delay_are_one_a_launch) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  const auto layer = b.layer(pass, "layer", 0, 0, 500);
  const auto op = b.layer(layer, "op", no_index, 100, 200);
  b.launched_kernel(layer, 10, 14, 20, 30);   // latency 10, queue 6
  b.launched_kernel(op, 110, 117, 115, 130);  // starts while its call runs: latency 5, no queue delay
  const auto graph = b.call(call_kind::graph_launch, pass, 600, 620);
  b.kernel(graph, 720, 740);                                  // its second node
  b.kernel(graph, 700, 710);                                  // its first node: latency 100, queue 80
  b.copy(b.call(call_kind::copy, pass, 800, 810), 900, 910);  // no launch
  const varve::report r = b.analyze();
  const varve::row& row = row_of(r.layers, "layer 0", "decode");
  EXPECT_EQ(row.launch_latency.count, 2);  // with the launches in the ranges inside
  EXPECT_EQ(row.launch_latency.total, 15);
  EXPECT_EQ(row.queue_delay.count, 1);
  EXPECT_EQ(row.queue_delay.total, 6);
  EXPECT_EQ(row_of(r.layers, "layer 0 / op", "decode").launch_latency.total, 5);
  EXPECT_EQ(row_of(r.layers, "layer 0 / op", "decode").queue_delay.count, 0);
  const varve::phase_row& phase = phase_of(r, "decode");
  EXPECT_EQ(phase.launch_latency.count, 3);
  EXPECT_EQ(phase.launch_latency.max, 100);
  EXPECT_EQ(phase.launch_latency.p50, 10);
  EXPECT_EQ(phase.queue_delay.count, 2);
  EXPECT_EQ(phase.queue_delay.total, 86);
  // By kernel, too: the graph's launch counts for the kernel that came first of it.
  EXPECT_EQ(row_of(r.kernels, "k", "decode").launch_latency.total, 115);
  EXPECT_EQ(row_of(r.kernels, "memcpy", "decode").launch_latency.count, 0);
}

TEST(calls, an_activity_that_starts_as_its_call_ends_was_not_queued) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  b.launched_kernel(pass, 20, 30, 30, 40);
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "decode").launch_latency.total, 10);
  EXPECT_EQ(phase_of(r, "decode").queue_delay.count, 0);
}

TEST(calls, an_activity_that_begins_before_its_call_has_no_latency) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  b.launched_kernel(pass, 20, 30, 15, 18);
  b.launched_kernel(pass, 40, 50, 60, 70);
  const varve::report r = b.analyze();
  EXPECT_EQ(r.quality.negative_delays, 1);
  EXPECT_EQ(phase_of(r, "decode").launch_latency.count, 1);
  EXPECT_EQ(phase_of(r, "decode").launch_latency.min, 20);
}

TEST(calls, of_several_calls_with_one_correlation_the_latest_before_the_activity_launched_it) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  const auto one = b.layer(pass, "one", no_index, 0, 100);
  const auto two = b.layer(pass, "two", no_index, 100, 200);
  b.t.add_call({10, 20, 7, one, 0, call_kind::launch, false});
  b.t.add_call({110, 120, 7, two, 0, call_kind::launch, false});
  b.kernel(7, 50, 60);  // only the first had begun
  b.kernel(7, 300, 340);
  b.kernel(7, 5, 6);  // before both: the first, and its clock disagrees
  const varve::report r = b.analyze();
  EXPECT_EQ(r.quality.duplicate_correlations, 1);
  EXPECT_EQ(row_of(r.layers, "one", "decode").inclusive.gpu_time, 11);
  EXPECT_EQ(row_of(r.layers, "two", "decode").inclusive.gpu_time, 40);
  EXPECT_EQ(r.quality.negative_delays, 1);
}

TEST(calls, a_call_recorded_twice_is_one_call) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  b.t.add_call({10, 20, 7, pass, 0, call_kind::launch, false});
  b.t.add_call({10, 20, 7, pass, 0, call_kind::launch, false});
  b.kernel(7, 50, 60);
  const varve::report r = b.analyze();
  EXPECT_EQ(r.quality.duplicate_correlations, 0);
  EXPECT_EQ(phase_of(r, "decode").total.launches, 1);
  EXPECT_EQ(phase_of(r, "decode").total.launch_time, 10);
}

TEST(calls, correlations_may_lie_far_apart) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  const auto one = b.layer(pass, "one", no_index, 0, 100);
  const auto two = b.layer(pass, "two", no_index, 100, 200);
  b.t.add_call({10, 20, 1, one, 0, call_kind::launch, false});
  b.t.add_call({110, 120, 0xFFFFFFFF, two, 0, call_kind::launch, false});
  b.kernel(1, 50, 60);
  b.kernel(0xFFFFFFFF, 300, 340);
  b.kernel(0x80000000, 400, 440);
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "one", "decode").inclusive.gpu_time, 10);
  EXPECT_EQ(row_of(r.layers, "two", "decode").inclusive.gpu_time, 40);
  EXPECT_EQ(r.quality.unmatched, 1);
}

TEST(calls, a_launching_call_comes_before_one_of_another_kind) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  const auto one = b.layer(pass, "one", no_index, 0, 100);
  const auto two = b.layer(pass, "two", no_index, 100, 200);
  b.t.add_call({110, 120, 7, two, 0, call_kind::event, false});
  b.t.add_call({10, 20, 7, one, 0, call_kind::launch, false});
  b.t.add_call({130, 140, 8, two, 0, call_kind::other, false});
  b.t.add_call({150, 160, 9, two, 0, call_kind::launch, true});
  b.kernel(7, 300, 310);
  b.kernel(8, 310, 330);  // a call of an unknown kind launched it
  b.kernel(9, 330, 370);  // a captured call launches nothing
  const varve::report r = b.analyze();
  EXPECT_EQ(r.quality.duplicate_correlations, 0);
  EXPECT_EQ(row_of(r.layers, "one", "decode").inclusive.gpu_time, 10);
  EXPECT_EQ(row_of(r.layers, "two", "decode").inclusive.gpu_time, 20);
  EXPECT_EQ(r.quality.matched, 2);
  EXPECT_EQ(r.quality.unmatched, 1);
}

TEST(calls, on_an_unknown_thread_all_calls_are_outermost) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  b.t.add_call({10, 50, 1, pass, varve::narrow_none, call_kind::launch, false});
  b.t.add_call({20, 30, 2, pass, varve::narrow_none, call_kind::launch, false});
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "decode").total.launches, 2);
  EXPECT_EQ(phase_of(r, "decode").total.launch_time, 50);
}

}  // namespace
