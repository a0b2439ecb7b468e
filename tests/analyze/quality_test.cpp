// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a report says about the ground that it stands on.
#include <gtest/gtest.h>

#include "analyze/trace_builder.hpp"

#include <limits>

namespace {

using namespace varve_test;
using varve::call_kind;

std::uint64_t losses(const varve::report& r, std::string_view what) {
  std::uint64_t count = 0;
  for (const varve::loss& l : r.quality.losses) {
    if (l.what.find(what) != std::string::npos) {
      EXPECT_EQ(l.where, "analysis");
      count += l.count;
    }
  }
  return count;
}

TEST(quality, activities_without_a_time_are_counted_and_never_summed) {
  trace_builder b;
  const auto layer = b.layer(b.phase("decode", 0, 100), "layer", 0, 0, 50);
  b.launched_kernel(layer, 0, 1, 10, 20);
  b.launched_kernel(layer, 1, 2, 0, 0);    // no record of its times
  b.launched_kernel(layer, 2, 3, 30, 25);  // ends before it begins
  b.kernel(0, 0, 0);
  const varve::report r = b.analyze();
  EXPECT_EQ(r.quality.activities, 4);
  EXPECT_EQ(r.quality.untimed, 3);
  EXPECT_EQ(r.quality.matched, 3);
  EXPECT_EQ(r.quality.unmatched, 1);
  EXPECT_EQ(r.devices.at(0).kernels, 1);
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").inclusive.kernels, 1);
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").inclusive.kernel_time, 10);
  EXPECT_EQ(phase_of(r, "decode").total.launches, 3);  // the launches happened
  EXPECT_EQ(phase_of(r, "decode").launch_latency.count, 1);
}

TEST(quality, the_untimed_kernels_of_a_graph_are_missing) {
  trace_builder b;
  const auto node = b.node(10, b.label(none, "layer", 0));
  const auto pass = b.phase("decode", 0, 100);
  b.kernel(b.call(call_kind::graph_launch, pass, 0, 10), 0, 0, "k", 0, node);
  const varve::report r = b.analyze();
  EXPECT_EQ(r.quality.graph_launches_without_kernels, 1);
  EXPECT_EQ(phase_of(r, "decode").partition.unrecorded, 100);
}

TEST(quality, attributed_is_the_share_of_time_in_layers) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  b.launched_kernel(b.layer(pass, "layer", 0, 0, 50), 0, 1, 10, 40);
  b.copy(b.call(call_kind::copy, pass, 60, 61), 70, 80, 1);
  b.kernel(0, 80, 90);                                    // unmatched: belongs to no layer
  EXPECT_DOUBLE_EQ(b.analyze().quality.attributed, 0.6);  // 30 of 50
}

TEST(quality, says_where_the_trace_comes_from) {
  trace_builder b;
  b.t.source = "run.json";
  b.t.clock = "invariant TSC";
  b.t.clock_error = 120;
  b.t.own_overhead = 4000;
  b.t.live_cpu = true;
  b.t.lose("ranges dropped", "markers", 3);
  b.t.collectors.push_back({"cupti", "12.4", varve::collector_state::stopped, ""});
  auto& r0 = b.t.ranges[b.phase("decode", 0, 100)];
  r0.clipped_end = true;
  const varve::report r = b.analyze();
  EXPECT_EQ(r.source, "run.json");
  EXPECT_EQ(r.quality.clock, "invariant TSC");
  EXPECT_EQ(r.quality.clock_error, 120);
  EXPECT_EQ(r.quality.own_overhead, 4000);
  EXPECT_TRUE(r.quality.live_cpu);
  ASSERT_EQ(r.quality.losses.size(), 1U);
  EXPECT_EQ(r.quality.losses[0].count, 3U);
  EXPECT_EQ(r.quality.collectors.at(0).name, "cupti");
  EXPECT_EQ(r.quality.clipped_ranges, 1);
}

TEST(quality, an_empty_trace_has_an_empty_report) {
  const varve::report r = varve::analyze(varve::trace{});
  EXPECT_TRUE(r.devices.empty());
  EXPECT_TRUE(r.phases.empty());
  EXPECT_TRUE(r.layers.empty());
  EXPECT_TRUE(r.quality.implicit_pass);
  EXPECT_EQ(r.quality.activities, 0);
  EXPECT_DOUBLE_EQ(r.quality.attributed, 0);
  EXPECT_DOUBLE_EQ(r.inflation(), 0);
  EXPECT_EQ(r.find({}), nullptr);
}

TEST(hostile, indices_that_are_not_there) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  const auto layer = b.layer(pass, "layer", 0, 0, 500);
  b.t.ranges[layer].label = 77777;
  varve::range wild;
  wild.begin = 10;
  wild.end = 5;
  wild.parent = 4000000000U;
  wild.label = 4000000000U;
  wild.thread = 60000;
  b.t.ranges.push_back(wild);
  b.t.attributes.push_back({99, VARVE_DECODE_TOKENS, 1});
  b.t.attributes.push_back({pass, static_cast<varve_attribute>(15), 1});
  b.t.models.push_back({99, 0});
  b.t.models.push_back({pass, 12345});
  b.t.works.push_back({99, {1, 1, 1, 1}});
  b.t.requests.push_back({5000, 6000});
  b.t.add_call({1, 2, 1, 123456, 40000, call_kind::launch, false});
  b.t.add_call({9, 3, 2, 123456, 65534, call_kind::launch, false});
  b.t.add_activity({10, 20, 1, 999999, 888888, 777777, 5555, varve::activity_kind::kernel});
  b.t.add_activity({20, 30, 2, none, none, 777777, varve::narrow_none, varve::activity_kind::copy});
  b.t.graph_nodes.push_back({1, 66666, false, {}});
  b.t.add_activity({30, 40, 3, 0, 0, none, 0, varve::activity_kind::kernel});
  b.t.labels.intern({500, 600, 1, varve::range_kind::layer});
  const varve::report r = b.analyze();
  EXPECT_EQ(r.devices.at(0).kernels, 2);
  EXPECT_EQ(r.devices.at(0).busy, 30);
  EXPECT_EQ(losses(r, "a stream that is not there"), 2U);
  EXPECT_EQ(losses(r, "graph nodes that are not there"), 1U);
  EXPECT_EQ(losses(r, "in a range that is not there"), 2U);
  EXPECT_EQ(losses(r, "calls that end before they begin"), 1U);
  // A range with an unknown label, one with neither, and the label with an unknown parent.
  EXPECT_EQ(losses(r, "ranges and labels"), 3U);
}

TEST(hostile, parents_in_cycles_and_after_their_children) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  const auto one = b.layer(pass, "one", no_index, 0, 500);
  const auto two = b.layer(pass, "two", no_index, 0, 500);
  b.t.ranges[one].parent = two;  // after it
  b.t.ranges[two].parent = two;  // itself
  b.launched_kernel(one, 0, 1, 10, 20);
  b.launched_kernel(two, 1, 2, 20, 40);
  const varve::report r = b.analyze();
  // Their pass is lost with their parents; their labels are not.
  EXPECT_EQ(row_of(r.layers, "one", "").inclusive.gpu_time, 10);
  EXPECT_EQ(row_of(r.layers, "two", "").inclusive.gpu_time, 20);
  EXPECT_EQ(losses(r, "ranges and labels"), 2U);
}

TEST(hostile, times_at_the_ends_of_what_a_number_holds) {
  constexpr time_ns least = std::numeric_limits<time_ns>::min();
  constexpr time_ns most = std::numeric_limits<time_ns>::max();
  trace_builder b;
  const auto side = b.stream(0, 8);
  b.t.begin = least;
  b.t.end = most;
  const auto pass = b.phase("decode", least, most);
  const auto inverted = b.phase("prefill", most, least);
  const auto layer = b.layer(pass, "layer", 0, least, most);
  b.layer(layer, "inner", 0, least, most);
  for (int k = 0; k < 8; ++k) {
    b.kernel(b.launch(layer, least, most), least, most, "k", k % 2 == 0 ? side : std::uint16_t{0});
    b.kernel(b.launch(layer, most, least), most, most);
    b.kernel(b.launch(inverted, least, least), -5, -1);
    b.copy(b.call(call_kind::copy, pass, most, most), least, 0, most);
  }
  b.call(call_kind::graph_launch, pass, least, most);
  b.call(call_kind::synchronise, pass, least, most);
  b.t.works.push_back({layer, {most, most, most, most}});
  b.t.works.push_back({layer, {most, least, most, least}});
  b.t.attributes.push_back({pass, VARVE_DECODE_TOKENS, most});
  b.t.attributes.push_back({pass, VARVE_PREFILL_SEQUENCES, most});
  b.t.attributes.push_back({pass, VARVE_DECODE_SEQUENCES, most});
  const varve::report r = b.analyze({true, most});
  const varve::phase_row& phase = phase_of(r, "decode");
  EXPECT_EQ(phase.partition.wall(), phase.wall);
  EXPECT_EQ(phase.total.kernel_time, most);  // more than a number holds: the greatest that there is
  EXPECT_EQ(phase.total.declared.flops, most);
  EXPECT_EQ(phase.sequences, most);
  EXPECT_GE(phase.step.deviation, 0);
  EXPECT_GE(r.quality.attributed, 0.0);
}

TEST(hostile, a_million_nested_ranges) {
  trace_builder b;
  constexpr int depth = 1000000;
  std::uint32_t parent = b.phase("decode", 0, 4 * depth);
  for (int k = 0; k < depth; ++k) {
    parent = b.layer(parent, "in", k % 3, k, 4 * depth - k);
    const auto c = b.launch(parent, 10 * k, 10 * k + 2);
    b.kernel(c, 10 * k + 3, 10 * k + 8);
  }
  const varve::report r = b.analyze();
  EXPECT_EQ(r.layers.size(), 64U);  // deeper ones count for the row at depth 64
  EXPECT_EQ(r.layers.back().depth, 63U);
  EXPECT_EQ(r.layers.back().exclusive.kernels, depth - 63);
  EXPECT_EQ(r.layers.back().inclusive.calls, 1);
  EXPECT_EQ(r.layers.front().inclusive.kernels, depth);
  EXPECT_EQ(r.layers.front().inclusive.gpu_time, 5LL * depth);
  EXPECT_EQ(losses(r, "nested too deep"), static_cast<std::uint64_t>(depth - 64));
}

TEST(hostile, a_million_ranges_nested_without_labels_of_their_own_depth) {
  trace_builder b;
  constexpr int depth = 1000000;
  const auto pass = b.phase("decode", 0, 4 * depth);
  const auto label = b.label(b.t.ranges[pass].label, "same", 0);
  for (int k = 0; k < depth; ++k) {
    varve::range r;
    r.begin = 0;
    r.end = 10;
    r.label = label;
    r.parent = static_cast<std::uint32_t>(b.t.ranges.size() - 1);
    r.thread = 0;
    b.t.ranges.push_back(r);
    b.launched_kernel(r.parent, k, k, 10 * k, 10 * k + 5);
  }
  const varve::report r = b.analyze();
  ASSERT_EQ(r.layers.size(), 2U);
  EXPECT_EQ(row_of(r.layers, "same 0", "decode").inclusive.gpu_time, 5LL * (depth - 1));
  EXPECT_EQ(row_of(r.layers, "same 0", "decode").inclusive.calls, 64);
}

TEST(hostile, one_correlation_for_everything) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  constexpr int n = 200000;
  for (int k = 0; k < n; ++k) {
    b.t.add_call({10 * k, 10 * k + 1, 5, pass, 0, call_kind::launch, false});
    b.t.add_activity({10 * k + 2, 10 * k + 5, 5, 0, none, none, 0, varve::activity_kind::kernel});
  }
  const varve::report r = b.analyze();
  EXPECT_EQ(r.quality.duplicate_correlations, n - 1);
  EXPECT_EQ(phase_of(r, "decode").launch_latency.count, n);
  EXPECT_EQ(phase_of(r, "decode").launch_latency.max, 2);
}

TEST(hostile, columns_of_different_length) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  b.launched_kernel(pass, 0, 1, 10, 20);
  b.launched_kernel(pass, 1, 2, 20, 40);
  b.t.activities.stream.pop_back();
  b.t.calls.kind.pop_back();
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "decode").total.gpu_time, 10);
  EXPECT_EQ(losses(r, "lack a column"), 2U);
}

TEST(hostile, thousands_of_devices_and_streams) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000000);
  for (std::uint32_t d = 0; d < 20000; ++d) {
    const auto s = b.stream(d, 7);
    b.launched_kernel(pass, d, d, 10, 2000 + d, "k", s);
  }
  const varve::report r = b.analyze();
  EXPECT_EQ(r.devices.size(), 256U);
  EXPECT_EQ(losses(r, "devices beyond"), 20000U - 256);
  trace_builder one;
  const auto p = one.phase("decode", 0, 100);
  for (std::uint32_t s = 0; s < 20000; ++s) {  // all run at once
    one.launched_kernel(one.layer(p, "layer", static_cast<int>(s), 0, 50), s, s, 10 + s, 100000, "k",
                        one.stream(0, s));
  }
  const varve::report all = one.analyze();
  EXPECT_EQ(all.devices.at(0).busy, 100000 - 10);
  EXPECT_NEAR(phase_of(all, "decode").total.shared_time, 100000 - 10, 1e-3);
}

}  // namespace
