// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Our declarations of cuBLAS against the toolkit's headers: checked while this compiles.
#include "cublas/declarations.hpp"
#include "cublas/entries.inc"

#include <cublas.h>
#include <cublasLt.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>

namespace {

namespace ours = varve::cublas;

#define VARVE_SAME(own, theirs) static_assert(static_cast<int>(ours::own) == static_cast<int>(theirs))
VARVE_SAME(success, CUBLAS_STATUS_SUCCESS);
VARVE_SAME(not_initialized, CUBLAS_STATUS_NOT_INITIALIZED);
VARVE_SAME(no_transpose, CUBLAS_OP_N);
VARVE_SAME(r_32f, CUDA_R_32F);
VARVE_SAME(r_64f, CUDA_R_64F);
VARVE_SAME(r_16f, CUDA_R_16F);
VARVE_SAME(r_8i, CUDA_R_8I);
VARVE_SAME(c_32f, CUDA_C_32F);
VARVE_SAME(c_64f, CUDA_C_64F);
VARVE_SAME(c_16f, CUDA_C_16F);
VARVE_SAME(c_8i, CUDA_C_8I);
VARVE_SAME(r_8u, CUDA_R_8U);
VARVE_SAME(c_8u, CUDA_C_8U);
VARVE_SAME(r_32i, CUDA_R_32I);
VARVE_SAME(c_32i, CUDA_C_32I);
VARVE_SAME(r_32u, CUDA_R_32U);
VARVE_SAME(c_32u, CUDA_C_32U);
VARVE_SAME(r_16bf, CUDA_R_16BF);
VARVE_SAME(c_16bf, CUDA_C_16BF);
VARVE_SAME(r_4i, CUDA_R_4I);
VARVE_SAME(c_4i, CUDA_C_4I);
VARVE_SAME(r_4u, CUDA_R_4U);
VARVE_SAME(c_4u, CUDA_C_4U);
VARVE_SAME(r_16i, CUDA_R_16I);
VARVE_SAME(c_16i, CUDA_C_16I);
VARVE_SAME(r_16u, CUDA_R_16U);
VARVE_SAME(c_16u, CUDA_C_16U);
VARVE_SAME(r_64i, CUDA_R_64I);
VARVE_SAME(c_64i, CUDA_C_64I);
VARVE_SAME(r_64u, CUDA_R_64U);
VARVE_SAME(c_64u, CUDA_C_64U);
VARVE_SAME(r_8f_e4m3, CUDA_R_8F_E4M3);
VARVE_SAME(r_8f_e5m2, CUDA_R_8F_E5M2);
VARVE_SAME(compute_16f, CUBLAS_COMPUTE_16F);
VARVE_SAME(compute_16f_pedantic, CUBLAS_COMPUTE_16F_PEDANTIC);
VARVE_SAME(compute_32f, CUBLAS_COMPUTE_32F);
VARVE_SAME(compute_32f_pedantic, CUBLAS_COMPUTE_32F_PEDANTIC);
VARVE_SAME(compute_64f, CUBLAS_COMPUTE_64F);
VARVE_SAME(compute_64f_pedantic, CUBLAS_COMPUTE_64F_PEDANTIC);
VARVE_SAME(compute_32i, CUBLAS_COMPUTE_32I);
VARVE_SAME(compute_32i_pedantic, CUBLAS_COMPUTE_32I_PEDANTIC);
VARVE_SAME(compute_32f_fast_16f, CUBLAS_COMPUTE_32F_FAST_16F);
VARVE_SAME(compute_32f_fast_16bf, CUBLAS_COMPUTE_32F_FAST_16BF);
VARVE_SAME(compute_32f_fast_tf32, CUBLAS_COMPUTE_32F_FAST_TF32);
VARVE_SAME(default_math, CUBLAS_DEFAULT_MATH);
VARVE_SAME(tensor_op_math, CUBLAS_TENSOR_OP_MATH);
VARVE_SAME(pedantic_math, CUBLAS_PEDANTIC_MATH);
VARVE_SAME(tf32_math, CUBLAS_TF32_TENSOR_OP_MATH);
VARVE_SAME(math_flags, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
VARVE_SAME(pointer_host, CUBLAS_POINTER_MODE_HOST);
VARVE_SAME(pointer_device, CUBLAS_POINTER_MODE_DEVICE);
VARVE_SAME(pointer_device_vector, CUBLASLT_POINTER_MODE_DEVICE_VECTOR);
VARVE_SAME(pointer_beta_zero, CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO);
VARVE_SAME(pointer_beta_host, CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST);
VARVE_SAME(layout_type, CUBLASLT_MATRIX_LAYOUT_TYPE);
VARVE_SAME(layout_rows, CUBLASLT_MATRIX_LAYOUT_ROWS);
VARVE_SAME(layout_columns, CUBLASLT_MATRIX_LAYOUT_COLS);
VARVE_SAME(layout_batch_count, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
VARVE_SAME(layout_batch_stride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
VARVE_SAME(matmul_compute, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE);
VARVE_SAME(matmul_scale_type, CUBLASLT_MATMUL_DESC_SCALE_TYPE);
VARVE_SAME(matmul_pointer_mode, CUBLASLT_MATMUL_DESC_POINTER_MODE);
VARVE_SAME(matmul_transpose_a, CUBLASLT_MATMUL_DESC_TRANSA);
VARVE_SAME(matmul_epilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
VARVE_SAME(matmul_bias_type, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
VARVE_SAME(epilogue_bias, CUBLASLT_EPILOGUE_BIAS);
#if CUBLAS_VERSION >= 130000  // later than the first of the toolkits that we know
VARVE_SAME(r_8f_ue8m0, CUDA_R_8F_UE8M0);
VARVE_SAME(r_4f_e2m1, CUDA_R_4F_E2M1);
VARVE_SAME(compute_32f_emulated_16bfx9, CUBLAS_COMPUTE_32F_EMULATED_16BFX9);
VARVE_SAME(bf16x9_math, CUBLAS_FP32_EMULATED_BF16X9_MATH);
VARVE_SAME(layout_batch_pointers, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE);
VARVE_SAME(matmul_a_scale_mode, CUBLASLT_MATMUL_DESC_A_SCALE_MODE);
VARVE_SAME(matmul_b_scale_mode, CUBLASLT_MATMUL_DESC_B_SCALE_MODE);
VARVE_SAME(matmul_d_out_scale_mode, CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE);
VARVE_SAME(scale_scalar, CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F);
VARVE_SAME(scale_vec16_ue4m3, CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3);
VARVE_SAME(scale_vec32_ue8m0, CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0);
VARVE_SAME(scale_outer_vec_32f, CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F);
VARVE_SAME(scale_vec128_32f, CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F);
VARVE_SAME(scale_block128_32f, CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F);
#endif
#if CUBLAS_VERSION >= 130100
VARVE_SAME(fixedpoint_math, CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH);
VARVE_SAME(compute_64f_emulated_fixedpoint, CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT);
#endif

/// What the machine sees of a type that is passed.
template <class Type>
auto as_passed() {
  if constexpr (std::is_void_v<Type>) {
    return;
  } else if constexpr (std::is_pointer_v<Type>) {
    return static_cast<const void*>(nullptr);
  } else if constexpr (std::is_enum_v<Type>) {
    static_assert(sizeof(Type) == sizeof(int));
    return int{};
  } else if constexpr (std::is_same_v<Type, cuComplex>) {
    static_assert(sizeof(ours::complex_float) == sizeof(cuComplex));
    static_assert(alignof(ours::complex_float) == alignof(cuComplex));
    return ours::complex_float{};
  } else if constexpr (std::is_same_v<Type, cuDoubleComplex>) {
    static_assert(sizeof(ours::complex_double) == sizeof(cuDoubleComplex));
    static_assert(alignof(ours::complex_double) == alignof(cuDoubleComplex));
    return ours::complex_double{};
  } else if constexpr (std::is_integral_v<Type> && sizeof(Type) == 8) {
    return std::int64_t{};
  } else {
    return Type{};
  }
}
template <class>
struct passing;
template <class Result, class... Parameters>
struct passing<Result(Parameters...)> {
  using type = decltype(as_passed<Result>()) (*)(decltype(as_passed<Parameters>())...);
};

// Three functions have overloads in the headers, for programs of CUDA 10. What their forms pass is what it is
// with 64-bit sizes, which generate_entries sees to.
#define SKIPPED_cublasGemmEx ~, 1
#define SKIPPED_cublasGemmBatchedEx ~, 1
#define SKIPPED_cublasGemmStridedBatchedEx ~, 1
#if CUBLAS_VERSION < 120500  // which lack these
#define SKIPPED_cublasSgemmGroupedBatched ~, 1
#define SKIPPED_cublasSgemmGroupedBatched_64 ~, 1
#define SKIPPED_cublasDgemmGroupedBatched ~, 1
#define SKIPPED_cublasDgemmGroupedBatched_64 ~, 1
#define SKIPPED_cublasGemmGroupedBatchedEx ~, 1
#define SKIPPED_cublasGemmGroupedBatchedEx_64 ~, 1
#endif
#define SECOND(first, second, ...) second
#define IS_SKIPPED(...) SECOND(__VA_ARGS__, 0, )
#define EXPECT_SAME_1(form, name, index, scalar)
#define EXPECT_SAME_0(form, name, index, scalar)                                                  \
  static_assert(std::is_same_v<passing<decltype(::name)>::type,                                   \
                               passing<VARVE_CUBLAS_RESULT_##form(VARVE_CUBLAS_PARAMETERS_##form( \
                                   index, ours::passed<ours::scalar>))>::type>,                   \
                #name);
#define EXPECT_SAME_(skipped, ...) EXPECT_SAME_##skipped(__VA_ARGS__)
#define EXPECT_SAME(skipped, ...) EXPECT_SAME_(skipped, __VA_ARGS__)
#define CHECK(form, name, index, scalar, a, c) \
  EXPECT_SAME(IS_SKIPPED(SKIPPED_##name), form, name, index, scalar)

TEST(cublas_headers, declare_what_we_declare) {
  VARVE_CUBLAS_ENTRIES(CHECK)
  VARVE_CUBLASLT_ENTRIES(CHECK)
}

}  // namespace
