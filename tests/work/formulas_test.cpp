// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The worked examples of work_formulas.hpp, at compile time where they can be.
#include <varve/work_formulas.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace {

using varve::dtype;
using varve::math_pipe;
using varve::work;

constexpr dtype f16 = dtype::f16;
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST(formulas, a_product_with_weights_counts_two_flops_a_multiply_add) {
  constexpr work w = varve::gemm(16, 4096, 4096, f16);
  static_assert(w.flops == 536'870'912 && w.weight_bytes == 33'554'432 && w.activation_bytes == 262'144);
  EXPECT_EQ(w.kv_bytes, 0);
  EXPECT_EQ(w.pipe, math_pipe::fp16_tensor);
}

TEST(formulas, each_factor_and_the_result_have_their_own_type) {
  // FP8 weights and activations, 16-bit results: 3 · 5 + 2 · 3 + 2 · 5 · 2.
  constexpr work w = varve::gemm(2, 5, 3, dtype::fp8, dtype::fp8, f16);
  EXPECT_EQ(w.weight_bytes, 15);
  EXPECT_EQ(w.activation_bytes, 6 + 20);
  EXPECT_EQ(w.pipe, math_pipe::fp8_tensor);
}

TEST(formulas, quantised_weights_bring_their_scales_and_zero_points) {
  // 4096 · 4096 / 2 + 32 groups · 4096 columns · (16 + 4) bits / 8.
  constexpr varve::weight_format awq{dtype::int4, 128, 1, 16, 4};
  static_assert(varve::bytes_of(4096, 4096, awq) == 8'388'608 + 327'680);
  EXPECT_EQ(varve::gemm(16, 4096, 4096, awq, f16).weight_bytes, 8'716'288);
  EXPECT_EQ(varve::gemm(16, 4096, 4096, awq, f16).pipe, math_pipe::fp16_tensor);  // widened first
  // FP8 in blocks of 128 · 128: 576 outputs are five blocks, 7168 inputs 56, a scale of 4 bytes each.
  constexpr varve::weight_format blocks{dtype::fp8, 128, 128, 32};
  EXPECT_EQ(varve::bytes_of(576, 7168, blocks), 576 * 7168 + 5 * 56 * 4);
  // MXFP4: a byte for each 32.
  EXPECT_EQ(varve::bytes_of(2880, 2880, {dtype::fp4, 32, 1, 8}), 2880 * 2880 / 2 + 90 * 2880);
  // One scale for all, one for each column.
  EXPECT_EQ(varve::bytes_of(10, 7, {dtype::fp8, 0, 0, 32}), 70 + 4);
  EXPECT_EQ(varve::bytes_of(10, 7, {dtype::int8, 0, 1, 16}), 70 + 20);
}

TEST(formulas, the_types_of_the_factors_tell_the_pipe) {
  EXPECT_EQ(varve::pipe_of(dtype::f32, dtype::f32), math_pipe::fp32);
  EXPECT_EQ(varve::pipe_of(dtype::tf32, dtype::tf32), math_pipe::tf32_tensor);
  EXPECT_EQ(varve::pipe_of(dtype::bf16, dtype::int4), math_pipe::bf16_tensor);
  EXPECT_EQ(varve::pipe_of(dtype::fp8, f16), math_pipe::fp16_tensor);
  EXPECT_EQ(varve::pipe_of(dtype::int8, dtype::int8), math_pipe::int8_tensor);
  EXPECT_EQ(varve::pipe_of(dtype::fp4, dtype::fp4), math_pipe::fp4_tensor);
  EXPECT_EQ(varve::pipe_of(dtype::f64, dtype::f64), math_pipe::unknown);
  EXPECT_EQ(varve::pipe_of(dtype::int4, dtype::int4), math_pipe::unknown);
  EXPECT_EQ(varve::pipe_of(dtype::int8, dtype::int4), math_pipe::unknown);
}

TEST(formulas, a_batch_of_products_has_no_weights) {
  constexpr work w = varve::batched_gemm(32, 1, 128, 1024, f16, f16, f16);
  static_assert(w.flops == 8'388'608 && w.activation_bytes == 8'462'336 && w.weight_bytes == 0);
  EXPECT_EQ(w.pipe, math_pipe::fp16_tensor);
}

std::int64_t keys_one_by_one(std::int64_t tokens, std::int64_t context, std::int64_t window) {
  std::int64_t out = 0;
  for (std::int64_t i = 1; i <= tokens; ++i) {
    const std::int64_t seen = context - tokens + i;
    out += window > 0 && seen > window ? window : seen;
  }
  return out;
}

TEST(formulas, attended_keys_are_the_sum_over_the_tokens) {
  static_assert(varve::attended_keys(2048, 2048) == 2'098'176);
  static_assert(varve::attended_keys(1, 1024) == 1024 && varve::attended_keys(1, 4096, 128) == 128);
  static_assert(varve::attended_square(2048, 2048) == 4'194'304);
  for (std::int64_t context = 1; context <= 9; ++context) {
    for (std::int64_t tokens = 1; tokens <= context; ++tokens) {
      for (std::int64_t window = 0; window <= 10; ++window) {
        EXPECT_EQ(varve::attended_keys(tokens, context, window), keys_one_by_one(tokens, context, window))
            << tokens << ' ' << context << ' ' << window;
      }
    }
  }
}

TEST(formulas, needed_keys_reach_from_the_oldest_window_to_the_newest_token) {
  EXPECT_EQ(varve::needed_keys(1, 1024), 1024);
  EXPECT_EQ(varve::needed_keys(1, 4096, 128), 128);
  EXPECT_EQ(varve::needed_keys(10, 4096, 128), 137);  // 9 older ones see 9 keys further back
  EXPECT_EQ(varve::needed_keys(10, 100, 128), 100);
  EXPECT_EQ(varve::needed_keys(5, 4), 0);  // no such sequence
}

TEST(formulas, grouped_queries_share_the_keys_that_are_read) {
  constexpr varve::attention_heads llama{32, 8, 128, 128};
  constexpr work w = varve::attention(llama, 1, 1024, f16);
  static_assert(w.flops == 16'777'216 && w.kv_bytes == 4'194'304 && w.activation_bytes == 16'384);
  static_assert(varve::kv_write(llama, 1, f16).kv_bytes == 4096);
  // A cache of 8 bits is half of it; the products are those of the wider type.
  EXPECT_EQ(varve::attention(llama, 1, 1024, 0, f16, dtype::fp8).kv_bytes, 2'097'152);
  EXPECT_EQ(varve::attention(llama, 1, 1024, 0, f16, dtype::fp8).pipe, math_pipe::fp16_tensor);
  EXPECT_EQ(varve::attention(llama, 1, 4096, 1024, f16, f16), w);
}

TEST(formulas, the_latent_is_read_once_for_scores_and_values) {
  constexpr work w = varve::latent_attention(128, 512, 64, 1, 1024, f16, f16);
  static_assert(w.flops == 285'212'672 && w.kv_bytes == 1'179'648);
  EXPECT_EQ(w.activation_bytes, 128 * (576 + 512) * 2);
}

TEST(formulas, what_goes_element_by_element_has_bytes_alone) {
  static_assert(varve::norm(16, 4096, f16).activation_bytes == 262'144);
  static_assert(varve::norm(16, 4096, f16).weight_bytes == 8192);
  static_assert(varve::norm(16, 4096, f16, 2).weight_bytes == 16'384);
  static_assert(varve::activation(16, 8192, f16).activation_bytes == 524'288);
  static_assert(varve::gated_activation(16, 14336, f16).activation_bytes == 1'376'256);
  static_assert(varve::residual(16, 4096, f16).activation_bytes == 393'216);
  static_assert(varve::rope(16, 40, 128, f16).activation_bytes == 327'680);
  static_assert(varve::embedding(16, 4096, f16).weight_bytes == 131'072);
  static_assert(varve::embedding(16, 4096, f16).activation_bytes == 131'072);
  static_assert(varve::embedding(16, 4096, f16).doubled_bytes == 131'072);  // other rows
  static_assert(varve::softmax(512, 1024, f16).activation_bytes == 2'097'152);
  static_assert(varve::sampling(16, 128'256, dtype::f32).activation_bytes == 8'208'448);
  EXPECT_EQ(varve::norm(16, 4096, f16).flops, 0);
}

TEST(formulas, experts_that_are_touched_are_fewer_than_tokens_times_chosen) {
  EXPECT_DOUBLE_EQ(varve::expected_experts(8, 2, 1), 2);
  // 8 · (1 − 0.75^16): 0.75^2 = 0.5625, ^4 = 0.31640625, ^8 = 0.100112915, ^16 = 0.010022596.
  EXPECT_NEAR(varve::expected_experts(8, 2, 16), 7.9198192, 1e-7);
  EXPECT_DOUBLE_EQ(varve::expected_experts(8, 8, 3), 8);
  EXPECT_DOUBLE_EQ(varve::expected_experts(256, 8, 1'000'000), 256);
  EXPECT_DOUBLE_EQ(varve::expected_experts(0, 2, 5), 0);
}

TEST(formulas, weights_of_experts_have_bounds) {
  constexpr std::int64_t each = std::int64_t{28672} * 4096 * 2;
  static_assert(each == 234'881'024);
  constexpr work w = varve::expert_gemm(16, 28672, 4096, 8, 2, f16, f16);
  static_assert(w.flops == 7'516'192'768);
  EXPECT_NEAR(static_cast<double>(w.weight_bytes), 7.9198192339 * each, 1);
  EXPECT_EQ(w.weight_bytes - w.bytes_below, 2 * each);  // all tokens chose the same two
  EXPECT_EQ(w.weight_bytes + w.bytes_above, 8 * each);  // min(16 · 2, 8)
  // One token touches just its own.
  constexpr work one = varve::expert_gemm(1, 28672, 4096, 8, 2, f16, f16);
  EXPECT_EQ(one.weight_bytes, 2 * each);
  EXPECT_EQ(one.bytes_below, 0);
  EXPECT_EQ(one.bytes_above, 0);
  // Of two tokens 8 · (1 − 0.75²) = 3.5 matrices are expected: 1.5 more.
  EXPECT_EQ(one.doubled_bytes, 3 * each / 2);
  EXPECT_EQ(varve::expert_gemm(2, 28672, 4096, 8, 2, f16, f16).weight_bytes, 7 * each / 2);
  EXPECT_EQ(varve::expert_gemm(1, 28672, 4096, 8, 8, f16, f16).doubled_bytes, 0);  // all of them already
  EXPECT_EQ(varve::gemm(1, 28672, 4096, f16, f16).doubled_bytes, 0);
  EXPECT_EQ(varve::router(16, 2048, 128, dtype::bf16).flops, 8'388'608);
}

TEST(formulas, collectives_send_what_the_best_algorithm_must) {
  using kind = varve::collective_kind;
  static_assert(varve::link_bytes(kind::all_reduce, 8192, 8) == 14'336);
  EXPECT_EQ(varve::link_bytes(kind::all_gather, 8192, 8), 7168);
  EXPECT_EQ(varve::link_bytes(kind::reduce_scatter, 8192, 8), 7168);
  EXPECT_EQ(varve::link_bytes(kind::all_to_all, 8192, 8), 7168);
  EXPECT_EQ(varve::link_bytes(kind::broadcast, 8192, 8), 8192);
  EXPECT_EQ(varve::link_bytes(kind::all_reduce, 8192, 1), 0);  // nobody to send to
}

TEST(formulas, decoding_one_token_in_16_bits_takes_one_flop_a_byte) {
  // 2 · n · k FLOPs, 2 · n · k bytes of weights: activations take it a little below 1.
  const work w = varve::gemm(1, 8192, 8192, f16);
  const double intensity = static_cast<double>(w.flops) / static_cast<double>(w.bytes());
  EXPECT_LT(intensity, 1);
  EXPECT_GT(intensity, 0.999);
}

TEST(formulas, absurd_sizes_stop_at_the_largest_number) {
  constexpr std::int64_t huge = std::int64_t{1} << 62U;
  constexpr work w = varve::gemm(huge, huge, huge, f16);
  static_assert(w.flops == most && w.weight_bytes == most && w.activation_bytes == most);
  EXPECT_EQ(w.bytes(), most);
  EXPECT_EQ((w + w).flops, most);
  EXPECT_EQ(varve::attention({huge, huge, huge, huge}, huge, huge, f16).flops, most);
  EXPECT_EQ(varve::attended_keys(most, most), most);
  EXPECT_EQ(varve::attended_keys(1, most, most), most);
  EXPECT_EQ(varve::needed_keys(most, most, most), most);
  const work experts = varve::expert_gemm(most, most, most, most, most, f16, f16);
  EXPECT_EQ(experts.weight_bytes, most);
  EXPECT_EQ(varve::link_bytes(varve::collective_kind::all_reduce, most, 2), most);
  // Half of the most weights, and an eighth of the most bits of scales.
  EXPECT_EQ(varve::bytes_of(most, most, {dtype::int4, 1, 1, most, most}), most / 2 + 1 + most / 8 + 1);
}

TEST(formulas, sizes_of_nothing_give_no_work) {
  for (const std::int64_t none :
       {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_TRUE(varve::gemm(none, 16, 16, f16).empty());
    EXPECT_TRUE(varve::gemm(16, none, 16, f16).empty());
    EXPECT_TRUE(varve::gemm(16, 16, none, f16).empty());
    EXPECT_TRUE(varve::attention({8, 8, 64, 64}, none, 16, f16).empty());
    EXPECT_TRUE(varve::expert_gemm(none, 16, 16, 8, 2, f16, f16).empty());
    EXPECT_TRUE(varve::norm(none, 16, f16).empty());
  }
}

TEST(formulas, bytes_of_half_bytes_round_up) {
  EXPECT_EQ(varve::bytes_of(3, dtype::int4), 2);
  EXPECT_EQ(varve::bytes_of(4, dtype::fp4), 2);
  EXPECT_EQ(varve::bytes_of(3, dtype::fp8), 3);
  EXPECT_EQ(varve::bytes_of(3, dtype::f64), 24);
}

}  // namespace
