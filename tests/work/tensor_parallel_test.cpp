// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What each of several ranks runs of a model that tensor parallelism splits.
#include <varve/model.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "work/small_model.hpp"

namespace {

using varve::model;
using varve::tensor_parallel;
using varve::work;

/// Llama 3 70B: width 8192, 64 heads of 128 over 8 key-value heads, blocks of 28672, 80 layers, 128256 words.
model llama_3_70b() {
  model m;
  m.width = 8192;
  m.vocabulary = 128256;
  varve::model_layer layer;
  layer.attention.heads = {64, 8, 128, 128};
  layer.mlp.width = 28672;
  m.layers.assign(80, layer);
  return m;
}

/// Of layer 0, or of none.
work of(const std::vector<varve::operator_work>& pass, std::string_view name) {
  work sum;
  for (const varve::operator_work& o : pass) {
    if (o.name == name && o.layer <= 0) {
      sum += o.declared;
    }
  }
  return sum;
}

std::string error(const model& m, std::int64_t ranks) {
  try {
    static_cast<void>(tensor_parallel(m, ranks));
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

TEST(tensor_parallel, gives_each_of_8_ranks_of_llama_3_70b_its_parameters) {
  // A layer: 8192 · (8 + 1 + 1) · 128 = 10,485,760 of queries, keys and values; 8 · 128 · 8192 = 8,388,608 of
  // the output; 3 · 8192 · 3584 = 88,080,384 of the block; 2 · 8192 of norms: 106,971,136. 80 of them
  // 8,557,690,880. Twice 16032 · 8192 = 131,334,144 of words, 8192 of the last norm.
  const model part = tensor_parallel(llama_3_70b(), 8);
  EXPECT_EQ(part.ranks, 8);
  EXPECT_EQ(part.vocabulary, 16032);
  EXPECT_EQ(count_parameters(part).total, 8'557'690'880 + 2 * 131'334'144 + 8192);
  EXPECT_EQ(weight_bytes(part), 2 * 8'820'367'360);
  // One head of keys and of values: 80 · 2 · 128 · 2 bytes, an eighth of all.
  EXPECT_EQ(kv_bytes_per_token(part), 40'960);
  EXPECT_EQ(kv_bytes_per_token(llama_3_70b()), 8 * 40'960);
}

TEST(tensor_parallel, gives_each_of_8_ranks_of_llama_3_70b_its_work_of_a_decode) {
  const auto pass = work_of_pass(tensor_parallel(llama_3_70b(), 8), {{1, 1024, true}});
  const auto whole = work_of_pass(llama_3_70b(), {{1, 1024, true}});
  EXPECT_EQ(of(pass, "qkv_proj").flops, 2 * 8192 * 1280);
  EXPECT_EQ(of(pass, "qkv_proj").weight_bytes, 2 * 8192 * 1280);
  EXPECT_EQ(of(pass, "o_proj").flops, 2 * 1024 * 8192);
  // Its input is a rank's heads, its result, a summand of the whole's, as wide as the model.
  EXPECT_EQ(of(pass, "o_proj").activation_bytes, 2 * (1024 + 8192));
  EXPECT_EQ(of(pass, "attn_score").flops + of(pass, "attn_value").flops, 2 * 8 * 256 * 1024);
  EXPECT_EQ(of(pass, "attn_score").kv_bytes + of(pass, "attn_value").kv_bytes, 1024 * 256 * 2);
  EXPECT_EQ(of(pass, "gate_proj").flops + of(pass, "up_proj").flops, 2 * 2 * 8192 * 3584);
  EXPECT_EQ(of(pass, "down_proj").flops, 2 * 8192 * 3584);
  EXPECT_EQ(of(pass, "lm_head").flops, 2 * 8192 * 16032);
  EXPECT_EQ(of(pass, "embed").weight_bytes, 2 * 8192 / 8);  // one rank in eight has the token's row
  EXPECT_EQ(of(pass, "embed").activation_bytes, 2 * 8192);
  for (const char* const on_all : {"norm_1", "residual_1", "final_norm"}) {
    EXPECT_EQ(of(pass, on_all), of(whole, on_all)) << on_all;
  }
}

TEST(tensor_parallel, repeats_key_value_heads_where_there_are_fewer_than_ranks) {
  // 16 ranks: 4 heads of queries each, and one of 8 key-value heads, which two ranks have.
  const model part = tensor_parallel(llama_3_70b(), 16);
  EXPECT_EQ(part.layers[0].attention.heads.queries, 4);
  EXPECT_EQ(part.layers[0].attention.heads.keys, 1);
  EXPECT_EQ(kv_bytes_per_token(part), 40'960);
  EXPECT_EQ(tensor_parallel(varve_test::small(), 2).layers[0].attention.heads.keys, 1);
}

TEST(tensor_parallel, splits_every_expert_and_no_router) {
  model m = varve_test::small();
  m.layers[1].experts.count = 8;
  m.layers[1].experts.chosen = 2;
  m.layers[1].experts.width = 6;
  m.layers[1].experts.shared_width = 4;
  m.layers[1].experts.router_bias = true;
  const auto whole = count_parameters(m);
  const auto part = count_parameters(tensor_parallel(m, 2));
  EXPECT_EQ(2 * part.experts, whole.experts);
  EXPECT_EQ(2 * part.shared, whole.shared);
  EXPECT_EQ(part.router, whole.router);
  EXPECT_EQ(part.router_bias, 8);
}

TEST(tensor_parallel, has_the_whole_latent_on_each_rank) {
  // 4 heads of 6 + 2 and 5, all of a latent of 8 with 2 for rotation, of which queries come directly.
  model m = varve_test::small();
  for (varve::model_layer& layer : m.layers) {
    layer.attention.heads = {4, 4, 8, 5};
    layer.attention.latent = 8;
    layer.attention.rotary = 2;
  }
  const model part = tensor_parallel(m, 4);
  EXPECT_EQ(kv_bytes_per_token(part), kv_bytes_per_token(m));
  const auto whole = work_of_pass(m, {{1, 16, true}});
  const auto pass = work_of_pass(part, {{1, 16, true}});
  EXPECT_EQ(of(pass, "kv_a_proj"), of(whole, "kv_a_proj"));
  EXPECT_EQ(4 * of(pass, "q_proj").flops, of(whole, "q_proj").flops);
  EXPECT_EQ(4 * of(pass, "attn_score").flops, of(whole, "attn_score").flops);
  EXPECT_EQ(of(pass, "attn_score").kv_bytes, of(whole, "attn_score").kv_bytes);
}

TEST(tensor_parallel, rounds_the_vocabulary_up) {
  model m = varve_test::small();
  m.vocabulary = 33;
  EXPECT_EQ(tensor_parallel(m, 2).vocabulary, 17);
}

TEST(tensor_parallel, of_one_rank_is_the_model) {
  const model m = tensor_parallel(varve_test::small(), 1);
  EXPECT_EQ(m.ranks, 1);
  EXPECT_EQ(count_parameters(m).total, count_parameters(varve_test::small()).total);
}

TEST(tensor_parallel, says_what_cannot_be_split) {
  model m = llama_3_70b();
  EXPECT_EQ(error(m, 3), "3 ranks do not divide the 64 attention heads");
  EXPECT_EQ(error(m, 0), "0 ranks cannot share a model");
  EXPECT_EQ(error(tensor_parallel(m, 2), 2), "2 ranks cannot share what is one's part of 2 already");
  m.layers[79].mlp.width = 28673;
  EXPECT_EQ(error(m, 8), "8 ranks do not divide the 28673 columns of the feed-forward block");
  m = llama_3_70b();
  m.layers[0].attention.heads.keys = 12;
  EXPECT_EQ(error(m, 8), "8 ranks do not divide the 12 key-value heads");
  m.layers[0].attention.heads.keys = 3;
  EXPECT_EQ(error(m, 8), "8 ranks are no multiple of the 3 key-value heads");
}

}  // namespace
