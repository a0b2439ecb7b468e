// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Activities of replayed graphs: which graph, which node, which inferred layer.
#include "formats/graph_trace.hpp"
#include "formats/input_files.hpp"
#include "formats/pytorch/repeats.hpp"

#include <varve/io.hpp>
#include <varve/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using names = std::vector<std::string>;

class graphs_test : public input_files {
 protected:
  varve::trace read(const graph_trace& made, const varve::read_options& options = {}) {
    return varve::read_pytorch(write("t.json", made.text()), options);
  }
  /// Label path of each activity in the order of the file; "" where it has none.
  static names labels(const varve::trace& t) {
    names out;
    for (const std::uint32_t node : t.activities.node) {
      out.push_back(node == varve::none ? "" : varve::label_text(t, t.graph_nodes.at(node).label));
    }
    return out;
  }
  static std::vector<std::uint64_t> ids(const varve::trace& t) {
    std::vector<std::uint64_t> out;
    for (const std::uint32_t node : t.activities.node) {
      out.push_back(node == varve::none ? 0 : t.graph_nodes.at(node).id);
    }
    return out;
  }
  static std::uint64_t lost(const varve::trace& t, const std::string& what) {
    std::uint64_t count = 0;
    for (const varve::loss& l : t.losses) {
      count += l.what.find(what) != std::string::npos ? l.count : 0;
    }
    return count;
  }
};

// --- Which graph, which node ------------------------------------------------------------------------------

TEST_F(graphs_test, a_node_is_one_row_over_all_replays) {
  graph_trace made;
  made.annotation("ProfilerStep#1", 0, 100);
  made.launch(10, 1, {"a", "b", "a"});  // kernels at 15, 25, 35
  made.annotation("ProfilerStep#2", 100, 200);
  made.launch(110, 2, {"a", "b", "a"});
  const varve::trace t = read(made);
  const names graph{"graph 1 (3 nodes) / a 0", "graph 1 (3 nodes) / b 1", "graph 1 (3 nodes) / a 2"};
  EXPECT_EQ(labels(t), graph + graph);
  EXPECT_EQ(t.graph_nodes.size(), 3U);
  EXPECT_THAT(t.losses, IsEmpty());

  const varve::report r = varve::analyze(t);
  const varve::row* whole = r.find({"", {}, "ProfilerStep", "", {}, "graph 1 (3 nodes)"});
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(whole->inclusive.calls, 2);          // replays
  EXPECT_EQ(whole->inclusive.gpu_time, 60'000);  // 2 · 3 · 10 µs
  const varve::row* last = r.find({"", {}, "ProfilerStep", "", {}, "graph 1 (3 nodes) / a 2"});
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->inclusive.calls, 2);
  EXPECT_EQ(last->inclusive.gpu_time, 20'000);
  EXPECT_EQ(r.quality.positioned_nodes, 6);
  EXPECT_EQ(r.quality.unlabelled_nodes, 0);
  EXPECT_EQ(r.quality.graph_launches_short, 0);
}

TEST_F(graphs_test, graphs_are_told_apart_by_what_they_run_and_with_which_grid) {
  graph_trace made;
  made.launch(0, 1, {"a", "b"});
  made.launch(100, 2, {"a", "c"});
  made.launch(200, 3, {"a", "b"});
  made.call("cudaGraphLaunch", 300, 302, 4);  // of the same kernels on more data
  made.activity("a", 305, 10, 4, 7, R"(, "grid": [8, 1, 1], "block": [128, 1, 1])");
  made.activity("b", 315, 10, 4, 7, R"(, "grid": [8, 1, 1], "block": [128, 1, 1])");
  EXPECT_THAT(labels(read(made)),
              ElementsAre("graph 1 (2 nodes) / a 0", "graph 1 (2 nodes) / b 1", "graph 2 (2 nodes) / a 0",
                          "graph 2 (2 nodes) / c 1", "graph 1 (2 nodes) / a 0", "graph 1 (2 nodes) / b 1",
                          "graph 3 (2 nodes) / a 0", "graph 3 (2 nodes) / b 1"));
}

TEST_F(graphs_test, branches_are_ordered_by_their_stream_and_not_by_a_race) {
  graph_trace made;
  for (const int at : {0, 100}) {
    const int c = at + 1;
    made.call("cudaGraphLaunch", at, at + 2, c);
    made.activity("a", at + 10, 5, c, 7);
    made.activity("left", at == 0 ? 20 : 121, 5, c, 7);  // first in one replay, second in the other
    made.activity("right", at == 0 ? 21 : 120, 5, c, 9);
  }
  EXPECT_THAT(labels(read(made)), ElementsAre("graph 1 (3 nodes) / a 0", "graph 1 (3 nodes) / left 1",
                                              "graph 1 (3 nodes) / right 2", "graph 1 (3 nodes) / a 0",
                                              "graph 1 (3 nodes) / left 1", "graph 1 (3 nodes) / right 2"));
}

TEST_F(graphs_test, branches_on_one_stream_are_told_by_their_names_and_counted) {
  graph_trace made;
  made.launch(0, 1, {"a", "left", "right", "a"});
  made.launch(100, 2, {"a", "right", "left", "a"});
  const varve::trace t = read(made);
  EXPECT_THAT(labels(t), ElementsAre("graph 1 (4 nodes) / a 0", "graph 1 (4 nodes) / left 1",
                                     "graph 1 (4 nodes) / right 2", "graph 1 (4 nodes) / a 3",
                                     "graph 1 (4 nodes) / a 0", "graph 1 (4 nodes) / right 2",
                                     "graph 1 (4 nodes) / left 1", "graph 1 (4 nodes) / a 3"));
  EXPECT_EQ(lost(t, "another order"), 1U);
}

TEST_F(graphs_test, the_row_stands_below_the_range_around_the_launch) {
  graph_trace made;
  made.annotation("ProfilerStep#1", 0, 100);
  made.annotation("forward", 5, 50);
  made.launch(10, 1, {"a"});
  made.annotation("ProfilerStep#2", 100, 200);
  made.annotation("forward", 105, 150);
  made.launch(110, 2, {"a"});
  made.annotation("ProfilerStep#3", 200, 300);
  made.annotation("again", 205, 250);
  made.launch(210, 3, {"a"});
  const varve::trace t = read(made);
  EXPECT_THAT(labels(t), ElementsAre("forward / graph 1 (1 node) / a 0", "forward / graph 1 (1 node) / a 0",
                                     "again / graph 1 (1 node) / a 0"));
  EXPECT_EQ(t.graph_nodes.size(), 2U);
  EXPECT_EQ(t.graph_nodes[0].id, t.graph_nodes[1].id) << "one node of one graph";
  const varve::report r = varve::analyze(t);
  EXPECT_EQ(r.find({"", {}, "ProfilerStep", "", {}, "forward"})->inclusive.gpu_time, 20'000);
  EXPECT_EQ(r.find({"", {}, "ProfilerStep", "", {}, "forward / graph 1 (1 node)"})->inclusive.calls, 2);
}

TEST_F(graphs_test, a_launch_that_lacks_less_than_a_tenth_is_incomplete) {
  names all;
  for (int k = 0; k < 20; ++k) {
    all.push_back("k" + std::to_string(k));
  }
  names short_of_one = all;
  short_of_one.erase(short_of_one.begin() + 12);  // 1 of 20 is less than a tenth
  names short_of_two = all;
  short_of_two.erase(short_of_two.begin(), short_of_two.begin() + 2);  // 2 of 20 is not
  graph_trace made;
  made.annotation("ProfilerStep#1", 0, 300);
  made.launch(0, 1, short_of_one);
  made.call("cudaStreamSynchronize", 250, 260, 0);
  made.annotation("ProfilerStep#2", 300, 600);
  made.launch(300, 2, all);
  made.annotation("ProfilerStep#3", 600, 900);
  made.launch(600, 3, short_of_two);
  const varve::trace t = read(made);
  const names l = labels(t);
  EXPECT_EQ(l.at(11), "graph 1 (20 nodes) / k11 11");
  EXPECT_EQ(l.at(12), "graph 1 (20 nodes) / k13 13");
  EXPECT_EQ(l.at(19 + 12), "graph 1 (20 nodes) / k12 12");
  EXPECT_EQ(l.at(19 + 20), "graph 2 (18 nodes) / k2 0");
  const varve::report r = varve::analyze(t);
  EXPECT_EQ(r.quality.graph_launches_short, 1);
  EXPECT_EQ(r.quality.graph_launches_short_by_look, 1);
  EXPECT_THAT(varve::to_table(r),
              HasSubstr("1 graph launch looks like an incomplete launch of another graph"));
  // Step 1: kernels from 5 to 195, idle before and, until the synchronisation is over at 260, after them:
  // its records are missing, so that is no idle time.
  EXPECT_EQ(r.phases.at(0).partition.unrecorded, 5'000 + 65'000);
}

TEST_F(graphs_test, a_shorter_sequence_that_repeats_is_a_graph_of_its_own) {
  names all;
  for (int k = 0; k < 23; ++k) {
    all.push_back("k" + std::to_string(k));
  }
  names without = all;
  without.erase(without.begin() + 21);  // 1 of 23 is less than a tenth
  graph_trace made;
  for (int launch = 0; launch < 6; ++launch) {
    const int begin = 300 * launch;
    made.annotation("ProfilerStep#" + std::to_string(launch), begin, begin + 300);
    made.launch(begin, launch + 1, launch % 2 == 0 ? all : without);
    made.call("cudaStreamSynchronize", begin + 250, begin + 260, 0);
  }
  const varve::trace t = read(made);
  const names l = labels(t);
  EXPECT_EQ(l.at(22), "graph 1 (23 nodes) / k22 22");
  EXPECT_EQ(l.at(23 + 21), "graph 2 (22 nodes) / k22 21");
  EXPECT_EQ(l.at(23 + 22 + 23 + 21), "graph 2 (22 nodes) / k22 21");
  const varve::report r = varve::analyze(t);
  EXPECT_EQ(r.quality.graph_launches_short, 0);
  EXPECT_EQ(r.phases.at(0).partition.unrecorded, 0);
  EXPECT_THAT(varve::to_table(r), Not(HasSubstr("incomplete launch")));
}

TEST_F(graphs_test, a_shorter_sequence_repeats_in_whatever_order_its_branches_run) {
  const names rest = {"c", "d", "e", "f", "g", "h", "i", "j", "k"};
  graph_trace made;
  made.launch(0, 1, names{"left", "right"} + rest + names{"last"});  // 12 nodes
  made.launch(200, 2, names{"left", "right"} + rest);                // 11
  made.launch(400, 3, names{"right", "left"} + rest);
  const varve::trace t = read(made);
  EXPECT_EQ(labels(t).at(12), "graph 2 (11 nodes) / left 0");
  EXPECT_EQ(labels(t).at(12 + 11), "graph 2 (11 nodes) / right 1");
  EXPECT_EQ(varve::analyze(t).quality.graph_launches_short, 0);
}

TEST_F(graphs_test, what_is_missing_among_equal_kernels_cannot_be_told) {
  names all = 11 * names{"a"};
  graph_trace made;
  made.launch(0, 1, names{"first"} + all + names{"last"});                // 13 nodes
  made.launch(200, 2, names{"first"} + 10 * names{"a"} + names{"last"});  // which "a" is missing?
  const varve::trace t = read(made);
  const names l = labels(t);
  EXPECT_EQ(l.at(13), "graph 1 (13 nodes) / first 0");
  EXPECT_EQ(l.at(13 + 5), "graph 1 (13 nodes)");
  EXPECT_EQ(l.at(13 + 11), "graph 1 (13 nodes) / last 12");
  EXPECT_EQ(lost(t, "one node or another"), 10U);
  EXPECT_EQ(varve::analyze(t).quality.graph_launches_short, 1);
}

TEST_F(graphs_test, an_incomplete_launch_of_either_of_two_graphs_is_none_of_them) {
  const names shared = {"c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"};
  graph_trace made;
  made.launch(0, 1, names{"x"} + shared);
  made.launch(200, 2, names{"y"} + shared);
  made.launch(400, 3, shared);  // 1 of 12 is less than a tenth, of both
  const varve::trace t = read(made);
  EXPECT_EQ(labels(t).at(24), "graph 3 (11 nodes) / c 0");
  EXPECT_EQ(lost(t, "incomplete ones of several graphs"), 1U);
}

TEST_F(graphs_test, a_launch_without_activities_is_unrecorded_and_not_idle) {
  graph_trace made;
  made.annotation("ProfilerStep#1", 0, 100);
  made.launch(0, 1, {"a", "b"});
  made.annotation("ProfilerStep#2", 100, 200);
  made.launch(110, 2, {});
  made.call("cudaStreamSynchronize", 120, 190, 0);
  const varve::report r = varve::analyze(read(made));
  EXPECT_EQ(r.quality.graph_launches_without_kernels, 1);
  EXPECT_EQ(r.phases.at(0).partition.unrecorded, 80'000);  // from the launch at 110 to 190
}

TEST_F(graphs_test, ids_of_nodes_decide_where_the_trace_has_them) {
  graph_trace made;
  const auto launch = [&](int at, int correlation, const std::vector<std::pair<const char*, int>>& nodes) {
    made.call("cudaGraphLaunch", at, at + 2, correlation);
    at += 5;
    for (const auto& [name, node] : nodes) {
      made.activity(name, at, 10, correlation, 7,
                    R"(, "graph id": 3, "graph node id": )" + std::to_string(node));
      at += 10;
    }
  };
  launch(0, 1, {{"a", 71}, {"a", 72}});
  launch(100, 2, {{"a", 72}, {"a", 71}, {"b", 73}});  // most nodes: its order counts
  const varve::trace t = read(made);
  EXPECT_THAT(labels(t),
              ElementsAre("graph 1 (3 nodes) / a 1", "graph 1 (3 nodes) / a 0", "graph 1 (3 nodes) / a 0",
                          "graph 1 (3 nodes) / a 1", "graph 1 (3 nodes) / b 2"));
  EXPECT_THAT(ids(t), ElementsAre(71, 72, 72, 71, 73));
  const varve::report r = varve::analyze(t);
  EXPECT_EQ(r.quality.graph_launches_short, 1);
  EXPECT_EQ(r.quality.graph_launches_short_by_look, 0);
  EXPECT_THAT(varve::to_table(r), HasSubstr("1 graph launch has fewer activities than others of the same"));
}

TEST_F(graphs_test, nodes_keep_their_graph_where_the_launch_is_not_in_the_trace) {
  graph_trace made;
  made.activity("a", 0, 10, 9, 7, R"(, "graph id": 3, "graph node id": 71)");
  made.activity("b", 10, 10, 9, 7, R"(, "graph id": 3, "graph node id": 72)");
  made.activity("c", 20, 10, 10);  // of no graph
  EXPECT_THAT(labels(read(made)), ElementsAre("graph 1 (2 nodes) / a 0", "graph 1 (2 nodes) / b 1", ""));
}

TEST_F(graphs_test, hip_graphs_have_no_shapes_and_are_sorted_by_names) {
  graph_trace made;
  for (const int at : {0, 100}) {
    made.event("cuda_runtime", "hipGraphLaunch", 50, 51, at, 2,
               R"("correlation": )" + std::to_string(at + 1));
    made.activity("void ck::gemm<float>(float*)", at + 10, 5, at + 1);
    made.activity("Memcpy DtoD (Device -> Device)", at + 20, 5, at + 1);
  }
  const names graph{"graph 1 (2 nodes) / gemm 0", "graph 1 (2 nodes) / Memcpy DtoD 1"};
  EXPECT_EQ(labels(read(made)), graph + graph);
}

TEST_F(graphs_test, calls_inside_a_capture_only_record_nodes) {
  graph_trace made;
  made.call("cudaLaunchKernel", 0, 2, 1);
  made.activity("a", 5, 10, 1);
  made.call("cudaStreamBeginCapture", 20, 22, 2);
  made.call("cudaLaunchKernel", 25, 27, 3);
  made.call("cudaLaunchKernel", 30, 32, 4);
  made.call("cudaStreamEndCapture", 40, 42, 5);
  made.call("cudaLaunchKernel", 50, 52, 6);
  const varve::trace t = read(made);
  EXPECT_THAT(t.calls.captured, ElementsAre(0, 0, 1, 1, 0, 0));
  EXPECT_EQ(varve::analyze(t).phases.at(0).total.launches, 2);  // at 0 and 50
}

// --- Layers -----------------------------------------------------------------------------------------------

const names decoder_layer{"rms_norm", "qkv_gemm", "attention", "out_gemm", "silu"};

TEST_F(graphs_test, blocks_that_repeat_are_inferred_layers) {
  graph_trace made;
  made.launch(0, 1, names{"embedding"} + 4 * decoder_layer + names{"rms_norm", "lm_head"});
  const varve::trace t = read(made);
  const names l = labels(t);
  EXPECT_EQ(l.at(0), "graph 1 (23 nodes) / embedding 0");
  EXPECT_EQ(l.at(1), "graph 1 (23 nodes) / inferred layer 0 / rms_norm 0");
  EXPECT_EQ(l.at(1 + 5 + 2), "graph 1 (23 nodes) / inferred layer 1 / attention 2");
  EXPECT_EQ(l.at(20), "graph 1 (23 nodes) / inferred layer 3 / silu 4");
  EXPECT_EQ(l.at(21), "graph 1 (23 nodes) / rms_norm 21");
  EXPECT_EQ(l.at(22), "graph 1 (23 nodes) / lm_head 22");
  EXPECT_THAT(t.collectors.at(0).detail,
              HasSubstr("graph 1 (23 nodes): 4 layers inferred from 5 kernels that repeat"));
  const varve::report r = varve::analyze(t);
  EXPECT_EQ(r.quality.inferred_nodes, 20);
  EXPECT_EQ(r.quality.positioned_nodes, 3);
  EXPECT_EQ(r.find({"inferred layer", 2, "", "", {}, ""})->inclusive.gpu_time, 50'000);
  EXPECT_THAT(varve::to_table(r),
              HasSubstr("in layers that are inferred from repeated kernels, not recorded"));
}

TEST_F(graphs_test, layers_begin_with_their_norm_where_that_fits) {
  // Repeats from the first "silu" on, yet 3 blocks fit from the norm on too.
  graph_trace made;
  made.launch(0, 1, names{"silu"} + 3 * decoder_layer);
  EXPECT_EQ(labels(read(made)).at(1), "graph 1 (16 nodes) / inferred layer 0 / rms_norm 0");
}

TEST_F(graphs_test, kinds_of_attention_that_take_turns_are_layers_each) {
  names sliding = decoder_layer;
  sliding[2] = "sliding_attention";  // 1 of 5 kernels, less than a quarter
  graph_trace made;
  made.launch(0, 1, names{"embedding"} + 3 * (decoder_layer + sliding) + names{"lm_head"});
  const varve::trace t = read(made);
  EXPECT_EQ(labels(t).at(1 + 5 + 2), "graph 1 (32 nodes) / inferred layer 1 / sliding_attention 2");
  EXPECT_THAT(t.collectors.at(0).detail,
              HasSubstr("6 layers inferred from 5 kernels that repeat in turns of 2 kinds"));
}

TEST_F(graphs_test, a_number_of_layers_that_does_not_fit_infers_none) {
  graph_trace made;
  made.launch(0, 1, 4 * decoder_layer);
  varve::read_options options;
  options.layers = 4;
  EXPECT_THAT(labels(read(made, options)).at(0), HasSubstr("inferred layer 0"));
  options.layers = 5;
  const varve::trace t = read(made, options);
  EXPECT_THAT(labels(t).at(0), Not(HasSubstr("inferred")));
  EXPECT_EQ(lost(t,
                 "activities without inferred layers: kernels repeat in blocks (4), but not as often as the "
                 "model has layers (5)"),
            20U);
}

TEST_F(graphs_test, modules_in_the_trace_tell_the_number_of_layers) {
  for (const int layers : {4, 6}) {
    graph_trace made;
    for (int k = 0; k < layers; ++k) {
      made.module("DecoderLayer_" + std::to_string(k), 10 * k, 10 * k + 8);
    }
    made.launch(1000, 1, 4 * decoder_layer);
    const varve::trace t = read(made);
    EXPECT_EQ(labels(t).at(0).find("inferred layer 0") != std::string::npos, layers == 4);
    EXPECT_EQ(lost(t, "kernels repeat in blocks (4), but not as often as the model has layers (6)"),
              layers == 4 ? 0U : 20U);
  }
}

TEST_F(graphs_test, blocks_that_take_less_than_half_of_the_time_are_no_layers) {
  graph_trace made;
  made.launch(
      0, 1, 3 * names{"a", "b", "c"} + names{"d", "e", "f", "g", "h", "i", "j", "k", "l", "m"});  // 90 of 190
  EXPECT_THAT(labels(read(made)).at(0), Not(HasSubstr("inferred")));
}

varve::pytorch::repeat repeat_in(const std::vector<std::uint32_t>& kernels) {
  const std::vector<varve::time_ns> times(kernels.size(), 1);
  return varve::pytorch::find_repeat(kernels, times, [](std::size_t) { return false; })
      .value_or(varve::pytorch::repeat{});
}

TEST(repeats, the_block_is_the_smallest_that_covers_most) {
  const auto r = repeat_in({9, 1, 2, 2, 3, 1, 2, 2, 3, 1, 2, 2, 3, 8});
  EXPECT_EQ(r.first, 1U);
  EXPECT_EQ(r.length, 4U);
  EXPECT_EQ(r.count, 3U);
  EXPECT_EQ(r.kinds, 1U);
}

TEST(repeats, two_blocks_or_one_kernel_over_and_over_are_none) {
  EXPECT_EQ(repeat_in({1, 2, 3, 1, 2, 3}).count, 0U);
  EXPECT_EQ(repeat_in({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}).count, 0U);
  EXPECT_EQ(repeat_in({}).count, 0U);
}

TEST(repeats, blocks_are_of_three_kernels_or_more_and_at_most_256) {
  std::vector<std::uint32_t> kernels;
  for (const std::uint32_t length : {2U, 3U}) {
    for (const std::size_t blocks : {256U, 257U}) {
      kernels.clear();
      for (std::size_t k = 0; k < blocks * length; ++k) {
        kernels.push_back(static_cast<std::uint32_t>(k % length));
      }
      EXPECT_EQ(repeat_in(kernels).count, length == 3 && blocks == 256 ? 256U : 0U)
          << length << ' ' << blocks;
    }
  }
}

TEST(repeats, a_kernel_that_differs_breaks_the_repetition) {
  // 1 2 3 four times, but the third block has a 7: neither side has three blocks.
  EXPECT_EQ(repeat_in({1, 2, 3, 1, 2, 3, 1, 7, 3, 1, 2, 3}).count, 0U);
}

TEST_F(graphs_test, names_of_nodes_are_without_types_parameters_and_namespaces) {
  graph_trace made;
  made.launch(0, 1,
              {"void at::native::(anonymous namespace)::softmax<float, 4>(float*)", "ampere_sgemm_128x64_tn",
               "Memset (Device)", "my kernel", "<odd>", std::string(100, 'x')});
  const std::string graph = "graph 1 (6 nodes) / ";
  EXPECT_THAT(labels(read(made)),
              ElementsAre(graph + "softmax 0", graph + "ampere_sgemm_128x64_tn 1", graph + "Memset 2",
                          graph + "my kernel 3", graph + "<odd> 4", graph + std::string(64, 'x') + " 5"));
}

// --- Hostile ----------------------------------------------------------------------------------------------

TEST_F(graphs_test, rows_of_their_own_are_bounded) {
  graph_trace made;
  made.call("cudaGraphLaunch", 0, 1, 1);
  for (int k = 0; k < 30'000; ++k) {
    made.activity("k" + std::to_string(k % 7000), 10 + k, 1, 1);
  }
  const varve::trace t = read(made);
  EXPECT_EQ(lost(t, "without a row of their own"), 10'000U);
  EXPECT_LT(t.labels.size(), 22'000U);
  EXPECT_EQ(std::count(t.activities.node.begin(), t.activities.node.end(), varve::none), 0);
}

TEST_F(graphs_test, one_kernel_over_and_over_is_one_graph) {
  graph_trace made;
  for (int launch = 0; launch < 40; ++launch) {
    made.launch(1000 * launch, launch + 1, (launch < 3 ? 57 + launch : 60) * names{"a"});
  }
  const varve::trace t = read(made);
  // 57 to 59 of 60 lack less than a tenth.
  const names l = labels(t);
  EXPECT_TRUE(std::all_of(l.begin(), l.end(), [](const std::string& label) {
    return label.rfind("graph 1 (60 nodes)", 0) == 0;
  }));
  EXPECT_EQ(varve::analyze(t).quality.graph_launches_short, 3);
}

TEST_F(graphs_test, launches_that_all_differ_stay_apart) {
  graph_trace made;
  const int launches = 2000;
  for (int launch = 0; launch < launches; ++launch) {
    names kernels = 12 * names{"a", "b"};
    kernels[static_cast<std::size_t>(launch % 24)] = "k" + std::to_string(launch);
    made.launch(1000 * launch, launch + 1, kernels);
  }
  const varve::trace t = read(made);
  std::set<std::string> graphs;
  for (const std::string& label : labels(t)) {
    graphs.insert(label.substr(0, label.find(" (")));
  }
  EXPECT_EQ(graphs.size(), static_cast<std::size_t>(launches));
}

}  // namespace
