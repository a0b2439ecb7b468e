// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the kernels of the CUDA back end share: numbers as they are stored and moved, threads and their sums.
// All arithmetic is in float; T is what numbers are stored in. Nothing here needs nvcc: tests compile the
// kernels for the host and run their threads one by one.
#ifndef DECODER_CUDA_DEVICE_HPP
#define DECODER_CUDA_DEVICE_HPP

#include "cuda_fault.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>

namespace decoder::cuda {

inline constexpr int lanes = 32;  // of a warp
inline constexpr int threads = 256;
inline constexpr int warps = threads / lanes;
inline constexpr int most_head_size = 256;

// --- numbers ---------------------------------------------------------------------------------------------

__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(__half x) { return __half2float(x); }
__device__ inline float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }

/// To the nearest number that T has.
template <class T>
__device__ T from_float(float x);
template <>
__device__ inline float from_float<float>(float x) {
  return x;
}
template <>
__device__ inline __half from_float<__half>(float x) {
  return __float2half_rn(x);
}
template <>
__device__ inline __nv_bfloat16 from_float<__nv_bfloat16>(float x) {
  return __float2bfloat16_rn(x);
}

/// What one access moves.
template <int Bytes>
struct word;
template <>
struct word<2> {
  using type = unsigned short;
};
template <>
struct word<4> {
  using type = unsigned int;
};
template <>
struct word<8> {
  using type = uint2;
};
template <>
struct word<16> {
  using type = uint4;
};

/// How V numbers move: in accesses of 16 bytes at most.
template <int V, class T>
struct packed {
  static constexpr int bytes = V * static_cast<int>(sizeof(T)) < 16 ? V * static_cast<int>(sizeof(T)) : 16;
  static constexpr int each = bytes / static_cast<int>(sizeof(T));
  using type = typename word<bytes>::type;
};

/// V consecutive numbers. Their address is a multiple of the size of what one access moves.
template <int V, class T>
__device__ void load(float (&to)[V], const T* from) {
  using p = packed<V, T>;
#pragma unroll
  for (int i = 0; i < V; i += p::each) {
    const typename p::type moved = *reinterpret_cast<const typename p::type*>(from + i);
    T part[p::each];
    memcpy(static_cast<void*>(part), &moved, sizeof part);
#pragma unroll
    for (int j = 0; j < p::each; ++j) {
      to[i + j] = to_float(part[j]);
    }
  }
}

template <int V, class T>
__device__ void store(T* to, const float (&from)[V]) {
  using p = packed<V, T>;
#pragma unroll
  for (int i = 0; i < V; i += p::each) {
    T part[p::each];
#pragma unroll
    for (int j = 0; j < p::each; ++j) {
      part[j] = from_float<T>(from[i + j]);
    }
    typename p::type moved;
    memcpy(&moved, part, sizeof part);
    *reinterpret_cast<typename p::type*>(to + i) = moved;
  }
}

// --- threads ---------------------------------------------------------------------------------------------

__device__ inline int own_thread() { return static_cast<int>(threadIdx.x); }
__device__ inline std::int64_t own_row() { return static_cast<std::int64_t>(blockIdx.x); }
/// The thread's number in the whole grid, for kernels that have no rows.
__device__ inline std::int64_t own_place() { return own_row() * threads + own_thread(); }

/// Every lane has the sum.
__device__ inline float warp_sum(float x) {
#pragma unroll
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    x += __shfl_xor_sync(0xffffffffU, x, distance);
  }
  return x;
}

/// Every thread has the sum. Once in a kernel: the second one would write what the first one still reads.
__device__ inline float block_sum(float x) {
  __shared__ float sums[warps];
  x = warp_sum(x);
  if (own_thread() % lanes == 0) {
    sums[own_thread() / lanes] = x;
  }
  __syncthreads();
  x = 0;
  for (int w = 0; w < warps; ++w) {
    x += sums[w];
  }
  return x;
}

/// The first fault of many is enough, so whose write wins doesn't matter.
__device__ inline void report(volatile std::uint64_t* fault, fault_kind kind, std::int32_t value) {
  if (own_thread() == 0) {
    *fault = packed_fault(kind, value);
  }
}

template <class Word>
__device__ void copy_row(Word* to, const Word* from, int words) {
  for (int i = own_thread(); i < words; i += threads) {
    to[i] = from[i];
  }
}

}  // namespace decoder::cuda

#endif  // DECODER_CUDA_DEVICE_HPP
