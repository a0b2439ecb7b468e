// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Work of operators that move more than they compute: norms, copies, caches, rotations.
#include "formats/pytorch/operator_terms.hpp"

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

std::optional<terms> read_and_written(const inputs& in) {
  if (!is_tensor(in[0])) {
    return std::nullopt;
  }
  terms t;
  t.activations = size_of(in[0]) * 2;
  return t;
}

std::optional<terms> fill(const inputs& in) {
  terms t;
  t.activations = size_of(in[0]);
  return is_tensor(in[0]) ? std::optional{t} : std::nullopt;
}

/// Into the first from the second.
std::optional<terms> copy(const inputs& in) {
  if (!is_tensor(in[0]) || type_of(in[1]) == nullptr) {
    return std::nullopt;
  }
  terms t;
  t.activations = size_of(in[0]) + size_of(in[1]);
  return t;
}

/// The input and as much of results, and weights at these places.
template <std::size_t... Weights>
std::optional<terms> normalisation(const inputs& in) {
  auto t = read_and_written(in);
  if (t) {
    ((t->weights = t->weights + size_of(in[Weights])), ...);
  }
  return t;
}

/// The rows that are asked for, not the whole table.
std::optional<terms> embedding(const inputs& in) {
  if (in[0].sizes.size() != 2 || !is_tensor(in[0]) || !is_tensor(in[1])) {
    return std::nullopt;
  }
  const amount rows = elements(in[1]) * in[0].sizes[1] * element_size(in[0]);
  terms t;
  if (rows.value() == 0) {
    return t;
  }
  t.weights = rows;
  t.activations = rows + size_of(in[1]);
  return t;
}

// Of vLLM, results first.

std::optional<terms> vllm_rms_norm(const inputs& in) {
  if (!is_tensor(in[0]) || !is_tensor(in[1]) || !is_tensor(in[2])) {
    return std::nullopt;
  }
  terms t;
  t.weights = size_of(in[2]);
  t.activations = size_of(in[0]) + size_of(in[1]);
  return t;
}

/// Input and residual are read and written.
std::optional<terms> vllm_fused_add_rms_norm(const inputs& in) {
  auto t = vllm_rms_norm(in);
  if (t) {
    t->activations = t->activations * 2;
  }
  return t;
}

std::optional<terms> vllm_read_and_written(const inputs& in) {
  if (!is_tensor(in[0]) || !is_tensor(in[1])) {
    return std::nullopt;
  }
  terms t;
  t.activations = size_of(in[0]) + size_of(in[1]);
  return t;
}

/// Of the table of angles a row each token.
std::optional<terms> vllm_rotary(const inputs& in) {
  if (!is_tensor(in[0]) || !is_tensor(in[1]) || in[4].sizes.size() != 2 || !is_tensor(in[4])) {
    return std::nullopt;
  }
  terms t;
  t.activations = (size_of(in[1]) + size_of(in[2])) * 2 + size_of(in[0]) +
                  elements(in[0]) * in[4].sizes[1] * element_size(in[4]);
  return t;
}

/// New keys and values into the cache, whose size is of no matter.
std::optional<terms> vllm_cache(const inputs& in) {
  if (!is_tensor(in[0]) || !is_tensor(in[1]) || !is_tensor(in[2])) {
    return std::nullopt;
  }
  terms t;
  t.activations = size_of(in[0]) + size_of(in[1]);
  t.kv = (elements(in[0]) + elements(in[1])) * element_size(in[2]);
  return t;
}

constexpr known_operator known_movement[] = {
    {"aten::embedding", embedding},
    {"aten::native_layer_norm", normalisation<2, 3>},
    {"aten::_fused_rms_norm", normalisation<2>},
    {"aten::native_group_norm", normalisation<1, 2>},
    {"aten::_softmax", read_and_written},
    {"aten::_log_softmax", read_and_written},
    {"aten::copy_", copy},
    {"aten::fill_", fill},
    {"aten::zero_", fill},
    {"_C::rms_norm", vllm_rms_norm},
    {"_C::fused_add_rms_norm", vllm_fused_add_rms_norm},
    {"_C::rms_norm_static_fp8_quant", vllm_rms_norm},
    {"_C::rms_norm_dynamic_per_token_quant", vllm_rms_norm},
    {"_C::silu_and_mul", vllm_read_and_written},
    {"_C::mul_and_silu", vllm_read_and_written},
    {"_C::gelu_and_mul", vllm_read_and_written},
    {"_C::gelu_tanh_and_mul", vllm_read_and_written},
    {"_C::swigluoai_and_mul", vllm_read_and_written},
    {"_C::static_scaled_fp8_quant", vllm_read_and_written},
    {"_C::dynamic_scaled_fp8_quant", vllm_read_and_written},
    {"_C::dynamic_per_token_scaled_fp8_quant", vllm_read_and_written},
    {"_C::rotary_embedding", vllm_rotary},
    {"_C_cache_ops::reshape_and_cache", vllm_cache},
    {"_C_cache_ops::reshape_and_cache_flash", vllm_cache},
};

}  // namespace

const known_operator* find_movement(std::string_view name) noexcept { return find(name, known_movement); }

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
