// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Work of matrix products.
#include "formats/pytorch/operator_terms.hpp"

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

/// A[m,k] · B[k,n], in all `batch` times.
struct product_sizes {
  amount batch{1};
  amount m, n, k;
  [[nodiscard]] amount flops() const noexcept { return batch * m * n * k * 2; }
};

/// Of factors whose sizes do not fit each other.
terms unfit() noexcept {
  terms t;
  t.flops = amount::unknown();
  return t;
}

/// C = A·B, B of weights; `result` bytes an element of C.
std::optional<terms> weighted(const product_sizes& p, const operator_input& a, const operator_input& b,
                              const operator_input& bias, amount result) {
  const amount out = p.batch * p.m * p.n;
  terms t;
  t.flops = p.flops();
  t.pipe = product_pipe(a);
  t.weights = size_of(b);
  t.activations = size_of(a) + out * result;
  if (is_tensor(bias)) {
    t.weights = t.weights + size_of(bias);
  }
  return t;
}

std::optional<terms> mm_of(const inputs& in, std::size_t a, const operator_input& bias) {
  const operator_input& x = in[a];
  const operator_input& w = in[a + 1];
  if (x.sizes.size() != 2 || w.sizes.size() != 2) {
    return std::nullopt;
  }
  if (x.sizes[1] != w.sizes[0]) {
    return unfit();
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
  if (x.sizes.empty() || w.sizes.size() != 2) {
    return std::nullopt;
  }
  if (x.sizes.back() != w.sizes[1]) {
    return unfit();
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
  if (x.size() < 2 || y.size() < 2) {
    return std::nullopt;
  }
  if (x.back() != y[y.size() - 2]) {
    return unfit();
  }
  product_sizes p{1, x[x.size() - 2], y.back(), x.back()};
  for (std::size_t i = 3; i <= std::max(x.size(), y.size()); ++i) {
    const auto size = common_size(x, y, i);
    if (!size) {
      return unfit();
    }
    p.batch = p.batch * *size;
  }
  terms t;
  const amount out = p.batch * p.m * p.n;
  t.flops = p.flops();
  t.pipe = product_pipe(a);
  t.activations = size_of(a) + size_of(b) + out * element_size(a);
  if (added != nullptr) {
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
    return unfit();
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
  if (a.sizes.size() != 2 || b.sizes.size() != 2) {
    return std::nullopt;
  }
  if (a.sizes[1] != b.sizes[0]) {
    return unfit();
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

std::optional<terms> cutlass_scaled_mm(const inputs& in) {
  const operator_input& c = in[0];
  const operator_input& a = in[1];
  const operator_input& b = in[2];
  if (a.sizes.size() != 2 || b.sizes.size() != 2) {
    return std::nullopt;
  }
  if (a.sizes[1] != b.sizes[0]) {
    return unfit();
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

constexpr known_operator known_products[] = {
    {"aten::mm", mm},
    {"aten::addmm", addmm, true},
    {"aten::bmm", bmm},
    {"aten::baddbmm", baddbmm, true},
    {"aten::linear", linear},
    {"aten::matmul", matmul},
    {"aten::_scaled_mm", scaled_mm, true},
    {"_C::cutlass_scaled_mm", cutlass_scaled_mm},
    {"_C::awq_gemm", awq_gemm},
    {"_C::gptq_gemm", gptq_gemm},
};

}  // namespace

const known_operator* find_product(std::string_view name) noexcept { return find(name, known_products); }

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
