// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What is needed of the headers of cuBLAS and cuBLASLt, under names of our own: nothing of CUDA is needed to
// build this. Where there is a toolkit, a test compares them with its headers.
#ifndef VARVE_CUBLAS_DECLARATIONS_HPP
#define VARVE_CUBLAS_DECLARATIONS_HPP

#include <cstddef>
#include <cstdint>

namespace varve::cublas {

/// cublasStatus_t
inline constexpr int success = 0;
inline constexpr int not_initialized = 1;

/// cudaDataType. Others may come.
enum element : int {
  r_32f = 0,
  r_64f = 1,
  r_16f = 2,
  r_8i = 3,
  c_32f = 4,
  c_64f = 5,
  c_16f = 6,
  c_8i = 7,
  r_8u = 8,
  c_8u = 9,
  r_32i = 10,
  c_32i = 11,
  r_32u = 12,
  c_32u = 13,
  r_16bf = 14,
  c_16bf = 15,
  r_4i = 16,
  c_4i = 17,
  r_4u = 18,
  c_4u = 19,
  r_16i = 20,
  c_16i = 21,
  r_16u = 22,
  c_16u = 23,
  r_64i = 24,
  c_64i = 25,
  r_64u = 26,
  c_64u = 27,
  r_8f_e4m3 = 28,
  r_8f_e5m2 = 29,
  r_8f_ue8m0 = 30,
  r_4f_e2m1 = 33,
  given = -1  ///< none of theirs: the type is a parameter of the call
};

/// cublasComputeType_t
enum compute : int {
  compute_16f = 64,
  compute_16f_pedantic = 65,
  compute_32f = 68,
  compute_32f_pedantic = 69,
  compute_64f = 70,
  compute_64f_pedantic = 71,
  compute_32i = 72,
  compute_32i_pedantic = 73,
  compute_32f_fast_16f = 74,
  compute_32f_fast_16bf = 75,
  compute_32f_fast_tf32 = 77,
  compute_32f_emulated_16bfx9 = 78,
  compute_64f_emulated_fixedpoint = 79
};

/// cublasMath_t: one of these, and perhaps flags from 16 on.
enum math_mode : int {
  default_math = 0,
  tensor_op_math = 1,
  pedantic_math = 2,
  tf32_math = 3,
  bf16x9_math = 4,
  fixedpoint_math = 8,
  math_flags = 16
};

/// cublasPointerMode_t and cublasLtPointerMode_t
enum pointer_mode : int {
  pointer_host = 0,
  pointer_device = 1,
  pointer_device_vector = 2,
  pointer_beta_zero = 3,
  pointer_beta_host = 4
};

inline constexpr int no_transpose = 0;  ///< CUBLAS_OP_N

/// cublasLtMatrixLayoutAttribute_t
enum layout_attribute : int {
  layout_type = 0,           ///< std::int32_t
  layout_rows = 2,           ///< std::uint64_t
  layout_columns = 3,        ///< std::uint64_t
  layout_batch_count = 5,    ///< std::int32_t
  layout_batch_stride = 6,   ///< std::int64_t
  layout_batch_pointers = 8  ///< std::int32_t, 1: an array of pointers
};

/// cublasLtMatmulDescAttributes_t, of std::int32_t all
enum matmul_attribute : int {
  matmul_compute = 0,
  matmul_scale_type = 1,
  matmul_pointer_mode = 2,
  matmul_transpose_a = 3,
  matmul_epilogue = 7,
  matmul_bias_type = 26,
  matmul_a_scale_mode = 31,
  matmul_b_scale_mode = 32,
  matmul_d_out_scale_mode = 37
};

inline constexpr int epilogue_bias = 4;  ///< a bit of cublasLtEpilogue_t

/// cublasLtMatmulMatrixScale_t
enum scale_mode : int {
  scale_scalar = 0,
  scale_vec16_ue4m3 = 1,
  scale_vec32_ue8m0 = 2,
  scale_outer_vec_32f = 3,
  scale_vec128_32f = 4,
  scale_block128_32f = 5
};

/// Types of alpha and beta that are passed by value.
struct alignas(8) complex_float {
  float x, y;
};
struct alignas(16) complex_double {
  double x, y;
};
template <element Element>
struct scalar_type {  // of calls that pass none by value
  using type = void;
};
template <>
struct scalar_type<r_32f> {
  using type = float;
};
template <>
struct scalar_type<r_64f> {
  using type = double;
};
template <>
struct scalar_type<c_32f> {
  using type = complex_float;
};
template <>
struct scalar_type<c_64f> {
  using type = complex_double;
};
template <element Element>
using passed = typename scalar_type<Element>::type;

}  // namespace varve::cublas

#endif  // VARVE_CUBLAS_DECLARATIONS_HPP
