// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Annotations that have their layer's number in their name.
#include "formats/kineto_events.hpp"

#include <varve/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using names = std::vector<std::string>;

class numbered : public kineto_events {
 protected:
  /// A pass of 100 us from `at` on, with these side by side.
  void pass_with(const names& inside, int at = 0) {
    annotation("step[DECODE bs=4]", at, at + 100);
    for (std::size_t i = 0; i < inside.size(); ++i) {
      const int begin = at + 1 + 2 * static_cast<int>(i);
      annotation(inside[i], begin, begin + 2);
    }
  }
  /// "layer|layers 3" for each range but passes, in order.
  names ranges(const varve::read_options& options = {}) {
    const varve::trace t = read(options);
    names out;
    for (const varve::range& r : t.ranges) {
      const varve::label_node& label = t.labels[r.label];
      if (label.kind != varve::range_kind::phase) {
        out.push_back((label.kind == varve::range_kind::layer ? "layer|" : "op|") +
                      std::string{t.strings[label.name]} +
                      (label.index == varve::no_index ? "" : " " + std::to_string(label.index)));
      }
    }
    return out;
  }
  names in_pass(const names& inside) {
    pass_with(inside);
    return ranges();
  }
};

TEST_F(numbered, layers_are_one_label_with_an_index) {
  EXPECT_THAT(in_pass({"layer 0", "layer 1"}), ElementsAre("layer|layer 0", "layer|layer 1"));
  EXPECT_THAT(in_pass({"layer_1", "layer_2"}), ElementsAre("layer|layer 1", "layer|layer 2"));
  EXPECT_THAT(in_pass({"LlamaDecoderLayer_0", "LlamaDecoderLayer_1"}),
              ElementsAre("layer|LlamaDecoderLayer 0", "layer|LlamaDecoderLayer 1"));
  EXPECT_THAT(in_pass({"model.layers.0", "model.layers.1", "lm_head"}),
              ElementsAre("layer|layers 0", "layer|layers 1", "op|lm_head"));
  EXPECT_THAT(in_pass({"transformer.h.0", "transformer.h.1"}), ElementsAre("layer|h 0", "layer|h 1"));
}

// Those of a pipeline's second stage.
TEST_F(numbered, layers_may_begin_at_any_number_and_stand_in_no_pass) {
  EXPECT_THAT(in_pass({"layer 8", "layer 9"}), ElementsAre("layer|layer 8", "layer|layer 9"));
  annotation("Block 0", 0, 10);
  annotation("Block 1", 10, 20);
  EXPECT_THAT(ranges(), ElementsAre("layer|Block 0", "layer|Block 1"));
}

TEST_F(numbered, one_layer_or_a_gap_is_no_row_of_layers) {
  EXPECT_THAT(in_pass({"layer 0", "head"}), ElementsAre("op|layer 0", "op|head"));
  EXPECT_THAT(in_pass({"block_128", "block_256"}), ElementsAre("op|block_128", "op|block_256"));
  pass_with({"layer 0"});  // never side by side
  pass_with({"layer 1"}, 100);
  EXPECT_THAT(ranges(), ElementsAre("op|layer 0", "op|layer 1"));
}

// Five side by side, from 0 or 1 on and without gaps: four are too few, 2 to 6 begin too late.
TEST_F(numbered, others_need_five_in_a_pass_from_the_first_on) {
  const names five{"op|expert 0", "op|expert 1", "op|expert 2", "op|expert 3", "op|expert 4"};
  EXPECT_EQ(in_pass({"expert_0", "expert_1", "expert_2", "expert_3", "expert_4"}), five);
  const names four{"expert_0", "expert_1", "expert_2", "expert_3"};
  EXPECT_EQ(in_pass(four), (names{"op|expert_0", "op|expert_1", "op|expert_2", "op|expert_3"}));
  EXPECT_THAT(in_pass({"step 2", "step 3", "step 4", "step 5", "step 6"}), Each(HasSubstr("op|step")));
  EXPECT_THAT(in_pass({"step 2", "step 3", "step 4", "step 5", "step 6"}), Contains("op|step 6"));
  EXPECT_EQ(in_pass({"norm_1", "norm_2"}), (names{"op|norm_1", "op|norm_2"}));
  // One of another size anywhere, and none of them is an index.
  pass_with({"GEMM_0", "GEMM_1", "GEMM_2", "GEMM_3", "GEMM_4"});
  pass_with({"GEMM_128"}, 100);
  EXPECT_THAT(ranges(), Contains("op|GEMM_0"));
}

// Steps of a loop around the passes: what they hold is no pass's.
TEST_F(numbered, steps_around_passes_keep_their_names) {
  for (int i = 0; i < 6; ++i) {
    annotation("iteration_" + std::to_string(i), 200 * i, 200 * i + 150);
    pass_with({"head"}, 200 * i + 10);
  }
  EXPECT_THAT(ranges(), Contains("op|iteration_5"));
}

// In the first pass all five run, in the second two of them.
TEST_F(numbered, what_is_an_index_once_is_one_everywhere) {
  pass_with({"expert_0", "expert_1", "expert_2", "expert_3", "expert_4"});
  pass_with({"expert_1", "expert_3"}, 100);
  EXPECT_THAT(ranges(), ElementsAre("op|expert 0", "op|expert 1", "op|expert 2", "op|expert 3", "op|expert 4",
                                    "op|expert 1", "op|expert 3"));
}

// Hooks on all modules name each by its whole path.
TEST_F(numbered, what_is_inside_loses_the_path_around_it) {
  annotation("step[DECODE bs=4]", 0, 100);
  annotation("model", 1, 90);
  for (int i = 0; i < 2; ++i) {
    const std::string layer = "model.layers." + std::to_string(i);
    annotation(layer, 40 * i + 2, 40 * i + 40);
    annotation(layer + ".self_attn", 40 * i + 4, 40 * i + 20);
    annotation(layer + ".self_attn.q_proj", 40 * i + 5, 40 * i + 10);
    annotation(layer + ".mlp.up_proj", 40 * i + 22, 40 * i + 30);
  }
  annotation("model.norm", 84, 88);
  EXPECT_THAT(ranges(),
              ElementsAre("op|model", "layer|layers 0", "op|self_attn", "op|q_proj", "op|mlp.up_proj",
                          "layer|layers 1", "op|self_attn", "op|q_proj", "op|mlp.up_proj", "op|model.norm"));
}

TEST_F(numbered, layers_of_two_kinds_keep_what_tells_them_apart) {
  EXPECT_THAT(in_pass({"encoder.layers.0", "encoder.layers.1", "decoder.layers.0", "decoder.layers.1"}),
              ElementsAre("layer|encoder.layers 0", "layer|encoder.layers 1", "layer|decoder.layers 0",
                          "layer|decoder.layers 1"));
}

TEST_F(numbered, what_is_no_number_of_a_layer_stays) {
  const names odd{"layer 00", "layer 01", "layer__0",          "layer__1", "_0",
                  "_1",       "7",        "layer 99999999999", "layer7"};
  names same;
  for (const std::string& name : odd) {
    same.push_back("op|" + name);
  }
  EXPECT_EQ(in_pass(odd), same);
}

TEST_F(numbered, rules_of_the_user_come_first) {
  pass_with({"layer 0", "layer 1"});
  varve::read_options options;
  options.rules.emplace_back();
  options.rules[0].pattern = "^(layer 0)$";
  options.rules[0].as = varve::naming_rule::kind::op;
  EXPECT_THAT(ranges(options), ElementsAre("op|layer 0", "op|layer 1"));
}

// Eight layers with a kernel of 5 us each, but the sixth with one of 9: told against its seven peers.
TEST_F(numbered, layers_have_peers_and_are_blocks) {
  annotation("step[DECODE bs=4]", 0, 1000);
  for (int i = 0; i < 8; ++i) {
    const int at = 100 * i + 10;
    annotation("layer_" + std::to_string(i), at, at + 20);
    launch(at + 2, at + 5, at + (i == 5 ? 14 : 10));
  }
  const varve::report r = varve::analyze(read());
  EXPECT_THAT(r.findings, Contains(testing::Field(&varve::finding::text,
                                                  HasSubstr("layer 5 in decode takes 9.00 µs a call against "
                                                            "5.00 µs of its 7 peers"))));
  EXPECT_THAT(to_table(r), HasSubstr("8 × layer of 5.50 µs"));  // (7 × 5 + 9) ÷ 8
}

}  // namespace
