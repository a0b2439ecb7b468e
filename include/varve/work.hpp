// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Work: the FLOPs and bytes of a range, as an engine declares them. A multiply-add is two FLOPs;
// bytes are what an ideal cache would move: each operand read once, each result written once.
#ifndef VARVE_WORK_HPP
#define VARVE_WORK_HPP

#include <varve/varve.h>

#include <cstdint>

namespace varve {
inline namespace v0 {

/// Types of elements, for sizes.
enum class dtype : std::uint8_t { f64, f32, tf32, bf16, f16, fp8, int8, int4 };

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
      return 4;
  }
  return 0;
}

/// Bytes of `count` elements, rounded up to whole bytes.
constexpr std::int64_t bytes_of(std::int64_t count, dtype type) noexcept {
  return (count * bits(type) + 7) / 8;
}

/// FLOPs and bytes; sums are element by element.
struct work {
  std::int64_t flops = 0;
  std::int64_t weight_bytes = 0;      ///< parameters read
  std::int64_t kv_bytes = 0;          ///< KV cache read and written
  std::int64_t activation_bytes = 0;  ///< everything else read and written

  [[nodiscard]] constexpr std::int64_t bytes() const noexcept {
    return weight_bytes + kv_bytes + activation_bytes;
  }
  [[nodiscard]] constexpr bool empty() const noexcept { return flops == 0 && bytes() == 0; }
  constexpr work& operator+=(const work& other) noexcept {
    flops += other.flops;
    weight_bytes += other.weight_bytes;
    kv_bytes += other.kv_bytes;
    activation_bytes += other.activation_bytes;
    return *this;
  }
};

constexpr work operator+(work a, const work& b) noexcept { return a += b; }
constexpr bool operator==(const work& a, const work& b) noexcept {
  return a.flops == b.flops && a.weight_bytes == b.weight_bytes && a.kv_bytes == b.kv_bytes &&
         a.activation_bytes == b.activation_bytes;
}
constexpr bool operator!=(const work& a, const work& b) noexcept { return !(a == b); }

/// Work of C[m,n] = A[m,k] · B[k,n] where B holds weights: 2·m·n·k FLOPs; B is read once as weights, A is
/// read and C written once as activations. gemm(16, 4096, 4096, f16): 2·16·4096·4096 = 536,870,912 FLOPs,
/// 4096·4096·2 = 33,554,432 weight bytes, (16·4096 + 16·4096)·2 = 262,144 activation bytes.
constexpr work gemm(std::int64_t m, std::int64_t n, std::int64_t k, dtype weights,
                    dtype activations) noexcept {
  return {2 * m * n * k, bytes_of(n * k, weights), 0,
          bytes_of(m * k, activations) + bytes_of(m * n, activations)};
}
constexpr work gemm(std::int64_t m, std::int64_t n, std::int64_t k, dtype type) noexcept {
  return gemm(m, n, k, type, type);
}

}  // namespace v0
}  // namespace varve

#endif  // VARVE_WORK_HPP
