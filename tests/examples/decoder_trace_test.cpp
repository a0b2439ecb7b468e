// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a session sees of the engine: every kernel in the layer that launched it, also when a graph replays
// it.
#include "cpu_backend.hpp"
#include "generator.hpp"
#include "profile.hpp"

#include <varve/varve.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

using decoder::launch_mode;

constexpr std::int64_t layers = 2;
constexpr std::int64_t steps = 30;

varve::trace run(decoder::backend& device, launch_mode mode) {
  decoder::model_config c = decoder::preset("tiny");
  c.layers = layers;
  varve::session session;
  decoder::generator engine{device, c, {2, 24, 64}, mode, 1};
  engine.warm_up();
  engine.generate({{1, 2, 3, 4}, {5, 6, 7, 8, 9, 10}}, steps);
  return session.stop();
}

/// A trace, and where its activities belong.
struct placed_trace {
  varve::trace t;
  std::unordered_map<std::uint32_t, std::size_t> calls;  ///< by correlation

  explicit placed_trace(varve::trace from) : t{std::move(from)} {
    for (std::size_t c = 0; c < t.calls.size(); ++c) {
      calls.emplace(t.calls.correlation[c], c);
    }
  }

  /// "decode", of the pass that launched the activity.
  std::string phase(std::size_t activity) const { return split(launch_label(activity)).first; }

  /// "layer 1 / qkv: sgemm"; the steps below the pass in which it was launched or captured.
  std::string place(std::size_t activity) const {
    const std::uint32_t node = t.activities.node[activity];
    const std::uint32_t label = node == varve::none ? launch_label(activity) : t.graph_nodes[node].label;
    return split(label).second + ": " + std::string{t.strings[t.activities.name[activity]]};
  }

  /// Activities of each place in the passes of one kind.
  std::map<std::string, int> places(const std::string& kind) const {
    std::map<std::string, int> counts;
    for (std::size_t a = 0; a < t.activities.size(); ++a) {
      if (phase(a) == kind) {
        ++counts[place(a)];
      }
    }
    return counts;
  }

  std::size_t passes(const std::string& kind) const {
    std::size_t count = 0;
    for (const varve::range& r : t.ranges) {
      count += r.kind == varve::range_kind::phase && varve::label_text(t, r.label) == kind ? 1U : 0U;
    }
    return count;
  }

  std::size_t calls_of(varve::call_kind kind) const {
    return static_cast<std::size_t>(std::count(t.calls.kind.begin(), t.calls.kind.end(), kind));
  }

 private:
  std::uint32_t launch_label(std::size_t activity) const {
    const std::size_t call = calls.at(t.activities.correlation[activity]);
    return t.ranges.at(t.calls.range[call]).label;
  }

  std::pair<std::string, std::string> split(std::uint32_t label) const {
    const std::string text = varve::label_text(t, label);
    const std::size_t slash = text.find(" / ");
    return {text.substr(0, slash), slash == std::string::npos ? "" : text.substr(slash + 3)};
  }
};

class decoder_trace : public testing::Test {
 protected:
  std::unique_ptr<decoder::backend> device_ = decoder::make_cpu_backend();
  placed_trace eager_{run(*device_, launch_mode::eager)};
  placed_trace replayed_{run(*device_, launch_mode::graphs)};
};

TEST_F(decoder_trace, has_every_kernel_of_a_pass_in_its_layer) {
  std::map<std::string, int> expected{{"embedding: embedding", 1},
                                      {"head: gather", 1},
                                      {"head: rms_norm", 1},
                                      {"head: sgemm", 1},
                                      {"sampling: argmax", 1},
                                      {"sampling: increment", 1},
                                      {"outputs: copy device to host", 1}};
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string layer = "layer " + std::to_string(i) + " / ";
    const std::map<std::string, int> block{{layer + "attention norm: rms_norm", 1},
                                           {layer + "qkv: sgemm", 3},
                                           {layer + "attention: rope", 2},
                                           {layer + "attention: store_kv", 1},
                                           {layer + "attention: attention", 1},
                                           {layer + "output: sgemm", 1},
                                           {layer + "output: add", 1},
                                           {layer + "mlp norm: rms_norm", 1},
                                           {layer + "mlp: sgemm", 3},
                                           {layer + "mlp: swiglu", 1},
                                           {layer + "mlp: add", 1}};
    expected.insert(block.begin(), block.end());
  }
  for (auto& [place, count] : expected) {
    count *= steps - 1;  // prefill makes the first token
  }
  EXPECT_EQ(eager_.places("decode"), expected);
  EXPECT_EQ(replayed_.places("decode"), expected);
  EXPECT_EQ(replayed_.places("prefill"), eager_.places("prefill"));
  EXPECT_EQ(replayed_.places("capture"), (std::map<std::string, int>{}));  // capturing runs nothing
}

TEST_F(decoder_trace, counts_one_launch_a_replayed_pass) {
  EXPECT_EQ(eager_.calls_of(varve::call_kind::graph_launch), 0U);
  EXPECT_EQ(replayed_.calls_of(varve::call_kind::graph_launch), static_cast<std::size_t>(steps - 1));
  EXPECT_EQ(eager_.passes("decode"), static_cast<std::size_t>(steps - 1));
  EXPECT_EQ(replayed_.passes("decode"), static_cast<std::size_t>(steps - 1));
  // Contexts of the longer prompt grow from 7 to 6 + 29 = 35: captured for 32, then for 64.
  EXPECT_EQ(replayed_.passes("capture"), 2U);
}

TEST_F(decoder_trace, shows_two_streams_and_loses_nothing) {
  for (const placed_trace* run : {&eager_, &replayed_}) {
    std::set<std::uint16_t> streams(run->t.activities.stream.begin(), run->t.activities.stream.end());
    EXPECT_EQ(streams.size(), 2U);
    EXPECT_THAT(run->t.losses, testing::IsEmpty());
  }
}

TEST_F(decoder_trace, carries_the_tokens_and_contexts_of_each_pass) {
  std::int64_t contexts = 0;
  std::int64_t emitted = 0;
  for (const varve::range_attribute& a : eager_.t.attributes) {
    if (varve::label_text(eager_.t, eager_.t.ranges[a.range].label) == "decode") {
      contexts += a.key == VARVE_DECODE_CONTEXT_TOKENS ? a.value : 0;
      emitted += a.key == VARVE_EMITTED_TOKENS ? a.value : 0;
    }
  }
  EXPECT_EQ(emitted, 2 * 29);
  // Prompts of 4 and 6 tokens: 5 + 7 in the first pass, two more in each of the 28 that follow:
  // 29 · 12 + 2 · (1 + … + 28) = 348 + 812 = 1160.
  EXPECT_EQ(contexts, 1160);
}

TEST_F(decoder_trace, declares_the_products_work_in_every_pass) {
  // qkv of a tiny layer, two rows: query 64 x 64, key and value 32 x 64 each:
  // 2 · 2 · (64 + 32 + 32) · 64 = 32768 FLOPs.
  std::size_t found = 0;
  for (const varve::range_work& w : eager_.t.works) {
    if (varve::label_text(eager_.t, eager_.t.ranges[w.range].label) == "decode / layer 1 / qkv") {
      EXPECT_EQ(w.declared.flops, 32768);
      EXPECT_EQ(w.declared.weight_bytes, (64 + 32 + 32) * 64 * 4);
      ++found;
    }
  }
  EXPECT_EQ(found, static_cast<std::size_t>(steps - 1));
  std::int64_t captured_flops = 0;
  for (const varve::graph_node& n : replayed_.t.graph_nodes) {
    if (varve::label_text(replayed_.t, n.label) == "capture / layer 1 / qkv") {
      captured_flops = std::max(captured_flops, n.declared.flops);
    }
  }
  EXPECT_EQ(captured_flops, 32768);
}

TEST_F(decoder_trace, reports_one_call_a_pass_also_for_replays) {
  for (const placed_trace* run : {&eager_, &replayed_}) {
    const varve::report report = varve::analyze(run->t);
    varve::row_query query;
    query.path = "layer 1 / mlp";
    query.phase = varve::decode;
    const varve::row* mlp = report.find(query);
    ASSERT_NE(mlp, nullptr);
    EXPECT_EQ(mlp->inclusive.calls, steps - 1);
    EXPECT_EQ(mlp->inclusive.kernels, 5 * (steps - 1));  // gate, up, swiglu, down, add
    EXPECT_EQ(mlp->inclusive.launches, run == &eager_ ? 5 * (steps - 1) : 0);
    // Three products of 2 rows: 3 · 2 · 2 · 64 · 172 = 132096 FLOPs a pass, 29 passes.
    EXPECT_EQ(mlp->inclusive.declared.flops, 132096 * 29);
    EXPECT_EQ(report.quality.attributed, 1.0);
    EXPECT_EQ(report.quality.unmatched + report.quality.unlabelled_nodes + report.quality.stale_nodes, 0);
    ASSERT_EQ(report.requests.size(), 2U);
    EXPECT_EQ(report.requests[1].passes, steps);
  }
}

// Its kernels compute in FP32, and the model's description, which replays have, says BF16.
TEST_F(decoder_trace, has_attention_on_fp32_cores_also_for_replays) {
  decoder::model_config config = decoder::preset("tiny");
  config.layers = layers;
  varve::row_query query;
  query.path = "layer 1 / attention";
  query.phase = varve::decode;
  for (const placed_trace* run : {&eager_, &replayed_}) {
    const varve::report report = decoder::report_of(run->t, config, varve::dtype::bf16, {});
    const varve::row* attention = report.find(query);
    ASSERT_NE(attention, nullptr);
    EXPECT_GT(attention->inclusive.declared.flops, 0);
    EXPECT_EQ(attention->inclusive.declared.pipe, varve::math_pipe::fp32);
  }
}

TEST(armed_decoder, keeps_the_layers_of_graphs_captured_before_the_session) {
  ASSERT_TRUE(varve::arm());
  const auto device = decoder::make_cpu_backend();
  const std::vector<decoder::token_list> prompts{{1, 2, 3}, {4, 5}};
  decoder::generator engine{*device, decoder::preset("tiny"), {2, 24, 64}, launch_mode::graphs, 1};
  engine.generate(prompts, 8);
  varve::session session;
  engine.generate(prompts, 8);
  const placed_trace later{session.stop()};
  varve::disarm();
  EXPECT_THAT(later.t.losses, testing::IsEmpty());
  EXPECT_EQ(later.passes("capture"), 0U);
  const auto places = later.places("decode");
  EXPECT_EQ(places.at("layer 0 / qkv: sgemm"), 3 * 7);
  EXPECT_EQ(places.at("layer 1 / mlp: swiglu"), 7);
  EXPECT_EQ(places.count(": sgemm"), 0U);
}

// A device sets what is allocated to zero, which belongs to a layer only where allocating does.
TEST_F(decoder_trace, allocates_in_layers_alone) {
  const auto device = decoder::make_cpu_backend();
  const decoder::workload work{decoder::preset("tiny"), {{1, 2, 3}}, 2};
  const varve::trace t = *decoder::profile(*device, work, launch_mode::eager).trace;
  std::set<std::string> places;
  for (std::size_t c = 0; c < t.calls.size(); ++c) {
    if (t.calls.kind[c] == varve::call_kind::allocate) {
      const std::uint32_t range = t.calls.range[c];
      places.insert(range == varve::none ? "no range" : varve::label_text(t, t.ranges[range].label));
    }
  }
  EXPECT_THAT(places, testing::UnorderedElementsAre("load / embedding", "load / layer 0", "load / layer 1",
                                                    "load / head", "load / memory"));
}

}  // namespace
