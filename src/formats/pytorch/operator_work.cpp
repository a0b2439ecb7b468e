// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/operator_work.hpp"

#include "formats/pytorch/amount.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

using inputs = operator_inputs;

struct type_facts {
  std::string_view name;
  std::int64_t size = 0;  // bytes of an element
  bool floating = false;
};

constexpr std::array<type_facts, 38> types{{
    {"float", 4, true},
    {"double", 8, true},
    {"c10::Half", 2, true},
    {"at::Half", 2, true},
    {"c10::BFloat16", 2, true},
    {"at::BFloat16", 2, true},
    {"c10::complex<float>", 8, true},
    {"c10::complex<double>", 16, true},
    {"c10::complex<c10::Half>", 4, true},
    {"c10::Float8_e4m3fn", 1, true},
    {"c10::Float8_e5m2", 1, true},
    {"c10::Float8_e4m3fnuz", 1, true},
    {"c10::Float8_e5m2fnuz", 1, true},
    {"c10::Float8_e8m0fnu", 1, true},
    {"c10::Float4_e2m1fn_x2", 1, true},  // two numbers
    {"int", 4},
    {"unsigned int", 4},
    {"long int", 8},
    {"long", 8},
    {"long long", 8},
    {"long long int", 8},
    {"__int64", 8},
    {"unsigned long", 8},
    {"long unsigned int", 8},
    {"short", 2},
    {"short int", 2},
    {"unsigned short", 2},
    {"short unsigned int", 2},
    {"char", 1},
    {"signed char", 1},
    {"unsigned char", 1},
    {"bool", 1},
    {"c10::qint8", 1},
    {"c10::quint8", 1},
    {"c10::qint32", 4},
    {"Byte", 1},
    {"Char", 1},
    {"Bool", 1},
}};
constexpr std::string_view packed_type = "c10::Float4_e2m1fn_x2";

const type_facts* type_of(const operator_input& in) noexcept {
  const auto* const found =
      std::find_if(types.begin(), types.end(), [&](const type_facts& t) { return t.name == in.type; });
  return found != types.end() ? found : nullptr;
}

/// A tensor of at least one dimension: one of none is a number, which costs nothing.
bool is_tensor(const operator_input& in) noexcept { return !in.sizes.empty() && type_of(in) != nullptr; }

amount element_size(const operator_input& in) noexcept {
  const type_facts* const t = type_of(in);
  return t != nullptr ? amount{t->size} : amount::unknown();
}

amount product(const std::vector<std::int64_t>& sizes, std::size_t first = 0) noexcept {
  amount n{1};
  for (std::size_t i = first; i < sizes.size(); ++i) {
    n = n * sizes[i];
  }
  return n;
}

amount elements(const operator_input& in) noexcept { return product(in.sizes); }

/// Of a tensor; nothing for what is none.
amount size_of(const operator_input& in) noexcept {
  return in.sizes.empty() ? amount{0} : elements(in) * element_size(in);
}

/// Bytes of weights, KV cache and activations are apart.
struct terms {
  amount flops{0};
  amount weights{0};
  amount kv{0};
  amount activations{0};
};
using formula = std::optional<terms> (*)(const inputs&);

/// A[m,k] · B[k,n], in all `batch` times.
struct product_sizes {
  amount batch{1};
  amount m, n, k;
  [[nodiscard]] amount flops() const noexcept { return batch * m * n * k * 2; }
};

/// C = A·B, B of weights; `result` bytes an element of C. The bias adds to each element of C.
std::optional<terms> weighted(const product_sizes& p, const operator_input& a, const operator_input& b,
                              const operator_input& bias, amount result) {
  const amount out = p.batch * p.m * p.n;
  terms t;
  t.flops = p.flops();
  t.weights = size_of(b);
  t.activations = size_of(a) + out * result;
  if (is_tensor(bias)) {
    t.flops = t.flops + out;
    t.weights = t.weights + size_of(bias);
  }
  return t;
}

std::optional<terms> mm_of(const inputs& in, std::size_t a, const operator_input& bias) {
  const operator_input& x = in[a];
  const operator_input& w = in[a + 1];
  if (x.sizes.size() != 2 || w.sizes.size() != 2 || x.sizes[1] != w.sizes[0]) {
    return std::nullopt;
  }
  return weighted({1, x.sizes[0], w.sizes[1], x.sizes[1]}, x, w, bias, element_size(x));
}

std::optional<terms> mm(const inputs& in) { return mm_of(in, 0, {}); }
std::optional<terms> addmm(const inputs& in) {
  return mm_of(in, 1, in[3].value == "0" ? operator_input{} : in[0]);
}

std::optional<terms> linear(const inputs& in) {
  const operator_input& x = in[0];
  const operator_input& w = in[1];
  if (x.sizes.empty() || w.sizes.size() != 2 || x.sizes.back() != w.sizes[1]) {
    return std::nullopt;
  }
  amount rows{1};
  for (std::size_t i = 0; i + 1 < x.sizes.size(); ++i) {
    rows = rows * x.sizes[i];
  }
  return weighted({1, rows, w.sizes[0], w.sizes[1]}, x, w, in[2], element_size(x));
}

/// Both are activations; the sizes before the last two are the batch's, of which a missing one or a 1
/// repeats.
std::optional<terms> batched(const operator_input& a, const operator_input& b, const operator_input* added) {
  const auto& x = a.sizes;
  const auto& y = b.sizes;
  if (x.size() < 2 || y.size() < 2 || x.back() != y[y.size() - 2]) {
    return std::nullopt;
  }
  product_sizes p{1, x[x.size() - 2], y.back(), x.back()};
  for (std::size_t back = 3; back <= std::max(x.size(), y.size()); ++back) {
    const std::int64_t i = back <= x.size() ? x[x.size() - back] : 1;
    const std::int64_t j = back <= y.size() ? y[y.size() - back] : 1;
    if (i != j && i != 1 && j != 1) {
      return std::nullopt;
    }
    p.batch = p.batch * (i == 1 ? j : i);
  }
  terms t;
  const amount out = p.batch * p.m * p.n;
  t.flops = p.flops();
  t.activations = size_of(a) + size_of(b) + out * element_size(a);
  if (added != nullptr) {
    t.flops = t.flops + out;
    t.activations = t.activations + size_of(*added);
  }
  return t;
}

std::optional<terms> bmm(const inputs& in) {
  return in[0].sizes.size() == 3 && in[1].sizes.size() == 3 ? batched(in[0], in[1], nullptr) : std::nullopt;
}
std::optional<terms> baddbmm(const inputs& in) {
  return in[1].sizes.size() == 3 && in[2].sizes.size() == 3
             ? batched(in[1], in[2], in[3].value == "0" ? nullptr : &in[0])
             : std::nullopt;
}

/// By a matrix: the product of a linear layer. By a batch of them: of activations. Vectors are left to the
/// operators inside.
std::optional<terms> matmul(const inputs& in) {
  const auto& x = in[0].sizes;
  const auto& y = in[1].sizes;
  if (x.size() < 2 || y.size() != 2) {
    return batched(in[0], in[1], nullptr);
  }
  if (x.back() != y[0]) {
    return std::nullopt;
  }
  amount rows{1};
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    rows = rows * x[i];
  }
  return weighted({1, rows, y[1], y[0]}, in[0], in[1], {}, element_size(in[0]));
}

/// 8-bit and packed 4-bit matrices with their scales. The result has the type that is asked for, as PyTorch
/// numbers types, or else 16 bits.
std::optional<terms> scaled_mm(const inputs& in) {
  const operator_input& a = in[0];
  const operator_input& b = in[1];
  if (a.sizes.size() != 2 || b.sizes.size() != 2 || a.sizes[1] != b.sizes[0]) {
    return std::nullopt;
  }
  // Since 2.4: scales, bias, scale of the result, type; before: bias, type, scales.
  const bool scales_first = type_of(in[3]) != nullptr;
  const std::size_t bias = scales_first ? 4 : 2;
  const std::string_view out = in[scales_first ? 6 : 3].value;
  const std::int64_t result = out == "6"                                                 ? 4
                              : out == "23" || out == "24" || out == "25" || out == "26" ? 1
                                                                                         : 2;
  const std::int64_t packed = a.type == packed_type ? 2 : 1;
  auto t = weighted({1, a.sizes[0], b.sizes[1], amount{a.sizes[1]} * packed}, a, b, in[bias], amount{result});
  const std::size_t scales = scales_first ? 2 : 4;
  t->activations = t->activations + size_of(in[scales]);
  t->weights = t->weights + size_of(in[scales + 1]);
  return t;
}

/// q, k and v as [batch, heads, length, size] or, `heads_last`, [batch, length, heads, size]. Causal
/// attention counts the pairs on and below the diagonal. With fewer queries than keys it ends at the last of
/// both, where it is known to.
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
  t.kv = size_of(in[1]) + size_of(in[2]);
  t.activations = size_of(in[0]) + head_count * queries * v[3] * element_size(in[0]);
  return t;
}

bool is_truth(std::string_view value) noexcept { return value == "True" || value == "False"; }

/// A window of keys about each query, as FlashAttention says it: −1 for none.
bool is_window(const operator_input& in) noexcept { return !in.value.empty() && in.value != "-1"; }

/// `at` says whether it is causal; when that was not recorded nothing is known. A mask is the fourth input.
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

/// Elements of the result along one dimension.
amount window_count(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                    std::int64_t dilation) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  if (size > most || kernel > most || padding > most || dilation > most || padding < 0 || dilation < 1 ||
      kernel < 1 || stride < 1) {
    return amount::unknown();
  }
  const std::int64_t room = size + 2 * padding - (dilation * (kernel - 1) + 1);  // below 2^61
  return room < 0 ? amount::unknown() : amount{room / stride + 1};
}

std::optional<terms> convolution_of(const inputs& in, const operator_input& bias, std::size_t stride,
                                    std::size_t padding, std::size_t dilation) {
  const auto& x = in[0].sizes;
  const auto& w = in[1].sizes;
  if (x.size() < 3 || w.size() != x.size()) {
    return std::nullopt;
  }
  const auto strides = whole_numbers(in[stride].value);
  const auto paddings = whole_numbers(in[padding].value);
  const auto dilations = whole_numbers(in[dilation].value);
  if (!strides || !paddings || !dilations) {
    return std::nullopt;
  }
  const auto at = [](const std::vector<std::int64_t>& list, std::size_t i) {
    return list.size() == 1 ? list[0] : i < list.size() ? list[i] : -1;
  };
  terms t;
  t.weights = size_of(in[1]) + size_of(bias);
  amount out = amount{x[0]} * w[0];
  for (std::size_t i = 0; i + 2 < x.size(); ++i) {
    out = out * window_count(x[i + 2], w[i + 2], at(*strides, i), at(*paddings, i), at(*dilations, i));
  }
  t.flops = out * product(w, 1) * 2 + (is_tensor(bias) ? out : amount{0});
  t.activations = size_of(in[0]) + out * element_size(in[0]);
  return t;
}

std::optional<terms> conv(const inputs& in) { return convolution_of(in, in[2], 3, 4, 5); }
std::optional<terms> convolution(const inputs& in) {
  return in[6].value == "False" ? conv(in) : std::nullopt;  // not transposed
}
std::optional<terms> cudnn_convolution(const inputs& in) { return convolution_of(in, {}, 3, 2, 4); }

/// How two tensors, or a tensor and a number, go together element by element.
struct broadcast {
  amount count{1};
  amount size;  // bytes of an element of the result
};

std::optional<broadcast> broadcast_of(const operator_input& a, const operator_input& b) {
  broadcast out;
  const auto& x = a.sizes;
  const auto& y = b.sizes;
  for (std::size_t back = 1; back <= std::max(x.size(), y.size()); ++back) {
    const std::int64_t i = back <= x.size() ? x[x.size() - back] : 1;
    const std::int64_t j = back <= y.size() ? y[y.size() - back] : 1;
    if (i != j && i != 1 && j != 1) {
      return std::nullopt;
    }
    out.count = out.count * (i == 1 ? j : i);
  }
  // The type of the wider one, floating before whole; numbers do not widen a tensor.
  const type_facts* const s = x.empty() && !y.empty() ? nullptr : type_of(a);
  const type_facts* const t = y.empty() ? nullptr : type_of(b);
  if (s == nullptr && t == nullptr) {
    return std::nullopt;
  }
  const type_facts& wide = s == nullptr                 ? *t
                           : t == nullptr               ? *s
                           : s->floating != t->floating ? (s->floating ? *s : *t)
                           : s->size >= t->size         ? *s
                                                        : *t;
  out.size = amount{wide.size};
  return out;
}

std::optional<terms> element_wise(const inputs& in, std::int64_t flops_each,
                                  std::optional<std::int64_t> result) {
  if ((!in[0].sizes.empty() && !is_tensor(in[0])) || (!in[1].sizes.empty() && !is_tensor(in[1]))) {
    return std::nullopt;
  }
  const auto together = broadcast_of(in[0], in[1]);
  if (!together) {
    return std::nullopt;
  }
  terms t;
  t.flops = together->count * flops_each;
  t.activations =
      size_of(in[0]) + size_of(in[1]) + together->count * (result ? amount{*result} : together->size);
  return t;
}

std::optional<terms> binary(const inputs& in) { return element_wise(in, 1, {}); }
std::optional<terms> comparison(const inputs& in) { return element_wise(in, 0, 1); }

std::optional<terms> per_element(const inputs& in, std::int64_t flops) {
  if (!is_tensor(in[0])) {
    return std::nullopt;
  }
  terms t;
  t.flops = elements(in[0]) * flops;
  t.activations = size_of(in[0]) * 2;
  return t;
}
std::optional<terms> unary(const inputs& in) { return per_element(in, 1); }

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

/// All of it is read; what remains is small.
std::optional<terms> reduction(const inputs& in) {
  terms t;
  t.flops = elements(in[0]);
  t.activations = size_of(in[0]);
  return is_tensor(in[0]) ? std::optional{t} : std::nullopt;
}

/// The input and as much of results, and weights at these places.
template <std::size_t... Weights>
std::optional<terms> normalisation(const inputs& in) {
  auto t = per_element(in, 0);
  if (t) {
    ((t->weights = t->weights + size_of(in[Weights])), ...);
  }
  return t;
}

std::optional<terms> softmax(const inputs& in) { return per_element(in, 0); }

/// The rows that are asked for, not the whole table.
std::optional<terms> embedding(const inputs& in) {
  if (in[0].sizes.size() != 2 || !is_tensor(in[0]) || !is_tensor(in[1])) {
    return std::nullopt;
  }
  const amount rows = elements(in[1]) * in[0].sizes[1] * element_size(in[0]);
  terms t;
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
    t->flops = elements(in[0]);
    t->activations = t->activations * 2;
  }
  return t;
}

std::optional<terms> vllm_gated(const inputs& in) {
  if (!is_tensor(in[0]) || !is_tensor(in[1])) {
    return std::nullopt;
  }
  terms t;
  t.flops = elements(in[0]) * 2;
  t.activations = size_of(in[0]) + size_of(in[1]);
  return t;
}

std::optional<terms> vllm_quantised(const inputs& in) {
  auto t = vllm_gated(in);
  if (t) {
    t->flops = amount{0};
  }
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

std::optional<terms> cutlass_scaled_mm(const inputs& in) {
  const operator_input& c = in[0];
  const operator_input& a = in[1];
  const operator_input& b = in[2];
  if (a.sizes.size() != 2 || b.sizes.size() != 2 || a.sizes[1] != b.sizes[0]) {
    return std::nullopt;
  }
  auto t = weighted({1, a.sizes[0], b.sizes[1], a.sizes[1]}, a, b, in[5], element_size(c));
  t->activations = t->activations + size_of(in[3]);
  t->weights = t->weights + size_of(in[4]);
  return t;
}

/// 4-bit weights packed eight to an int, a scale for each group and column.
std::optional<terms> awq_gemm(const inputs& in) {
  const operator_input& a = in[0];
  const operator_input& scales = in[2];
  if (a.sizes.size() != 2 || scales.sizes.size() != 2) {
    return std::nullopt;
  }
  auto t = weighted({1, a.sizes[0], scales.sizes[1], a.sizes[1]}, a, in[1], {}, element_size(a));
  t->weights = t->weights + size_of(scales) + size_of(in[3]);
  return t;
}

std::optional<terms> gptq_gemm(const inputs& in) {
  const operator_input& a = in[0];
  const operator_input& b = in[1];
  if (a.sizes.size() != 2 || b.sizes.size() != 2) {
    return std::nullopt;
  }
  auto t = weighted({1, a.sizes[0], b.sizes[1], a.sizes[1]}, a, b, {}, element_size(a));
  t->weights = t->weights + size_of(in[2]) + size_of(in[3]);
  return t;
}

struct known_operator {
  std::string_view name;
  formula of;
  bool by_value = false;
};

constexpr known_operator known[] = {
    {"aten::mm", mm},
    {"aten::addmm", addmm, true},
    {"aten::bmm", bmm},
    {"aten::baddbmm", baddbmm, true},
    {"aten::linear", linear},
    {"aten::matmul", matmul},
    {"aten::_scaled_mm", scaled_mm, true},
    {"aten::scaled_dot_product_attention", scaled_attention<5>, true},
    {"aten::_scaled_dot_product_flash_attention", scaled_attention<4>, true},
    {"aten::_scaled_dot_product_efficient_attention", scaled_attention<6>, true},
    {"aten::_scaled_dot_product_cudnn_attention", cudnn_attention, true},
    {"aten::_flash_attention_forward", flash_forward, true},
    {"aten::_efficient_attention_forward", efficient_forward, true},
    {"flash_attn::_flash_attn_forward", flash_attn_forward, true},
    {"aten::conv1d", conv, true},
    {"aten::conv2d", conv, true},
    {"aten::conv3d", conv, true},
    {"aten::convolution", convolution, true},
    {"aten::_convolution", convolution, true},
    {"aten::cudnn_convolution", cudnn_convolution, true},
    {"aten::embedding", embedding},
    {"aten::native_layer_norm", normalisation<2, 3>},
    {"aten::_fused_rms_norm", normalisation<2>},
    {"aten::native_group_norm", normalisation<1, 2>},
    {"aten::_softmax", softmax},
    {"aten::_log_softmax", softmax},
    {"aten::copy_", copy},
    {"aten::fill_", fill},
    {"aten::zero_", fill},
    {"_C::rms_norm", vllm_rms_norm},
    {"_C::fused_add_rms_norm", vllm_fused_add_rms_norm},
    {"_C::rms_norm_static_fp8_quant", vllm_rms_norm},
    {"_C::rms_norm_dynamic_per_token_quant", vllm_rms_norm},
    {"_C::silu_and_mul", vllm_gated},
    {"_C::mul_and_silu", vllm_gated},
    {"_C::gelu_and_mul", vllm_gated},
    {"_C::gelu_tanh_and_mul", vllm_gated},
    {"_C::swigluoai_and_mul", vllm_gated},
    {"_C::static_scaled_fp8_quant", vllm_quantised},
    {"_C::dynamic_scaled_fp8_quant", vllm_quantised},
    {"_C::dynamic_per_token_scaled_fp8_quant", vllm_quantised},
    {"_C::rotary_embedding", vllm_rotary},
    {"_C::cutlass_scaled_mm", cutlass_scaled_mm},
    {"_C::awq_gemm", awq_gemm},
    {"_C::gptq_gemm", gptq_gemm},
    {"_C_cache_ops::reshape_and_cache", vllm_cache},
    {"_C_cache_ops::reshape_and_cache_flash", vllm_cache},
};

constexpr std::string_view binaries[] = {"add",     "sub",     "rsub", "mul",       "div",  "pow",
                                         "maximum", "minimum", "fmod", "remainder", "atan2"};
constexpr std::string_view comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or"};
constexpr std::string_view unaries[] = {
    "relu",      "gelu",      "silu",       "sigmoid", "tanh",       "neg",      "rsqrt",
    "sqrt",      "exp",       "log",        "abs",     "sin",        "cos",      "clamp",
    "clamp_min", "clamp_max", "reciprocal", "erf",     "leaky_relu", "hardtanh", "square"};
constexpr std::string_view reductions[] = {"sum",    "mean",   "all",  "any", "amax", "amin",
                                           "argmax", "argmin", "prod", "var", "norm"};

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

template <std::size_t Size>
bool is_in(std::string_view name, const std::string_view (&list)[Size]) noexcept {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

/// "aten::add" of "aten::add.Tensor".
std::string_view without_overload(std::string_view name) noexcept {
  const std::size_t scope = name.find("::");
  return scope == std::string_view::npos ? name : name.substr(0, name.find('.', scope));
}

const known_operator* find_known(std::string_view name) noexcept {
  const auto* const found = std::find_if(std::begin(known), std::end(known),
                                         [&](const known_operator& k) { return k.name == name; });
  return found != std::end(known) ? found : nullptr;
}

formula formula_of(std::string_view name) noexcept {
  name = without_overload(name);
  if (const known_operator* const k = find_known(name)) {
    return k->of;
  }
  constexpr std::string_view aten = "aten::";
  if (name.substr(0, aten.size()) != aten) {
    return nullptr;
  }
  name.remove_prefix(aten.size());
  if (!name.empty() && name.back() == '_') {
    name.remove_suffix(1);  // in place: the result is as large as the first input
  }
  return is_in(name, binaries)      ? binary
         : is_in(name, comparisons) ? comparison
         : is_in(name, unaries)     ? unary
         : is_in(name, reductions)  ? reduction
                                    : nullptr;
}

}  // namespace

work operator_work(std::string_view name, const operator_inputs& in) {
  const formula of = formula_of(name);
  const auto t = of != nullptr ? of(in) : std::nullopt;
  if (!t || !t->flops.known() || !(t->weights + t->kv + t->activations).known()) {
    return {};
  }
  return {t->flops.value(), t->weights.value(), t->kv.value(), t->activations.value()};
}

bool needs_more_than_shapes(std::string_view name) noexcept { return is_in(without_overload(name), untold); }

bool needs_values(std::string_view name) noexcept {
  const known_operator* const k = find_known(without_overload(name));
  return k != nullptr && k->by_value;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
