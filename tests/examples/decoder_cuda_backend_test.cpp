// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the CUDA back end says where it can't run, and of calls that fail.
#include "cuda_backend.hpp"
#include "cuda_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace {

using decoder::cuda::check;
using decoder::cuda::why_no_device;
using testing::AllOf;
using testing::HasSubstr;

template <class Status>
std::string text_of(Status status, const char* call) {
  try {
    check(status, call);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

TEST(cuda_error, names_the_call_and_the_error) {
  EXPECT_EQ(text_of(cudaSuccess, "cudaFree"), "");
  EXPECT_EQ(text_of(cudaErrorInvalidValue, "cudaMemcpyAsync"),
            "cudaMemcpyAsync failed: invalid argument (cudaErrorInvalidValue)");
  EXPECT_THAT(text_of(cudaErrorMemoryAllocation, "cudaMalloc of 8 bytes"),
              AllOf(HasSubstr("cudaMalloc of 8 bytes failed: out of memory"), HasSubstr("smaller sizes")));
  EXPECT_THAT(text_of(cudaErrorNoKernelImageForDevice, "rms_norm"), HasSubstr("VARVE_CUDA_ARCHITECTURES"));
  EXPECT_EQ(text_of(CUBLAS_STATUS_SUCCESS, "cublasCreate"), "");
  EXPECT_THAT(text_of(CUBLAS_STATUS_NOT_SUPPORTED, "cublasGemmEx"),
              AllOf(HasSubstr("cublasGemmEx failed: "), HasSubstr("CUBLAS_STATUS_NOT_SUPPORTED"),
                    HasSubstr("--dtype")));
}

TEST(cuda_error, says_why_there_is_no_device_and_what_to_do) {
  EXPECT_EQ(why_no_device(cudaSuccess, 1, 13000, 13000), "");
  EXPECT_THAT(why_no_device(cudaErrorInsufficientDriver, 0, 0, 13000),
              AllOf(HasSubstr("no NVIDIA driver"), HasSubstr("--backend cpu")));
  EXPECT_THAT(why_no_device(cudaErrorInsufficientDriver, 0, 12040, 13000),
              AllOf(HasSubstr("knows CUDA 12.4"), HasSubstr("built with 13.0"), HasSubstr("update")));
  EXPECT_THAT(why_no_device(cudaErrorNoDevice, 0, 13000, 13000), HasSubstr("CUDA_VISIBLE_DEVICES"));
  EXPECT_THAT(why_no_device(cudaSuccess, 0, 13000, 13000), HasSubstr("CUDA_VISIBLE_DEVICES"));
  EXPECT_THAT(why_no_device(cudaErrorSystemDriverMismatch, 0, 13000, 13000),
              HasSubstr("cudaErrorSystemDriverMismatch"));
}

TEST(cuda_backend, refuses_types_that_it_cannot_store) {
  EXPECT_THROW(decoder::make_cuda_backend(varve::dtype::fp8), std::invalid_argument);
}

}  // namespace
