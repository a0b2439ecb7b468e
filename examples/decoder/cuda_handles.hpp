// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Owners of what CUDA and cuBLAS hand out.
#ifndef DECODER_CUDA_HANDLES_HPP
#define DECODER_CUDA_HANDLES_HPP

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <memory>

namespace decoder::cuda {

template <class Handle, auto Destroy>
struct destroyer {
  using pointer = Handle;
  void operator()(Handle handle) const noexcept { (void)Destroy(handle); }
};
template <class Handle, auto Destroy>
using owner = std::unique_ptr<Handle, destroyer<Handle, Destroy>>;

// A std::unique_ptr's get() is the handle.
using stream_handle = owner<cudaStream_t, &cudaStreamDestroy>;
using event_handle = owner<cudaEvent_t, &cudaEventDestroy>;
using graph_handle = owner<cudaGraph_t, &cudaGraphDestroy>;
using executable_handle = owner<cudaGraphExec_t, &cudaGraphExecDestroy>;
using device_block = owner<void*, static_cast<cudaError_t (*)(void*)>(&cudaFree)>;
using pinned_block = owner<void*, static_cast<cudaError_t (*)(void*)>(&cudaFreeHost)>;
using cublas_handle = owner<cublasHandle_t, &cublasDestroy>;

}  // namespace decoder::cuda

#endif  // DECODER_CUDA_HANDLES_HPP
