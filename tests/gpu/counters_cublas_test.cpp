// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Operations that are counted, against a product of known size.
#include <cublas_v2.h>

#include "gpu/counting.hpp"

namespace varve_gpu {
namespace {

class gpu_counted_products : public on_gpu {};

// Sizes that every tile divides: what is counted is what the product takes, and nothing of padding.
TEST_F(gpu_counted_products, have_two_operations_for_each_multiplication_and_addition) {
  constexpr int size = 4096;
  constexpr double expected = 2.0 * size * size * size;
  const stream on = make_stream();
  cublasHandle_t handle = nullptr;
  ASSERT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
  const std::unique_ptr<cublasContext, decltype(&cublasDestroy)> owner{handle, &cublasDestroy};
  ASSERT_EQ(cublasSetStream(handle, on.get()), CUBLAS_STATUS_SUCCESS);
  constexpr std::size_t bytes = std::size_t{2} * size * size;  // of 16-bit numbers, all of them 0
  const device_memory a = allocate(bytes);
  const device_memory b = allocate(bytes);
  const device_memory c = allocate(bytes);
  check(cudaMemset(a.get(), 0, bytes));
  check(cudaMemset(b.get(), 0, bytes));
  const auto product = [&] {
    const float one = 1;
    const float zero = 0;
    ASSERT_EQ(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one, a.get(), CUDA_R_16F,
                           size, b.get(), CUDA_R_16F, size, &zero, c.get(), CUDA_R_16F, size,
                           CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
              CUBLAS_STATUS_SUCCESS);
  };
  product();  // cuBLAS prepares what it needs, before anything is counted
  check(cudaStreamSynchronize(on.get()));

  varve::session session{counting(true)};
  for (int i = 0; i < counted_passes; ++i) {
    {
      const varve::phase prefill{varve::prefill};
      const varve::layer layer{"product", 0};
      product();
    }
    if (const std::string detail = detail_of(session); i == 0 && may_not_count(detail)) {
      GTEST_SKIP() << detail;
    }
  }
  const varve::trace t = session.stop();
  expect_nothing_lost(t);
  const varve::report r = varve::analyze(t);
  const varve::row* const row = r.find({"product", 0, VARVE_PREFILL});
  ASSERT_NE(row, nullptr);
  ASSERT_TRUE(row->counted);
  EXPECT_NEAR(row->counted->tensor_ops, expected, 0.01 * expected);
  EXPECT_EQ(row->inclusive.declared.flops, counted_passes * 2LL * size * size * size);  // by varve::cublas
}

}  // namespace
}  // namespace varve_gpu
