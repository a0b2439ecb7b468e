// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Passes of which only the span between CUDA events is known.
#include <gtest/gtest.h>

#include "analyze/trace_builder.hpp"

namespace {

using namespace varve_test;

void span(trace_builder& b, std::uint32_t pass, time_ns begin, time_ns end, std::uint16_t stream = 0) {
  b.t.event_spans.push_back({begin, end, pass, stream});
}

TEST(event_spans, are_the_passs_time_on_the_gpu_and_no_layers) {
  trace_builder b;
  const auto one = b.phase("decode", 0, 100);
  b.layer(one, "attention", 0, 10, 60);
  span(b, one, 20, 90);
  const auto two = b.phase("decode", 200, 300);
  b.layer(two, "attention", 0, 210, 230);
  span(b, two, 205, 250);
  const varve::report r = b.analyze();
  const varve::phase_row& p = phase_of(r, "decode");
  EXPECT_EQ(p.event_span.count, 2);
  EXPECT_EQ(p.event_span.total, 70 + 45);
  EXPECT_EQ(p.event_span.min, 45);
  EXPECT_EQ(p.event_span.max, 70);
  EXPECT_EQ(p.total.gpu_time, 0);
  EXPECT_EQ(p.partition.busy(), 0);
  EXPECT_EQ(p.overhead_ratio(), 0);
  const varve::row& layer = row_of(r.layers, "attention 0", "decode");
  EXPECT_EQ(layer.inclusive.gpu_time, 0);
  EXPECT_EQ(layer.inclusive.span, 0);
  EXPECT_EQ(layer.inclusive.host_time, 50 + 20);
  EXPECT_EQ(r.quality.event_spans, 2);
  EXPECT_EQ(r.quality.activities, 0);
  EXPECT_EQ(r.quality.attributed, 0);
  EXPECT_TRUE(r.quality.losses.empty());
}

TEST(event_spans, count_as_unrecorded_and_the_parts_sum_to_the_wall) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  b.call(varve::call_kind::synchronise, pass, 80, 95);
  span(b, pass, 20, 90);
  const varve::report r = b.analyze();
  const varve::wall_partition& p = phase_of(r, "decode").partition;
  // [0, 20) own code, [20, 90) between the events, [90, 95) in the synchronisation, [95, 100) own code.
  EXPECT_EQ(p.unrecorded, 70);
  EXPECT_EQ(p.starved.synchronising, 5);
  EXPECT_EQ(p.starved.other, 20 + 5);
  EXPECT_EQ(p.wall(), 100);
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_EQ(r.devices[0].partition.unrecorded, 70);
  EXPECT_EQ(r.devices[0].busy, 0);
}

TEST(event_spans, lengthen_the_pass_to_their_end) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 30);
  span(b, pass, 20, 90);
  const auto next = b.phase("decode", 40, 50);
  span(b, next, 90, 110);
  const varve::report r = b.analyze();
  const varve::phase_row& p = phase_of(r, "decode");
  EXPECT_EQ(p.step.max, 90);  // [0, 90)
  EXPECT_EQ(p.step.min, 70);  // [40, 110)
  EXPECT_EQ(p.wall, 110);     // their union
  EXPECT_EQ(p.partition.wall(), 110);
  EXPECT_EQ(p.partition.unrecorded, 90);  // [20, 110)
  EXPECT_EQ(p.total.host_time, 30 + 10);
}

TEST(event_spans, of_streams_of_one_pass_are_united_on_their_device_only) {
  trace_builder b;
  const auto side = b.stream(0, 8);
  const auto far = b.stream(1, 7);
  const auto pass = b.phase("decode", 0, 100);
  span(b, pass, 50, 80, side);
  span(b, pass, 10, 60);
  span(b, pass, 10, 40, far);
  const varve::report r = b.analyze();
  const varve::phase_row& first = phase_of(r, "decode", 0);
  EXPECT_EQ(first.event_span.count, 1);
  EXPECT_EQ(first.event_span.total, 70);  // [10, 80)
  EXPECT_EQ(first.partition.unrecorded, 70);
  EXPECT_EQ(first.partition.wall(), 100);
  const varve::phase_row& second = phase_of(r, "decode", 1);
  EXPECT_EQ(second.event_span.total, 30);
  EXPECT_EQ(second.partition.unrecorded, 30);
  EXPECT_EQ(second.partition.wall(), 100);
  EXPECT_EQ(r.quality.event_spans, 3);
}

TEST(event_spans, give_no_row_on_a_device_without_any) {
  trace_builder b;
  const auto far = b.stream(1, 7);
  span(b, b.phase("prefill", 0, 100), 10, 60);
  span(b, b.phase("decode", 100, 200), 110, 120, far);
  const varve::report r = b.analyze();
  ASSERT_EQ(r.phases.size(), 2U);
  EXPECT_EQ(phase_of(r, "prefill", 0).event_span.total, 50);
  EXPECT_EQ(phase_of(r, "decode", 1).event_span.total, 10);
}

// In a trace that has activities too, those win: only idle instants are unrecorded.
TEST(event_spans, hide_no_activity) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  b.launched_kernel(pass, 0, 10, 30, 50);
  span(b, pass, 20, 90);
  const varve::report r = b.analyze();
  const varve::phase_row& p = phase_of(r, "decode");
  EXPECT_EQ(p.partition.compute, 20);
  EXPECT_EQ(p.partition.unrecorded, 10 + 40);  // [20, 30) and [50, 90)
  EXPECT_EQ(p.partition.wall(), 100);
  EXPECT_EQ(p.total.gpu_time, 20);
}

TEST(event_spans, that_are_broken_are_counted_and_left_out) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  const auto layer = b.layer(pass, "attention", 0, 10, 60);
  span(b, layer, 20, 90);
  span(b, none, 20, 90);
  span(b, 77, 20, 90);
  span(b, pass, 90, 20);
  span(b, pass, 20, 90, varve::narrow_none);
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "decode").event_span.count, 0);
  EXPECT_EQ(phase_of(r, "decode").wall, 100);
  EXPECT_EQ(r.quality.event_spans, 0);
  ASSERT_EQ(r.quality.losses.size(), 1U);
  EXPECT_EQ(r.quality.losses[0].count, 5U);
}

TEST(event_spans, of_absurd_times_do_not_overflow) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  span(b, pass, std::numeric_limits<time_ns>::min(), std::numeric_limits<time_ns>::max());
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "decode").event_span.count, 1);
  EXPECT_EQ(phase_of(r, "decode").partition.wall(), phase_of(r, "decode").wall);
}

}  // namespace
