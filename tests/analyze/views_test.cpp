// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Labels, kernels and categories.
#include <gtest/gtest.h>

#include "analyze/trace_builder.hpp"

namespace {

using namespace varve_test;
using varve::call_kind;

TEST(labels, one_row_a_name_whatever_its_index_and_place) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  for (int i = 0; i < 3; ++i) {
    const auto layer = b.layer(pass, "layer", i, 100 * i, 100 * i + 90);
    const auto attention = b.layer(layer, "attention", no_index, 100 * i, 100 * i + 50);
    b.launched_kernel(attention, 100 * i, 100 * i + 1, 100 * i + 10, 100 * i + 40);
    b.launched_kernel(layer, 100 * i + 60, 100 * i + 61, 100 * i + 70, 100 * i + 80);
  }
  const varve::report r = b.analyze();
  ASSERT_EQ(r.labels.size(), 2U);
  const varve::row& layer = row_of(r.labels, "layer", "decode");
  EXPECT_EQ(layer.label, "layer");
  EXPECT_EQ(layer.index, no_index);
  EXPECT_EQ(layer.inclusive.calls, 3);
  EXPECT_EQ(layer.inclusive.gpu_time, 120);  // 3 · (30 + 10)
  EXPECT_EQ(layer.exclusive.gpu_time, 30);
  EXPECT_EQ(layer.per_call.count, 3);
  EXPECT_EQ(layer.per_call.total, 120);
  EXPECT_EQ(layer.inclusive.launches, 6);
  EXPECT_EQ(layer.launch_latency.count, 6);
  EXPECT_EQ(layer.launch_latency.total, 60);
  EXPECT_EQ(layer.inclusive.span, 270);  // 10 to 280
  EXPECT_EQ(layer.inclusive.host_time, 270);
  EXPECT_EQ(layer.inclusive.alone_time, 120);
  const varve::row& attention = row_of(r.labels, "attention", "decode");
  EXPECT_EQ(attention.inclusive.gpu_time, 90);
  EXPECT_DOUBLE_EQ(attention.inclusive.shared_time, 90);
  EXPECT_EQ(attention.inclusive.calls, 3);
}

TEST(labels, work_counts_once_a_name_however_often_the_name_stands_in_the_path) {
  trace_builder b;
  const auto second = b.stream(0, 8);
  const auto pass = b.phase("decode", 0, 1000);
  const auto outer = b.layer(pass, "block", 0, 0, 100);
  const auto inner = b.layer(outer, "block", 1, 10, 90);
  b.launched_kernel(outer, 0, 1, 10, 30);
  b.launched_kernel(inner, 12, 13, 20, 50, "k", second);
  const varve::report r = b.analyze();
  ASSERT_EQ(r.labels.size(), 1U);
  EXPECT_EQ(r.labels[0].inclusive.gpu_time, 40);  // [10, 50)
  EXPECT_EQ(r.labels[0].inclusive.kernel_time, 50);
  EXPECT_EQ(r.labels[0].inclusive.calls, 1);  // the outer; the inner is part of it
  EXPECT_EQ(r.labels[0].per_call.total, 40);
  EXPECT_EQ(r.labels[0].inclusive.alone_time, 40);  // nothing without the name ran
  EXPECT_DOUBLE_EQ(r.labels[0].inclusive.shared_time, 40);
  EXPECT_EQ(r.labels[0].exclusive.gpu_time, 40);  // both end in the name
}

TEST(labels, alone_is_when_all_that_runs_has_the_name) {
  trace_builder b;
  const auto second = b.stream(0, 8);
  const auto third = b.stream(0, 9);
  const auto pass = b.phase("decode", 0, 1000);
  const auto a = b.layer(pass, "a", 0, 0, 100);
  b.launched_kernel(b.layer(a, "x", no_index, 0, 50), 0, 1, 0, 40);
  const auto a1 = b.layer(pass, "a", 1, 100, 200);
  b.launched_kernel(b.layer(a1, "y", no_index, 100, 150), 100, 101, 10, 30, "k", second);
  b.launched_kernel(b.layer(pass, "z", no_index, 200, 250), 200, 201, 20, 60, "k", third);
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.labels, "a", "decode").inclusive.alone_time, 20);  // [0, 20), though of two layers
  EXPECT_EQ(row_of(r.labels, "x", "decode").inclusive.alone_time, 10);
  EXPECT_EQ(row_of(r.labels, "y", "decode").inclusive.alone_time, 0);
  EXPECT_EQ(row_of(r.labels, "z", "decode").inclusive.alone_time, 20);  // [40, 60)
  // x: 10 + 10/2 + 10/3 + 10/2, y: 10/2 + 10/3.
  EXPECT_NEAR(row_of(r.labels, "a", "decode").inclusive.shared_time, 25 + 20.0 / 3, 1e-9);
}

TEST(kernels, one_row_a_name) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  varve::launch_shape small;
  small.grid[0] = 1;
  varve::launch_shape large;
  large.grid[0] = 64;
  large.registers = 128;
  const auto s = b.t.intern_shape(small);
  const auto l = b.t.intern_shape(large);
  const auto gemm = [&](time_ns begin, time_ns end, std::uint32_t shape) {
    b.activity(varve::activity_kind::kernel, b.launch(pass, begin - 5, begin - 2), begin, end, "gemm", 0,
               none, shape);
  };
  gemm(10, 20, s);
  gemm(30, 60, l);
  gemm(70, 90, l);
  b.copy(b.call(call_kind::copy, pass, 100, 101), 110, 150, 64);
  const varve::report r = b.analyze();
  ASSERT_EQ(r.kernels.size(), 2U);
  const varve::row& row = row_of(r.kernels, "gemm", "decode");
  EXPECT_EQ(row.inclusive.calls, 3);
  EXPECT_EQ(row.inclusive.kernels, 3);
  EXPECT_EQ(row.inclusive.gpu_time, 60);
  EXPECT_EQ(row.exclusive.gpu_time, 60);
  EXPECT_EQ(row.per_call.count, 3);
  EXPECT_EQ(row.per_call.min, 10);
  EXPECT_EQ(row.per_call.p50, 20);
  EXPECT_EQ(row.per_call.max, 30);
  EXPECT_EQ(row.inclusive.launches, 3);
  EXPECT_EQ(row.inclusive.launch_time, 9);
  EXPECT_EQ(row.launch_latency.total, 15);
  EXPECT_EQ(row.queue_delay.total, 6);
  EXPECT_EQ(row.shapes, 2);
  EXPECT_EQ(row.shape.grid[0], 64U);
  EXPECT_EQ(row.shape.registers, 128U);
  EXPECT_EQ(row_of(r.kernels, "memcpy", "decode").inclusive.copies, 1);
  EXPECT_EQ(row_of(r.kernels, "memcpy", "decode").inclusive.calls, 1);
  EXPECT_EQ(row_of(r.kernels, "memcpy", "decode").shapes, 0);
  // In order of GPU time.
  EXPECT_EQ(r.kernels[0].path, "gemm");
}

TEST(kernels, of_equally_common_shapes_the_smallest_is_shown) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  varve::launch_shape shape;
  time_ns at = 10;
  for (const std::uint32_t blocks : {64U, 2U, 64U, 2U, 9U}) {
    shape.grid[0] = blocks;
    b.activity(varve::activity_kind::kernel, b.launch(pass, at, at + 1), at + 2, at + 5, "k", 0, none,
               b.t.intern_shape(shape));
    at += 10;
  }
  const varve::report r = b.analyze();
  EXPECT_EQ(r.kernels.at(0).shape.grid[0], 2U);
  EXPECT_EQ(r.kernels.at(0).shapes, 3);
}

TEST(kernels, sharing_is_among_kernels) {
  trace_builder b;
  const auto second = b.stream(0, 8);
  const auto layer = b.layer(b.phase("decode", 0, 100), "layer", 0, 0, 50);
  b.launched_kernel(layer, 0, 0, 0, 40, "a");
  b.launched_kernel(layer, 1, 2, 20, 50, "b", second);
  const varve::report r = b.analyze();
  EXPECT_DOUBLE_EQ(row_of(r.kernels, "a", "decode").inclusive.shared_time, 30);  // 20 + 20/2
  EXPECT_DOUBLE_EQ(row_of(r.kernels, "b", "decode").inclusive.shared_time, 20);
  EXPECT_EQ(row_of(r.kernels, "a", "decode").inclusive.alone_time, 20);
  EXPECT_EQ(row_of(r.kernels, "b", "decode").inclusive.alone_time, 10);
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").inclusive.alone_time, 50);
}

TEST(categories, group_kernels_by_what_their_names_say) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  b.launched_kernel(pass, 0, 1, 10, 20, "sm90_xmma_gemm_bf16");
  b.launched_kernel(pass, 1, 2, 20, 50, "cutlass_80_tensorop_gemm");
  b.launched_kernel(pass, 2, 3, 50, 55, "ncclDevKernel_AllReduce");
  b.copy(b.call(call_kind::copy, pass, 3, 4), 60, 80, 512);
  const varve::report r = b.analyze();
  const varve::row& linear = row_of(r.categories, "linear", "decode");
  EXPECT_EQ(linear.inclusive.calls, 2);
  EXPECT_EQ(linear.inclusive.gpu_time, 40);
  EXPECT_EQ(linear.per_call.max, 30);
  EXPECT_EQ(linear.inclusive.launches, 2);
  EXPECT_EQ(linear.launch_latency.count, 2);
  EXPECT_EQ(row_of(r.categories, "collective", "decode").inclusive.gpu_time, 5);
  EXPECT_EQ(row_of(r.categories, "copy", "decode").inclusive.gpu_time, 20);
  EXPECT_EQ(row_of(r.categories, "copy", "decode").inclusive.copy_bytes, 512);
}

}  // namespace
