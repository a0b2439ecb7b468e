// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Times of rows: union, sum, span, shared, alone, overlap, per call; inclusive and exclusive.
#include <gtest/gtest.h>

#include "analyze/trace_builder.hpp"

namespace {

using namespace varve_test;

// decode [0, 100)
//   layer 0 [0, 40): kernels [10, 20) [15, 30) on two streams, [50, 60)
//     attention [20, 40): kernel [60, 80)
varve::report nested_layers() {
  trace_builder b;
  const auto second = b.stream(0, 8);
  const auto pass = b.phase("decode", 0, 100);
  const auto layer = b.layer(pass, "layer", 0, 0, 40);
  const auto attention = b.layer(layer, "attention", no_index, 20, 40);
  b.launched_kernel(layer, 0, 2, 10, 20);
  b.launched_kernel(layer, 2, 4, 15, 30, "k", second);
  b.launched_kernel(layer, 4, 6, 50, 60);
  b.launched_kernel(attention, 22, 24, 60, 80);
  return b.analyze();
}

TEST(times, gpu_time_is_the_length_of_the_union) {
  const varve::report r = nested_layers();
  const varve::row& layer = row_of(r.layers, "layer 0", "decode");
  // Own: [10, 30) ∪ [50, 60) = 20 + 10. With attention's [60, 80): 30 + 20.
  EXPECT_EQ(layer.exclusive.gpu_time, 30);
  EXPECT_EQ(layer.inclusive.gpu_time, 50);
  const varve::row& attention = row_of(r.layers, "layer 0 / attention", "decode");
  EXPECT_EQ(attention.exclusive.gpu_time, 20);
  EXPECT_EQ(attention.inclusive.gpu_time, 20);
  EXPECT_EQ(phase_of(r, "decode").total.gpu_time, 50);
}

TEST(times, kernel_time_is_the_sum_of_durations) {
  const varve::report r = nested_layers();
  // 10 + 15 + 10 = 35 of its own, and 20 of attention's.
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").exclusive.kernel_time, 35);
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").inclusive.kernel_time, 55);
  EXPECT_EQ(phase_of(r, "decode").total.kernel_time, 55);
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").exclusive.kernels, 3);
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").inclusive.kernels, 4);
}

TEST(times, span_goes_from_first_start_to_last_end) {
  const varve::report r = nested_layers();
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").exclusive.span, 50);  // 10 to 60
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").inclusive.span, 70);  // 10 to 80
  EXPECT_EQ(row_of(r.layers, "layer 0 / attention", "decode").exclusive.span, 20);
  EXPECT_EQ(phase_of(r, "decode").gpu_span, 70);
}

TEST(times, rows_form_a_tree) {
  const varve::report r = nested_layers();
  ASSERT_EQ(r.layers.size(), 2U);
  EXPECT_EQ(r.layers[0].path, "layer 0");
  EXPECT_EQ(r.layers[0].label, "layer");
  EXPECT_EQ(r.layers[0].index, 0);
  EXPECT_EQ(r.layers[0].depth, 0U);
  EXPECT_EQ(r.layers[0].parent, none);
  EXPECT_EQ(r.layers[1].path, "layer 0 / attention");
  EXPECT_EQ(r.layers[1].label, "attention");
  EXPECT_EQ(r.layers[1].index, no_index);
  EXPECT_EQ(r.layers[1].depth, 1U);
  EXPECT_EQ(r.layers[1].parent, 0U);
}

// Three rows on two streams of one device:
//   a [0, 40) on stream 7 · a/inner [20, 60) on stream 8 · b [50, 80) on stream 7
varve::report two_streams() {
  trace_builder b;
  const auto second = b.stream(0, 8);
  const auto pass = b.phase("decode", 0, 100);
  const auto a = b.layer(pass, "a", no_index, 0, 30);
  const auto inner = b.layer(a, "inner", no_index, 10, 30);
  const auto other = b.layer(pass, "b", no_index, 30, 50);
  b.launched_kernel(a, 0, 0, 0, 40);
  b.launched_kernel(inner, 12, 14, 20, 60, "k", second);
  b.launched_kernel(other, 32, 34, 50, 80);
  return b.analyze();
}

TEST(times, shared_time_divides_each_instant_among_the_rows_active_in_it) {
  const varve::report r = two_streams();
  // a: 20 alone + 20/2 shared with inner. inner: 20/2 + 10 alone + 10/2 with b. b: 10/2 + 20 alone.
  EXPECT_DOUBLE_EQ(row_of(r.layers, "a", "decode").exclusive.shared_time, 30);
  EXPECT_DOUBLE_EQ(row_of(r.layers, "a / inner", "decode").exclusive.shared_time, 25);
  EXPECT_DOUBLE_EQ(row_of(r.layers, "b", "decode").exclusive.shared_time, 25);
  // Inclusive: the sum of the subtree, 30 + 25. All together: the device's busy time, 80.
  EXPECT_DOUBLE_EQ(row_of(r.layers, "a", "decode").inclusive.shared_time, 55);
  EXPECT_DOUBLE_EQ(phase_of(r, "decode").total.shared_time, 80);
  EXPECT_EQ(r.devices.at(0).busy, 80);
}

TEST(times, alone_time_is_when_nothing_of_another_row_ran) {
  const varve::report r = two_streams();
  EXPECT_EQ(row_of(r.layers, "a", "decode").exclusive.alone_time, 20);          // [0, 20)
  EXPECT_EQ(row_of(r.layers, "a / inner", "decode").exclusive.alone_time, 10);  // [40, 50)
  EXPECT_EQ(row_of(r.layers, "b", "decode").exclusive.alone_time, 20);          // [60, 80)
  // With inner, a has the device for itself in [0, 50): the instants that both run count too.
  EXPECT_EQ(row_of(r.layers, "a", "decode").inclusive.alone_time, 50);
  EXPECT_EQ(phase_of(r, "decode").total.alone_time, 80);
}

TEST(times, two_phases_at_once_are_not_alone) {
  trace_builder b;
  const auto second = b.stream(0, 8);
  const auto decode = b.phase("decode", 0, 100);
  const auto prefill = b.phase("prefill", 0, 100, none, b.t.intern_thread(101));
  b.launched_kernel(decode, 0, 1, 0, 40);
  b.kernel(b.launch(prefill, 0, 1, 1), 30, 60, "k", second);
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "decode").total.alone_time, 30);   // [0, 30)
  EXPECT_EQ(phase_of(r, "prefill").total.alone_time, 20);  // [40, 60)
  EXPECT_DOUBLE_EQ(phase_of(r, "decode").total.shared_time, 35);
  EXPECT_DOUBLE_EQ(phase_of(r, "prefill").total.shared_time, 25);
}

TEST(times, a_kernel_that_overlaps_its_predecessor_on_the_stream_counts_from_its_end) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  const auto first = b.layer(pass, "first", no_index, 0, 10);
  const auto second = b.layer(pass, "second", no_index, 10, 20);
  const auto third = b.layer(pass, "third", no_index, 20, 30);
  b.launched_kernel(first, 0, 1, 10, 50);
  b.launched_kernel(second, 10, 11, 40, 70);  // 10 before its predecessor ends: counts as [50, 70)
  b.launched_kernel(third, 20, 21, 45, 60);   // wholly inside what ran before: counts as nothing
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "first", "decode").exclusive.gpu_time, 40);
  EXPECT_EQ(row_of(r.layers, "first", "decode").exclusive.overlap, 0);
  EXPECT_EQ(row_of(r.layers, "second", "decode").exclusive.gpu_time, 20);
  EXPECT_EQ(row_of(r.layers, "second", "decode").exclusive.overlap, 10);
  EXPECT_EQ(row_of(r.layers, "second", "decode").exclusive.kernel_time, 30);
  EXPECT_EQ(row_of(r.layers, "second", "decode").per_call.total, 20);
  EXPECT_EQ(row_of(r.layers, "third", "decode").exclusive.gpu_time, 0);
  EXPECT_EQ(row_of(r.layers, "third", "decode").exclusive.overlap, 15);
  EXPECT_EQ(row_of(r.layers, "third", "decode").exclusive.kernels, 1);
  EXPECT_EQ(phase_of(r, "decode").total.overlap, 25);
  EXPECT_EQ(r.devices.at(0).busy, 60);  // [10, 70) either way
  EXPECT_DOUBLE_EQ(row_of(r.layers, "first", "decode").exclusive.shared_time, 40);
  EXPECT_EQ(row_of(r.layers, "second", "decode").exclusive.alone_time, 20);
}

TEST(times, clipping_on_one_stream_reorders_against_another) {
  trace_builder b;
  const auto second = b.stream(0, 8);
  const auto pass = b.phase("decode", 0, 200);
  const auto x = b.layer(pass, "x", no_index, 0, 10);
  const auto y = b.layer(pass, "y", no_index, 0, 10);
  b.launched_kernel(x, 0, 1, 0, 100);
  b.launched_kernel(x, 1, 2, 10, 120);              // counts as [100, 120)
  b.launched_kernel(y, 2, 3, 50, 60, "k", second);  // starts after it, yet before its effective begin
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "x", "decode").exclusive.gpu_time, 120);
  EXPECT_EQ(row_of(r.layers, "x", "decode").exclusive.overlap, 90);
  EXPECT_EQ(row_of(r.layers, "x", "decode").exclusive.alone_time, 110);
  EXPECT_DOUBLE_EQ(row_of(r.layers, "x", "decode").exclusive.shared_time, 115);
  EXPECT_DOUBLE_EQ(row_of(r.layers, "y", "decode").exclusive.shared_time, 5);
}

TEST(times, of_kernels_that_begin_together_on_a_stream_the_shorter_comes_first) {
  for (const bool longer_first : {false, true}) {
    trace_builder b;
    const auto pass = b.phase("decode", 0, 100);
    const auto x = b.layer(pass, "x", no_index, 0, 10);
    const auto y = b.layer(pass, "y", no_index, 10, 20);
    const auto launch_x = b.launch(x, 0, 1);
    const auto launch_y = b.launch(y, 10, 11);
    if (longer_first) {
      b.kernel(launch_y, 20, 50);
    }
    b.kernel(launch_x, 20, 40);
    if (!longer_first) {
      b.kernel(launch_y, 20, 50);
    }
    const varve::report r = b.analyze();
    EXPECT_EQ(row_of(r.layers, "x", "decode").exclusive.gpu_time, 20);
    EXPECT_EQ(row_of(r.layers, "y", "decode").exclusive.gpu_time, 10);  // [40, 50)
  }
}

TEST(times, each_call_has_its_own_gpu_time) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  // Three calls of "mlp": 30 (of which 10 in its op), 10, and one that launches nothing.
  const auto one = b.layer(pass, "mlp", 1, 0, 10);
  const auto op = b.range(varve::range_kind::op, one, "up", no_index, 5, 10);
  const auto two = b.layer(pass, "mlp", 1, 10, 20);
  b.layer(pass, "mlp", 1, 20, 30);
  b.launched_kernel(one, 0, 1, 100, 120);
  b.launched_kernel(op, 5, 6, 120, 130);
  b.launched_kernel(two, 10, 11, 130, 140);
  const varve::report r = b.analyze();
  const varve::row& mlp = row_of(r.layers, "mlp 1", "decode");
  EXPECT_EQ(mlp.inclusive.calls, 3);
  EXPECT_EQ(mlp.per_call.count, 3);
  EXPECT_EQ(mlp.per_call.total, 40);
  EXPECT_EQ(mlp.per_call.min, 0);
  EXPECT_EQ(mlp.per_call.p50, 10);  // of 0, 10, 30 the ⌈0.5·3⌉ = 2nd
  EXPECT_EQ(mlp.per_call.max, 30);
  EXPECT_DOUBLE_EQ(mlp.per_call.mean, 40.0 / 3);
  const varve::row& up = row_of(r.layers, "mlp 1 / up", "decode");
  EXPECT_EQ(up.kind, varve::range_kind::op);
  EXPECT_EQ(up.per_call.count, 1);
  EXPECT_EQ(up.per_call.total, 10);
}

TEST(times, calls_that_run_at_the_same_time_have_a_union_each) {
  trace_builder b;
  const auto second = b.stream(0, 8);
  const auto pass = b.phase("decode", 0, 1000);
  const auto one = b.layer(pass, "mlp", no_index, 0, 10);
  const auto two = b.layer(pass, "mlp", no_index, 10, 20);
  b.launched_kernel(one, 0, 1, 100, 120);
  b.launched_kernel(two, 10, 11, 110, 140, "k", second);
  b.launched_kernel(one, 2, 3, 120, 125);
  const varve::report r = b.analyze();
  const varve::row& mlp = row_of(r.layers, "mlp", "decode");
  EXPECT_EQ(mlp.per_call.total, 25 + 30);
  EXPECT_EQ(mlp.per_call.min, 25);
  EXPECT_EQ(mlp.per_call.max, 30);
  EXPECT_EQ(mlp.inclusive.gpu_time, 40);  // [100, 140)
  EXPECT_EQ(mlp.inclusive.alone_time, 40);
}

TEST(times, a_layer_in_another_pass_of_the_kind_is_the_same_row) {
  trace_builder b;
  for (const time_ns at : {0, 1000, 2000}) {
    const auto pass = b.phase("decode", at, at + 500);
    const auto layer = b.layer(pass, "layer", 3, at, at + 100);
    b.launched_kernel(layer, at, at + 5, at + 200, at + 240);
  }
  const varve::report r = b.analyze();
  ASSERT_EQ(r.layers.size(), 1U);
  EXPECT_EQ(r.layers[0].inclusive.calls, 3);
  EXPECT_EQ(r.layers[0].inclusive.gpu_time, 120);
  EXPECT_EQ(r.layers[0].inclusive.host_time, 300);
  EXPECT_DOUBLE_EQ(r.layers[0].per_call.deviation, 0);
}

TEST(times, copies_and_sets_count_apart_from_kernels) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  const auto layer = b.layer(pass, "kv", no_index, 0, 40);
  b.launched_kernel(layer, 0, 1, 10, 20);
  b.copy(b.call(varve::call_kind::copy, layer, 1, 2), 20, 50, 4096);
  b.copy(b.call(varve::call_kind::copy, layer, 2, 3), 50, 60, 1024);
  b.activity(varve::activity_kind::set, b.call(varve::call_kind::set, layer, 3, 4), 60, 65, "memset", 0, none,
             b.t.intern_bytes(777));
  const varve::report r = b.analyze();
  const varve::measures& m = row_of(r.layers, "kv", "decode").inclusive;
  EXPECT_EQ(m.gpu_time, 55);
  EXPECT_EQ(m.kernel_time, 10);
  EXPECT_EQ(m.kernels, 1);
  EXPECT_EQ(m.copies, 2);
  EXPECT_EQ(m.copy_bytes, 5120);
  EXPECT_EQ(m.sets, 1);
}

TEST(times, a_kernel_without_length_is_a_kernel) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  b.launched_kernel(b.layer(pass, "x", no_index, 0, 40), 0, 1, 10, 10);
  const varve::report r = b.analyze();
  const varve::row& x = row_of(r.layers, "x", "decode");
  EXPECT_EQ(x.inclusive.kernels, 1);
  EXPECT_EQ(x.inclusive.gpu_time, 0);
  EXPECT_EQ(x.inclusive.span, 0);
  EXPECT_EQ(r.quality.untimed, 0);
}

TEST(times, host_time_without_the_ranges_inside) {
  trace_builder b;
  const auto other = b.t.intern_thread(101);
  const auto pass = b.phase("decode", 0, 100);
  const auto layer = b.layer(pass, "layer", 0, 10, 60);
  b.layer(layer, "attention", no_index, 20, 45);
  b.layer(layer, "offload", no_index, 20, 50, other);  // on another thread: takes nothing from its parent
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").inclusive.host_time, 50);
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").exclusive.host_time, 25);  // 50 − 25
  EXPECT_EQ(row_of(r.layers, "layer 0 / offload", "decode").inclusive.host_time, 30);
  EXPECT_EQ(phase_of(r, "decode").total.host_time, 100);
}

}  // namespace
