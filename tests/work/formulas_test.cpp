// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The worked examples of work_formulas.hpp, at compile time where they can be.
#include <varve/work_formulas.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

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
  EXPECT_EQ(varve::pipe_of(dtype::int8, dtype::int4), math_pipe::int8_tensor);
  EXPECT_EQ(varve::pipe_of(dtype::int4, dtype::int8), math_pipe::int8_tensor);
  EXPECT_EQ(varve::pipe_of(dtype::int8, dtype::fp4), math_pipe::unknown);
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

// 128 experts, 8 a token: one is left out by a token with odds of 1 − 0.1/16 = 0.99375 at most, by 4096 with
// 7.0e-12: 9.0e-10 that any of 128 is. By 2048 with 2.65e-6: 3.4e-4 that any is, and 8128 · 2.65e-6² = 5.7e-8
// that two are.
TEST(formulas, experts_that_stay_untouched_are_few_where_tokens_are_many) {
  EXPECT_EQ(varve::least_experts(128, 8, 4096), 128);
  EXPECT_EQ(varve::least_experts(128, 8, 2048), 127);
  EXPECT_EQ(varve::least_experts(512, 10, 1'000'000), 512);
  // 8 experts, 2 a token: 0.975^512 = 2.35e-6, 1.9e-5 for any, 28 · 5.5e-12 for two; 0.975^1024 = 5.5e-12.
  EXPECT_EQ(varve::least_experts(8, 2, 512), 7);
  EXPECT_EQ(varve::least_experts(8, 2, 1024), 8);
}

// Four tokens leave out all of six experts with odds of 0.975^24 = 0.545 at most, and there are 28 such six.
TEST(formulas, experts_may_be_those_of_one_token_where_tokens_are_few) {
  EXPECT_EQ(varve::least_experts(8, 2, 4), 2);
  for (const std::int64_t experts : {8, 60, 128, 512}) {
    EXPECT_EQ(varve::least_experts(experts, 4, 1), 4) << experts;
    EXPECT_EQ(varve::least_experts(experts, 4, 1, 1), 4) << experts;
  }
  EXPECT_EQ(varve::least_experts(8, 8, 3), 8);
  EXPECT_EQ(varve::least_experts(0, 2, 3), 0);
  EXPECT_EQ(varve::least_experts(8, 2, 0), 0);
}

TEST(formulas, experts_of_a_router_that_nothing_is_known_of_may_be_those_of_one_token) {
  EXPECT_EQ(varve::least_experts(128, 8, 1'000'000, 0), 8);
  EXPECT_EQ(varve::least_experts(128, 8, 1'000'000, -1), 8);
  EXPECT_EQ(varve::least_experts(128, 8, 1'000'000, std::numeric_limits<double>::quiet_NaN()), 8);
  EXPECT_EQ(varve::least_experts(4097, 8, 1'000'000), 8);
  constexpr work w = varve::expert_gemm(4096, 768, 2048, 128, 8, f16, f16, 0);
  constexpr std::int64_t each = std::int64_t{768} * 2048 * 2;
  EXPECT_EQ(w.weight_bytes - w.bytes_below, 8 * each);
  EXPECT_EQ(varve::expert_gemm(4096, 768, 2048, 128, 8, f16, f16).bytes_below, 0);  // all are read
}

/// Odds of each number of touched experts where all are equally likely: a token that finds n of E touched
/// adds j of its k with odds of C(E − n, j)·C(n, k − j) ÷ C(E, k).
std::vector<double> odds_of_touched(std::int64_t experts, std::int64_t chosen, std::int64_t tokens) {
  const auto ways = [](std::int64_t of, std::int64_t some) {
    double out = some > of ? 0 : 1;
    for (std::int64_t i = 0; i < some && i < of; ++i) {
      out *= static_cast<double>(of - i) / static_cast<double>(i + 1);
    }
    return out;
  };
  std::vector<double> odds(static_cast<std::size_t>(experts) + 1);
  odds[0] = 1;
  for (std::int64_t t = 0; t < tokens; ++t) {
    std::vector<double> next(odds.size());
    for (std::int64_t n = 0; n <= experts; ++n) {
      for (std::int64_t j = 0; j <= chosen && n + j <= experts; ++j) {
        next[static_cast<std::size_t>(n + j)] += odds[static_cast<std::size_t>(n)] * ways(experts - n, j) *
                                                 ways(n, chosen - j) / ways(experts, chosen);
      }
    }
    odds = next;
  }
  return odds;
}

TEST(formulas, fewer_experts_than_the_least_are_one_in_a_million_by_the_exact_distribution) {
  for (const auto& [experts, chosen] : {std::pair<std::int64_t, std::int64_t>{8, 2}, {16, 1}, {64, 8}}) {
    for (const std::int64_t tokens : {1, 2, 3, 5, 8, 13, 21, 34, 55}) {
      const std::vector<double> odds = odds_of_touched(experts, chosen, tokens);
      const auto up_to = [&](std::int64_t n) { return std::accumulate(odds.begin(), odds.begin() + n, 0.0); };
      ASSERT_NEAR(up_to(experts + 1), 1, 1e-9);
      const std::int64_t least = varve::least_experts(experts, chosen, tokens, 1);
      EXPECT_LE(up_to(least), 1e-6) << experts << ' ' << tokens;
      EXPECT_LE(varve::least_experts(experts, chosen, tokens), least) << experts << ' ' << tokens;
    }
  }
  // Where few are left it is the exact quantile.
  const std::vector<double> odds = odds_of_touched(64, 8, 34);
  EXPECT_GT(std::accumulate(odds.begin(), odds.begin() + 58, 0.0), 1e-6);
  EXPECT_EQ(varve::least_experts(64, 8, 34, 1), 57);
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
