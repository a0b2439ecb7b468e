// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/operator_work.hpp"

#include "formats/pytorch/operator_terms.hpp"

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

// Lengths of sequences are in a tensor or a cache of pages, how many experts there are is in a layer.
constexpr std::string_view untold[] = {"vllm::unified_attention",
                                       "vllm::unified_attention_with_output",
                                       "vllm::unified_mla_attention",
                                       "vllm::unified_mla_attention_with_output",
                                       "vllm::moe_forward",
                                       "vllm::moe_forward_shared",
                                       "flash_attn::_flash_attn_varlen_forward",
                                       "flash_attn_3::_flash_attn_forward",
                                       "flash_attn_3::fwd",
                                       "_vllm_fa2_C::varlen_fwd",
                                       "_vllm_fa3_C::fwd",
                                       "_C::paged_attention_v1",
                                       "_C::paged_attention_v2"};

/// "aten::add" of "aten::add.Tensor".
std::string_view without_overload(std::string_view name) noexcept {
  const std::size_t scope = name.find("::");
  return scope == std::string_view::npos ? name : name.substr(0, name.find('.', scope));
}

const known_operator* find_multiplying(std::string_view name) noexcept {
  for (const auto find : {find_product, find_attention, find_convolution}) {
    if (const known_operator* const k = find(name)) {
      return k;
    }
  }
  return nullptr;
}

const known_operator* find_known(std::string_view name) noexcept {
  const known_operator* const k = find_multiplying(name);
  return k != nullptr ? k : find_movement(name);
}

bool types_are_known(const operator_inputs& in) noexcept {
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!in[i].sizes.empty() && type_of(in[i]) == nullptr) {
      return false;
    }
  }
  return true;
}

}  // namespace

work operator_work(std::string_view name, const operator_inputs& in, loss_counts& losses) {
  name = without_overload(name);
  const known_operator* const k = find_known(name);
  const formula of = k != nullptr ? k->of : element_wise_formula(name);
  const auto t = of != nullptr ? of(in) : std::nullopt;
  if (!t || !t->flops.known() || !(t->weights + t->kv + t->activations).known()) {
    losses.add(lost::unfit_inputs, t && types_are_known(in) ? 1 : 0);
    return {};
  }
  if (find_multiplying(name) != nullptr && t->flops.value() == 0) {
    return {};  // a size of 0: nothing is read
  }
  work w{t->flops.value(), t->weights.value(), t->kv.value(), t->activations.value()};
  w.pipe = t->pipe;
  return w;
}

bool needs_more_than_shapes(std::string_view name) noexcept {
  name = without_overload(name);
  return std::find(std::begin(untold), std::end(untold), name) != std::end(untold);
}

bool needs_values(std::string_view name) noexcept {
  const known_operator* const k = find_known(without_overload(name));
  return k != nullptr && k->by_value;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
