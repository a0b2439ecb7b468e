// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cublas/product.hpp"

#include <varve/work_formulas.hpp>

#include <cstring>

namespace varve::cublas {

namespace {

struct element_type {
  bool known = false;
  bool complex = false;
  dtype real = dtype::f32;  ///< of integers and exponents: one of as many bits
};

constexpr element_type type_of(int e) noexcept {
  switch (e) {
    case r_32f:
    case r_32i:
    case r_32u:
      return {true, false, dtype::f32};
    case c_32f:
    case c_32i:
    case c_32u:
      return {true, true, dtype::f32};
    case r_64f:
    case r_64i:
    case r_64u:
      return {true, false, dtype::f64};
    case c_64f:
    case c_64i:
    case c_64u:
      return {true, true, dtype::f64};
    case r_16f:
    case r_16i:
    case r_16u:
      return {true, false, dtype::f16};
    case c_16f:
    case c_16i:
    case c_16u:
      return {true, true, dtype::f16};
    case r_16bf:
      return {true, false, dtype::bf16};
    case c_16bf:
      return {true, true, dtype::bf16};
    case r_8i:
    case r_8u:
      return {true, false, dtype::int8};
    case c_8i:
    case c_8u:
      return {true, true, dtype::int8};
    case r_4i:
    case r_4u:
      return {true, false, dtype::int4};
    case c_4i:
    case c_4u:
      return {true, true, dtype::int4};
    case r_8f_e4m3:
    case r_8f_e5m2:
    case r_8f_ue8m0:
      return {true, false, dtype::fp8};
    case r_4f_e2m1:
      return {true, false, dtype::fp4};
    default:
      return {};
  }
}

/// With scales along k, and along the other side.
constexpr weight_format format_of(dtype type, int scales) noexcept {
  switch (scales) {
    case scale_vec16_ue4m3:
      return {type, 16, 1, 8};
    case scale_vec32_ue8m0:
      return {type, 32, 1, 8};
    case scale_outer_vec_32f:
      return {type, 0, 1, 32};
    case scale_vec128_32f:
      return {type, 128, 1, 32};
    case scale_block128_32f:
      return {type, 128, 128, 32};
    default:
      return type;
  }
}

constexpr std::int64_t scale_bytes(std::int64_t n, std::int64_t k, dtype type, int scales) noexcept {
  return scales == scale_scalar ? 0 : bytes_of(n, k, format_of(type, scales)) - bytes_of(n, k, type);
}

}  // namespace

bool work_of(const product& p, work& out) noexcept {
  const element_type a = type_of(p.a);
  const element_type b = type_of(p.b);
  const element_type c = type_of(p.adds_c ? p.c : p.d);
  const element_type d = type_of(p.d);
  const element_type bias = type_of(p.bias == given ? p.d : p.bias);
  if (!a.known || !b.known || !c.known || !d.known || !bias.known) {
    return false;
  }
  work w;
  if (p.batched) {
    w = batched_gemm(p.batch, p.m, p.n, p.k, a.real, b.real, d.real);
    const auto all_but_one = [&](std::int64_t rows, std::int64_t columns, dtype type) {
      return bytes_of(sizes::product(p.batch, rows, columns), type) -
             bytes_of(sizes::product(rows, columns), type);
    };
    const bool several = p.batch > 1;
    w.activation_bytes -= several && p.shared_a ? all_but_one(p.m, p.k, a.real) : 0;
    w.activation_bytes -= several && p.shared_b ? all_but_one(p.k, p.n, b.real) : 0;
  } else {
    w = gemm(p.n, p.m, p.k, a.real, b.real, d.real);
  }
  const auto add = [&](std::int64_t& to, std::int64_t count, std::int64_t bytes) {
    to = sizes::sum(to, sizes::product(count, bytes));
  };
  if (w.flops != 0) {
    add(p.batched ? w.activation_bytes : w.weight_bytes, p.batch, scale_bytes(p.m, p.k, a.real, p.a_scales));
    add(w.activation_bytes, p.batch, scale_bytes(p.n, p.k, b.real, p.b_scales));
    add(w.activation_bytes, p.batch, scale_bytes(p.n, p.m, d.real, p.d_scales));
    add(w.weight_bytes, p.bias != given ? 1 : 0, bytes_of(p.m, bias.real));
  }
  if (p.adds_c) {
    add(w.activation_bytes, 1, bytes_of(sizes::product(p.batch, p.m, p.n), c.real));
  }
  if (d.complex) {
    w.flops = sizes::product(w.flops, p.three_mul ? 3 : 4);  // real products in one complex one
    w.weight_bytes = sizes::product(w.weight_bytes, 2);
    w.activation_bytes = sizes::product(w.activation_bytes, 2);
  }
  w.pipe = w.flops != 0 ? p.pipe : math_pipe::unknown;
  out = w;
  return true;
}

math_pipe pipe_of(int compute, int a, int b, int mode) noexcept {
  const int allowed = mode % math_flags;
  const dtype left = type_of(a).real;
  const dtype right = type_of(b).real;
  const bool single = type_of(a).known && left == dtype::f32 && right == dtype::f32;
  const bool pedantic = allowed == pedantic_math;
  switch (compute) {
    case compute_16f:
      return pedantic ? math_pipe::fp16 : math_pipe::fp16_tensor_fp16;
    case compute_16f_pedantic:
      return math_pipe::fp16;
    case compute_32f:
      if (pedantic) {
        return math_pipe::fp32;
      }
      if (!single) {
        // Integers that are summed in FP32 take more than one way.
        return left == dtype::int8 || right == dtype::int8 ? math_pipe::unknown : varve::pipe_of(left, right);
      }
      return allowed == tf32_math        ? math_pipe::tf32_tensor
             : allowed == tensor_op_math ? math_pipe::fp16_tensor
             : allowed == bf16x9_math    ? math_pipe::unknown
                                         : math_pipe::fp32;
    case compute_32f_pedantic:
      return math_pipe::fp32;
    case compute_32f_fast_16f:
      return single ? math_pipe::fp16_tensor : varve::pipe_of(left, right);
    case compute_32f_fast_16bf:
      return single ? math_pipe::bf16_tensor : varve::pipe_of(left, right);
    case compute_32f_fast_tf32:
      return single ? math_pipe::tf32_tensor : varve::pipe_of(left, right);
    case compute_64f:
      return pedantic ? math_pipe::fp64 : math_pipe::unknown;
    case compute_64f_pedantic:
      return math_pipe::fp64;
    case compute_32i:
    case compute_32i_pedantic:
      return varve::pipe_of(left, right);
    default:
      return math_pipe::unknown;  // emulated among them: several products for one
  }
}

int scalar_of(int compute, int c) noexcept {
  const bool complex = type_of(c).complex;
  switch (compute) {
    case compute_16f:
    case compute_16f_pedantic:
      return complex ? c_16f : r_16f;
    case compute_64f:
    case compute_64f_pedantic:
    case compute_64f_emulated_fixedpoint:
      return complex ? c_64f : r_64f;
    case compute_32i:
    case compute_32i_pedantic:
      return r_32i;
    default:
      return complex ? c_32f : r_32f;
  }
}

bool is_not_zero(const void* number, int type) noexcept {
  const element_type t = type_of(type);
  if (number == nullptr || !t.known) {
    return false;
  }
  const auto size = static_cast<std::size_t>(bits(t.real)) / 8;
  const bool is_integer = type == r_32i;  // of which no bit is a sign alone
  const auto* const bytes = static_cast<const unsigned char*>(number);
  for (std::size_t i = 0; i < size * (t.complex ? 2 : 1); ++i) {
    const bool has_sign = !is_integer && i % size == size - 1;
    if ((bytes[i] & (has_sign ? 0x7FU : 0xFFU)) != 0) {
      return true;
    }
  }
  return false;
}

}  // namespace varve::cublas
