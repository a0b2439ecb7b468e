// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Replays of CUDA graphs: their kernels carry labels from capture, their pass is that of the launch.
#include <gtest/gtest.h>

#include "analyze/trace_builder.hpp"

namespace {

using namespace varve_test;
using varve::call_kind;
using varve::range_kind;

/// Labels of a graph captured in a phase of its own: layer 0 with attention in it, and layer 1.
struct captured {
  explicit captured(trace_builder& b) {
    capture = b.label(none, "capture", no_index, range_kind::phase);
    const auto layer = b.label(capture, "layer", 0);
    attention = b.node(10, b.label(layer, "attention", no_index, range_kind::op));
    mlp = b.node(11, layer);
    last = b.node(12, b.label(capture, "layer", 1));
  }
  std::uint32_t capture;
  std::uint32_t attention;
  std::uint32_t mlp;
  std::uint32_t last;
};

void replay(trace_builder& b, const captured& g, std::uint32_t pass, time_ns at) {
  const auto c = b.call(call_kind::graph_launch, pass, at, at + 10);
  b.kernel(c, at + 20, at + 30, "attn", 0, g.attention);
  b.kernel(c, at + 30, at + 50, "mlp", 0, g.mlp);
  b.kernel(c, at + 50, at + 55, "mlp", 0, g.last);
}

TEST(graph, each_replay_is_one_call_of_each_layer) {
  trace_builder b;
  const captured g{b};
  for (const time_ns at : {0, 100, 200}) {
    replay(b, g, b.phase("decode", at, at + 60), at);
  }
  const varve::report r = b.analyze();
  const varve::row& layer = row_of(r.layers, "layer 0", "decode");
  EXPECT_EQ(layer.inclusive.calls, 3);
  EXPECT_EQ(layer.inclusive.gpu_time, 90);  // 10 of attention and 20 of its own, thrice
  EXPECT_EQ(layer.exclusive.gpu_time, 60);
  EXPECT_EQ(layer.per_call.count, 3);
  EXPECT_EQ(layer.per_call.min, 30);
  EXPECT_EQ(layer.per_call.max, 30);
  EXPECT_EQ(layer.inclusive.host_time, 0);
  EXPECT_EQ(row_of(r.layers, "layer 0 / attention", "decode").inclusive.calls, 3);
  EXPECT_EQ(row_of(r.layers, "layer 1", "decode").inclusive.gpu_time, 15);
  // The launch was made in the pass, in no layer.
  EXPECT_EQ(row_of(r.layers, "", "decode").inclusive.launch_time, 30);
  EXPECT_EQ(row_of(r.layers, "", "decode").inclusive.gpu_time, 0);
  EXPECT_EQ(row_of(r.layers, "", "decode").launch_latency.total, 60);
  EXPECT_EQ(layer.inclusive.launches, 0);
  EXPECT_EQ(phase_of(r, "decode").total.graph_launches, 3);
  EXPECT_DOUBLE_EQ(r.quality.attributed, 1.0);
}

// 35 ns in nodes of which only the place in the graph is known, launched once in a pass and once in a layer:
// half of the time is in a layer.
TEST(graph, a_place_in_a_graph_is_no_layer) {
  trace_builder b;
  const captured g{b};
  for (varve::graph_node& node : b.t.graph_nodes) {
    node.source = varve::label_source::position;
  }
  const auto pass = b.phase("decode", 0, 160);
  replay(b, g, pass, 0);
  replay(b, g, b.layer(pass, "model", no_index, 95, 160), 100);
  const varve::report r = b.analyze();
  EXPECT_EQ(r.quality.positioned_nodes, 6);
  EXPECT_DOUBLE_EQ(r.quality.attributed, 0.5);
}

TEST(graph, the_pass_is_that_of_the_launch) {
  trace_builder b;
  const captured g{b};
  replay(b, g, b.phase("decode", 0, 60), 0);
  replay(b, g, b.phase("verify", 100, 160), 100);
  replay(b, g, none, 200);  // launched outside any pass
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "layer 1", "decode").inclusive.calls, 1);
  EXPECT_EQ(row_of(r.layers, "layer 1", "verify").inclusive.calls, 1);
  EXPECT_EQ(row_of(r.layers, "layer 1", "").inclusive.calls, 1);
  EXPECT_EQ(row_of(r.layers, "layer 1", "").inclusive.gpu_time, 5);
}

TEST(graph, a_launch_inside_a_layer_does_not_put_the_graphs_layers_below_it) {
  trace_builder b;
  const captured g{b};
  const auto pass = b.phase("decode", 0, 60);
  replay(b, g, b.layer(pass, "run graph", no_index, 0, 12), 0);
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "layer 1", "decode").inclusive.gpu_time, 5);
  EXPECT_EQ(row_of(r.layers, "run graph", "decode").inclusive.gpu_time, 0);
  EXPECT_EQ(row_of(r.layers, "run graph", "decode").inclusive.launch_time, 10);
}

TEST(graph, a_replay_inside_the_layer_that_it_was_captured_in_is_that_layers_call) {
  trace_builder b;
  const captured g{b};
  const auto pass = b.phase("decode", 0, 60);
  replay(b, g, b.layer(pass, "layer", 0, 0, 12), 0);  // one graph a layer, launched under the same marker
  const varve::report r = b.analyze();
  const varve::row& layer = row_of(r.layers, "layer 0", "decode");
  EXPECT_EQ(layer.inclusive.calls, 1);
  EXPECT_EQ(layer.per_call.count, 1);
  EXPECT_EQ(layer.per_call.total, 30);
  EXPECT_EQ(row_of(r.layers, "layer 0 / attention", "decode").inclusive.calls, 1);
  EXPECT_EQ(row_of(r.layers, "layer 1", "decode").inclusive.calls, 1);
}

TEST(graph, nodes_without_a_label_belong_to_the_range_of_the_launch) {
  trace_builder b;
  const captured g{b};
  const auto old = b.node(13, none);        // captured before labels were kept
  const auto bare = b.node(14, g.capture);  // captured in the pass, in no layer
  const auto pass = b.phase("decode", 0, 200);
  const auto layer = b.layer(pass, "graph", no_index, 0, 20);
  const auto c = b.call(call_kind::graph_launch, layer, 0, 10);
  b.kernel(c, 20, 30, "k", 0, old);
  b.kernel(c, 30, 50, "k", 0, bare);
  b.kernel(c, 50, 55, "k");  // no node at all
  b.kernel(c, 55, 60, "k", 0, g.last);
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "graph", "decode").inclusive.gpu_time, 35);
  EXPECT_EQ(row_of(r.layers, "layer 1", "decode").inclusive.gpu_time, 5);
  EXPECT_EQ(r.quality.unlabelled_nodes, 2);
}

TEST(graph, labels_that_may_be_of_an_older_version_are_counted) {
  trace_builder b;
  const auto label = b.label(none, "layer", 0);
  const auto stale = b.node(10, label, true);
  const auto fresh = b.node(11, label, false);
  const auto c = b.call(call_kind::graph_launch, b.phase("decode", 0, 100), 0, 10);
  b.kernel(c, 20, 30, "k", 0, stale);
  b.kernel(c, 30, 40, "k", 0, stale);
  b.kernel(c, 40, 50, "k", 0, fresh);
  EXPECT_EQ(b.analyze().quality.stale_nodes, 2);
}

TEST(graph, a_launch_with_fewer_nodes_than_another_of_its_graph_is_short) {
  trace_builder b;
  const captured g{b};
  const auto other_graph = b.node(20, b.label(g.capture, "layer", 1));
  replay(b, g, b.phase("decode", 0, 100), 0);
  // The second replay lacks its last kernel: [140, 150) is idle, but not known to be.
  const auto pass = b.phase("decode", 100, 150);
  const auto c = b.call(call_kind::graph_launch, pass, 100, 110);
  b.kernel(c, 110, 120, "attn", 0, g.attention);
  b.kernel(c, 120, 140, "mlp", 0, g.mlp);
  // Another graph has one node only, with a label that the first graph has too: nothing is missing.
  b.kernel(b.call(call_kind::graph_launch, b.phase("decode", 200, 240), 200, 210), 210, 240, "k", 0,
           other_graph);
  const varve::report r = b.analyze();
  EXPECT_EQ(r.quality.graph_launches_short, 1);
  EXPECT_EQ(r.quality.graph_launches_without_kernels, 0);
  // [100, 110) while the launch ran, and [140, 150) until the pass ended.
  EXPECT_EQ(phase_of(r, "decode").partition.unrecorded, 20);
  EXPECT_EQ(phase_of(r, "decode").partition.wall(), 100 + 50 + 40);
}

TEST(graph, a_node_that_ran_more_often_does_not_make_other_replays_short) {
  trace_builder b;
  const captured g{b};
  for (const int times : {3, 1}) {  // the body of a loop
    const time_ns at = times == 3 ? 0 : 500;
    const auto c = b.call(call_kind::graph_launch, b.phase("decode", at, at + 400), at, at + 1);
    for (int k = 0; k < times; ++k) {
      b.kernel(c, at + 10 + 20 * k, at + 20 + 20 * k, "k", 0, g.last);
    }
  }
  EXPECT_EQ(b.analyze().quality.graph_launches_short, 0);
}

TEST(graph, a_launch_with_a_record_of_the_whole_is_not_short) {
  trace_builder b;
  const captured g{b};
  replay(b, g, b.phase("decode", 0, 100), 0);
  const auto c = b.call(call_kind::graph_launch, b.phase("decode", 100, 200), 100, 110);
  b.kernel(c, 120, 130, "mlp", 0, g.mlp);
  b.activity(varve::activity_kind::graph, c, 110, 160, "graph");
  EXPECT_EQ(b.analyze().quality.graph_launches_short, 0);
}

/// Two replays of layer 0, whose two nodes have these works.
varve::report replay_layer(const varve::work& first, const varve::work& second, varve::label_source source) {
  trace_builder b;
  const auto phase = b.label(none, "capture", no_index, range_kind::phase);
  const auto layer = b.label(phase, "layer", 0);
  const auto one = b.node(10, layer, false, first);
  const auto two = b.node(11, layer, false, second);
  b.t.graph_nodes[one].source = b.t.graph_nodes[two].source = source;
  for (const time_ns at : {0, 100}) {
    const auto c = b.call(call_kind::graph_launch, b.phase("decode", at, at + 50), at, at + 10);
    b.kernel(c, at + 20, at + 30, "k", 0, one);
    b.kernel(c, at + 30, at + 40, "k", 0, two);
  }
  return b.analyze();
}

TEST(graph, parts_of_work_that_captured_nodes_carry_add_up_each_replay) {
  const varve::report r = replay_layer({400, 50, 0, 5}, {100, 0, 0, 1}, varve::label_source::captured);
  const varve::row& row = row_of(r.layers, "layer 0", "decode");
  EXPECT_EQ(row.inclusive.declared, (varve::work{1000, 100, 0, 12}));
  EXPECT_EQ(row.inclusive.calls_with_work, 2);
  EXPECT_EQ(phase_of(r, "decode").total.calls_with_work, 2);
}

TEST(graph, work_that_a_capture_lends_to_all_nodes_of_a_path_counts_once_a_replay) {
  const varve::work w{500, 50, 0, 5};
  const varve::report r = replay_layer(w, w, varve::label_source::capture_trace);
  const varve::row& row = row_of(r.layers, "layer 0", "decode");
  EXPECT_EQ(row.inclusive.declared, (varve::work{1000, 100, 0, 10}));
  EXPECT_EQ(row.inclusive.calls_with_work, 2);
  EXPECT_EQ(phase_of(r, "decode").total.calls_with_work, 2);
}

TEST(graph, a_labelled_node_without_its_launch_keeps_its_label) {
  trace_builder b;
  const captured g{b};
  b.phase("decode", 0, 100);
  b.kernel(0, 10, 20, "k", 0, g.last);
  const varve::report r = b.analyze();
  const varve::row& row = row_of(r.layers, "layer 1", "");
  EXPECT_EQ(row.inclusive.gpu_time, 10);
  EXPECT_EQ(row.inclusive.calls, 0);  // how many replays it was is not known
  EXPECT_EQ(row.per_call.count, 0);
}

TEST(graph, a_replay_on_two_devices_is_a_call_on_each) {
  trace_builder b;
  const auto second = b.stream(1, 7);
  const auto label = b.label(none, "layer", 0);
  const auto here = b.node(10, label);
  const auto there = b.node(11, label);
  const auto c = b.call(call_kind::graph_launch, b.phase("decode", 0, 100), 0, 10);
  b.kernel(c, 30, 40, "k", 0, here);
  b.kernel(c, 20, 25, "k", second, there);
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode", 0).per_call.total, 10);
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode", 1).per_call.total, 5);
  // The launch counts once: on the device whose activity came first.
  EXPECT_EQ(phase_of(r, "decode", 1).total.launches, 1);
  EXPECT_EQ(phase_of(r, "decode", 1).launch_latency.total, 20);
  EXPECT_EQ(phase_of(r, "decode", 0).total.launches, 0);
}

}  // namespace
