// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Kernels that move memory in accesses of 16 bytes, several of a thread under way together. Nothing here
// needs nvcc: tests compile them for the host and run their threads one by one.
#ifndef VARVE_CUDA_CEILINGS_STREAM_KERNELS_HPP
#define VARVE_CUDA_CEILINGS_STREAM_KERNELS_HPP

#include <cuda_runtime_api.h>
#include <vector_functions.h>

#include <cstdint>

namespace varve::ceilings_of_gpu {

inline constexpr int stream_threads = 256;  // of a block

__device__ inline std::int64_t own_place() {
  return static_cast<std::int64_t>(blockIdx.x) * stream_threads + threadIdx.x;
}
__device__ inline std::int64_t all_threads() { return static_cast<std::int64_t>(gridDim.x) * stream_threads; }

/// Calls `f` with each index below `count`, `AtOnce` of a thread at once.
template <int AtOnce, class Function>
__device__ void for_each(std::int64_t count, Function f) {
  const std::int64_t step = all_threads();
  std::int64_t i = own_place();
  for (; i + (AtOnce - 1) * step < count; i += AtOnce * step) {
#pragma unroll
    for (int k = 0; k < AtOnce; ++k) {
      f(i + k * step);
    }
  }
  for (; i < count; i += step) {
    f(i);
  }
}

/// Reads `count` words and writes one number a thread: the sum of what it read, modulo 2³². Whole numbers, so
/// that sums are right whatever their order; kept, so that the compiler keeps the reads.
template <int AtOnce>
__global__ void read_kernel(std::uint32_t* __restrict__ sums, const uint4* __restrict__ from,
                            std::int64_t count) {
  std::uint32_t sum = 0;
  for_each<AtOnce>(count, [&](std::int64_t i) {
    const uint4 word = from[i];
    sum += word.x + word.y + word.z + word.w;
  });
  sums[own_place()] = sum;
}

template <int AtOnce>
__global__ void copy_kernel(float4* __restrict__ to, const float4* __restrict__ from, std::int64_t count) {
  for_each<AtOnce>(count, [=](std::int64_t i) { to[i] = from[i]; });
}

template <int AtOnce>
__global__ void triad_kernel(float4* __restrict__ to, const float4* __restrict__ left,
                             const float4* __restrict__ right, std::int64_t count) {
  for_each<AtOnce>(count, [=](std::int64_t i) {
    const float4 a = left[i];
    const float4 b = right[i];
    to[i] = make_float4(a.x + 3 * b.x, a.y + 3 * b.y, a.z + 3 * b.z, a.w + 3 * b.w);
  });
}

template <int AtOnce>
__global__ void set_kernel(float4* to, float value, std::int64_t count) {
  for_each<AtOnce>(count, [=](std::int64_t i) { to[i] = make_float4(value, value, value, value); });
}

}  // namespace varve::ceilings_of_gpu

#endif  // VARVE_CUDA_CEILINGS_STREAM_KERNELS_HPP
