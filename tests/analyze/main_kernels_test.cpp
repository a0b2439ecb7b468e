// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/trace_builder.hpp"

#include <gtest/gtest.h>

namespace {

using namespace varve_test;

TEST(main_kernels, the_kernel_that_takes_most_of_a_layers_own_time) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  const auto layer = b.layer(pass, "layer", 0, 0, 900);
  const auto attention = b.layer(layer, "attention", no_index, 300, 600);
  b.launched_kernel(layer, 0, 5, 10, 30, "norm");  // 20 + 20
  b.launched_kernel(layer, 10, 15, 30, 65, "gemm");
  b.launched_kernel(layer, 20, 25, 70, 90, "norm");
  b.launched_kernel(attention, 300, 305, 310, 510, "flash");  // in the range inside
  b.copy(b.call(varve::call_kind::copy, layer, 600, 610), 620, 920);
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").main_kernel, "norm");
  EXPECT_EQ(row_of(r.layers, "layer 0 / attention", "decode").main_kernel, "flash");
}

TEST(main_kernels, of_equals_the_first_by_name) {
  trace_builder b;
  const auto layer = b.layer(b.phase("decode", 0, 1000), "layer", 0, 0, 900);
  b.launched_kernel(layer, 0, 5, 10, 30, "b");
  b.launched_kernel(layer, 10, 15, 30, 50, "a");
  EXPECT_EQ(row_of(b.analyze().layers, "layer 0", "decode").main_kernel, "a");
}

TEST(main_kernels, none_for_what_takes_less_than_a_hundredth_of_its_phase) {
  trace_builder b;
  const auto decode = b.phase("decode", 0, 10'000);
  const auto small = b.layer(decode, "small", no_index, 0, 100);
  const auto large = b.layer(decode, "large", no_index, 100, 9000);
  const auto prefill = b.phase("prefill", 20'000, 30'000);
  b.launched_kernel(small, 0, 5, 10, 20, "k");         // 10 of 1001
  b.launched_kernel(large, 100, 105, 110, 1101, "k");  // 991
  b.launched_kernel(b.layer(prefill, "small", no_index, 20'000, 20'100), 20'000, 20'005, 20'010, 20'020, "k");
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "small", "decode").main_kernel, "");
  EXPECT_EQ(row_of(r.layers, "large", "decode").main_kernel, "k");
  EXPECT_EQ(row_of(r.layers, "small", "prefill").main_kernel, "k");  // all of its own phase
}

// 200 layers of one name, 0.5 % of the phase each: none for one of them, but for the name. "gemm" takes 2000
// ns of it, "norm" in every second layer 2 · 100; the head's 400 ns are more than that, and not of this name.
TEST(main_kernels, of_labels_over_all_layers_that_have_them) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100'000);
  for (int i = 0; i < 200; ++i) {
    const varve::time_ns at = i * 100;
    const auto mlp = b.layer(pass, "mlp", i, at, at + 90);
    b.launched_kernel(mlp, at, at + 1, at + 2, at + 12, "gemm");
    if (i % 2 == 0) {
      b.launched_kernel(mlp, at + 20, at + 21, at + 22, at + 24, "norm");
    }
  }
  b.launched_kernel(b.layer(pass, "head", no_index, 30'000, 30'100), 30'000, 30'001, 30'002, 30'402, "head");
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "mlp 0", "decode").main_kernel, "");
  EXPECT_EQ(row_of(r.labels, "mlp", "decode").main_kernel, "gemm");
  EXPECT_EQ(row_of(r.labels, "head", "decode").main_kernel, "head");
}

TEST(main_kernels, none_where_no_kernel_ran) {
  trace_builder b;
  const auto layer = b.layer(b.phase("decode", 0, 1000), "layer", 0, 0, 900);
  b.copy(b.call(varve::call_kind::copy, layer, 0, 10), 20, 30);
  EXPECT_EQ(row_of(b.analyze().layers, "layer 0", "decode").main_kernel, "");
}

TEST(main_kernels, replays_count_where_their_nodes_belong) {
  trace_builder b;
  const auto node =
      b.node(1, b.label(b.label(none, "decode", no_index, varve::range_kind::phase), "layer", 0));
  const auto launch = b.call(varve::call_kind::graph_launch, b.phase("decode", 0, 1000), 0, 10);
  b.kernel(launch, 20, 30, "replayed", 0, node);
  b.kernel(launch, 40, 45, "other");
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").main_kernel, "replayed");
  EXPECT_EQ(row_of(r.layers, "", "decode").main_kernel, "other");
}

}  // namespace
