// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Work of attention over whole tensors of queries, keys and values.
#include "formats/pytorch/operator_terms.hpp"

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

/// q, k and v as [batch, heads, length, size] or, `heads_last`, [batch, length, heads, size]. Causal
/// attention counts the pairs on and below the diagonal. With fewer queries than keys it ends at the last of
/// both, where it is known_attention to.
struct attention_form {
  bool heads_last = false;
  bool causal = false;
  bool ends_together = false;
};

std::optional<terms> attention(const inputs& in, attention_form form) {
  const auto& q = in[0].sizes;
  const auto& k = in[1].sizes;
  const auto& v = in[2].sizes;
  if (q.size() != 4 || k.size() != 4 || v.size() != 4) {
    return std::nullopt;
  }
  const std::size_t length = form.heads_last ? 1 : 2;
  const std::size_t heads = form.heads_last ? 2 : 1;
  const std::int64_t queries = q[length];
  const std::int64_t keys = k[length];
  if (q[0] != k[0] || v[0] != k[0] || v[length] != keys || q[3] != k[3]) {
    return std::nullopt;
  }
  amount pairs = amount{queries} * keys;
  if (form.causal) {
    if (queries == 0 || queries > keys || (queries < keys && !form.ends_together)) {
      return std::nullopt;
    }
    // Query i of n, the first being 0, sees m − n + 1 + i keys: n·m − n·(n − 1) ÷ 2 in all.
    pairs = pairs - half(amount{queries} * (queries - 1));
  }
  terms t;
  const amount head_count = amount{q[0]} * q[heads];
  t.flops = head_count * pairs * (amount{q[3]} + v[3]) * 2;
  t.pipe = product_pipe(in[0]);
  t.kv = size_of(in[1]) + size_of(in[2]);
  t.activations = size_of(in[0]) + head_count * queries * v[3] * element_size(in[0]);
  return t;
}

bool is_truth(std::string_view value) noexcept { return value == "True" || value == "False"; }

/// A window of keys about each query, as FlashAttention says it: −1 for none.
bool is_window(const operator_input& in) noexcept { return !in.value.empty() && in.value != "-1"; }

/// `at` says whether it is causal; when that was not recorded nothing is known_attention. A mask is the
/// fourth input.
std::optional<terms> attention_by(const inputs& in, std::size_t at, bool heads_last, bool ends_together) {
  const std::string_view causal = in[at].value;
  auto t = is_truth(causal) ? attention(in, {heads_last, causal == "True", ends_together}) : std::nullopt;
  if (t && is_tensor(in[3])) {
    t->activations = t->activations + size_of(in[3]);
  }
  return t;
}

template <std::size_t At>
std::optional<terms> scaled_attention(const inputs& in) {
  return attention_by(in, At, false, false);
}

/// Before 2.5 it had no mask.
std::optional<terms> cudnn_attention(const inputs& in) {
  return attention_by(in, is_truth(in[5].value) ? 4 : 6, false, false);
}

// With lengths of the sequences in a tensor (the fourth or fifth input) the trace does not tell them.

std::optional<terms> efficient_forward(const inputs& in) {
  const std::string_view mask = in[9].value;
  if (is_tensor(in[4]) || (mask != "0" && mask != "1" && mask != "2")) {
    return std::nullopt;
  }
  return attention(in, {true, mask != "0", mask == "2"});
}

std::optional<terms> flash_forward(const inputs& in) {
  return is_tensor(in[3]) || is_window(in[11]) || is_window(in[12]) ? std::nullopt
                                                                    : attention_by(in, 8, true, true);
}

std::optional<terms> flash_attn_forward(const inputs& in) {
  return is_window(in[6]) || is_window(in[7]) ? std::nullopt : attention_by(in, 5, true, true);
}

constexpr known_operator known_attention[] = {
    {"aten::scaled_dot_product_attention", scaled_attention<5>, true},
    {"aten::_scaled_dot_product_flash_attention", scaled_attention<4>, true},
    {"aten::_scaled_dot_product_efficient_attention", scaled_attention<6>, true},
    {"aten::_scaled_dot_product_cudnn_attention", cudnn_attention, true},
    {"aten::_flash_attention_forward", flash_forward, true},
    {"aten::_efficient_attention_forward", efficient_forward, true},
    {"flash_attn::_flash_attn_forward", flash_attn_forward, true},
};

}  // namespace

const known_operator* find_attention(std::string_view name) noexcept { return find(name, known_attention); }

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
