// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What phases and layers took in single passes.
#include "analyze/trace_builder.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace varve_test;
using times = std::vector<time_ns>;

/// Passes of 100 ns, one after the other; in pass k layer 0 has a kernel of k + 1 ns and its attention one of
/// 10 ns.
trace_builder passes_of(int count) {
  trace_builder b;
  for (time_ns k = 0; k < count; ++k) {
    const time_ns at = 1000 * (k + 1);
    const auto pass = b.phase("decode", at, at + 100);
    const auto layer = b.layer(pass, "layer", 0, at, at + 90);
    const auto attention = b.layer(layer, "attention", no_index, at + 10, at + 40);
    b.launched_kernel(layer, at, at + 5, at + 10, at + 11 + k);
    b.launched_kernel(attention, at + 10, at + 15, at + 50, at + 60);
  }
  return b;
}

TEST(pass_times, every_pass_has_its_own) {
  const varve::report r = passes_of(3).analyze();
  const varve::pass_samples& samples = phase_of(r, "decode").samples;
  EXPECT_EQ(samples.stride, 1);
  EXPECT_EQ(samples.step, (times{100, 100, 100}));
  EXPECT_EQ(samples.gpu_time, (times{11, 12, 13}));
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").per_pass, (times{11, 12, 13}));
  EXPECT_EQ(row_of(r.layers, "layer 0 / attention", "decode").per_pass, (times{10, 10, 10}));
}

TEST(pass_times, of_many_passes_every_nth_stays) {
  const trace_builder b = passes_of(7);
  varve::analyze_options options;
  options.most_samples = 3;  // ⌈7 ÷ 3⌉ = 3: passes 0, 3 and 6
  const varve::report r = b.analyze(options);
  EXPECT_EQ(phase_of(r, "decode").samples.stride, 3);
  EXPECT_EQ(phase_of(r, "decode").samples.gpu_time, (times{11, 14, 17}));
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").per_pass, (times{11, 14, 17}));
  options.most_samples = 4;  // ⌈7 ÷ 4⌉ = 2: passes 0, 2, 4 and 6
  EXPECT_EQ(phase_of(b.analyze(options), "decode").samples.gpu_time, (times{11, 13, 15, 17}));
}

TEST(pass_times, none_are_kept_where_none_are_wanted) {
  const trace_builder b = passes_of(2);
  varve::analyze_options options;
  options.most_samples = 0;
  const varve::report r = b.analyze(options);
  EXPECT_EQ(phase_of(r, "decode").samples.stride, 0);
  EXPECT_TRUE(phase_of(r, "decode").samples.step.empty());
  EXPECT_TRUE(row_of(r.layers, "layer 0", "decode").per_pass.empty());
}

TEST(pass_times, calls_of_a_layer_that_overlap_in_a_pass_count_once) {
  trace_builder b;
  const auto side = b.stream(0, 8);
  for (const time_ns at : {1000, 2000}) {
    const auto pass = b.phase("decode", at, at + 100);
    const auto first = b.layer(pass, "layer", 0, at, at + 10);
    const auto second = b.layer(pass, "layer", 0, at + 10, at + 20);
    b.launched_kernel(first, at, at + 5, at + 20, at + 50);
    b.launched_kernel(second, at + 10, at + 15, at + 40, at + (at == 1000 ? 60 : 45), "k", side);
    b.launched_kernel(pass, at + 30, at + 35, at + 70, at + 75);
  }
  const varve::report r = b.analyze();
  // [20, 50) and [40, 60) are 40 ns, [20, 50) and [40, 45) 30.
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").per_pass, (times{40, 30}));
  EXPECT_EQ(row_of(r.layers, "", "decode").per_pass, (times{5, 5}));
  EXPECT_EQ(phase_of(r, "decode").samples.gpu_time, (times{45, 35}));
}

TEST(pass_times, a_pass_that_begins_earlier_comes_first) {
  trace_builder b;
  const auto other = b.t.intern_thread(101);
  const auto late = b.phase("decode", 2000, 2100);
  const auto early = b.phase("decode", 1000, 1200, none, other);
  b.kernel(b.launch(late, 2000, 2005), 2010, 2020);
  b.kernel(b.launch(early, 1000, 1005, other), 1010, 1300);  // to after the host's end
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "decode").samples.step, (times{300, 100}));
  EXPECT_EQ(phase_of(r, "decode").samples.gpu_time, (times{290, 10}));
}

TEST(pass_times, replays_count_in_the_pass_of_their_launch) {
  trace_builder b;
  const auto decode = b.label(none, "decode", no_index, varve::range_kind::phase);
  const auto node = b.node(1, b.label(decode, "layer", 0));
  const auto first = b.phase("decode", 0, 100);
  const auto second = b.phase("decode", 100, 200);
  const auto one = b.call(varve::call_kind::graph_launch, first, 0, 10);
  const auto two = b.call(varve::call_kind::graph_launch, first, 10, 20);
  const auto three = b.call(varve::call_kind::graph_launch, second, 100, 110);
  b.kernel(one, 20, 30, "k", 0, node);
  b.kernel(two, 40, 60, "k", 0, node);
  b.kernel(three, 120, 127, "k", 0, node);
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").per_pass, (times{30, 7}));
}

TEST(pass_times, without_launches_replays_count_in_the_pass_that_is_known) {
  trace_builder b;
  const auto decode = b.label(none, "decode", no_index, varve::range_kind::phase);
  const auto node = b.node(1, b.label(decode, "layer", 0));
  const auto first = b.phase("decode", 0, 100);
  const auto second = b.phase("decode", 100, 200);
  b.kernel(0, 20, 30, "k", 0, node);
  b.kernel(0, 120, 127, "k", 0, node);
  b.t.range_of_activity = {first, second};
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").per_pass, (times{10, 7}));
}

TEST(pass_times, each_device_has_those_of_its_own_passes) {
  trace_builder b;
  const auto other = b.stream(1, 7);
  for (const time_ns at : {1000, 2000, 3000}) {
    const auto pass = b.phase("decode", at, at + 100);
    b.launched_kernel(pass, at, at + 5, at + 10, at + 20);
    if (at != 2000) {
      b.launched_kernel(pass, at + 5, at + 10, at + 10, at + 10 + at / 100, "k", other);
    }
  }
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "decode", 0).samples.gpu_time, (times{10, 10, 10}));
  EXPECT_EQ(phase_of(r, "decode", 1).samples.gpu_time, (times{10, 30}));
  EXPECT_EQ(row_of(r.layers, "", "decode", 1).per_pass, (times{10, 30}));
}

TEST(pass_times, work_outside_of_passes_has_none) {
  trace_builder b = passes_of(1);
  b.launched_kernel(none, 5000, 5005, 5010, 5020);
  const varve::report r = b.analyze();
  EXPECT_TRUE(row_of(r.layers, "", "").per_pass.empty());
}

TEST(pass_times, a_trace_without_passes_is_one) {
  trace_builder b;
  const auto layer = b.layer(none, "layer", 0, 0, 90);
  b.launched_kernel(layer, 0, 5, 10, 30);
  b.launched_kernel(none, 100, 105, 110, 120);
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "(trace)").samples.step, (times{120}));
  EXPECT_EQ(phase_of(r, "(trace)").samples.gpu_time, (times{30}));
  EXPECT_EQ(row_of(r.layers, "layer 0", "(trace)").per_pass, (times{20}));
}

TEST(pass_times, without_a_device_they_are_the_hosts) {
  trace_builder b;
  for (const time_ns at : {1000, 2000}) {
    const auto pass = b.phase("decode", at, at + 100);
    b.layer(pass, "layer", 0, at, at + 30);
    b.layer(pass, "layer", 0, at + 40, at + 40 + at / 100);
    b.layer(b.layer(pass, "layer", 1, at + 80, at + 95), "mlp", no_index, at + 80, at + 85);
  }
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "decode").samples.step, (times{100, 100}));
  EXPECT_EQ(phase_of(r, "decode").samples.gpu_time, (times{0, 0}));
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").per_pass, (times{40, 50}));
  EXPECT_EQ(row_of(r.layers, "layer 1", "decode").per_pass, (times{15, 15}));
  EXPECT_EQ(row_of(r.layers, "layer 1 / mlp", "decode").per_pass, (times{5, 5}));
}

TEST(pass_times, more_rows_make_do_with_fewer_passes) {
  // 70,000 paths and the two that always are, and 128 passes of one kind: 8.96 million numbers. Of 64 passes,
  // 4.48 million, they are less than 2²³.
  trace_builder b;
  for (std::int32_t k = 0; k < 70'000; ++k) {
    b.label(none, "layer", k);
  }
  for (time_ns k = 0; k < 128; ++k) {
    b.launched_kernel(b.phase("decode", 100 * k, 100 * k + 50), 100 * k, 100 * k + 5, 100 * k + 10,
                      100 * k + 20);
  }
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "decode").passes, 128);
  EXPECT_EQ(phase_of(r, "decode").samples.stride, 2);
  EXPECT_EQ(phase_of(r, "decode").samples.step.size(), 64U);
}

}  // namespace
