// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the formulas for operators' work are made of, and where they are.
#ifndef VARVE_FORMATS_PYTORCH_OPERATOR_TERMS_HPP
#define VARVE_FORMATS_PYTORCH_OPERATOR_TERMS_HPP

#include "formats/pytorch/amount.hpp"
#include "formats/pytorch/operator_inputs.hpp"

#include <varve/work.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

using inputs = operator_inputs;

/// An element of a tensor.
struct element_type {
  std::string_view name;
  std::int64_t size = 0;  ///< bytes
  bool floating = false;
  math_pipe product = math_pipe::unknown;  ///< where products of it run
};

/// Two numbers of 4 bits in a byte.
inline constexpr std::string_view packed_type = "c10::Float4_e2m1fn_x2";

/// Null for what is no tensor, and for types that are not known.
[[nodiscard]] const element_type* type_of(const operator_input& in) noexcept;

/// A tensor of at least one dimension: one of none is a number, which costs nothing.
[[nodiscard]] bool is_tensor(const operator_input& in) noexcept;

/// Bytes of an element.
[[nodiscard]] amount element_size(const operator_input& in) noexcept;

[[nodiscard]] amount product(const std::vector<std::int64_t>& sizes, std::size_t first = 0) noexcept;
[[nodiscard]] amount elements(const operator_input& in) noexcept;

/// Bytes of a tensor; none for what is no tensor.
[[nodiscard]] amount size_of(const operator_input& in) noexcept;

/// The size along a dimension, counted from the last one, 1, that two tensors have together: where one lacks
/// the dimension, or has 1, it repeats. Nothing where they do not fit.
[[nodiscard]] std::optional<std::int64_t> common_size(const std::vector<std::int64_t>& a,
                                                      const std::vector<std::int64_t>& b,
                                                      std::size_t from_last) noexcept;

/// Where tensors of the factor's type are multiplied; unknown where more than one way is taken, which
/// kernels' names may tell: FP32 as it is or as TF32, FP64 on cores or tensor cores.
[[nodiscard]] math_pipe product_pipe(const operator_input& factor) noexcept;

/// The work of one call.
struct terms {
  amount flops{0};
  amount weights{0};
  amount kv{0};
  amount activations{0};
  math_pipe pipe = math_pipe::unknown;  ///< of a product
};

using formula = std::optional<terms> (*)(const inputs&);

struct known_operator {
  std::string_view name;
  formula of;
  bool by_value = false;  ///< the formula reads values
};

template <std::size_t Size>
const known_operator* find(std::string_view name, const known_operator (&list)[Size]) noexcept {
  const auto* const found =
      std::find_if(std::begin(list), std::end(list), [&](const known_operator& k) { return k.name == name; });
  return found != std::end(list) ? found : nullptr;
}

/// Null for others. Names are without overloads. The first three multiply.
[[nodiscard]] const known_operator* find_product(std::string_view name) noexcept;
[[nodiscard]] const known_operator* find_attention(std::string_view name) noexcept;
[[nodiscard]] const known_operator* find_convolution(std::string_view name) noexcept;
[[nodiscard]] const known_operator* find_movement(std::string_view name) noexcept;
/// Of what goes element by element.
[[nodiscard]] formula element_wise_formula(std::string_view name) noexcept;

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_OPERATOR_TERMS_HPP
