// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The cuBLAS of the toolkit, with varve::cublas before it. Without a GPU its products fail; its descriptions
// of matrices work.
#include <cublas.h>
#include <cublasLt.h>

#include <varve/varve.hpp>

#include <dlfcn.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cublas/calls.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string library_of(void* address) {
  Dl_info about{};
  return ::dladdr(address, &about) != 0 ? about.dli_fname : "nowhere";
}

TEST(cublas_real, has_each_product_behind_ours) {
  const std::string cublas = library_of(reinterpret_cast<void*>(&cublasCreate_v2));
  const std::string cublas_lt = library_of(reinterpret_cast<void*>(&cublasLtCreate));
  EXPECT_THAT(cublas, HasSubstr("libcublas.so"));
  EXPECT_THAT(cublas_lt, HasSubstr("libcublasLt.so"));
#define EXPECT_BEHIND(form, name, index, scalar, a, c)                                             \
  EXPECT_THAT(library_of(::dlsym(RTLD_DEFAULT, #name)), HasSubstr("libvarve_cublas.so")) << #name; \
  EXPECT_NE(::dlsym(behind, #name), nullptr) << #name;
  void* behind = ::dlopen(cublas.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  VARVE_CUBLAS_ENTRIES(EXPECT_BEHIND)
  behind = ::dlopen(cublas_lt.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  VARVE_CUBLASLT_ENTRIES(EXPECT_BEHIND)
#undef EXPECT_BEHIND
}

std::string& logged() {
  static std::string all;
  return all;
}

// It logs what it is called with.
TEST(cublas_real, is_called_with_what_we_are_called_with) {
  if (cublasHandle_t handle = nullptr; cublasCreate_v2(&handle) == CUBLAS_STATUS_SUCCESS) {
    cublasDestroy_v2(handle);
    GTEST_SKIP() << "there is a GPU: tests/gpu multiplies on it";
  }
  ASSERT_EQ(cublasSetLoggerCallback([](const char* text) { logged() += text; }), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasLoggerConfigure(1, 0, 0, nullptr), CUBLAS_STATUS_SUCCESS);
  const float one = 1;
  EXPECT_EQ(cublasSgemm_v2(nullptr, CUBLAS_OP_T, CUBLAS_OP_N, 1234, 2345, 3456, &one, nullptr, 4567, nullptr,
                           5678, &one, nullptr, 6789),
            CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_THAT(logged(), AllOf(HasSubstr("cublasSgemm_v2("), HasSubstr("m: type=int; val=1234"),
                              HasSubstr("n: type=int; val=2345"), HasSubstr("k: type=int; val=3456"),
                              HasSubstr("lda: type=int; val=4567"), HasSubstr("ldb: type=int; val=5678"),
                              HasSubstr("ldc: type=int; val=6789")));
  ASSERT_EQ(cublasLoggerConfigure(0, 0, 0, nullptr), CUBLAS_STATUS_SUCCESS);

  logged().clear();
  ASSERT_EQ(cublasLtLoggerSetCallback([](int, const char*, const char* text) { logged() += text; }),
            CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasLtLoggerSetMask(16), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasLtMatmul(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                           nullptr, nullptr, nullptr, nullptr, nullptr, 1234567, nullptr),
            CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_THAT(logged(), HasSubstr("workSpaceSizeInBytes=1234567"));
  ASSERT_EQ(cublasLtLoggerSetMask(0), CUBLAS_STATUS_SUCCESS);
}

/// A description that is gone with it.
struct descriptions {
  cublasLtMatmulDesc_t call = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr;

  descriptions() = default;
  descriptions(const descriptions&) = delete;
  descriptions& operator=(const descriptions&) = delete;
  ~descriptions() {
    cublasLtMatmulDescDestroy(call);
    for (const cublasLtMatrixLayout_t layout : {a, b, d}) {
      cublasLtMatrixLayoutDestroy(layout);
    }
  }
};

// D[8,4] = A[8,16] · B[16,4] as tests/cublas/work_test.cpp has it.
TEST(cublas_real, describes_products_as_we_read_it) {
  descriptions all;
  ASSERT_EQ(cublasLtMatmulDescCreate(&all.call, CUBLAS_COMPUTE_32F, CUDA_R_32F), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasLtMatrixLayoutCreate(&all.a, CUDA_R_16BF, 16, 8, 16), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasLtMatrixLayoutCreate(&all.b, CUDA_R_16BF, 16, 4, 16), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasLtMatrixLayoutCreate(&all.d, CUDA_R_16BF, 8, 4, 8), CUBLAS_STATUS_SUCCESS);
  const auto set = [&](cublasLtMatmulDescAttributes_t which, auto value) {
    ASSERT_EQ(cublasLtMatmulDescSetAttribute(all.call, which, &value, sizeof value), CUBLAS_STATUS_SUCCESS)
        << which;
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  float beta = 0;
  const auto read = [&] {
    varve::work out;
    EXPECT_TRUE((varve::cublas::matmul<int, void>(
        out, {varve::cublas::given, varve::cublas::given, varve::cublas::given, false}, nullptr, all.call,
        nullptr, nullptr, all.a, nullptr, all.b, &beta, nullptr, all.d, nullptr, all.d, nullptr, nullptr, 0,
        nullptr)));
    return out;
  };
  // 2·8·4·16 FLOPs, 128·2 bytes of A, (64 + 32)·2 of B and D.
  EXPECT_EQ(read(), (varve::work{1024, 256, 0, 192, varve::math_pipe::bf16_tensor}));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_BIAS);
  beta = 1;
  EXPECT_EQ(read(), (varve::work{1024, 256 + 16, 0, 192 + 64, varve::math_pipe::bf16_tensor}));
  set(CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_DEVICE);
  EXPECT_EQ(read(), (varve::work{1024, 256 + 16, 0, 192, varve::math_pipe::bf16_tensor}));
  for (const cublasLtMatrixLayout_t layout : {all.a, all.b, all.d}) {
    const std::int32_t batch = 3;
    const std::int64_t stride = layout == all.a ? 0 : 128;
    ASSERT_EQ(
        cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch),
        CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                               sizeof stride),
              CUBLAS_STATUS_SUCCESS);
  }
  // One A for all; a bias, 3 times B and D.
  EXPECT_EQ(read(), (varve::work{3 * 1024, 16, 0, 256 + 3 * 192, varve::math_pipe::bf16_tensor}));
}

}  // namespace
