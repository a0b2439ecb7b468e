// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The kernels of the tests and tapes, as what a launch takes. All that nvcc compiles is behind this header.
#ifndef VARVE_TESTS_GPU_KERNELS_HPP
#define VARVE_TESTS_GPU_KERNELS_HPP

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace varve_gpu {

/// What every kernel but the last two takes: it adds one to `n` floats, then stays busy for some time.
struct work {
  float* data = nullptr;
  std::uint32_t n = 0;
  std::uint32_t microseconds = 0;
};

inline constexpr int layers = 8;

/// layer_kernel<layer>: a kernel of its own for each layer, so that its name tells where it belongs.
[[nodiscard]] const void* layer_symbol(int layer) noexcept;
/// Synchronises its grid.
[[nodiscard]] const void* cooperative_symbol() noexcept;
/// Synchronises its cluster; from compute capability 9.0.
[[nodiscard]] const void* cluster_symbol() noexcept;
/// (std::uint32_t n, float a, const float* x, float* y): y += a·x.
[[nodiscard]] const void* saxpy_symbol() noexcept;
/// (const volatile int* flag): ends when the flag, in memory of the host, is set.
[[nodiscard]] const void* wait_symbol() noexcept;

/// Launches layer_kernel<layer> as `<<<1, 32>>>` compiles to.
void launch_layer(int layer, const work& w, cudaStream_t stream);
void launch_saxpy(std::uint32_t n, float a, const float* x, float* y, cudaStream_t stream);
/// Reads each of `n` times 16 bytes once, and writes them once.
void launch_copy(std::size_t n, const void* from, void* to, cudaStream_t stream);

#if CUDART_VERSION >= 12040
/// (cudaGraphConditionalHandle handle, std::uint32_t* left): counts down; the condition holds while some are
/// left.
[[nodiscard]] const void* decide_symbol() noexcept;
#endif

}  // namespace varve_gpu

#endif  // VARVE_TESTS_GPU_KERNELS_HPP
