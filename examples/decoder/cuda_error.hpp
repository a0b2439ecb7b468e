// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Errors of CUDA and cuBLAS as exceptions that name the call.
#ifndef DECODER_CUDA_ERROR_HPP
#define DECODER_CUDA_ERROR_HPP

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <string>

namespace decoder::cuda {

/// Throws std::runtime_error: "cudaMalloc failed: out of memory (cudaErrorMemoryAllocation)", and what to do
/// about it where that is known.
void check(cudaError_t error, const char* call);
void check(cublasStatus_t status, const char* call);

/// Why no device can be used, and what to do: after cudaGetDeviceCount() gave this error and number, with the
/// versions that cudaDriverGetVersion() and cudaRuntimeGetVersion() tell (13000 for 13.0). Empty where one
/// can.
[[nodiscard]] std::string why_no_device(cudaError_t error, int devices, int driver, int runtime);

}  // namespace decoder::cuda

#endif  // DECODER_CUDA_ERROR_HPP
