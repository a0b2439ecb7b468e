// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Owners of what the runtime hands out, and every way to launch a kernel. Errors are exceptions.
#ifndef VARVE_TESTS_GPU_GPU_HPP
#define VARVE_TESTS_GPU_GPU_HPP

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>

#include "gpu/kernels.hpp"

namespace varve_gpu {

/// Throws std::runtime_error with the error's text and the caller's place.
void check(cudaError_t error, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// Why nothing can run here; empty where a device is.
[[nodiscard]] std::string why_no_device();
/// Compute capability of the current device: 90 for 9.0.
[[nodiscard]] int capability();

template <class Handle, cudaError_t (*Destroy)(Handle)>
struct destroyer {
  using pointer = Handle;
  void operator()(Handle handle) const noexcept { (void)Destroy(handle); }
};

// Owners. A std::unique_ptr's get() is the handle.
using stream = std::unique_ptr<cudaStream_t, destroyer<cudaStream_t, cudaStreamDestroy>>;
using gpu_event = std::unique_ptr<cudaEvent_t, destroyer<cudaEvent_t, cudaEventDestroy>>;
using graph = std::unique_ptr<cudaGraph_t, destroyer<cudaGraph_t, cudaGraphDestroy>>;
using executable = std::unique_ptr<cudaGraphExec_t, destroyer<cudaGraphExec_t, cudaGraphExecDestroy>>;
using device_memory = std::unique_ptr<void, destroyer<void*, cudaFree>>;
using pinned_memory = std::unique_ptr<void, destroyer<void*, cudaFreeHost>>;

[[nodiscard]] stream make_stream();
[[nodiscard]] gpu_event make_event();
[[nodiscard]] device_memory allocate(std::size_t bytes);
[[nodiscard]] pinned_memory allocate_pinned(std::size_t bytes);
[[nodiscard]] executable instantiate(const graph& g);

enum class way {
  chevrons,        ///< as `<<<>>>` compiles to
  symbol,          ///< cudaLaunchKernel
  extended,        ///< cudaLaunchKernelExC
  dependent,       ///< the same with programmatic stream serialization; from compute capability 9.0
  cooperative,     ///< cudaLaunchCooperativeKernel
  cluster,         ///< cudaLaunchKernelExC with clusters of two blocks; from compute capability 9.0
  driver,          ///< cuLaunchKernel
  driver_extended  ///< cuLaunchKernelEx
};

/// Launches layer_kernel<layer>; cooperative and cluster have a kernel of their own.
void launch(way how, int layer, const work& w, cudaStream_t on);

}  // namespace varve_gpu

#endif  // VARVE_TESTS_GPU_GPU_HPP
