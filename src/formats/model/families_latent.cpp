// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// DeepSeek V2 and V3: latent attention, experts beside shared ones.
#include "formats/model/families.hpp"

namespace varve {
inline namespace v0 {
namespace model_file {

namespace {

attention_layer latent_attention_of(const config& from) {
  attention_layer out;
  const std::int64_t heads = from.need({"num_attention_heads"});
  out.rotary = from.size_or({"qk_rope_head_dim"}, 64);
  out.latent = from.size_or({"kv_lora_rank"}, 512);
  // null means that queries are projected directly; missing is the class's 1536.
  out.query_latent = from.size_or({"q_lora_rank"}, from.is_null("q_lora_rank") ? 0 : 1536);
  out.heads = {heads, heads, from.size_or({"qk_nope_head_dim"}, 128) + out.rotary,
               from.size_or({"v_head_dim"}, 128)};
  out.bias = out.output_bias = from.flag("attention_bias", false);
  return out;
}

/// `corrected`: the router has a learned correction for each expert.
void describe(const config& from, model& m, std::int64_t first_dense, bool corrected) {
  m.norms = norm_kind::rms;
  m.width = from.need({"hidden_size"});
  m.vocabulary = from.need({"vocab_size"});
  m.tied = from.flag("tie_word_embeddings", false);
  model_layer layer;
  layer.attention = latent_attention_of(from);
  layer.mlp.width = from.need({"intermediate_size"});
  repeat(from, m, from.need({"num_hidden_layers"}), layer);
  if (from.size_or({"n_routed_experts"}, 0, 0) == 0) {
    return;  // all layers are dense
  }
  expert_layer mixture;
  mixture.count = from.need({"n_routed_experts"});
  mixture.chosen = from.need({"num_experts_per_tok"});
  mixture.width = from.need({"moe_intermediate_size"});
  mixture.shared_width = sizes::product(from.size_or({"n_shared_experts"}, 0, 0), mixture.width);
  mixture.router_bias = corrected;
  if (mixture.chosen > mixture.count) {
    from.fail("num_experts_per_tok", "is more than there are experts; correct one of them");
  }
  const auto dense = static_cast<std::size_t>(from.size_or({"first_k_dense_replace"}, first_dense, 0));
  const auto every = static_cast<std::size_t>(from.size_or({"moe_layer_freq"}, 1));
  for (std::size_t i = dense; i < m.layers.size(); ++i) {
    if (i % every == 0) {
      m.layers[i].experts = mixture;
    }
  }
}

}  // namespace

void describe_deepseek_v2(const config& from, model& m) { describe(from, m, 0, false); }

void describe_deepseek_v3(const config& from, model& m) {
  describe(from, m, 3, from.text({"topk_method"}).value_or("noaux_tc") == "noaux_tc");
}

}  // namespace model_file
}  // namespace v0
}  // namespace varve
