// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "gpu/kernels.hpp"

#include <cooperative_groups.h>

namespace varve_gpu {
namespace {

__device__ std::uint64_t now() {
  std::uint64_t t = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__device__ void run(const work& w) {
  const std::uint64_t begin = now();
  const std::uint32_t stride = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < w.n; i += stride) {
    w.data[i] += 1.0F;
  }
  while (now() - begin < std::uint64_t{1000} * w.microseconds) {
  }
}

template <int Layer>
__global__ void layer_kernel(work w) {
  run(w);
}

__global__ void cooperative_kernel(work w) {
  run(w);
  cooperative_groups::this_grid().sync();
}

__global__ void cluster_kernel(work w) {
  run(w);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cooperative_groups::this_cluster().sync();
#endif
}

__global__ void saxpy_kernel(std::uint32_t n, float a, const float* x, float* y) {
  const std::uint32_t stride = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    y[i] += a * x[i];
  }
}

__global__ void copy_kernel(std::size_t n, const float4* from, float4* to) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    to[i] = from[i];
  }
}

__global__ void wait_kernel(const volatile int* flag) {
  while (*flag == 0) {
  }
}

using layer_function = void (*)(work);
constexpr layer_function layer_kernels[layers] = {layer_kernel<0>, layer_kernel<1>, layer_kernel<2>,
                                                  layer_kernel<3>, layer_kernel<4>, layer_kernel<5>,
                                                  layer_kernel<6>, layer_kernel<7>};

template <class Function>
const void* symbol(Function* function) noexcept {
  return reinterpret_cast<const void*>(function);
}

}  // namespace

const void* layer_symbol(int layer) noexcept { return symbol(layer_kernels[layer]); }
const void* cooperative_symbol() noexcept { return symbol(cooperative_kernel); }
const void* cluster_symbol() noexcept { return symbol(cluster_kernel); }
const void* saxpy_symbol() noexcept { return symbol(saxpy_kernel); }
const void* wait_symbol() noexcept { return symbol(wait_kernel); }

void launch_layer(int layer, const work& w, cudaStream_t stream) {
  layer_kernels[layer]<<<1, 32, 0, stream>>>(w);
}

void launch_saxpy(std::uint32_t n, float a, const float* x, float* y, cudaStream_t stream) {
  saxpy_kernel<<<256, 256, 0, stream>>>(n, a, x, y);
}

void launch_copy(std::size_t n, const void* from, void* to, cudaStream_t stream) {
  copy_kernel<<<1024, 256, 0, stream>>>(n, static_cast<const float4*>(from), static_cast<float4*>(to));
}

#if CUDART_VERSION >= 12040
namespace {

__global__ void decide_kernel(cudaGraphConditionalHandle handle, std::uint32_t* left) {
  const bool again = *left > 0;
  *left -= again ? 1 : 0;
  cudaGraphSetConditional(handle, again ? 1 : 0);
}

}  // namespace

const void* decide_symbol() noexcept { return symbol(decide_kernel); }
#endif

}  // namespace varve_gpu
