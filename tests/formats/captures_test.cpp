// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Traces of captures, given beside the trace of their replays.
#include "formats/graph_trace.hpp"
#include "formats/input_files.hpp"

#include <varve/io.hpp>
#include <varve/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using names = std::vector<std::string>;

/// A capture in [0, 1000): the model calls each module in turn, and each makes one launch for a kernel, a
/// copy or a set ("k", "c", "s").
struct capture {
  std::string mark;                                        // none where empty
  std::vector<std::pair<std::string, std::string>> calls;  // module, what it launches
  int pieces = 1;                                          // the calls are cut into as many
};

std::string text_of(const capture& c) {
  graph_trace made;
  if (!c.mark.empty()) {
    made.annotation(c.mark, 0, 1000);
  }
  made.module("Model_0", 5, 995);
  int at = 20;
  int correlation = 1;
  const auto piece = static_cast<int>(c.calls.size()) / c.pieces;
  int left = 0;
  for (const auto& [module, launches] : c.calls) {
    if (left == 0) {
      made.call("cudaStreamBeginCapture", at, at + 1, correlation++);
      left = piece;
    }
    made.module(module, at + 2, at + 18);
    int inside = at + 3;
    for (const char what : launches) {
      made.call(what == 'k'   ? "cudaLaunchKernel"
                : what == 'c' ? "cudaMemcpyAsync"
                              : "cudaMemsetAsync",
                inside, inside + 2, correlation++);
      inside += 2;
    }
    at += 20;
    if (--left == 0) {
      made.call("cudaStreamEndCapture", at - 1, at, correlation++);
    }
  }
  return made.text();
}

class captures_test : public input_files {
 protected:
  void add(const std::string& file, const capture& c) { add(file, text_of(c)); }
  void add(const std::string& file, const std::string& text) {
    std::filesystem::create_directories(path("captures"));
    files_.push_back(write("captures/" + file, text));
  }
  varve::trace read(const graph_trace& replayed, const names& captures = {}) {
    varve::read_options options;
    options.captures = captures.empty() ? names{path("captures")} : captures;
    return varve::read_pytorch(write("replay.json", replayed.text()), options);
  }
  static names labels(const varve::trace& t) {
    names out;
    for (const std::uint32_t node : t.activities.node) {
      out.push_back(node == varve::none ? "" : varve::label_text(t, t.graph_nodes.at(node).label));
    }
    return out;
  }
  static names losses(const varve::trace& t) {
    names out;
    for (const varve::loss& l : t.losses) {
      out.push_back(std::to_string(l.count) + " " + l.what);
    }
    return out;
  }
  static std::string table(const varve::trace& t) { return varve::to_table(varve::analyze(t)); }
  std::vector<std::string> files_;
};

const capture small{"capture_8_FULL", {{"Layer_0", "kk"}, {"Layer_1", "kk"}, {"Head_0", "sk"}}};
const names small_kernels{"gemm", "attention", "gemm", "attention", "Memset", "head"};

TEST_F(captures_test, modules_of_a_capture_are_the_layers_of_its_replays) {
  add("graph_capture_rank_0.1.pt.trace.json", small);
  graph_trace made;
  made.annotation("ProfilerStep#1", 0, 200);
  made.launch(10, 1, small_kernels);
  made.annotation("ProfilerStep#2", 200, 400);
  made.launch(210, 2, small_kernels);
  const varve::trace t = read(made);
  const names modules{"Model 0 / Layer 0", "Model 0 / Layer 0", "Model 0 / Layer 1",
                      "Model 0 / Layer 1", "Model 0 / Head 0",  "Model 0 / Head 0"};
  EXPECT_EQ(labels(t), modules + modules);
  EXPECT_THAT(t.losses, IsEmpty());
  const varve::report r = varve::analyze(t);
  EXPECT_EQ(r.quality.lent_nodes, 12);
  EXPECT_EQ(r.quality.positioned_nodes, 0);
  const varve::row* layer = r.find({"Layer", 1, "ProfilerStep", "", {}, ""});
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->inclusive.calls, 2);          // one each replay
  EXPECT_EQ(layer->inclusive.gpu_time, 40'000);  // 2 · 2 · 10 µs
  EXPECT_THAT(varve::to_table(r), HasSubstr("layer from a trace of the capture"));
}

TEST_F(captures_test, files_and_folders_can_be_given_and_a_folder_is_read_for_its_traces_alone) {
  add("a.json", small);
  add("notes.txt", "not a trace");
  graph_trace made;
  made.launch(0, 1, small_kernels);
  EXPECT_EQ(labels(read(made)).at(0), "Model 0 / Layer 0");
  EXPECT_EQ(labels(read(made, {files_.at(0)})).at(0), "Model 0 / Layer 0");
  EXPECT_EQ(labels(read(made, {files_.at(0), path("captures")})).at(0),
            "Model 0 / Layer 0");  // the same twice
}

TEST_F(captures_test, modules_around_the_launch_are_not_repeated) {
  add("a.json", small);
  graph_trace made;
  made.annotation("ProfilerStep#1", 0, 200);
  made.annotation("forward", 1, 190);
  made.module("Model_0", 2, 180);
  made.launch(10, 1, small_kernels);
  EXPECT_EQ(labels(read(made)).at(2), "forward / Model 0 / Layer 1");
}

TEST_F(captures_test, a_capture_that_does_not_fit_lends_nothing) {
  add("a.json", small);
  graph_trace made;
  made.launch(0, 1, {"gemm", "attention", "gemm", "attention", "head", "Memset"});  // kinds in another order
  made.launch(100, 2, {"gemm", "attention"});
  const varve::trace t = read(made);
  EXPECT_EQ(labels(t).at(0), "graph 1 (6 nodes) / gemm 0");
  EXPECT_THAT(losses(t),
              ElementsAre("8 activities of graphs that none of the traces of captures given fits"));
  EXPECT_THAT(table(t),
              AllOf(HasSubstr("8 graph activities have no layer, only a place in a graph: the traces "
                              "of captures given lend none."),
                    Not(HasSubstr("--captures"))));
}

TEST_F(captures_test, what_ran_at_once_was_not_captured) {
  // A warm-up before the capture: the same modules, and its kernels are there.
  graph_trace warm;
  warm.module("WarmUp_0", 0, 50);
  warm.call("cudaLaunchKernel", 10, 12, 1);
  warm.activity("gemm", 20, 5, 1);
  warm.annotation("capture_1_FULL", 100, 200);
  warm.module("Layer_0", 110, 190);
  warm.call("cudaLaunchKernel", 120, 122, 2);
  warm.call("cuLaunchKernel", 120, 121, 3);  // inside the one before: one launch
  add("a.json", warm.text());
  graph_trace made;
  made.launch(0, 1, {"gemm"});
  EXPECT_EQ(labels(read(made)).at(0), "Layer 0");
}

// --- Which of several ------------------------------------------------------------------------------------

class sized_captures_test : public captures_test {
 protected:
  void SetUp() override {
    captures_test::SetUp();
    for (const int size : {4, 8}) {
      const std::string n = std::to_string(size);
      add("c" + n + ".json", {"capture_" + n + "_FULL", {{"Of" + n + "_0", "kk"}}});
    }
  }
  /// Of a launch in a pass of so many tokens; 0: not known.
  std::string label_for(std::int64_t tokens) {
    graph_trace made;
    const std::string n = std::to_string(tokens);
    made.annotation(tokens == 0 ? "ProfilerStep#1" : "execute_context_0(0)_generation_" + n + "(" + n + ")",
                    0, 100);
    made.launch(10, 1, {"a", "b"});
    const varve::trace t = read(made);
    losses_ = losses(t);
    table_ = table(t);
    return labels(t).at(0);
  }
  names losses_;
  std::string table_;
};

TEST_F(sized_captures_test, of_unknown_size_several_are_ambiguous) {
  EXPECT_EQ(label_for(0), "graph 1 (2 nodes) / a 0");
  EXPECT_THAT(
      losses_,
      ElementsAre("2 activities of graphs that several of the traces of captures given fit: none is taken"));
  EXPECT_THAT(table_,
              AllOf(HasSubstr("the traces of captures given lend none."), Not(HasSubstr("--captures"))));
}

TEST_F(sized_captures_test, the_smallest_that_holds_the_tokens_of_the_pass_is_taken) {
  EXPECT_EQ(label_for(3), "Model 0 / Of4 0");
  EXPECT_EQ(label_for(4), "Model 0 / Of4 0");
  EXPECT_EQ(label_for(5), "Model 0 / Of8 0");
  EXPECT_THAT(losses_, IsEmpty());
  EXPECT_EQ(label_for(9), "graph 1 (2 nodes) / a 0");
  EXPECT_THAT(losses_, ElementsAre("2 activities of graphs that none of the traces of captures given fits"));
}

TEST_F(captures_test, sequences_of_a_capture_are_in_the_name_of_its_file) {
  add("DecodeRunner_bs_4_rank0.json", {"", {{"Of4_0", "kk"}}});
  add("DecodeRunner_bs_16_rank0.json", {"", {{"Of16_0", "kk"}}});
  graph_trace made;
  made.annotation("step[DECODE bs=3]", 0, 100);
  made.launch(10, 1, {"a", "b"});
  made.annotation("step[DECODE bs=5]", 100, 200);
  made.launch(110, 2, {"a", "b"});
  const names l = labels(read(made));
  EXPECT_EQ(l.at(0), "Model 0 / Of4 0");
  EXPECT_EQ(l.at(2), "Model 0 / Of16 0");
}

// --- Work ------------------------------------------------------------------------------------------------
/// A product of [tokens, 64] and [64, 32], captured: 2 · tokens · 64 · 32 FLOPs.
std::string product(int tokens) {
  graph_trace made;
  made.annotation("capture_" + std::to_string(tokens) + "_FULL", 0, 100);
  made.module("Linear_0", 10, 90);
  made.event("cpu_op", "aten::mm", 50, 51, 20, 30,
             R"("External id": 7, "Input Dims": [[)" + std::to_string(tokens) +
                 R"(, 64], [64, 32]], "Input type": ["float", "float"])");
  made.call("cudaMemsetAsync", 25, 27, 1);  // two nodes of one operator
  made.call("cudaLaunchKernel", 30, 32, 2);
  return made.text();
}

TEST_F(captures_test, work_of_captured_operators_is_that_of_each_replay) {
  add("a.json", product(4));
  graph_trace made;
  made.annotation("execute_context_0(0)_generation_3(3)", 0, 100);
  made.launch(10, 1, {"Memset", "gemm"});
  made.annotation("execute_context_0(0)_generation_4(4)", 100, 200);
  made.launch(110, 2, {"Memset", "gemm"});
  const varve::report r = varve::analyze(read(made));
  const varve::row* linear = r.find({"Linear", 0, "", "", {}, ""});
  ASSERT_NE(linear, nullptr);
  EXPECT_EQ(linear->inclusive.declared.flops, 2 * (2 * 4 * 64 * 32));  // both ran the graph for 4 tokens
}

TEST_F(captures_test, work_that_captures_do_not_agree_on_is_not_taken) {
  add("a.json", product(4));
  add("b.json", product(8));
  graph_trace made;
  made.launch(10, 1, {"Memset", "gemm"});  // of how many tokens, nobody knows
  const varve::trace t = read(made);
  EXPECT_EQ(labels(t).at(1), "Linear 0");
  EXPECT_TRUE(t.graph_nodes.at(t.activities.node[1]).declared.empty());
}

// --- Pieces ----------------------------------------------------------------------------------------------

TEST_F(captures_test, pieces_are_matched_in_the_order_of_their_launches_in_the_pass) {
  add("a.json", {"capture_8_PIECEWISE", {{"Layer_0", "kk"}, {"Layer_1", "kk"}, {"Layer_2", "kk"}}, 3});
  graph_trace made;
  made.annotation("ProfilerStep#1", 0, 200);
  made.launch(10, 1, {"a", "b"});
  made.launch(50, 2, {"a", "b"});
  made.launch(90, 3, {"a", "b"});
  made.annotation("ProfilerStep#2", 200, 400);
  made.launch(210, 4, {"a", "b"});  // one of three: which, nobody knows
  const varve::trace t = read(made);
  EXPECT_THAT(labels(t), ElementsAre("Model 0 / Layer 0", "Model 0 / Layer 0", "Model 0 / Layer 1",
                                     "Model 0 / Layer 1", "Model 0 / Layer 2", "Model 0 / Layer 2",
                                     "graph 1 (2 nodes) / a 0", "graph 1 (2 nodes) / b 1"));
  EXPECT_THAT(losses(t),
              ElementsAre("2 activities of graphs that none of the traces of captures given fits"));
}

TEST_F(captures_test, names_of_kernels_are_compared_where_the_calls_have_them) {
  for (const char* const kernel : {"gemm", "softmax"}) {
    graph_trace made;
    made.module(std::string{"Module_"} + kernel + "_0", 0, 100);
    made.event("cuda_runtime", "hipLaunchKernel", 50, 51, 10, 2,
               std::string{R"("correlation": 1, "kernel": ")"} + kernel + '"');
    add(std::string{kernel} + ".json", made.text());
  }
  graph_trace made;
  made.launch(0, 1, {"softmax"});
  EXPECT_THAT(labels(read(made)), ElementsAre("Module_softmax 0"));
}

TEST_F(captures_test, branches_are_not_matched_by_order) {
  add("a.json", {"capture_1_FULL", {{"Layer_0", "kk"}}});
  graph_trace made;
  made.call("cudaGraphLaunch", 0, 2, 1);
  made.activity("a", 10, 5, 1, 7);
  made.activity("b", 10, 5, 1, 9);
  EXPECT_THAT(losses(read(made)),
              ElementsAre("2 activities of graphs on several streams: no trace of a capture is matched"));
}

TEST_F(captures_test, the_number_of_modules_in_a_capture_decides_on_inferred_layers) {
  add("a.json", {"capture_1_FULL", {{"Layer_0", "k"}, {"Layer_1", "k"}, {"Layer_2", "k"}, {"Layer_3", "k"}}});
  graph_trace made;
  made.launch(0, 1, 3 * names{"norm", "gemm", "silu"});  // three blocks, yet four layers
  EXPECT_EQ(labels(read(made)).at(0), "graph 1 (9 nodes) / norm 0");
  made.launch(200, 2, 4 * names{"norm", "gemm", "silu"});
  EXPECT_EQ(labels(read(made)).at(9), "graph 2 (12 nodes) / inferred layer 0 / norm 0");
}

// --- Files that can't be read ----------------------------------------------------------------------------

TEST_F(captures_test, a_bad_file_in_a_folder_is_left_out_and_counted) {
  add("bad.json", "[1, 2");
  add("good.json", small);
  add("none.json.gz", "");
  graph_trace made;
  made.launch(0, 1, small_kernels);
  const varve::trace t = read(made);
  EXPECT_EQ(labels(t).at(0), "Model 0 / Layer 0");
  ASSERT_EQ(t.losses.size(), 2U);
  for (const varve::loss& l : t.losses) {
    EXPECT_THAT(l.what, StartsWith("trace of captures left out: "));
    EXPECT_EQ(l.count, 1U);
  }
  EXPECT_THAT(t.losses[0].what, HasSubstr("the JSON ends here"));
  EXPECT_EQ(t.losses[0].where, files_.at(0));
  EXPECT_EQ(t.losses[1].where, files_.at(2));
}

TEST_F(captures_test, few_bad_files_are_named_and_the_others_counted) {
  for (int k = 0; k < 20; ++k) {
    add("bad" + std::to_string(k) + ".json", "[1, 2");
  }
  graph_trace made;
  made.launch(0, 1, {"a"});
  const names lost = losses(read(made));
  ASSERT_EQ(lost.size(), 8U + 2U);
  EXPECT_EQ(lost.at(8), "12 further traces of captures left out: they can't be read");
}

TEST_F(captures_test, errors_name_the_file) {
  graph_trace made;
  made.launch(0, 1, {"a"});
  std::filesystem::create_directories(path("captures"));
  EXPECT_THAT(error_of([&] { (void)read(made); }),
              HasSubstr("captures: holds no traces of captures: no .json or .json.gz file"));
  add("bad.json", "[1, 2");
  EXPECT_THAT(error_of([&] { (void)read(made, {files_.at(0)}); }), HasSubstr("captures/bad.json: "));
  EXPECT_THAT(error_of([&] { (void)read(made, {path("none")}); }), HasSubstr("none: "));
}

}  // namespace
