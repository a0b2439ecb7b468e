// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "work/layer_work.hpp"

namespace varve {
inline namespace v0 {
namespace model_work {

void add_mlp(operators& to, const model& m, const mlp_layer& mlp, std::int64_t tokens) {
  constexpr std::string_view block = "mlp";
  const std::int64_t hidden_bias = mlp.bias ? mlp.width : 0;
  const std::int64_t bias = mlp.bias ? m.width : 0;
  if (!mlp.gated) {
    to.product(block, "fc1", tokens, mlp.width, m.width, mlp.weights, hidden_bias);
    to.activate(block, "act", tokens, mlp.width, false);
    to.product(block, "fc2", tokens, m.width, mlp.width, mlp.down.value_or(mlp.weights), bias);
    return;
  }
  to.product(block, "gate_proj", tokens, mlp.width, m.width, mlp.weights, hidden_bias);
  const weight_format beside = mlp.up.value_or(mlp.weights);
  operator_work& up = to.product(block, "up_proj", tokens, mlp.width, m.width, beside, hidden_bias);
  up.declared.activation_bytes = up.written_activations;  // its input was read for the gate
  up.with_previous = beside == mlp.weights;
  to.activate(block, "act_mul", tokens, mlp.width, true);
  to.product(block, "down_proj", tokens, m.width, mlp.width, mlp.down.value_or(mlp.weights), bias);
}

namespace {

void add_shared(operators& to, const model& m, const expert_layer& e, std::int64_t tokens) {
  constexpr std::string_view block = "moe";
  const weight_format beside = e.shared_up.value_or(e.shared);
  if (beside == e.shared) {
    operator_work& in =
        to.product(block, "shared_gate_up", tokens, sizes::product(2, e.shared_width), m.width, e.shared);
    in.declared.weight_bytes = sizes::product(2, bytes_of(e.shared_width, m.width, e.shared));
  } else {
    to.product(block, "shared_gate_proj", tokens, e.shared_width, m.width, e.shared);
    operator_work& up = to.product(block, "shared_up_proj", tokens, e.shared_width, m.width, beside);
    up.declared.activation_bytes = up.written_activations;  // its input was read for the gate
  }
  to.activate(block, "shared_act_mul", tokens, e.shared_width, true);
  to.product(block, "shared_down", tokens, m.width, e.shared_width, e.shared_down.value_or(e.shared));
}

}  // namespace

void add_experts(operators& to, const model& m, const expert_layer& e, const batch& b) {
  constexpr std::string_view block = "moe";
  const std::int64_t tokens = b.tokens();
  to.product(block, "router", tokens, e.count, m.width, m.type, e.router_bias ? e.count : 0);

  const std::int64_t rows = sizes::product(tokens, e.chosen);
  const auto chosen = [&](std::string_view name, std::int64_t n, std::int64_t k, std::int64_t matrices,
                          const weight_format& weights) -> operator_work& {
    operator_work& added = to.product(block, name, rows, sizes::product(matrices, n), k, weights);
    const std::int64_t bias = e.bias ? to.bytes(sizes::product(matrices, n)) : 0;
    added.declared.weight_bytes = 0;
    read_experts(added.declared, e.count, e.chosen, tokens,
                 sizes::sum(sizes::product(matrices, bytes_of(n, k, weights)), bias), b.rarest_expert());
    return added;
  };
  const weight_format beside = e.up.value_or(e.weights);
  if (beside == e.weights) {
    chosen("experts_gate_up", e.width, m.width, 2, e.weights);
  } else {
    chosen("experts_gate_proj", e.width, m.width, 1, e.weights);
    operator_work& up = chosen("experts_up_proj", e.width, m.width, 1, beside);
    up.declared.activation_bytes = up.written_activations;  // its input was read for the gate
  }
  to.activate(block, "experts_act_mul", rows, e.width, true);
  chosen("experts_down", m.width, e.width, 1, e.down.value_or(e.weights));

  if (e.shared_width > 0) {
    add_shared(to, m, e, tokens);
  }
  if (e.shared_gate) {
    to.product(block, "shared_gate", tokens, 1, m.width, m.type);
  }

  const std::int64_t summed = sizes::sum(e.chosen, e.shared_width > 0 ? 1 : 0);
  operator_work& combine = to.add(block, "combine", residual(tokens, m.width, m.type, summed));
  combine.written_activations = to.bytes(sizes::product(tokens, m.width));
  combine.elementwise_flops = sizes::product(2, summed, tokens, m.width);
}

}  // namespace model_work
}  // namespace v0
}  // namespace varve
