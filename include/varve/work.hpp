// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Work: the FLOPs and bytes of a range, as an engine declares them. A multiply-add is two FLOPs, and those of
// matrix products alone count; bytes are what an ideal cache would move: each operand read once, each result
// written once. work_formulas.hpp has the formulas of common operators, docs/work.md the conventions.
#ifndef VARVE_WORK_HPP
#define VARVE_WORK_HPP

#include <varve/varve.h>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace varve {
inline namespace v0 {

/// Types of elements, for sizes.
enum class dtype : std::uint8_t { f64, f32, tf32, bf16, f16, fp8, int8, int4, fp4 };

/// Bits of one element in memory.
constexpr std::int64_t bits(dtype type) noexcept {
  switch (type) {
    case dtype::f64:
      return 64;
    case dtype::f32:
    case dtype::tf32:
      return 32;
    case dtype::bf16:
    case dtype::f16:
      return 16;
    case dtype::fp8:
    case dtype::int8:
      return 8;
    case dtype::int4:
    case dtype::fp4:
      return 4;
  }
  return 0;
}

/// Arithmetic of sizes that stops at the largest number where it would overflow.
namespace sizes {

inline constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

constexpr std::int64_t sum(std::int64_t a, std::int64_t b) noexcept {
  if (b < 0) {
    return a < -most - b ? -most : a + b;
  }
  return a > most - b ? most : a + b;
}
/// 0 when any factor is 0 or negative: there is nothing of what is counted.
constexpr std::int64_t product(std::int64_t a, std::int64_t b) noexcept {
  return a <= 0 || b <= 0 ? 0 : a > most / b ? most : a * b;
}
template <class... More>
constexpr std::int64_t product(std::int64_t a, std::int64_t b, More... more) noexcept {
  return product(product(a, b), more...);
}
/// a ÷ b, rounded up; 0 for what is not positive.
constexpr std::int64_t quotient(std::int64_t a, std::int64_t b) noexcept {
  return a <= 0 || b <= 0 ? 0 : a / b + (a % b != 0 ? 1 : 0);
}

}  // namespace sizes

/// Bytes of `count` elements, rounded up to whole bytes.
constexpr std::int64_t bytes_of(std::int64_t count, dtype type) noexcept {
  return bits(type) == 4 ? sizes::quotient(count, 2) : sizes::product(count, bits(type) / 8);
}

/// Where FLOPs run, which says how many a second there can be: the unit, the type of the factors and, where
/// it makes a difference, of the accumulator. Not the type of the weights: 4-bit weights that are widened
/// before they are multiplied run on fp16_tensor.
enum class math_pipe : std::uint8_t {
  unknown = VARVE_MATH_UNKNOWN,
  mixed = VARVE_MATH_MIXED,
  fp64 = VARVE_MATH_FP64,
  fp64_tensor = VARVE_MATH_FP64_TENSOR,
  fp32 = VARVE_MATH_FP32,
  fp16 = VARVE_MATH_FP16,
  tf32_tensor = VARVE_MATH_TF32_TENSOR,
  fp16_tensor = VARVE_MATH_FP16_TENSOR,
  fp16_tensor_fp16 = VARVE_MATH_FP16_TENSOR_FP16,
  bf16_tensor = VARVE_MATH_BF16_TENSOR,
  fp8_tensor = VARVE_MATH_FP8_TENSOR,
  fp4_tensor = VARVE_MATH_FP4_TENSOR,
  int8_tensor = VARVE_MATH_INT8_TENSOR,
  int8_dp4a = VARVE_MATH_INT8_DP4A
};
inline constexpr std::size_t math_pipes = VARVE_MATH_INT8_DP4A + 1;

/// FLOPs and bytes; sums are element by element.
struct work {
  std::int64_t flops = 0;
  std::int64_t weight_bytes = 0;        ///< parameters read
  std::int64_t kv_bytes = 0;            ///< KV cache read and written
  std::int64_t activation_bytes = 0;    ///< everything else read and written
  math_pipe pipe = math_pipe::unknown;  ///< where the FLOPs run; of sums over several mixed
  /// Where only the device knows which experts of a mixture are touched: by how much weight_bytes, which are
  /// the expected ones, may be too many, but with odds of one in a million, or too few.
  std::int64_t bytes_below = 0;
  std::int64_t bytes_above = 0;
  /// What as many tokens again would add to weight_bytes: more experts, and other rows of tables.
  std::int64_t doubled_bytes = 0;

  [[nodiscard]] constexpr std::int64_t bytes() const noexcept {
    return sizes::sum(sizes::sum(weight_bytes, kv_bytes), activation_bytes);
  }
  [[nodiscard]] constexpr bool empty() const noexcept { return flops == 0 && bytes() == 0; }
  /// Of the FLOPs of both.
  friend constexpr math_pipe common_pipe(const work& a, const work& b) noexcept {
    return a.flops == 0 ? b.pipe : b.flops == 0 || a.pipe == b.pipe ? a.pipe : math_pipe::mixed;
  }
  constexpr work& operator+=(const work& other) noexcept {
    pipe = common_pipe(*this, other);
    flops = sizes::sum(flops, other.flops);
    weight_bytes = sizes::sum(weight_bytes, other.weight_bytes);
    kv_bytes = sizes::sum(kv_bytes, other.kv_bytes);
    activation_bytes = sizes::sum(activation_bytes, other.activation_bytes);
    bytes_below = sizes::sum(bytes_below, other.bytes_below);
    bytes_above = sizes::sum(bytes_above, other.bytes_above);
    doubled_bytes = sizes::sum(doubled_bytes, other.doubled_bytes);
    return *this;
  }
};

constexpr work operator+(work a, const work& b) noexcept { return a += b; }
constexpr bool operator==(const work& a, const work& b) noexcept {
  return a.flops == b.flops && a.weight_bytes == b.weight_bytes && a.kv_bytes == b.kv_bytes &&
         a.activation_bytes == b.activation_bytes && a.pipe == b.pipe && a.bytes_below == b.bytes_below &&
         a.bytes_above == b.bytes_above && a.doubled_bytes == b.doubled_bytes;
}
constexpr bool operator!=(const work& a, const work& b) noexcept { return !(a == b); }

}  // namespace v0
}  // namespace varve

#endif  // VARVE_WORK_HPP
