// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The work that calls of each kind tell, with the arithmetic spelled out. Sizes are m = 3, n = 5, k = 7 where
// nothing else is said: m·k = 21, k·n = 35, m·n = 15, 2·m·n·k = 210.
#include <varve/varve.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "cublas/prototypes.hpp"
#include "standin_cublas/control.hpp"

namespace {

using namespace varve::cublas;
using standin_cublas::attributes;
using testing::ElementsAre;
using testing::IsEmpty;
using varve::math_pipe;
using varve::work;

work made(std::int64_t flops, std::int64_t weights, std::int64_t activations, math_pipe pipe) {
  return {flops, weights, 0, activations, pipe};
}

class cublas_work : public testing::Test {
 protected:
  cublas_work() {
    standin_cublas::reset();
    standin_cublas::load_lt();
  }

  /// What a pass gets in which `calls` are made.
  template <class Calls>
  static std::vector<work> of(Calls calls) {
    varve::session_options options;
    options.gpu.enabled = false;
    varve::session session{options};
    {
      const varve::phase pass{varve::decode};
      calls();
    }
    const varve::trace t = session.stop();
    EXPECT_THAT(t.losses, IsEmpty());
    std::vector<work> out;
    for (const varve::range_work& w : t.works) {
      EXPECT_EQ(w.source, varve::work_source::shapes);
      EXPECT_EQ(t.ranges[w.range].kind, varve::range_kind::phase);
      out.push_back(w.declared);
    }
    return out;
  }

  static work of_sgemm(float beta) {
    const std::vector<work> all =
        of([&] { cublasSgemm_v2(nullptr, 0, 0, 3, 5, 7, &one, nullptr, 3, nullptr, 7, &beta, nullptr, 3); });
    return all.size() == 1 ? all[0] : work{};
  }

  static inline const float one = 1;
  static inline const float zero = 0;
};

TEST_F(cublas_work, of_a_product_has_the_first_factor_as_weights) {
  // 21·4 = 84 bytes of A; 35·4 of B and 15·4 of C: 200.
  EXPECT_EQ(of_sgemm(0), made(210, 84, 200, math_pipe::fp32));
}

TEST_F(cublas_work, reads_the_result_where_it_is_added_to_and_the_host_knows) {
  EXPECT_EQ(of_sgemm(1), made(210, 84, 200 + 60, math_pipe::fp32));
  EXPECT_EQ(of_sgemm(-0.0F), made(210, 84, 200, math_pipe::fp32));
  EXPECT_EQ(of_sgemm(-1e-40F), made(210, 84, 260, math_pipe::fp32));  // no zero, however small
  standin_cublas::set_modes(default_math, pointer_device);
  EXPECT_EQ(of_sgemm(1), made(210, 84, 200, math_pipe::fp32));
}

TEST_F(cublas_work, of_singles_runs_where_the_handle_allows) {
  const auto pipe_with = [](int mode) {
    standin_cublas::set_modes(mode, pointer_host);
    return of_sgemm(0).pipe;
  };
  EXPECT_EQ(pipe_with(default_math), math_pipe::fp32);
  EXPECT_EQ(pipe_with(tf32_math), math_pipe::tf32_tensor);
  EXPECT_EQ(pipe_with(tf32_math | math_flags), math_pipe::tf32_tensor);
  EXPECT_EQ(pipe_with(tensor_op_math), math_pipe::fp16_tensor);
  EXPECT_EQ(pipe_with(pedantic_math), math_pipe::fp32);
  EXPECT_EQ(pipe_with(bf16x9_math), math_pipe::unknown);  // nine products for one
}

TEST_F(cublas_work, of_doubles_and_halves_runs_where_their_type_does) {
  const double none = 0;
  const auto doubles = [&] {
    cublasDgemm_v2_64(nullptr, 0, 1, 3, 5, 7, &none, nullptr, 3, nullptr, 5, &none, nullptr, 3);
  };
  // 8 bytes: 168, and 280 + 120.
  EXPECT_THAT(of(doubles), ElementsAre(made(210, 168, 400, math_pipe::unknown)));
  const std::uint16_t half = 0x3C00;  // 1
  const auto halves = [&] {
    cublasHgemm(nullptr, 1, 0, 3, 5, 7, &half, nullptr, 7, nullptr, 7, &half, nullptr, 3);
  };
  // 2 bytes: 42, and 70 + 30, and 30 that are added to.
  EXPECT_THAT(of(halves), ElementsAre(made(210, 42, 130, math_pipe::fp16_tensor_fp16)));
  standin_cublas::set_modes(pedantic_math, pointer_host);
  EXPECT_EQ(of(doubles).at(0).pipe, math_pipe::fp64);
  EXPECT_EQ(of(halves).at(0).pipe, math_pipe::fp16);
}

TEST_F(cublas_work, of_complex_numbers_is_four_real_products_or_three) {
  const complex_float none{0, 0};
  const complex_float imaginary{0, 1};
  // 8 bytes each: 168, and (35 + 15)·8 = 400; with C read 120 more.
  EXPECT_THAT(
      of([&] {
        cublasCgemm_v2(nullptr, 0, 0, 3, 5, 7, &none, nullptr, 3, nullptr, 7, &none, nullptr, 3);
        cublasCgemm3m(nullptr, 0, 0, 3, 5, 7, &none, nullptr, 3, nullptr, 7, &imaginary, nullptr, 3);
      }),
      ElementsAre(made(4 * 210, 168, 400, math_pipe::fp32), made(3 * 210, 168, 520, math_pipe::fp32)));
}

TEST_F(cublas_work, of_64_bit_sizes_is_whole) {
  // 5·10⁹ rows, one column each: 10¹⁰ FLOPs, 2·10¹⁰ bytes of A, as many of C, and 4 of B.
  EXPECT_THAT(of([&] {
                cublasSgemm_v2_64(nullptr, 0, 0, 5'000'000'000, 1, 1, &one, nullptr, 1, nullptr, 1, &zero,
                                  nullptr, 1);
              }),
              ElementsAre(made(10'000'000'000, 20'000'000'000, 20'000'000'004, math_pipe::fp32)));
}

TEST_F(cublas_work, of_nothing_is_not_told) {
  EXPECT_THAT(
      of([&] { cublasSgemm_v2(nullptr, 0, 0, 3, 0, 7, &one, nullptr, 3, nullptr, 7, &one, nullptr, 3); }),
      IsEmpty());
}

TEST_F(cublas_work, of_given_types_runs_where_they_are_multiplied) {
  struct {
    int a, b, c, compute, mode;
    math_pipe pipe;
  } const cases[] = {
      {r_16f, r_16f, r_16f, compute_32f, default_math, math_pipe::fp16_tensor},
      {r_16bf, r_16bf, r_32f, compute_32f, default_math, math_pipe::bf16_tensor},
      {r_16f, r_16f, r_16f, compute_16f, default_math, math_pipe::fp16_tensor_fp16},
      {r_16f, r_16f, r_16f, compute_16f_pedantic, default_math, math_pipe::fp16},
      {r_16f, r_16f, r_16f, compute_32f_pedantic, default_math, math_pipe::fp32},
      {r_32f, r_32f, r_32f, compute_32f, default_math, math_pipe::fp32},
      {r_32f, r_32f, r_32f, compute_32f, tf32_math, math_pipe::tf32_tensor},
      {r_32f, r_32f, r_32f, compute_32f_pedantic, tf32_math, math_pipe::fp32},
      {r_32f, r_32f, r_32f, compute_32f_fast_16f, default_math, math_pipe::fp16_tensor},
      {r_32f, r_32f, r_32f, compute_32f_fast_16bf, default_math, math_pipe::bf16_tensor},
      {r_32f, r_32f, r_32f, compute_32f_fast_tf32, default_math, math_pipe::tf32_tensor},
      {r_32f, r_32f, r_32f, compute_32f_emulated_16bfx9, default_math, math_pipe::unknown},
      {r_64f, r_64f, r_64f, compute_64f, default_math, math_pipe::unknown},
      {r_64f, r_64f, r_64f, compute_64f_pedantic, default_math, math_pipe::fp64},
      {r_8i, r_8i, r_32i, compute_32i, default_math, math_pipe::int8_tensor},
      {r_8i, r_8i, r_32f, compute_32f, default_math, math_pipe::unknown},
      {r_8f_e4m3, r_8f_e5m2, r_16bf, compute_32f, default_math, math_pipe::fp8_tensor},
      {r_4f_e2m1, r_4f_e2m1, r_16bf, compute_32f, default_math, math_pipe::fp4_tensor},
  };
  const double none = 0;
  for (const auto& c : cases) {
    standin_cublas::set_modes(c.mode, pointer_host);
    const std::vector<work> all = of([&] {
      cublasGemmEx(nullptr, 0, 0, 3, 5, 7, &none, nullptr, c.a, 3, nullptr, c.b, 7, &none, nullptr, c.c, 3,
                   c.compute, -1);
    });
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].flops, 210);
    EXPECT_EQ(all[0].pipe, c.pipe) << c.a << ' ' << c.compute << ' ' << c.mode;
  }
}

TEST_F(cublas_work, of_given_types_has_the_bytes_of_each) {
  const std::int32_t add = 1;
  // A 21·1, B 35·1, C 15·4, which is read too.
  EXPECT_THAT(of([&] {
                cublasGemmEx_64(nullptr, 1, 0, 3, 5, 7, &add, nullptr, r_8i, 7, nullptr, r_8i, 7, &add,
                                nullptr, r_32i, 3, compute_32i, -1);
              }),
              ElementsAre(made(210, 21, 35 + 60 + 60, math_pipe::int8_tensor)));
  // The scale is single: A 21·2, B 35·2, C 15·4.
  EXPECT_THAT(of([&] {
                cublasSgemmEx(nullptr, 0, 0, 3, 5, 7, &one, nullptr, r_16bf, 3, nullptr, r_16bf, 7, &zero,
                              nullptr, r_32f, 3);
              }),
              ElementsAre(made(210, 42, 70 + 60, math_pipe::bf16_tensor)));
}

TEST_F(cublas_work, of_batches_is_of_activations_alone) {
  const auto strided = [&](long long stride_a, long long stride_b) {
    return of([&] {
      cublasSgemmStridedBatched(nullptr, 0, 0, 3, 5, 7, &one, nullptr, 3, stride_a, nullptr, 7, stride_b,
                                &zero, nullptr, 3, 15, 4);
    });
  };
  // 4 times 210, and 4·(21 + 35 + 15)·4 = 1136 bytes.
  EXPECT_THAT(strided(21, 35), ElementsAre(made(840, 0, 1136, math_pipe::fp32)));
  // One A for all: 3·21·4 = 252 fewer; one B: 3·35·4 = 420 fewer.
  EXPECT_THAT(strided(0, 35), ElementsAre(made(840, 0, 884, math_pipe::fp32)));
  EXPECT_THAT(strided(21, 0), ElementsAre(made(840, 0, 716, math_pipe::fp32)));
  // With C read, 4·15·4 = 240 more.
  EXPECT_THAT(of([&] {
                cublasSgemmBatched_64(nullptr, 0, 0, 3, 5, 7, &one, nullptr, 3, nullptr, 7, &one, nullptr, 3,
                                      4);
                cublasGemmBatchedEx(nullptr, 0, 0, 3, 5, 7, &one, nullptr, r_16f, 3, nullptr, r_16f, 7, &zero,
                                    nullptr, r_32f, 3, 4, compute_32f, -1);
                cublasGemmStridedBatchedEx_64(nullptr, 0, 0, 3, 5, 7, &one, nullptr, r_16f, 3, 0, nullptr,
                                              r_16f, 7, 35, &zero, nullptr, r_16f, 3, 15, 4, compute_32f, -1);
              }),
              ElementsAre(made(840, 0, 1136 + 240, math_pipe::fp32),
                          // 4·(21·2 + 35·2 + 15·4) = 688
                          made(840, 0, 688, math_pipe::fp16_tensor),
                          // 21·2 + 4·(35 + 15)·2 = 442
                          made(840, 0, 442, math_pipe::fp16_tensor)));
}

TEST_F(cublas_work, of_groups_is_their_sum) {
  const std::int64_t m[] = {2, 5};
  const std::int64_t n[] = {3, 6};
  const std::int64_t k[] = {4, 7};
  const std::int64_t sizes[] = {1, 2};
  const float betas[] = {0, 1};
  // 2·24 + 2·2·210 = 888 FLOPs; (8 + 12 + 6)·4 + 2·(35 + 42 + 30)·4 = 960 bytes, and 2·30·4 of C read.
  EXPECT_THAT(of([&] {
                cublasSgemmGroupedBatched_64(nullptr, nullptr, nullptr, m, n, k, betas, nullptr, m, nullptr,
                                             m, betas, nullptr, m, 2, sizes);
              }),
              ElementsAre(made(888, 0, 960 + 240, math_pipe::fp32)));
  const int m_int[] = {2, 5};
  const int n_int[] = {3, 6};
  const int k_int[] = {4, 7};
  const int sizes_int[] = {1, 2};
  // 2 bytes, and 4 of results: 8·2 + 12·2 + 6·4 = 64; 2·(35·2 + 42·2 + 30·4) = 548; 2·30·4 read.
  EXPECT_THAT(of([&] {
                cublasGemmGroupedBatchedEx(nullptr, nullptr, nullptr, m_int, n_int, k_int, betas, nullptr,
                                           r_16bf, m_int, nullptr, r_16bf, m_int, betas, nullptr, r_32f,
                                           m_int, 2, sizes_int, compute_32f);
              }),
              ElementsAre(made(888, 0, 64 + 548 + 240, math_pipe::bf16_tensor)));
}

// A has 3 rows and 5 columns: 2·15 = 30 FLOPs, and 15·4 = 60 bytes.
TEST_F(cublas_work, of_vectors_runs_on_cores) {
  EXPECT_THAT(of([&] {
                cublasSgemv_v2(nullptr, 0, 3, 5, &one, nullptr, 3, nullptr, 1, &one, nullptr, 1);
                cublasSgemv_v2_64(nullptr, 1, 3, 5, &one, nullptr, 3, nullptr, 1, &one, nullptr, 1);
                cublasHSSgemvStridedBatched(nullptr, 0, 3, 5, &one, nullptr, 3, 15, nullptr, 1, 5, &zero,
                                            nullptr, 1, 3, 4);
                cublasTSTgemvBatched(nullptr, 1, 3, 5, &one, nullptr, 3, nullptr, 1, &zero, nullptr, 1, 4);
              }),
              ElementsAre(made(30, 60, 5 * 4 + 3 * 4 + 3 * 4, math_pipe::fp32),
                          made(30, 60, 3 * 4 + 5 * 4 + 5 * 4, math_pipe::fp32),
                          // 4·(15·2 + 5·2 + 3·4) and 4·(15 + 3 + 5)·2
                          made(120, 0, 208, math_pipe::fp32), made(120, 0, 184, math_pipe::fp32)));
}

TEST_F(cublas_work, of_functions_without_a_handle) {
  EXPECT_THAT(
      of([&] {
        cublasSgemm('n', 't', 3, 5, 7, 1, nullptr, 3, nullptr, 5, 0, nullptr, 3);
        cublasZgemm('N', 'N', 3, 5, 7, {1, 0}, nullptr, 3, nullptr, 7, {0, 1}, nullptr, 3);
        cublasDgemv('t', 3, 5, 1, nullptr, 3, nullptr, 1, 0, nullptr, 1);
        cublasUint8gemmBias(nullptr, 0, 0, 0, 3, 5, 7, nullptr, 1, 3, nullptr, 1, 7, nullptr, 1, 3, 1, 1);
      }),
      ElementsAre(made(210, 84, 200, math_pipe::fp32),
                  // 16 bytes each, C read: 21·16; (35 + 15 + 15)·16
                  made(840, 336, 1040, math_pipe::unknown), made(30, 120, 3 * 8 + 5 * 8, math_pipe::fp64),
                  made(210, 21, 50, math_pipe::unknown)));
}

/// D[8,4] = A[8,16] · B[16,4], A given transposed: 2·8·4·16 = 1024 FLOPs.
struct lt_call {
  attributes description{{matmul_compute, compute_32f}, {matmul_scale_type, r_32f}, {matmul_transpose_a, 1}};
  attributes a{{layout_type, r_16bf}, {layout_rows, 16}, {layout_columns, 8}};
  attributes b{{layout_type, r_16bf}, {layout_rows, 16}, {layout_columns, 4}};
  attributes c{{layout_type, r_16bf}, {layout_rows, 8}, {layout_columns, 4}};
  attributes d{{layout_type, r_16bf}, {layout_rows, 8}, {layout_columns, 4}};
  float beta = 0;

  void operator()() {
    cublasLtMatmul(nullptr, &description, nullptr, nullptr, &a, nullptr, &b, &beta, nullptr, &c, nullptr, &d,
                   nullptr, nullptr, 0, nullptr);
  }
  void types(int factors, int result) {
    a.values[layout_type] = b.values[layout_type] = factors;
    d.values[layout_type] = result;
  }
};

TEST_F(cublas_work, of_matmul_is_told_by_its_descriptions) {
  lt_call call;
  // 128·2 of A; (64 + 32)·2 of B and D.
  EXPECT_THAT(of(call), ElementsAre(made(1024, 256, 192, math_pipe::bf16_tensor)));
  call.description.values[matmul_epilogue] = 4 | 32;  // a bias of 8 elements, then GELU
  EXPECT_THAT(of(call), ElementsAre(made(1024, 256 + 16, 192, math_pipe::bf16_tensor)));
  call.description.values[matmul_bias_type] = r_32f;
  EXPECT_THAT(of(call), ElementsAre(made(1024, 256 + 32, 192, math_pipe::bf16_tensor)));
  call = {};
  call.beta = 1;
  call.c.values[layout_type] = r_32f;
  EXPECT_THAT(of(call), ElementsAre(made(1024, 256, 192 + 128, math_pipe::bf16_tensor)));
  for (const int mode : {pointer_device, pointer_device_vector, pointer_beta_zero}) {
    call.description.values[matmul_pointer_mode] = mode;
    EXPECT_THAT(of(call), ElementsAre(made(1024, 256, 192, math_pipe::bf16_tensor))) << mode;
  }
  call.description.values[matmul_pointer_mode] = pointer_beta_host;
  EXPECT_THAT(of(call), ElementsAre(made(1024, 256, 192 + 128, math_pipe::bf16_tensor)));
}

TEST_F(cublas_work, of_matmul_of_narrow_types_has_their_scales) {
  lt_call call;
  call.types(r_8f_e4m3, r_16bf);
  // 128 of A; 64 + 32·2. Scales of all of a matrix are not counted.
  EXPECT_THAT(of(call), ElementsAre(made(1024, 128, 128, math_pipe::fp8_tensor)));
  call.description.values[matmul_a_scale_mode] = scale_outer_vec_32f;
  call.description.values[matmul_b_scale_mode] = scale_outer_vec_32f;
  // 8 and 4 of 4 bytes.
  EXPECT_THAT(of(call), ElementsAre(made(1024, 128 + 32, 128 + 16, math_pipe::fp8_tensor)));
  call.description.values[matmul_a_scale_mode] = scale_block128_32f;
  call.description.values[matmul_b_scale_mode] = scale_vec128_32f;
  // 1·1 and 4·1 of 4 bytes.
  EXPECT_THAT(of(call), ElementsAre(made(1024, 128 + 4, 128 + 16, math_pipe::fp8_tensor)));
  call.types(r_8f_e4m3, r_8f_e4m3);
  call.description.values[matmul_a_scale_mode] = scale_vec32_ue8m0;
  call.description.values[matmul_b_scale_mode] = scale_vec32_ue8m0;
  call.description.values[matmul_d_out_scale_mode] = scale_vec32_ue8m0;
  // One for each row of A, column of B, column of D, since 16 and 8 are fewer than 32.
  EXPECT_THAT(of(call), ElementsAre(made(1024, 128 + 8, 64 + 32 + 4 + 4, math_pipe::fp8_tensor)));
  call = {};
  call.types(r_4f_e2m1, r_16bf);
  call.description.values[matmul_a_scale_mode] = scale_vec16_ue4m3;
  call.description.values[matmul_b_scale_mode] = scale_vec16_ue4m3;
  // 128 ÷ 2 + 8; 64 ÷ 2 + 4, and 32·2.
  EXPECT_THAT(of(call), ElementsAre(made(1024, 72, 36 + 64, math_pipe::fp4_tensor)));
}

TEST_F(cublas_work, of_matmul_in_batches_is_of_activations_alone) {
  lt_call call;
  for (attributes* const layout : {&call.a, &call.b, &call.c, &call.d}) {
    layout->values[layout_batch_count] = 3;
    layout->values[layout_batch_stride] = 128;
  }
  call.types(r_8i, r_32i);
  call.description.values[matmul_compute] = compute_32i;
  call.description.values[matmul_scale_type] = r_32i;
  // 3·(128 + 64 + 32·4)
  EXPECT_THAT(of(call), ElementsAre(made(3 * 1024, 0, 960, math_pipe::int8_tensor)));
  call.a.values[layout_batch_stride] = 0;  // 2·128 fewer
  EXPECT_THAT(of(call), ElementsAre(made(3 * 1024, 0, 704, math_pipe::int8_tensor)));
  call.d.values[layout_batch_pointers] = 1;  // strides mean nothing
  EXPECT_THAT(of(call), ElementsAre(made(3 * 1024, 0, 960, math_pipe::int8_tensor)));
}

}  // namespace
