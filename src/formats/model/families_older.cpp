// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Families with LayerNorm and a plain feed-forward block: OPT, GPT-2, Falcon, Phi 1 and 2.
#include "formats/model/families.hpp"

namespace varve {
inline namespace v0 {
namespace model_file {

namespace {

model_layer plain_layer(const attention_heads& heads, std::int64_t width, bool bias) {
  model_layer out;
  out.attention.heads = heads;
  out.attention.bias = bias;
  out.attention.output_bias = bias;
  out.mlp.width = width;
  out.mlp.gated = false;
  out.mlp.bias = bias;
  return out;
}

}  // namespace

void describe_opt(const config& from, model& m) {
  m.norms = norm_kind::layer;
  m.width = from.need({"hidden_size"});
  m.vocabulary = from.need({"vocab_size"});
  m.embedding_width = from.size_or({"word_embed_proj_dim"}, m.width);
  m.positions = from.need({"max_position_embeddings"}) + 2;  // OPT begins to count at 2
  m.tied = from.flag("tie_word_embeddings", true);
  m.final_norm = from.flag("do_layer_norm_before", true) && !from.flag("_remove_final_layer_norm", false);
  const std::int64_t heads = from.need({"num_attention_heads"});
  repeat(from, m, from.need({"num_hidden_layers"}),
         plain_layer(equal_heads(from, {"num_attention_heads"}, m.width, heads, heads, 0),
                     from.need({"ffn_dim"}), from.flag("enable_bias", true)));
}

void describe_gpt2(const config& from, model& m) {
  m.norms = norm_kind::layer;
  m.width = from.need({"n_embd", "hidden_size"});
  m.vocabulary = from.need({"vocab_size"});
  m.positions = from.need({"n_positions", "max_position_embeddings", "n_ctx"});
  m.tied = from.flag("tie_word_embeddings", true);
  const std::int64_t heads = from.need({"n_head", "num_attention_heads"});
  repeat(from, m, from.need({"n_layer", "num_hidden_layers"}),
         plain_layer(equal_heads(from, {"n_head"}, m.width, heads, heads, 0),
                     from.size_or({"n_inner"}, 4 * m.width), true));
}

void describe_falcon(const config& from, model& m) {
  m.norms = norm_kind::layer;
  m.width = from.need({"hidden_size", "n_embed"});
  m.vocabulary = from.need({"vocab_size"});
  m.tied = from.flag("tie_word_embeddings", true);
  const std::int64_t heads = from.need({"num_attention_heads", "n_head"});
  const bool new_decoder = from.flag("new_decoder_architecture", from.has("n_head_kv"));
  const std::int64_t keys = new_decoder ? from.size_or({"num_kv_heads", "n_head_kv"}, heads)
                            : from.flag("multi_query", true) ? 1
                                                             : heads;
  model_layer layer = plain_layer(equal_heads(from, {"num_attention_heads"}, m.width, heads, keys, 0),
                                  from.size_or({"ffn_hidden_size"}, 4 * m.width), from.flag("bias", false));
  layer.parallel = new_decoder || from.flag("parallel_attn", true);
  layer.norms = new_decoder      ? static_cast<std::int32_t>(from.size_or({"num_ln_in_parallel_attn"}, 2))
                : layer.parallel ? 1
                                 : 2;
  if (layer.norms > 2) {
    from.fail("num_ln_in_parallel_attn", "must be 1 or 2; correct it in the file");
  }
  repeat(from, m, from.need({"num_hidden_layers", "n_layer"}), layer);
}

void describe_phi(const config& from, model& m) {
  m.norms = norm_kind::layer;
  m.width = from.need({"hidden_size", "n_embd"});
  m.vocabulary = from.need({"vocab_size"});
  m.tied = from.flag("tie_word_embeddings", false);
  m.head_bias = true;
  const std::int64_t heads = from.need({"num_attention_heads", "n_head"});
  const std::int64_t keys = from.size_or({"num_key_value_heads", "n_head_kv"}, heads);
  model_layer layer = plain_layer(equal_heads(from, {"num_attention_heads"}, m.width, heads, keys, 0),
                                  from.size_or({"intermediate_size", "n_inner"}, 4 * m.width), true);
  layer.attention.query_key_norm = from.flag("qk_layernorm", false);
  layer.parallel = true;
  layer.norms = 1;
  repeat(from, m, from.need({"num_hidden_layers", "n_layer"}), layer);
}

}  // namespace model_file
}  // namespace v0
}  // namespace varve
