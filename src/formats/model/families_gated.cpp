// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Families like Llama: RMSNorm, rotary positions, a gated feed-forward block.
#include "formats/model/families.hpp"

namespace varve {
inline namespace v0 {
namespace model_file {

namespace {

/// What a class of transformers assumes where the file says nothing.
struct defaults {
  std::int64_t heads = 0;       ///< 0: must be said
  std::int64_t keys = 0;        ///< key-value heads; 0: as many as heads
  std::int64_t head_width = 0;  ///< 0: width ÷ heads
  std::int64_t vocabulary = 0;  ///< 0: must be said
  bool tied = false;
};

/// The model without its feed-forward blocks and layers; returns what all layers have in common.
model_layer describe_common(const config& from, model& m, const defaults& otherwise) {
  m.norms = norm_kind::rms;
  m.width = from.need({"hidden_size"});
  m.vocabulary = otherwise.vocabulary > 0 ? from.size_or({"vocab_size"}, otherwise.vocabulary)
                                          : from.need({"vocab_size"});
  m.tied = from.flag("tie_word_embeddings", otherwise.tied);
  const std::int64_t heads = otherwise.heads > 0 ? from.size_or({"num_attention_heads"}, otherwise.heads)
                                                 : from.need({"num_attention_heads"});
  // A class takes null for "as many as heads", and its own number only where nothing is said at all.
  const bool all_heads = otherwise.keys == 0 || from.is_null("num_key_value_heads");
  const std::int64_t keys = from.size_or({"num_key_value_heads"}, all_heads ? heads : otherwise.keys);
  const std::int64_t head_width = from.size_or({"head_dim"}, otherwise.head_width, 0);
  model_layer layer;
  layer.attention.heads = equal_heads(from, {"num_attention_heads"}, m.width, heads, keys, head_width);
  return layer;
}

void set_bias(const config& from, model_layer& layer, bool otherwise = false) {
  layer.attention.bias = layer.attention.output_bias = from.flag("attention_bias", otherwise);
}

/// The window of a file that says whether it is used (Qwen): from layer max_window_layers on.
void set_qwen_windows(const config& from, model& m) {
  const std::int64_t window =
      from.flag("use_sliding_window", false) ? from.size_or({"sliding_window"}, 0, 0) : 0;
  if (window == 0 || set_windows(from, m, window)) {
    return;
  }
  const auto full = static_cast<std::size_t>(from.size_or({"max_window_layers"}, 28, 0));
  for (std::size_t i = full; i < m.layers.size(); ++i) {
    m.layers[i].attention.window = window;
  }
}

expert_layer experts(const config& from, names count, std::int64_t width) {
  expert_layer out;
  out.count = from.need(count);
  for (const std::string_view other : count) {
    if (from.size_or({other}, out.count) != out.count) {
      from.fail(*count.begin(), "is another number than " + std::string{other} + "; correct one of them");
    }
  }
  out.chosen = from.need({"num_experts_per_tok", "experts_per_token"});
  out.width = width;
  if (out.chosen > out.count) {
    from.fail("num_experts_per_tok", "is more than there are experts; correct one of them");
  }
  return out;
}

/// Qwen mixes layers with experts and dense ones.
void set_qwen_experts(const config& from, model& m, const expert_layer& mixture) {
  const std::int64_t step = from.size_or({"decoder_sparse_step"}, 1);
  const std::vector<std::int64_t> dense = from.integers("mlp_only_layers");
  for (std::size_t i = 0; i < m.layers.size(); ++i) {
    if ((i + 1) % static_cast<std::size_t>(step) == 0) {
      m.layers[i].experts = mixture;
    }
  }
  for (const std::int64_t i : dense) {
    if (static_cast<std::size_t>(i) < m.layers.size()) {
      m.layers[static_cast<std::size_t>(i)].experts = {};
    }
  }
}

std::int64_t layers(const config& from) { return from.need({"num_hidden_layers"}); }

}  // namespace

void describe_llama(const config& from, model& m) {
  model_layer layer = describe_common(from, m, {});
  set_bias(from, layer);
  layer.mlp.width = from.need({"intermediate_size"});
  layer.mlp.bias = from.flag("mlp_bias", false);
  repeat(from, m, layers(from), layer);
}

void describe_mistral(const config& from, model& m) {
  model_layer layer = describe_common(from, m, {0, 8});
  layer.mlp.width = from.need({"intermediate_size"});
  const std::int64_t window = from.size_or({"sliding_window"}, from.is_null("sliding_window") ? 0 : 4096, 0);
  layer.attention.window = window;
  repeat(from, m, layers(from), layer);
  set_windows(from, m, window);
}

void describe_mixtral(const config& from, model& m) {
  model_layer layer = describe_common(from, m, {0, 8});
  layer.experts = experts(from, {"num_local_experts", "num_experts"}, from.need({"intermediate_size"}));
  layer.attention.window = from.size_or({"sliding_window"}, 0, 0);
  repeat(from, m, layers(from), layer);
}

void describe_qwen2(const config& from, model& m) {
  model_layer layer = describe_common(from, m, {0, 32});
  layer.attention.bias = true;
  layer.mlp.width = from.need({"intermediate_size"});
  repeat(from, m, layers(from), layer);
  set_qwen_windows(from, m);
}

void describe_qwen2_moe(const config& from, model& m) {
  model_layer layer = describe_common(from, m, {0, 16});
  layer.attention.bias = from.flag("qkv_bias", true);
  layer.mlp.width = from.need({"intermediate_size"});
  repeat(from, m, layers(from), layer);
  expert_layer mixture = experts(from, {"num_experts"}, from.need({"moe_intermediate_size"}));
  mixture.shared_width = from.need({"shared_expert_intermediate_size"}, 0);
  mixture.shared_gate = mixture.shared_width > 0;
  set_qwen_experts(from, m, mixture);
  set_qwen_windows(from, m);
}

void describe_qwen3(const config& from, model& m) {
  model_layer layer = describe_common(from, m, {0, 32, 128});
  set_bias(from, layer);
  layer.attention.query_key_norm = true;
  layer.mlp.width = from.need({"intermediate_size"});
  repeat(from, m, layers(from), layer);
  set_qwen_windows(from, m);
}

void describe_qwen3_moe(const config& from, model& m) {
  model_layer layer = describe_common(from, m, {0, 4});
  set_bias(from, layer);
  layer.attention.query_key_norm = true;
  layer.mlp.width = from.need({"intermediate_size"});
  repeat(from, m, layers(from), layer);
  set_qwen_experts(from, m,
                   experts(from, {"num_experts", "num_local_experts"}, from.need({"moe_intermediate_size"})));
  set_qwen_windows(from, m);
}

void describe_gemma(const config& from, model& m) {
  model_layer layer = describe_common(from, m, {0, 16, 256, 0, true});
  set_bias(from, layer);
  layer.mlp.width = from.need({"intermediate_size"});
  repeat(from, m, layers(from), layer);
}

void describe_gemma2(const config& from, model& m) {
  model_layer layer = describe_common(from, m, {0, 4, 256, 0, true});
  set_bias(from, layer);
  layer.post_norms = true;
  layer.mlp.width = from.need({"intermediate_size"});
  repeat(from, m, layers(from), layer);
  const std::int64_t window = from.size_or({"sliding_window"}, 4096, 0);
  if (!set_windows(from, m, window)) {
    for (std::size_t i = 0; i < m.layers.size(); i += 2) {
      m.layers[i].attention.window = window;
    }
  }
}

void describe_gemma3(const config& from, model& m) {
  model_layer layer = describe_common(from, m, {8, 4, 256, 262208, true});
  set_bias(from, layer);
  layer.attention.query_key_norm = true;
  layer.post_norms = true;
  layer.mlp.width = from.need({"intermediate_size"});
  repeat(from, m, layers(from), layer);
  const std::int64_t window = from.size_or({"sliding_window"}, 4096, 0);
  const auto every =
      static_cast<std::size_t>(from.size_or({"sliding_window_pattern", "_sliding_window_pattern"}, 6));
  if (!set_windows(from, m, window)) {
    for (std::size_t i = 0; i < m.layers.size(); ++i) {
      m.layers[i].attention.window = (i + 1) % every != 0 ? window : 0;
    }
  }
}

void describe_phi3(const config& from, model& m) {
  model_layer layer = describe_common(from, m, {});
  layer.mlp.width = from.need({"intermediate_size"});
  const std::int64_t window = from.size_or({"sliding_window"}, 0, 0);
  layer.attention.window = window;
  repeat(from, m, layers(from), layer);
  set_windows(from, m, window);
}

void describe_phimoe(const config& from, model& m) {
  model_layer layer = describe_common(from, m, {0, 8});
  m.norms = norm_kind::layer;
  m.head_bias = from.flag("lm_head_bias", false);
  set_bias(from, layer);
  layer.experts = experts(from, {"num_local_experts"}, from.need({"intermediate_size"}));
  layer.attention.window = from.size_or({"sliding_window"}, 0, 0);
  repeat(from, m, layers(from), layer);
}

void describe_gpt_oss(const config& from, model& m) {
  model_layer layer = describe_common(from, m, {0, 8, 64});
  set_bias(from, layer, true);
  layer.attention.sinks = true;
  layer.experts = experts(from, {"num_local_experts", "num_experts"}, from.need({"intermediate_size"}));
  layer.experts.bias = true;
  layer.experts.router_bias = true;
  repeat(from, m, layers(from), layer);
  const std::int64_t window = from.size_or({"sliding_window"}, from.is_null("sliding_window") ? 0 : 128, 0);
  if (!set_windows(from, m, window)) {
    for (std::size_t i = 0; i < m.layers.size(); i += 2) {
      m.layers[i].attention.window = window;
    }
  }
}

}  // namespace model_file
}  // namespace v0
}  // namespace varve
