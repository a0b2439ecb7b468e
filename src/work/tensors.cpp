// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "work/tensors.hpp"

namespace varve {
inline namespace v0 {
namespace tensors {

namespace {

void add_attention(std::vector<tensor>& out, const model& m, const attention_layer& a) {
  const std::int64_t queries = sizes::product(a.heads.queries, a.heads.key_width);
  const std::int64_t keys = sizes::product(a.heads.keys, a.heads.key_width);
  const std::int64_t values = sizes::product(a.heads.keys, a.heads.value_width);
  const std::int64_t attended = sizes::product(a.heads.queries, a.heads.value_width);
  std::int64_t biased = 0;  // outputs of the projections that have one
  if (a.latent > 0) {
    if (a.query_latent > 0) {
      out.push_back({part::qkv, a.query_latent, m.width, a.in});
      out.push_back({part::norms, a.query_latent, 1, m.type});
      out.push_back({part::qkv, queries, a.query_latent, a.queries_up.value_or(a.in)});
      biased = a.query_latent;
    } else {
      out.push_back({part::qkv, queries, m.width, a.in});
    }
    const std::int64_t cached = sizes::sum(a.latent, a.rotary);
    out.push_back({part::qkv, cached, m.width, a.keys.value_or(a.in)});
    out.push_back({part::norms, a.latent, 1, m.type});
    const std::int64_t expanded =
        sizes::product(a.heads.queries, sizes::sum(a.heads.key_width - a.rotary, a.heads.value_width));
    out.push_back({part::qkv, expanded, a.latent, a.values.value_or(a.in)});
    biased = sizes::sum(biased, cached);
  } else {
    out.push_back({part::qkv, queries, m.width, a.in});
    out.push_back({part::qkv, keys, m.width, a.keys.value_or(a.in)});
    out.push_back({part::qkv, values, m.width, a.values.value_or(a.in)});
    biased = sizes::sum(queries, sizes::sum(keys, values));
  }
  out.push_back({part::qkv_bias, a.bias ? biased : 0, 1, m.type});
  if (a.query_key_norm) {
    out.push_back({part::norms, sizes::product(2, norm_vectors(m), a.heads.key_width), 1, m.type});
  }
  out.push_back({part::sinks, a.sinks ? a.heads.queries : 0, 1, m.type});
  out.push_back({part::output, m.width, attended, a.output});
  out.push_back({part::output_bias, a.output_bias ? m.width : 0, 1, m.type});
}

void add_mlp(std::vector<tensor>& out, const model& m, const mlp_layer& mlp) {
  if (mlp.gated) {
    out.push_back({part::gate, mlp.width, m.width, mlp.weights});
  }
  out.push_back({part::up, mlp.width, m.width, mlp.up.value_or(mlp.weights)});
  out.push_back({part::down, m.width, mlp.width, mlp.down.value_or(mlp.weights)});
  if (mlp.bias) {
    const std::int64_t hidden = sizes::product(mlp.gated ? 2 : 1, mlp.width);
    out.push_back({part::mlp_bias, sizes::sum(hidden, m.width), 1, m.type});
  }
}

void add_experts(std::vector<tensor>& out, const model& m, const expert_layer& e) {
  out.push_back({part::router, e.count, m.width, m.type});
  out.push_back({part::router_bias, e.router_bias ? e.count : 0, 1, m.type});
  out.push_back({part::experts, e.width, m.width, e.weights, e.count, e.chosen});
  out.push_back({part::experts, e.width, m.width, e.up.value_or(e.weights), e.count, e.chosen});
  out.push_back({part::experts, m.width, e.width, e.down.value_or(e.weights), e.count, e.chosen});
  if (e.bias) {
    const std::int64_t each = sizes::sum(sizes::product(2, e.width), m.width);
    out.push_back({part::expert_bias, each, 1, m.type, e.count, e.chosen});
  }
  out.push_back({part::shared, e.shared_width, m.width, e.shared});
  out.push_back({part::shared, e.shared_width, m.width, e.shared_up.value_or(e.shared)});
  out.push_back({part::shared, m.width, e.shared_width, e.shared_down.value_or(e.shared)});
  out.push_back({part::shared, e.shared_gate ? 1 : 0, m.width, m.type});
}

}  // namespace

std::vector<tensor> of(const model& m, const model_layer& layer) {
  std::vector<tensor> out;
  add_attention(out, m, layer.attention);
  if (layer.experts.count > 0) {
    add_experts(out, m, layer.experts);
  } else if (layer.mlp.width > 0) {
    add_mlp(out, m, layer.mlp);
  }
  const std::int64_t norms = layer.norms + (layer.post_norms ? 2 : 0);
  out.push_back({part::norms, sizes::product(norms, norm_vectors(m), m.width), 1, m.type});
  return out;
}

}  // namespace tensors
}  // namespace v0
}  // namespace varve
