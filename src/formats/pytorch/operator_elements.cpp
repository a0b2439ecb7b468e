// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Work of operators that go element by element: bytes alone, as docs/work.md has it.
#include "formats/pytorch/operator_terms.hpp"

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

terms moved(amount bytes) {
  terms t;
  t.activations = bytes;
  return t;
}

/// The type of the result: floating before whole, then the larger. A number does not widen a tensor.
const element_type* wider(const operator_input& a, const operator_input& b) noexcept {
  const element_type* const x = a.sizes.empty() && !b.sizes.empty() ? nullptr : type_of(a);
  const element_type* const y = b.sizes.empty() ? nullptr : type_of(b);
  if (x == nullptr || y == nullptr) {
    return x != nullptr ? x : y;
  }
  if (x->floating != y->floating) {
    return x->floating ? x : y;
  }
  return x->size >= y->size ? x : y;
}

/// Of two tensors, or a tensor and a number: how many elements the result has, and the bytes of both.
struct pair_of_inputs {
  amount count{1};
  amount bytes{0};
};

std::optional<pair_of_inputs> pair(const operator_input& a, const operator_input& b) {
  pair_of_inputs out;
  for (std::size_t i = 1; i <= std::max(a.sizes.size(), b.sizes.size()); ++i) {
    const auto size = common_size(a.sizes, b.sizes, i);
    if (!size) {
      return std::nullopt;
    }
    out.count = out.count * *size;
  }
  out.bytes = size_of(a) + size_of(b);
  return out;
}

std::optional<terms> binary(const inputs& in) {
  const auto both = pair(in[0], in[1]);
  const element_type* const type = wider(in[0], in[1]);
  if (!both || type == nullptr) {
    return std::nullopt;
  }
  return moved(both->bytes + both->count * type->size);
}

std::optional<terms> binary_in_place(const inputs& in) {
  const auto both = pair(in[0], in[1]);
  if (!both || type_of(in[0]) == nullptr) {
    return std::nullopt;
  }
  return moved(both->bytes + both->count * element_size(in[0]));
}

/// The result is of truth values, a byte each.
std::optional<terms> comparison(const inputs& in) {
  const auto both = pair(in[0], in[1]);
  if (!both || wider(in[0], in[1]) == nullptr) {
    return std::nullopt;
  }
  return moved(both->bytes + both->count);
}

std::optional<terms> unary(const inputs& in) {
  return is_tensor(in[0]) ? std::optional{moved(size_of(in[0]) * 2)} : std::nullopt;
}

/// The result is of truth values too.
std::optional<terms> logical_not(const inputs& in) {
  return is_tensor(in[0]) ? std::optional{moved(size_of(in[0]) + elements(in[0]))} : std::nullopt;
}

/// Three tensors, or numbers, with a result of elements of `size` bytes.
std::optional<terms> ternary(const inputs& in, amount size) {
  amount count{1};
  for (std::size_t i = 1; i <= std::max({in[0].sizes.size(), in[1].sizes.size(), in[2].sizes.size()}); ++i) {
    const auto two = common_size(in[0].sizes, in[1].sizes, i);
    const auto all = two ? common_size(std::vector<std::int64_t>(i, *two), in[2].sizes, i) : std::nullopt;
    if (!all) {
      return std::nullopt;
    }
    count = count * *all;
  }
  return moved(size_of(in[0]) + size_of(in[1]) + size_of(in[2]) + count * size);
}

/// Truth values, and the two tensors that they choose from.
std::optional<terms> where(const inputs& in) {
  const element_type* const type = wider(in[1], in[2]);
  return type != nullptr ? ternary(in, type->size) : std::nullopt;
}

/// Three whose result is of the first's type.
std::optional<terms> as_the_first(const inputs& in) { return ternary(in, element_size(in[0])); }

/// All of it is read; what the result takes is left out.
std::optional<terms> reduction(const inputs& in) {
  return is_tensor(in[0]) ? std::optional{moved(size_of(in[0]))} : std::nullopt;
}

constexpr std::string_view binaries[] = {"add",
                                         "sub",
                                         "rsub",
                                         "mul",
                                         "div",
                                         "pow",
                                         "maximum",
                                         "minimum",
                                         "fmod",
                                         "remainder",
                                         "atan2",
                                         "bitwise_and",
                                         "bitwise_or",
                                         "bitwise_xor",
                                         "bitwise_left_shift",
                                         "bitwise_right_shift"};
constexpr known_operator others[] = {{"logical_not", logical_not},  {"where", where},
                                     {"masked_fill", as_the_first}, {"addcmul", as_the_first},
                                     {"addcdiv", as_the_first},     {"lerp", as_the_first}};
constexpr std::string_view comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or"};
constexpr std::string_view unaries[] = {
    "relu",       "gelu", "silu",       "sigmoid",  "tanh",   "neg",        "rsqrt",     "sqrt",
    "exp",        "log",  "abs",        "sin",      "cos",    "clamp",      "clamp_min", "clamp_max",
    "reciprocal", "erf",  "leaky_relu", "hardtanh", "square", "bitwise_not"};
constexpr std::string_view reductions[] = {"sum",    "mean",   "all",  "any", "amax", "amin",
                                           "argmax", "argmin", "prod", "var", "norm"};

template <std::size_t Size>
bool is_in(std::string_view name, const std::string_view (&list)[Size]) noexcept {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

}  // namespace

formula element_wise_formula(std::string_view name) noexcept {
  constexpr std::string_view aten = "aten::";
  if (name.substr(0, aten.size()) != aten) {
    return nullptr;
  }
  name.remove_prefix(aten.size());
  const bool in_place = !name.empty() && name.back() == '_';
  name.remove_suffix(in_place ? 1 : 0);
  if (const known_operator* const other = find(name, others)) {
    return other->of;
  }
  return is_in(name, binaries)      ? (in_place ? binary_in_place : binary)
         : is_in(name, comparisons) ? comparison
         : is_in(name, unaries)     ? unary
         : is_in(name, reductions)  ? reduction
                                    : nullptr;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
