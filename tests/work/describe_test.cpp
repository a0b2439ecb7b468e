// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Two layers of width 8 in 16 bits: 2 heads of 4 that share one key-value head, a gated block of 16, 32
// words. One token with 10 keys, per layer:
//
//   q_proj        2 · 8 · 8 = 128 FLOPs, 8 · 8 elements = 128 bytes of weights, reads 16 and writes 16 bytes
//   k, v_proj     2 · 4 · 8 = 64 FLOPs and 64 bytes of weights each, and 4 elements = 8 bytes to the cache
//   score, value  2 · 2 · 4 · 10 = 160 FLOPs and 10 · 4 elements = 80 bytes of the cache each, 16 bytes of
//                 activations each: the query and the result
//   o_proj        128 FLOPs, 128 bytes of weights, 16 + 16 bytes
//   gate, up      2 · 16 · 8 = 256 FLOPs, 256 bytes of weights each; 16 read together, 32 written by each
//   act_mul       64 bytes read, 32 written
//   down_proj     256 FLOPs, 256 bytes of weights, 32 + 16 bytes
//   norms         16 bytes of weights, 16 + 16 bytes, each of two; residuals 3 · 16 bytes, each of two
#include <varve/model.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyze/trace_builder.hpp"
#include "work/small_model.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace varve_test;
using varve::call_kind;
using varve::range_kind;
using varve::work;
using varve::work_source;

std::uint32_t decode(trace_builder& b, std::int64_t context, time_ns at = 0) {
  const std::uint32_t pass = b.phase("decode", at, at + 1000);
  b.t.attributes.push_back({pass, VARVE_DECODE_TOKENS, 1});
  b.t.attributes.push_back({pass, VARVE_DECODE_SEQUENCES, 1});
  b.t.attributes.push_back({pass, VARVE_DECODE_CONTEXT_TOKENS, context});
  return pass;
}

work sum_of(const varve::trace& t, std::uint32_t range) {
  work out;
  for (const varve::range_work& w : t.works) {
    out += w.range == range && w.source == work_source::description ? w.declared : work{};
  }
  return out;
}

std::int64_t flops_of(const varve::trace& t, std::uint32_t range) { return sum_of(t, range).flops; }

std::ptrdiff_t entries_of(const varve::trace& t, std::uint32_t range) {
  return std::count_if(t.works.begin(), t.works.end(),
                       [&](const varve::range_work& w) { return w.range == range; });
}

std::uint64_t lost(const varve::trace& t, std::string_view text) {
  std::uint64_t count = 0;
  for (const varve::loss& l : t.losses) {
    count += l.what.find(text) != std::string::npos ? l.count : 0;
  }
  return count;
}

constexpr std::int64_t layer_flops = 256 + 320 + 128 + 768;

TEST(describe, work_goes_to_the_innermost_range_that_stands_for_it) {
  trace_builder b;
  const std::uint32_t pass = decode(b, 10);
  const std::uint32_t first = b.layer(pass, "layer", 0, 0, 400);
  const std::uint32_t attention = b.layer(first, "attention", no_index, 10, 200);
  const std::uint32_t mlp = b.layer(first, "mlp", no_index, 210, 390);
  const std::uint32_t second = b.layer(pass, "layer", 1, 400, 800);
  describe(b.t, small());

  EXPECT_EQ(sum_of(b.t, attention).flops, 256 + 320 + 128);
  EXPECT_EQ(sum_of(b.t, attention).weight_bytes, 256 + 128);
  EXPECT_EQ(sum_of(b.t, attention).kv_bytes, 16 + 160);
  EXPECT_EQ(sum_of(b.t, attention).activation_bytes, 32 + 32 + 32);
  EXPECT_EQ(sum_of(b.t, attention).pipe, varve::math_pipe::bf16_tensor);
  EXPECT_EQ(entries_of(b.t, attention), 3);  // the projections in, scores and values, the projection out
  EXPECT_EQ(sum_of(b.t, mlp).flops, 3 * 256);
  EXPECT_EQ(sum_of(b.t, mlp).activation_bytes, 16 + 2 * 32 + 96 + 48);
  EXPECT_EQ(entries_of(b.t, mlp), 3);  // gate and up, what activates, down

  EXPECT_EQ(sum_of(b.t, first), (work{0, 2 * 16, 0, 2 * 32 + 2 * 48}));
  EXPECT_EQ(entries_of(b.t, first), 1);  // what only moves bytes
  EXPECT_EQ(flops_of(b.t, second), layer_flops);
  EXPECT_EQ(flops_of(b.t, pass), 2 * 32 * 8);  // the head

  work all;
  for (const varve::operator_work& o : work_of_pass(small(), {{1, 10, true}})) {
    all += o.declared;
  }
  work told;
  for (const varve::range_work& w : b.t.works) {
    told += w.declared;
  }
  EXPECT_EQ(told, all);
  EXPECT_TRUE(b.t.losses.empty());
}

TEST(describe, what_is_told_of_ranges_is_in_the_report) {
  trace_builder b;
  const std::uint32_t pass = decode(b, 10);
  const std::uint32_t layer = b.layer(pass, "layer", 1, 0, 400);
  b.launched_kernel(layer, 10, 20, 30, 40);
  describe(b.t, small());
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "layer 1", "decode").inclusive.declared.flops, layer_flops);
  EXPECT_EQ(phase_of(r, "decode").total.declared.flops, 2 * layer_flops + 512);
  EXPECT_EQ(lost(b.t, "without a label"), 1U);  // layer 0
}

// A model in BF16 whose products ran as FP16, as on a T4: so did its attention. Where no name tells, or as
// much time is of another pipe, products run as they are described.
TEST(describe, products_run_where_their_kernels_names_say) {
  constexpr const char* fp16 = "turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn";
  constexpr const char* tf32 = "ampere_s1688gemm_128x128_tn";
  using varve::math_pipe;
  ASSERT_EQ(varve::pipe_of_kernel(fp16), math_pipe::fp16_tensor);
  const auto pipes = [&](const char* attention, const char* mlp) {
    trace_builder b;
    const std::uint32_t pass = decode(b, 10);
    const std::uint32_t first = b.layer(pass, "attention", 0, 0, 200);
    const std::uint32_t second = b.layer(pass, "mlp", 0, 200, 400);
    b.launched_kernel(first, 10, 20, 30, 40, attention);
    b.launched_kernel(second, 210, 220, 230, 240, mlp);
    describe(b.t, small());
    std::vector<math_pipe> out;
    for (const varve::range_work& w : b.t.works) {
      if (w.declared.flops > 0 && (w.range == first || w.range == second)) {
        out.push_back(w.declared.pipe);
      }
    }
    EXPECT_GE(out.size(), 4U);
    return out;
  };
  EXPECT_THAT(pipes(fp16, fp16), testing::Each(math_pipe::fp16_tensor));
  EXPECT_THAT(pipes("k", "k"), testing::Each(math_pipe::bf16_tensor));
  ASSERT_EQ(varve::pipe_of_kernel(tf32), math_pipe::tf32_tensor);
  const std::vector<math_pipe> mixed = pipes(fp16, tf32);
  EXPECT_THAT(mixed, testing::Contains(math_pipe::fp16_tensor));
  EXPECT_THAT(mixed, testing::Contains(math_pipe::tf32_tensor));
  // Attention: the pass as a whole tells no pipe.
  EXPECT_THAT(mixed, testing::Contains(math_pipe::bf16_tensor));
}

TEST(describe, tells_the_parts_of_the_example_engine_apart) {
  trace_builder b;
  const std::uint32_t pass = decode(b, 10);
  const std::uint32_t embedding = b.layer(pass, "embedding", no_index, 0, 10);
  const std::uint32_t layer = b.layer(pass, "layer", 0, 10, 400);
  std::vector<std::uint32_t> parts;
  for (const char* name : {"attention norm", "qkv", "attention", "output", "mlp norm", "mlp"}) {
    parts.push_back(b.range(range_kind::op, layer, name, no_index, 20, 30));
  }
  b.layer(pass, "layer", 1, 400, 500);
  const std::uint32_t head = b.layer(pass, "head", no_index, 500, 600);
  describe(b.t, small());
  EXPECT_EQ(sum_of(b.t, embedding).weight_bytes, 16);  // a row of the table
  EXPECT_EQ(sum_of(b.t, parts[0]), (work{0, 16, 0, 32}));
  EXPECT_EQ(flops_of(b.t, parts[1]), 256);
  EXPECT_EQ(flops_of(b.t, parts[2]), 320);
  EXPECT_EQ(flops_of(b.t, parts[3]), 128);
  EXPECT_EQ(sum_of(b.t, parts[4]), (work{0, 16, 0, 32}));
  EXPECT_EQ(flops_of(b.t, parts[5]), 768);
  EXPECT_EQ(sum_of(b.t, layer), (work{0, 0, 0, 96}));  // residuals
  EXPECT_EQ(flops_of(b.t, head), 512);
  EXPECT_EQ(sum_of(b.t, pass), (work{0, 16, 0, 32}));  // the last norm, which nothing stands for
}

TEST(describe, linear_modules_are_told_by_their_order) {
  trace_builder b;
  const std::uint32_t pass = decode(b, 10);
  std::array<std::vector<std::uint32_t>, 2> linear;
  std::vector<std::uint32_t> attention;
  for (int layer = 0; layer < 2; ++layer) {
    const std::uint32_t block = b.layer(pass, "LlamaDecoderLayer", layer, 500 * layer, 500 * layer + 500);
    attention.push_back(b.layer(block, "LlamaSdpaAttention", layer, 500 * layer, 500 * layer + 300));
    for (int k = 0; k < (layer == 0 ? 4 : 2); ++k) {
      linear.at(static_cast<std::size_t>(layer))
          .push_back(b.layer(attention.back(), "Linear", 10 * layer + k, 500 * layer + 10 * k,
                             500 * layer + 10 * k + 5));
    }
  }
  describe(b.t, small());
  EXPECT_EQ(flops_of(b.t, linear[0][0]), 128);
  EXPECT_EQ(sum_of(b.t, linear[0][0]).activation_bytes, 32);
  EXPECT_EQ(sum_of(b.t, linear[0][1]), (work{64, 64, 8, 0, varve::math_pipe::bf16_tensor}));
  EXPECT_EQ(sum_of(b.t, linear[0][2]), (work{64, 64, 8, 0, varve::math_pipe::bf16_tensor}));
  EXPECT_EQ(flops_of(b.t, linear[0][3]), 128);
  EXPECT_EQ(flops_of(b.t, linear[1][0]), 256);  // queries, keys and values in one
  EXPECT_EQ(flops_of(b.t, linear[1][1]), 128);
  EXPECT_EQ(flops_of(b.t, attention[0]), 320);
  EXPECT_EQ(lost(b.t, "not as many"), 0U);
}

TEST(describe, modules_that_do_not_fit_stay_with_what_is_around) {
  trace_builder b;
  const std::uint32_t pass = decode(b, 10);
  const std::uint32_t layer = b.layer(pass, "LlamaDecoderLayer", 0, 0, 500);
  const std::uint32_t attention = b.layer(layer, "LlamaAttention", 0, 0, 300);
  for (int k = 0; k < 3; ++k) {
    b.layer(attention, "Linear", k, 10 * k, 10 * k + 5);
  }
  describe(b.t, small());
  EXPECT_EQ(flops_of(b.t, attention), 704);
  EXPECT_EQ(lost(b.t, "not as many"), 3U);
}

TEST(describe, an_index_names_the_layer_where_no_layer_is_around) {
  trace_builder b;
  const std::uint32_t pass = decode(b, 10);
  const std::uint32_t attention = b.layer(pass, "attention", 1, 0, 100);
  const std::uint32_t mlp = b.layer(pass, "ffn", 1, 100, 200);
  b.layer(pass, "attention", 2, 200, 300);
  describe(b.t, small());
  EXPECT_EQ(flops_of(b.t, attention), 704);
  EXPECT_EQ(flops_of(b.t, mlp), 768);
  EXPECT_EQ(flops_of(b.t, pass), layer_flops + 512);
  EXPECT_EQ(lost(b.t, "beyond the last"), 1U);
}

// Annotations of PyTorch are names with the index in them.
TEST(describe, a_number_at_the_end_of_a_name_is_its_index) {
  for (const char* const name : {"layer 1", "layer_1", "layers.1", "model.layers.1", "LlamaDecoderLayer_1"}) {
    trace_builder b;
    const std::uint32_t pass = decode(b, 10);
    const std::uint32_t layer = b.layer(pass, name, no_index, 0, 100);
    describe(b.t, small());
    EXPECT_EQ(flops_of(b.t, layer), layer_flops) << name;
    EXPECT_EQ(flops_of(b.t, pass), layer_flops + 512) << name;
    EXPECT_EQ(lost(b.t, "layers of the model without a label"), 1U) << name;  // layer 0
  }
  trace_builder b;
  const std::uint32_t pass = decode(b, 10);
  const std::uint32_t other = b.layer(pass, "step 1", no_index, 0, 100);
  const std::uint32_t beyond = b.layer(pass, "layer 99999999999", no_index, 100, 200);
  describe(b.t, small());
  EXPECT_EQ(flops_of(b.t, other), 0);
  EXPECT_EQ(flops_of(b.t, beyond), 0);
}

// Two layers that only the pass can have, though its head has a label.
TEST(describe, layers_are_missed_where_none_has_a_label) {
  trace_builder b;
  const std::uint32_t pass = decode(b, 10);
  const std::uint32_t head = b.layer(pass, "lm_head", no_index, 0, 100);
  b.layer(pass, "stage", no_index, 100, 200);
  describe(b.t, small());
  EXPECT_EQ(flops_of(b.t, head), 512);
  EXPECT_EQ(flops_of(b.t, pass), 2 * layer_flops);
  EXPECT_EQ(lost(b.t, "layers of the model without a label"), 2U);
}

TEST(describe, layers_without_an_index_are_told_by_their_order_where_there_are_as_many) {
  trace_builder b;
  const std::uint32_t pass = decode(b, 10);
  const std::uint32_t first = b.layer(pass, "TransformerBlock", no_index, 0, 100);
  const std::uint32_t second = b.layer(pass, "TransformerBlock", no_index, 100, 200);
  describe(b.t, small());
  EXPECT_EQ(flops_of(b.t, first), layer_flops);
  EXPECT_EQ(flops_of(b.t, second), layer_flops);
}

TEST(describe, users_rules_come_first) {
  trace_builder b;
  const std::uint32_t pass = decode(b, 10);
  const std::uint32_t layer = b.layer(pass, "Stage", 1, 0, 100);
  const std::uint32_t mixer = b.layer(layer, "my_token-Mixer.v2", no_index, 0, 50);
  varve::describe_options options;
  options.rules = {{"stage", "layer"}, {"*TokenMixer*", "attention/attn_score,attention/attn_value"}};
  describe(b.t, small(), options);
  EXPECT_EQ(flops_of(b.t, mixer), 320);
  EXPECT_EQ(flops_of(b.t, layer), layer_flops - 320);
}

TEST(describe, refuses_rules_that_can_fit_nothing) {
  EXPECT_NO_THROW(check(varve::label_rule{"x", "mlp,moe/router"}));
  EXPECT_NO_THROW(check(varve::label_rule{"x", ""}));  // stands for nothing
  for (const varve::label_rule& wrong :
       {varve::label_rule{"--", "mlp"}, {"x", "ffn"}, {"x", "layer,mlp"}, {"x", "linear/q_proj"}}) {
    EXPECT_THROW(check(wrong), std::invalid_argument) << wrong.pattern << '=' << wrong.parts;
  }
}

TEST(describe, takes_the_sequences_of_a_pass_before_their_sums) {
  trace_builder b;
  const std::uint32_t pass = b.phase("prefill", 0, 100);
  b.t.sequences = {{pass, false, 3, 3}, {pass, false, 1, 1}};
  b.t.attributes = {{pass, VARVE_PREFILL_TOKENS, 400}};
  const std::uint32_t attention = b.layer(pass, "attention", 0, 0, 50);
  describe(b.t, small());
  // 4 tokens of 3 products; 1 + 2 + 3 and 1 keys, 2 · 2 · 4 FLOPs each for scores and values
  EXPECT_EQ(flops_of(b.t, attention), 4 * 384 + 2 * 16 * 7);
}

TEST(describe, sums_are_those_of_sequences_of_even_length) {
  trace_builder b;
  const std::uint32_t pass = b.phase("mixed", 0, 100);
  b.t.attributes = {{pass, VARVE_PREFILL_TOKENS, 6},
                    {pass, VARVE_PREFILL_SEQUENCES, 2},
                    {pass, VARVE_DECODE_TOKENS, 2},
                    {pass, VARVE_DECODE_CONTEXT_TOKENS, 30},
                    {pass, VARVE_LOGIT_TOKENS, 5}};
  const std::uint32_t attention = b.layer(pass, "attention", 0, 0, 50);
  const std::uint32_t head = b.layer(pass, "lm_head", no_index, 50, 60);
  describe(b.t, small());
  // 8 tokens; prompts of 3 that see 1 + 2 + 3 keys, decoded ones that see 30 in all
  EXPECT_EQ(flops_of(b.t, attention), 8 * 384 + 2 * 16 * (6 + 6 + 30));
  EXPECT_EQ(flops_of(b.t, head), 5 * 512);
}

TEST(describe, passes_that_do_not_say_enough_are_counted_or_have_the_batch_that_is_given) {
  trace_builder b;
  const std::uint32_t silent = b.phase("step", 0, 100);
  const std::uint32_t shallow = b.phase("decode", 100, 200);
  const std::uint32_t vast = b.phase("prefill", 200, 300);
  const std::uint32_t draft = b.phase("draft", 300, 400);
  const std::uint32_t capture = b.phase("capture", 400, 500);
  b.t.attributes = {{shallow, VARVE_DECODE_TOKENS, 2},
                    {vast, VARVE_PREFILL_TOKENS, INT64_MAX},
                    {vast, VARVE_PREFILL_SEQUENCES, INT64_MAX},
                    {draft, VARVE_PREFILL_TOKENS, 2},
                    {capture, VARVE_PREFILL_TOKENS, 2}};
  describe(b.t, small());
  EXPECT_TRUE(b.t.works.empty());
  EXPECT_EQ(lost(b.t, "tokens are not known"), 1U);
  EXPECT_EQ(lost(b.t, "context is not known"), 1U);
  EXPECT_EQ(lost(b.t, "more than 65536"), 1U);
  EXPECT_EQ(lost(b.t, "draft model"), 1U);

  varve::describe_options options;
  options.batch = {{2, 2, false}};
  options.context = 10;
  describe(b.t, small(), options);
  EXPECT_GT(flops_of(b.t, silent), 0);
  EXPECT_EQ(flops_of(b.t, shallow), 2 * (2 * layer_flops + 512));
}

// A batch of two prompts of 3 tokens: 6 tokens and 1 + 2 + 3 keys each. What decodes runs one token of each
// sequence, with the context that is given: 2 tokens of 10 keys.
// A prompt of 2^35 tokens has 2^69 pairs of a token and a key.
TEST(describe, passes_whose_work_63_bits_do_not_count_are_left_out_and_counted) {
  trace_builder b;
  b.t.attributes.push_back({b.phase("prefill", 0, 1000), VARVE_PREFILL_TOKENS, std::int64_t{1} << 35U});
  b.t.attributes.push_back({b.phase("prefill", 1000, 2000), VARVE_PREFILL_TOKENS, 4});
  describe(b.t, small());
  EXPECT_EQ(lost(b.t, "are 2^63 or more"), 1U);
  EXPECT_TRUE(std::all_of(b.t.works.begin(), b.t.works.end(),
                          [](const varve::range_work& w) { return w.range == 1; }));
  EXPECT_FALSE(b.t.works.empty());
}

TEST(describe, a_batch_of_prompts_that_is_given_decodes_in_passes_of_that_kind) {
  trace_builder b;
  const std::uint32_t prompts = b.phase("prefill", 0, 100);
  const std::uint32_t next = b.phase("decode", 100, 200);
  const std::uint32_t attention = b.layer(b.layer(prompts, "layer", 0, 0, 50), "attention", no_index, 0, 50);
  varve::describe_options options;
  options.batch = {{3, 3, false}, {3, 3, false}};
  describe(b.t, small(), options);
  EXPECT_EQ(flops_of(b.t, attention), 6 * 384 + 2 * 16 * (6 + 6));
  EXPECT_EQ(flops_of(b.t, next), 0);
  EXPECT_EQ(lost(b.t, "context is not known"), 1U);
  options.context = 10;
  describe(b.t, small(), options);
  EXPECT_EQ(flops_of(b.t, attention), 6 * 384 + 2 * 16 * (6 + 6));
  EXPECT_EQ(flops_of(b.t, next), 2 * (2 * layer_flops + 512));
  EXPECT_EQ(lost(b.t, "context is not known"), 0U);
  options.batch = {{1, 20, true}};  // one that decodes already is taken as it is: 10 more keys, 2 layers
  describe(b.t, small(), options);
  EXPECT_EQ(flops_of(b.t, next), 2 * (layer_flops + 320) + 512);
}

TEST(describe, the_batch_that_is_given_is_of_the_innermost_passes) {
  trace_builder b;
  const std::uint32_t outer = b.phase("step", 0, 100);
  const std::uint32_t inner = b.phase("forward", 10, 90, outer);
  varve::describe_options options;
  options.batch = {{1, 10, true}};
  describe(b.t, small(), options);
  EXPECT_EQ(flops_of(b.t, outer), 0);
  EXPECT_EQ(flops_of(b.t, inner), 2 * layer_flops + 512);
  EXPECT_EQ(lost(b.t, "tokens are not known"), 0U);
}

TEST(describe, passes_of_another_model_are_left_out_where_one_is_named) {
  trace_builder b;
  const std::uint32_t target = decode(b, 10);
  const std::uint32_t other = decode(b, 10, 2000);
  b.t.models = {{target, b.t.strings.intern("target")}, {other, b.t.strings.intern("other")}};
  varve::describe_options options;
  options.model_name = "target";
  describe(b.t, small(), options);
  EXPECT_EQ(flops_of(b.t, target), 2 * layer_flops + 512);
  EXPECT_EQ(flops_of(b.t, other), 0);
}

/// Two experts of width 16, of which each token goes through one, beside a shared part of width 4.
varve::model mixture() {
  varve::model m = small();
  for (varve::model_layer& layer : m.layers) {
    layer.mlp.width = 0;
    layer.experts.count = 2;
    layer.experts.chosen = 1;
    layer.experts.width = 16;
    layer.experts.shared_width = 4;
  }
  return m;
}

void check_parts_of(const varve::model& m) {
  trace_builder b;
  const std::uint32_t pass = decode(b, 10);
  const std::uint32_t layer = b.layer(pass, "DeepseekV3DecoderLayer", 0, 0, 900);
  const std::uint32_t moe = b.layer(layer, "DeepseekV3MoE", 0, 100, 800);
  const std::uint32_t router = b.layer(moe, "DeepseekV3TopkRouter", 0, 110, 120);
  std::array<std::uint32_t, 2> experts{};
  for (std::uint32_t& one : experts) {
    one = b.layer(moe, "experts", no_index, 200, 300);
    b.layer(one, "Linear", 0, 210, 220);
  }
  const std::uint32_t shared = b.layer(moe, "DeepseekV3MLP", 2, 400, 500);
  describe(b.t, m);
  EXPECT_EQ(flops_of(b.t, router), 2 * 2 * 8);
  EXPECT_EQ(flops_of(b.t, shared), 3 * 2 * 4 * 8);
  EXPECT_EQ(flops_of(b.t, moe), 0);
  EXPECT_EQ(flops_of(b.t, experts[0]), 3 * 2 * 16 * 8);  // of one path that comes twice
  EXPECT_EQ(flops_of(b.t, experts[1]), 0);
  EXPECT_EQ(flops_of(b.t, layer), 704);  // attention, which no range stands for
}

TEST(describe, tells_the_parts_of_a_mixture_apart) { check_parts_of(mixture()); }

TEST(describe, tells_the_parts_of_a_mixture_apart_whose_gate_and_up_differ) {
  varve::model m = mixture();
  for (varve::model_layer& layer : m.layers) {
    layer.experts.up = layer.experts.shared_up = varve::weight_format{varve::dtype::fp8};
  }
  check_parts_of(m);
}

TEST(describe, replaces_what_an_earlier_description_told_and_leaves_the_engines_word) {
  trace_builder b;
  const std::uint32_t pass = decode(b, 10);
  const std::uint32_t layer = b.layer(pass, "layer", 0, 0, 400);
  b.launched_kernel(layer, 10, 20, 30, 40);
  b.t.works = {{layer, {77, 1, 0, 0}, work_source::engine}};
  describe(b.t, small());
  const std::size_t once = b.t.works.size();
  describe(b.t, small());
  EXPECT_EQ(b.t.works.size(), once);
  EXPECT_EQ(flops_of(b.t, layer), layer_flops);
  EXPECT_EQ(row_of(b.analyze().layers, "layer 0", "decode").inclusive.declared.flops, 77);
}

TEST(describe, a_trace_of_one_of_several_ranks_says_so) {
  trace_builder b;
  decode(b, 10);
  b.t.world_size = 8;
  describe(b.t, small());
  EXPECT_EQ(lost(b.t, "whole model"), 1U);
  EXPECT_EQ(lost(b.t, "none of their labels"), 1U);
  describe(b.t, tensor_parallel(small(), 2));  // 4 times 2 ranks
  EXPECT_EQ(lost(b.t, "whole model"), 0U);
  EXPECT_EQ(lost(b.t, "no whole number"), 0U);
  EXPECT_EQ(lost(b.t, "none of their labels"), 1U);  // losses of the description before are gone
  b.t.world_size = 3;
  describe(b.t, tensor_parallel(small(), 2));
  EXPECT_EQ(lost(b.t, "no whole number"), 1U);
}

/// A graph with attention and a feed-forward block of both layers, and one kernel of layer 1 itself.
struct graph {
  explicit graph(trace_builder& b, const work& of_mlp = {}) {
    const std::uint32_t capture = b.label(none, "capture", no_index, range_kind::phase);
    for (int i = 0; i < 2; ++i) {
      const std::uint32_t layer = b.label(capture, "layer", i);
      nodes.push_back(b.node(i == 0 ? 1 : 11, b.label(layer, "attention")));
      nodes.push_back(b.node(i == 0 ? 2 : 12, b.label(layer, "mlp"), false, i == 0 ? of_mlp : work{}));
      if (i == 1) {
        nodes.push_back(b.node(13, layer));
      }
    }
  }
  void replay(trace_builder& b, std::uint32_t pass, time_ns at) const {
    const auto c = b.call(call_kind::graph_launch, pass, at, at + 10);
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      const auto begin = at + 20 + 10 * static_cast<time_ns>(k);
      b.kernel(c, begin, begin + 10, "k" + std::to_string(k), 0, nodes[k]);
    }
  }
  std::vector<std::uint32_t> nodes;
};

TEST(describe, work_of_replays_grows_with_each_pass) {
  trace_builder b;
  const graph g{b};
  for (const std::int64_t context : {10, 11, 12}) {
    const time_ns at = 1000 * context;
    g.replay(b, decode(b, context, at), at);
  }
  describe(b.t, small());
  const varve::report r = b.analyze();
  const varve::row& attention = row_of(r.layers, "layer 0 / attention", "decode");
  // Each key more is 16 FLOPs and 8 bytes for scores, and as much for values.
  EXPECT_EQ(attention.inclusive.declared.flops, 3 * 384 + 32 * (10 + 11 + 12));
  EXPECT_EQ(attention.inclusive.declared.kv_bytes, 3 * 16 + 16 * (10 + 11 + 12));
  EXPECT_EQ(row_of(r.layers, "layer 1 / mlp", "decode").inclusive.declared.flops, 3 * 768);
  EXPECT_EQ(row_of(r.layers, "layer 1", "decode").exclusive.declared, (work{0, 3 * 32, 0, 3 * 160}));
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").inclusive.declared.flops, 3 * layer_flops + 32 * 3);
  work all;
  for (const std::int64_t context : {10, 11, 12}) {
    for (const varve::operator_work& o : work_of_pass(small(), {{1, context, true}})) {
      all += o.declared;
    }
  }
  EXPECT_EQ(phase_of(r, "decode").total.declared, all);
  EXPECT_DOUBLE_EQ(r.quality.work_known[static_cast<std::size_t>(work_source::description)], 1.0);
  // The only kernel of attention does its work.
  const auto kernel =
      std::find_if(r.kernels.begin(), r.kernels.end(), [](const varve::row& k) { return k.label == "k0"; });
  ASSERT_NE(kernel, r.kernels.end());
  EXPECT_EQ(kernel->inclusive.declared.flops, 3 * 384 + 32 * (10 + 11 + 12));
}

TEST(describe, a_graph_that_a_pass_replays_twice_has_its_work_once) {
  trace_builder b;
  const graph g{b};
  const std::uint32_t pass = decode(b, 10);
  g.replay(b, pass, 0);
  g.replay(b, pass, 500);
  describe(b.t, small());
  const varve::report r = b.analyze();
  const varve::row& attention = row_of(r.layers, "layer 0 / attention", "decode");
  EXPECT_EQ(attention.inclusive.declared.flops, 704);
  EXPECT_EQ(attention.inclusive.calls, 2);
}

TEST(describe, what_the_engine_declared_at_capture_counts_in_place_of_the_description) {
  trace_builder b;
  const graph g{b, {1000, 0, 0, 5}};
  g.replay(b, decode(b, 10), 0);
  describe(b.t, small());
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "layer 0 / mlp", "decode").inclusive.declared, (work{1000, 0, 0, 5}));
  EXPECT_EQ(row_of(r.layers, "layer 0 / attention", "decode").inclusive.declared.flops, 704);
  EXPECT_EQ(row_of(r.layers, "layer 1 / mlp", "decode").inclusive.declared.flops, 768);
}

TEST(describe, what_calls_told_at_capture_gives_way_to_the_description) {
  trace_builder b;
  const graph g{b, {1000, 0, 0, 5}};
  b.t.graph_nodes[g.nodes[1]].told_by = work_source::shapes;
  g.replay(b, decode(b, 10), 0);
  describe(b.t, small());
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "layer 0 / mlp", "decode").inclusive.declared.flops, 768);
}

/// The row of layer 1 after a replay in which two of its nodes have this work, lent by a capture's shapes.
varve::report with_lent_shapes(std::int64_t activation_bytes) {
  trace_builder b;
  graph g{b};
  g.nodes.push_back(b.node(14, b.t.graph_nodes[g.nodes.back()].label));
  for (std::size_t k = 4; k < 6; ++k) {
    b.t.graph_nodes[g.nodes[k]].source = varve::label_source::capture_trace;
    b.t.graph_nodes[g.nodes[k]].declared = {0, 0, 0, activation_bytes};
  }
  g.replay(b, decode(b, 10), 0);
  describe(b.t, small());
  return b.analyze();
}

// The description tells 2 · 16 + 2 · (32 + 48) = 192 bytes of layer 1 itself: its norms and residuals.
TEST(describe, shapes_that_a_capture_lends_count_for_their_own_label_where_they_tell_half_as_much) {
  for (const std::int64_t bytes : {95, 96}) {
    const varve::report r = with_lent_shapes(bytes);
    EXPECT_EQ(row_of(r.layers, "layer 1", "decode").exclusive.declared,
              bytes == 95 ? (work{0, 32, 0, 160}) : (work{0, 0, 0, 96}));
    // What is inside is the description's.
    EXPECT_EQ(row_of(r.layers, "layer 1 / attention", "decode").inclusive.declared.flops, 704);
    EXPECT_EQ(row_of(r.layers, "layer 1 / mlp", "decode").inclusive.declared.flops, 768);
  }
}

// All of layer 0 by the description: 1472 FLOPs; bytes of weights 384 + 768 + 32, of the cache 16 + 160, of
// activations 96 + 224 + 160: 3312 together. Of what calls told inside half of that or more is the same work.
TEST(describe, calls_at_capture_inside_of_a_label_that_tell_half_as_much_count_in_its_place) {
  for (const std::int64_t flops : {1655, 1656}) {
    trace_builder b;
    const std::uint32_t capture = b.label(none, "capture", no_index, range_kind::phase);
    const std::uint32_t node =
        b.node(1, b.label(b.label(capture, "layer", 0), "thing"), false, {flops, 0, 0, 0});
    b.t.graph_nodes[node].told_by = work_source::shapes;
    const std::uint32_t pass = decode(b, 10);
    b.kernel(b.call(call_kind::graph_launch, pass, 0, 10), 20, 30, "k", 0, node);
    describe(b.t, small());
    EXPECT_EQ(row_of(b.analyze().layers, "layer 0", "decode").inclusive.declared.flops,
              flops == 1655 ? layer_flops + 1655 : 1656);
  }
}

TEST(describe, eager_ranges_and_replays_of_one_pass_share_its_layers) {
  trace_builder b;
  const graph g{b};
  const std::uint32_t pass = decode(b, 10);
  const std::uint32_t layer = b.layer(pass, "layer", 0, 600, 900);
  const std::uint32_t output = b.layer(layer, "output", no_index, 600, 900);
  b.launched_kernel(output, 610, 620, 700, 710);
  g.replay(b, pass, 0);
  describe(b.t, small());
  EXPECT_EQ(flops_of(b.t, output), 128);
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "layer 0 / attention", "decode").inclusive.declared.flops, 704 - 128);
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").inclusive.declared.flops, layer_flops);
}

TEST(describe, deep_and_broken_labels_are_no_harm) {
  trace_builder b;
  std::uint32_t inner = decode(b, 10);
  for (int i = 0; i < 5000; ++i) {
    inner = b.layer(inner, i % 2 == 0 ? "layer" : "wrapper", i, i, 10'000 - i);
  }
  varve::range odd;
  odd.label = 1'000'000;
  odd.parent = 1'000'000;
  b.t.ranges.push_back(odd);
  b.t.attributes.push_back({1'000'000, VARVE_DECODE_TOKENS, 1});
  b.t.sequences.push_back({1'000'000, true, 1, 1});
  b.node(1, 1'000'000);
  b.kernel(99, 10, 20, "k", 0, 0);
  describe(b.t, small());
  EXPECT_EQ(flops_of(b.t, 1), layer_flops);  // layer 0
}

}  // namespace
