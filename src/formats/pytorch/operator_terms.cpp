// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/operator_terms.hpp"

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr element_type types[] = {
    {"float", 4, true},
    {"double", 8, true},
    {"c10::Half", 2, true, math_pipe::fp16_tensor},
    {"at::Half", 2, true, math_pipe::fp16_tensor},
    {"c10::BFloat16", 2, true, math_pipe::bf16_tensor},
    {"at::BFloat16", 2, true, math_pipe::bf16_tensor},
    {"c10::complex<float>", 8, true},
    {"c10::complex<double>", 16, true},
    {"c10::complex<c10::Half>", 4, true},
    {"c10::Float8_e4m3fn", 1, true, math_pipe::fp8_tensor},
    {"c10::Float8_e5m2", 1, true, math_pipe::fp8_tensor},
    {"c10::Float8_e4m3fnuz", 1, true, math_pipe::fp8_tensor},
    {"c10::Float8_e5m2fnuz", 1, true, math_pipe::fp8_tensor},
    {"c10::Float8_e8m0fnu", 1, true},
    {"c10::Float4_e2m1fn_x2", 1, true, math_pipe::fp4_tensor},
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
    {"char", 1, false, math_pipe::int8_tensor},
    {"signed char", 1, false, math_pipe::int8_tensor},
    {"unsigned char", 1},
    {"bool", 1},
    {"c10::qint8", 1},
    {"c10::quint8", 1},
    {"c10::qint32", 4},
    {"Byte", 1},
    {"Char", 1, false, math_pipe::int8_tensor},
    {"Bool", 1},
};

}  // namespace

const element_type* type_of(const operator_input& in) noexcept {
  const auto* const found = std::find_if(std::begin(types), std::end(types),
                                         [&](const element_type& t) { return t.name == in.type; });
  return found != std::end(types) ? found : nullptr;
}

bool is_tensor(const operator_input& in) noexcept { return !in.sizes.empty() && type_of(in) != nullptr; }

amount element_size(const operator_input& in) noexcept {
  const element_type* const t = type_of(in);
  return t != nullptr ? amount{t->size} : amount::unknown();
}

math_pipe product_pipe(const operator_input& factor) noexcept {
  const element_type* const t = type_of(factor);
  return t != nullptr ? t->product : math_pipe::unknown;
}

amount product(const std::vector<std::int64_t>& sizes, std::size_t first) noexcept {
  amount n{1};
  for (std::size_t i = first; i < sizes.size(); ++i) {
    n = n * sizes[i];
  }
  return n;
}

amount elements(const operator_input& in) noexcept { return product(in.sizes); }

amount size_of(const operator_input& in) noexcept {
  return in.sizes.empty() ? amount{0} : elements(in) * element_size(in);
}

std::optional<std::int64_t> common_size(const std::vector<std::int64_t>& a,
                                        const std::vector<std::int64_t>& b, std::size_t from_last) noexcept {
  const std::int64_t x = from_last <= a.size() ? a[a.size() - from_last] : 1;
  const std::int64_t y = from_last <= b.size() ? b[b.size() - from_last] : 1;
  return x == y || x == 1 ? std::optional{y} : y == 1 ? std::optional{x} : std::nullopt;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
