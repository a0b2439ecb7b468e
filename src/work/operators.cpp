// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "work/layer_work.hpp"
#include "work/tensors.hpp"

namespace varve {
inline namespace v0 {
namespace model_work {

operator_work& operators::add(std::string_view block, std::string_view name, const work& declared) {
  operator_work& added = out_.emplace_back();
  added.layer = layer_;
  added.block = block;
  added.name = name;
  added.declared = declared;
  return added;
}

math_pipe operators::pipe(const weight_format& weights) const noexcept {
  return pipe_of(weights.type, weights.type == m_.type ? m_.type : m_.factors);
}

operator_work& operators::product(std::string_view block, std::string_view name, std::int64_t tokens,
                                  std::int64_t n, std::int64_t k, const weight_format& weights,
                                  std::int64_t bias) {
  work declared = gemm(tokens, n, k, weights, m_.type);
  declared.weight_bytes = sizes::sum(declared.weight_bytes, tokens > 0 ? bytes(bias) : 0);
  declared.pipe = pipe(weights);
  operator_work& added = add(block, name, declared);
  added.written_activations = bytes(sizes::product(tokens, n));
  return added;
}

operator_work& operators::norm(std::string_view name, std::int64_t tokens, std::int64_t width) {
  operator_work& added = add("norm", name, varve::norm(tokens, width, m_.type, tensors::norm_vectors(m_)));
  added.written_activations = bytes(sizes::product(tokens, width));
  added.elementwise_flops = sizes::product(m_.norms == norm_kind::layer ? 7 : 4, tokens, width);
  return added;
}

operator_work& operators::residual(std::string_view name, std::int64_t tokens, std::int64_t inputs) {
  operator_work& added = add("residual", name, varve::residual(tokens, m_.width, m_.type, inputs));
  added.written_activations = bytes(sizes::product(tokens, m_.width));
  added.elementwise_flops = sizes::product(inputs - 1, tokens, m_.width);
  return added;
}

operator_work& operators::activate(std::string_view block, std::string_view name, std::int64_t tokens,
                                   std::int64_t width, bool gated) {
  operator_work& added =
      add(block, name, gated ? gated_activation(tokens, width, m_.type) : activation(tokens, width, m_.type));
  added.written_activations = bytes(sizes::product(tokens, width));
  added.elementwise_flops = sizes::product(gated ? 5 : 4, tokens, width);
  return added;
}

}  // namespace model_work
}  // namespace v0
}  // namespace varve
