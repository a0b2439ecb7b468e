// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/model.hpp>

#include <gtest/gtest.h>

#include "work/small_model.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace {

using varve::dtype;
using varve::operator_work;
using varve_test::small;

/// Of layer 0, or of none where only such have the name.
operator_work find(const std::vector<operator_work>& pass, std::string_view name) {
  const auto found =
      std::find_if(pass.begin(), pass.end(), [&](const operator_work& o) { return o.name == name; });
  if (found == pass.end()) {
    ADD_FAILURE() << "no operator " << name;
    return {};
  }
  return *found;
}

varve::work sum(const std::vector<operator_work>& pass) {
  varve::work out;
  for (const operator_work& o : pass) {
    out += o.declared;
  }
  return out;
}

TEST(model, parameters_are_counted_by_what_they_belong_to) {
  const varve::parameter_counts p = count_parameters(small());
  EXPECT_EQ(p.embedding, 32 * 8);
  EXPECT_EQ(p.head, 32 * 8);
  EXPECT_EQ(p.qkv, 2 * (8 * 8 + 2 * 4 * 8));  // two layers: 8 · 8 of queries, 4 · 8 of keys and of values
  EXPECT_EQ(p.output, 2 * 8 * 8);
  EXPECT_EQ(p.gate, 2 * 16 * 8);
  EXPECT_EQ(p.norms, 2 * 2 * 8);
  EXPECT_EQ(p.layers, 2 * (128 + 64 + 3 * 128 + 16));
  EXPECT_EQ(p.total, 512 + 8 + 1184);
  EXPECT_EQ(p.active, 256 + 8 + 1184);  // the table of tokens is no matrix to multiply with
  EXPECT_EQ(p.active_matrices, 2 * (128 + 64 + 384));
}

TEST(model, a_tied_matrix_counts_once_and_is_read_whole_as_head) {
  varve::model m = small();
  m.tied = true;
  const varve::parameter_counts p = count_parameters(m);
  EXPECT_EQ(p.head, 0);
  EXPECT_EQ(p.total, 256 + 8 + 1184);
  EXPECT_EQ(p.active, 256 + 8 + 1184);
  const auto pass = work_of_pass(m, {{1, 5, true}});
  EXPECT_EQ(find(pass, "lm_head").declared.weight_bytes, 256 * 2);
  EXPECT_EQ(find(pass, "embed").declared.weight_bytes, 8 * 2);  // one row
}

TEST(model, the_cache_of_a_sequence_stops_at_the_window) {
  varve::model m = small();
  EXPECT_EQ(kv_bytes_per_token(m), 2 * 8 * 2);  // two layers, 4 of keys and 4 of values, 2 bytes
  m.layers[1].attention.window = 10;
  EXPECT_EQ(kv_bytes(m, 100), (100 + 10) * 8 * 2);
  m.cache = dtype::fp8;
  EXPECT_EQ(kv_bytes(m, 100), (100 + 10) * 8);
}

TEST(model, a_decoding_pass_has_the_work_of_each_operator) {
  // Two sequences, of 5 and 9 keys.
  const auto pass = work_of_pass(small(), {{1, 5, true}, {1, 9, true}});
  const operator_work qkv = find(pass, "qkv_proj");
  EXPECT_EQ(qkv.layer, 0);
  EXPECT_EQ(qkv.block, "attention");
  EXPECT_EQ(qkv.declared.flops, 2 * 2 * 16 * 8);
  EXPECT_EQ(qkv.declared.weight_bytes, 16 * 8 * 2);
  EXPECT_EQ(qkv.declared.kv_bytes, 2 * 8 * 2);                // keys and values go to the cache,
  EXPECT_EQ(qkv.declared.activation_bytes, 2 * (8 + 8) * 2);  // and are no activations: input and queries
  EXPECT_EQ(qkv.written_kv, 32);
  EXPECT_EQ(qkv.written_activations, 2 * 8 * 2);
  EXPECT_EQ(qkv.declared.pipe, varve::math_pipe::bf16_tensor);

  const operator_work score = find(pass, "attn_score");
  EXPECT_EQ(score.declared.flops, 2 * 2 * 4 * 14);  // 2 heads of 4 against 5 + 9 keys
  EXPECT_EQ(score.declared.kv_bytes, 14 * 4 * 2);   // once for both heads
  EXPECT_EQ(score.elementwise_flops, 5 * 2 * 14);
  EXPECT_FALSE(score.with_previous);
  const operator_work value = find(pass, "attn_value");
  EXPECT_EQ(value.declared, (varve::work{224, 0, 112, 2 * 8 * 2, varve::math_pipe::bf16_tensor}));
  EXPECT_TRUE(value.with_previous);

  const operator_work up = find(pass, "up_proj");
  EXPECT_EQ(up.declared.activation_bytes, 2 * 16 * 2);  // the input was read for the gate
  EXPECT_TRUE(up.with_previous);
  EXPECT_EQ(find(pass, "act_mul").declared.activation_bytes, 3 * 2 * 16 * 2);
  EXPECT_EQ(find(pass, "lm_head").declared.flops, 2 * 2 * 32 * 8);
  EXPECT_EQ(find(pass, "lm_head").layer, varve::no_index);
}

TEST(model, one_token_in_16_bits_takes_about_one_flop_a_byte) {
  varve::model m = small();
  m.width = 4096;
  m.vocabulary = 32000;
  m.layers.assign(4, m.layers[0]);
  for (varve::model_layer& layer : m.layers) {
    layer.attention.heads = {32, 32, 128, 128};
    layer.mlp.width = 11008;
  }
  const varve::work w = sum(work_of_pass(m, {{1, 1, true}}));
  EXPECT_NEAR(static_cast<double>(w.flops) / static_cast<double>(w.bytes()), 1, 0.01);
}

TEST(model, a_prompt_attends_causally_and_needs_one_row_of_logits) {
  const auto pass = work_of_pass(small(), {{6, 6, false}});
  EXPECT_EQ(find(pass, "attn_score").declared.flops, 2 * 2 * 4 * 21);  // 6 · 7 / 2
  EXPECT_EQ(find(pass, "attn_score").declared.kv_bytes, 6 * 4 * 2);
  EXPECT_EQ(find(pass, "lm_head").declared.flops, 2 * 32 * 8);

  varve::work_options options;
  options.full_square = true;
  options.all_logits = true;
  const auto other = work_of_pass(small(), {{6, 6, false}}, options);
  EXPECT_EQ(find(other, "attn_score").declared.flops, 2 * 2 * 4 * 36);
  EXPECT_EQ(find(other, "lm_head").declared.flops, 6 * 2 * 32 * 8);
  options.all_logits = false;
  options.logits = 3;
  EXPECT_EQ(find(work_of_pass(small(), {{6, 6, false}}, options), "lm_head").declared.flops, 3 * 2 * 32 * 8);
}

TEST(model, a_chunk_of_a_prompt_reads_the_keys_before_it) {
  // Tokens 7 to 10 see 7, 8, 9 and 10 keys; with a window of 3 three each, of the last 4 − 1 + 3.
  const auto pass = work_of_pass(small(), {{4, 10, false}});
  EXPECT_EQ(find(pass, "attn_score").declared.flops, 2 * 2 * 4 * 34);
  EXPECT_EQ(find(pass, "attn_score").declared.kv_bytes, 10 * 4 * 2);
  varve::model windowed = small();
  windowed.layers[0].attention.window = 3;
  const auto less = work_of_pass(windowed, {{4, 10, false}});
  EXPECT_EQ(find(less, "attn_score").declared.flops, 2 * 2 * 4 * 12);
  EXPECT_EQ(find(less, "attn_score").declared.kv_bytes, 6 * 4 * 2);
}

TEST(model, quantised_weights_are_fewer_bytes_and_other_factors) {
  varve::model m = small();
  m.layers[0].mlp.weights = {dtype::fp8, 0, 0, 32};
  m.factors = dtype::fp8;
  const auto pass = work_of_pass(m, {{1, 5, true}});
  EXPECT_EQ(find(pass, "down_proj").declared.weight_bytes, 16 * 8 + 4);
  EXPECT_EQ(find(pass, "down_proj").declared.pipe, varve::math_pipe::fp8_tensor);
  EXPECT_EQ(find(pass, "qkv_proj").declared.pipe, varve::math_pipe::bf16_tensor);
  // 256 · 2 elements of tables, 8 of the norm; layer 0 has 384 weights of one byte and three scales.
  EXPECT_EQ(weight_bytes(m), 2 * (512 + 8) + 2 * 1184 - 384 + 12);
  EXPECT_EQ(weight_bytes(unquantised(m)), 2 * 1704);
}

// A decoded token reads all weights but the table, of which it reads one row of 8 elements.
std::int64_t read_by_a_token(const varve::model& m) {
  return sum(work_of_pass(m, {{1, 5, true}})).weight_bytes + 2 * (31 * 8);
}

TEST(model, each_matrix_may_have_a_format_of_its_own) {
  varve::model m = small();
  m.factors = dtype::fp8;
  m.layers[0].attention.in = {dtype::fp8, 0, 0, 32};
  m.layers[0].attention.keys = varve::weight_format{dtype::bf16};
  m.layers[0].mlp.weights = {dtype::fp8, 0, 0, 32};
  m.layers[0].mlp.up = varve::weight_format{dtype::bf16};
  m.layers[0].mlp.down = varve::weight_format{dtype::bf16};
  m.head = varve::weight_format{dtype::int8, 0, 1, 16};
  const auto pass = work_of_pass(m, {{1, 5, true}});
  // 8 · 8 of queries and 4 · 8 of keys and of values, in kernels of their own; layer 1's are joined.
  EXPECT_EQ(find(pass, "q_proj").declared.weight_bytes, 64 + 4);
  EXPECT_EQ(find(pass, "k_proj").declared.weight_bytes, 2 * 32);
  EXPECT_EQ(find(pass, "v_proj").declared.weight_bytes, 32 + 4);
  EXPECT_EQ(find(pass, "q_proj").declared.pipe, varve::math_pipe::fp8_tensor);
  EXPECT_EQ(find(pass, "k_proj").declared.pipe, varve::math_pipe::bf16_tensor);
  EXPECT_FALSE(find(pass, "k_proj").with_previous);
  EXPECT_FALSE(find(pass, "up_proj").with_previous);
  EXPECT_EQ(find(pass, "qkv_proj").layer, 1);
  EXPECT_EQ(find(pass, "lm_head").declared.weight_bytes, 32 * 8 + 2 * 32);
  // Apart or joined, FLOPs, keys and values, and activations are the same.
  const varve::work together = sum(work_of_pass(small(), {{1, 5, true}}));
  EXPECT_EQ(sum(pass).flops, together.flops);
  EXPECT_EQ(sum(pass).kv_bytes, together.kv_bytes);
  EXPECT_EQ(sum(pass).activation_bytes, together.activation_bytes);
  EXPECT_EQ(read_by_a_token(m), weight_bytes(m));
  EXPECT_EQ(read_by_a_token(small()), weight_bytes(small()));
  EXPECT_EQ(weight_bytes(unquantised(m)), 2 * 1704);
  m.tied = true;  // the quantised head stands beside the table then
  EXPECT_EQ(read_by_a_token(m), weight_bytes(m));
}

TEST(model, each_matrix_of_a_mixture_may_have_a_format_of_its_own) {
  varve::model m = small();
  for (varve::model_layer& layer : m.layers) {
    layer.experts.count = layer.experts.chosen = 3;  // all of them are read
    layer.experts.width = 16;
    layer.experts.shared_width = 8;
    layer.experts.weights = varve::dtype::int8;
    layer.experts.down = varve::weight_format{dtype::bf16};
    layer.experts.shared = varve::dtype::fp8;
    layer.experts.shared_down = varve::weight_format{dtype::f32};
  }
  const auto pass = work_of_pass(m, {{1, 5, true}});
  EXPECT_EQ(find(pass, "experts_gate_up").declared.weight_bytes, 3 * 2 * 16 * 8);
  EXPECT_EQ(find(pass, "experts_down").declared.weight_bytes, 3 * 16 * 8 * 2);
  EXPECT_EQ(find(pass, "shared_gate_up").declared.weight_bytes, 2 * 8 * 8);
  EXPECT_EQ(find(pass, "shared_down").declared.weight_bytes, 8 * 8 * 4);
  EXPECT_EQ(read_by_a_token(m), weight_bytes(m));
}

// Experts: 3 of 16 · 8 for the gate in 8 bits, for up in 16. The shared one: 8 · 8 in 8 and 32. Two tokens,
// each a row of 8 to 3 experts and the shared one; what is read is read for the gate.
TEST(model, gate_and_up_of_a_mixture_are_two_operators_where_their_formats_differ) {
  varve::model m = small();
  m.layers.resize(1);
  varve::expert_layer& e = m.layers[0].experts;
  e.count = e.chosen = 3;
  e.width = 16;
  e.shared_width = 8;
  e.bias = true;
  const std::vector<varve::pass_sequence> batch{{2, 5, true}};
  const varve::work joined = sum(work_of_pass(m, batch));
  e.weights = varve::dtype::int8;
  e.up = varve::weight_format{dtype::bf16};
  e.down = e.up;
  e.shared = varve::dtype::fp8;
  e.shared_up = varve::weight_format{dtype::f32};
  const auto pass = work_of_pass(m, batch);
  const varve::work gate = find(pass, "experts_gate_proj").declared;
  const varve::work up = find(pass, "experts_up_proj").declared;
  EXPECT_EQ(gate.flops, 2 * 2 * 3 * 16 * 8);
  EXPECT_EQ(up.flops, gate.flops);
  EXPECT_EQ(gate.weight_bytes, 3 * (16 * 8 + 16 * 2));  // biases are of 16 bits
  EXPECT_EQ(up.weight_bytes, 3 * (16 * 8 * 2 + 16 * 2));
  EXPECT_EQ(gate.activation_bytes, 2 * 3 * (8 + 16) * 2);
  EXPECT_EQ(up.activation_bytes, 2 * 3 * 16 * 2);
  EXPECT_EQ(find(pass, "shared_gate_proj").declared.weight_bytes, 8 * 8);
  EXPECT_EQ(find(pass, "shared_up_proj").declared.weight_bytes, 8 * 8 * 4);
  EXPECT_FALSE(find(pass, "shared_up_proj").with_previous);
  EXPECT_EQ(
      std::count_if(pass.begin(), pass.end(),
                    [](const operator_work& o) { return o.name.find("gate_up") != std::string_view::npos; }),
      0);
  // Apart or joined, FLOPs and activations are the same, and each weight is read once.
  EXPECT_EQ(sum(pass).flops, joined.flops);
  EXPECT_EQ(sum(pass).activation_bytes, joined.activation_bytes);
  EXPECT_EQ(read_by_a_token(m), weight_bytes(m));
  EXPECT_EQ(weight_bytes(unquantised(m)), 2 * count_parameters(m).total);
  EXPECT_EQ(find(work_of_pass(unquantised(m), batch), "experts_gate_up").declared.flops, 2 * gate.flops);
}

/// Latent 6 with a rotary part of 2; two heads of 3 + 2, values of 3.
varve::model latent() {
  varve::model m = small();
  m.layers.resize(1);
  varve::attention_layer& a = m.layers[0].attention;
  a.heads = {2, 2, 5, 3};
  a.latent = 6;
  a.rotary = 2;
  a.query_latent = 4;
  return m;
}

TEST(model, each_matrix_of_latent_attention_may_have_a_format_of_its_own) {
  varve::model m = latent();
  varve::attention_layer& a = m.layers[0].attention;
  a.in = dtype::int8;
  a.queries_up = varve::weight_format{dtype::f32};
  a.values = varve::weight_format{dtype::bf16};
  const auto pass = work_of_pass(m, {{1, 5, true}});
  EXPECT_EQ(find(pass, "q_a_proj").declared.weight_bytes, 4 * 8);
  EXPECT_EQ(find(pass, "q_b_proj").declared.weight_bytes, 2 * 5 * 4 * 4);
  EXPECT_EQ(find(pass, "kv_a_proj").declared.weight_bytes, 8 * 8);
  EXPECT_EQ(find(pass, "kv_b_k_absorb").declared.weight_bytes, 2 * 3 * 6 * 2);
  EXPECT_EQ(find(pass, "kv_b_v_absorb").declared.weight_bytes, 2 * 3 * 6 * 2);
  EXPECT_EQ(read_by_a_token(m), weight_bytes(m));
  EXPECT_EQ(find(work_of_pass(m, {{4, 4, false}}), "kv_b_proj").declared.weight_bytes, 2 * 6 * 6 * 2);
}

TEST(model, latent_attention_decodes_on_the_latents_and_prefills_on_keys_made_of_them) {
  EXPECT_EQ(kv_bytes_per_token(latent()), (6 + 2) * 2);
  const auto decoding = work_of_pass(latent(), {{1, 7, true}});
  EXPECT_EQ(find(decoding, "attn_score").declared.flops, 2 * 2 * 8 * 7);
  EXPECT_EQ(find(decoding, "attn_value").declared.flops, 2 * 2 * 6 * 7);
  EXPECT_EQ(find(decoding, "attn_score").declared.kv_bytes, 7 * 8 * 2);
  EXPECT_EQ(find(decoding, "attn_value").declared.kv_bytes, 0);
  EXPECT_EQ(find(decoding, "kv_b_k_absorb").declared.flops, 2 * 2 * 3 * 6);

  const auto prefilling = work_of_pass(latent(), {{3, 7, false}});
  EXPECT_EQ(find(prefilling, "attn_score").declared.flops, 2 * 2 * 5 * (5 + 6 + 7));
  EXPECT_EQ(find(prefilling, "attn_value").declared.flops, 2 * 2 * 3 * (5 + 6 + 7));
  // Keys and values of all 7: 2 heads of 3 + 3 from 6; the latents of the 4 cached ones are read.
  EXPECT_EQ(find(prefilling, "kv_b_proj").declared.flops, 2 * 7 * 12 * 6);
  EXPECT_EQ(find(prefilling, "kv_b_proj").declared.kv_bytes, 4 * 8 * 2);

  // Both in one pass read the up-projection once.
  const auto mixed = work_of_pass(latent(), {{3, 7, false}, {1, 7, true}});
  EXPECT_EQ(find(mixed, "kv_b_proj").declared.weight_bytes, 12 * 6 * 2);
  EXPECT_EQ(find(mixed, "kv_b_k_absorb").declared.weight_bytes, 0);
}

TEST(model, experts_read_what_the_tokens_touch) {
  varve::model m = small();
  m.layers.resize(1);
  m.layers[0].experts.count = 4;
  m.layers[0].experts.chosen = 1;
  m.layers[0].experts.width = 10;
  m.layers[0].experts.shared_width = 5;
  m.layers[0].experts.shared_gate = true;
  const varve::parameter_counts p = count_parameters(m);
  EXPECT_EQ(p.experts, 4 * 3 * 80);
  EXPECT_EQ(p.router, 4 * 8);
  EXPECT_EQ(p.shared, 3 * 40 + 8);
  EXPECT_EQ(p.active_matrices, 128 + 64 + 240 + 32 + 128);

  const auto pass = work_of_pass(m, {{1, 5, true}, {1, 5, true}});
  const operator_work down = find(pass, "experts_down");
  // 4 · (1 − 0.75²) = 1.75 of 160 bytes; at least one, at most two.
  EXPECT_EQ(down.declared.weight_bytes, 280);
  EXPECT_EQ(down.declared.bytes_below, 120);
  EXPECT_EQ(down.declared.bytes_above, 40);
  EXPECT_EQ(down.declared.flops, 2 * 2 * 10 * 8);
  EXPECT_EQ(find(pass, "shared_gate").declared.flops, 2 * 2 * 8);
  EXPECT_EQ(find(pass, "combine").declared.activation_bytes, (2 + 1) * 2 * 8 * 2);
}

// 128 experts of which a token takes 8: all are read by 4096 tokens, unless nothing is known of the router.
TEST(model, all_experts_are_read_by_many_tokens_but_where_the_router_may_be_anything) {
  varve::model m = small();
  m.layers.resize(1);
  m.layers[0].experts.count = 128;
  m.layers[0].experts.chosen = 8;
  m.layers[0].experts.width = 10;
  const std::vector<varve::pass_sequence> prompt{{4096, 4096, false}};
  EXPECT_EQ(find(work_of_pass(m, prompt), "experts_down").declared.weight_bytes, 128 * 160);
  EXPECT_EQ(find(work_of_pass(m, prompt), "experts_down").declared.bytes_below, 0);
  varve::work_options any;
  any.rarest_expert = 0;
  EXPECT_EQ(find(work_of_pass(m, prompt, any), "experts_down").declared.bytes_below, 120 * 160);
  EXPECT_EQ(find(work_of_pass(m, {{1, 5, true}}), "experts_down").declared.bytes_below, 0);
}

TEST(model, a_parallel_block_has_one_sum_of_three) {
  varve::model m = small();
  m.layers.resize(1);
  m.layers[0].parallel = true;
  m.layers[0].norms = 1;
  const auto pass = work_of_pass(m, {{1, 5, true}});
  EXPECT_EQ(find(pass, "residual").declared.activation_bytes, 4 * 8 * 2);
  EXPECT_EQ(
      std::count_if(pass.begin(), pass.end(), [](const operator_work& o) { return o.name == "norm_2"; }), 0);
}

TEST(model, sequences_that_cannot_be_are_left_out) {
  EXPECT_TRUE(work_of_pass(small(), {}).empty());
  EXPECT_TRUE(work_of_pass(small(), {{0, 5, true}, {-1, 5, true}, {6, 5, false}}).empty());
  EXPECT_EQ(sum(work_of_pass(small(), {{1, 5, true}, {0, 5, true}})),
            sum(work_of_pass(small(), {{1, 5, true}})));
}

TEST(model, absurd_sizes_do_not_overflow) {
  varve::model m = small();
  constexpr std::int64_t huge = std::int64_t{1} << 62U;
  m.width = m.vocabulary = huge;
  m.layers[0].attention.heads = {huge, huge, huge, huge};
  m.layers[1].experts.count = m.layers[1].experts.chosen = m.layers[1].experts.width = huge;
  EXPECT_EQ(sum(work_of_pass(m, {{huge, huge, true}, {huge, huge, false}})).flops, varve::sizes::most);
  EXPECT_EQ(count_parameters(m).total, varve::sizes::most);
  EXPECT_EQ(weight_bytes(m), varve::sizes::most);
}

}  // namespace
