// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "ceilings/streams.hpp"

#include "ceilings/stream_kernels.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace varve::ceilings_of_gpu {

namespace {

constexpr int at_once = 4;  // accesses of a thread that are under way together

template <class T>
__global__ void noise_kernel(T* to, std::int64_t count, std::uint32_t seed) {
  for (std::int64_t i = own_place(); i < count; i += all_threads()) {
    std::uint32_t x =
        static_cast<std::uint32_t>(i) * 2654435761U + seed;  // mixed until no bit shows the index
    x ^= x >> 16U;
    x *= 2246822519U;
    x ^= x >> 13U;
    x *= 3266489917U;
    x ^= x >> 16U;
    to[i] = T(static_cast<float>(x >> 8U) * 0x1p-23F - 1.0F);
  }
}

template <class T>
__global__ void widen_kernel(float* to, const T* from, std::int64_t count) {
  for (std::int64_t i = own_place(); i < count; i += all_threads()) {
    to[i] = static_cast<float>(from[i]);
  }
}

unsigned blocks_on(int multiprocessors) {
  constexpr int resident = 8;  // blocks of 256 threads on a multiprocessor: all that it takes
  return static_cast<unsigned>(multiprocessors * resident);
}

template <class Function>
cudaError_t with_type(element type, Function&& f) {
  switch (type) {
    case element::f32:
      f(float{});
      break;
    case element::f16:
      f(__half{});
      break;
    case element::bf16:
      f(__nv_bfloat16{});
      break;
    case element::fp8:
      f(__nv_fp8_e4m3{});
      break;
  }
  return cudaGetLastError();
}

}  // namespace

std::int64_t threads_on(int multiprocessors) {
  return static_cast<std::int64_t>(blocks_on(multiprocessors)) * stream_threads;
}

cudaError_t launch_read(std::uint32_t* sums, const void* from, std::int64_t bytes, int multiprocessors,
                        cudaStream_t stream) {
  read_kernel<at_once><<<blocks_on(multiprocessors), stream_threads, 0, stream>>>(
      sums, static_cast<const uint4*>(from), bytes / 16);
  return cudaGetLastError();
}

cudaError_t launch_copy(void* to, const void* from, std::int64_t bytes, int multiprocessors,
                        cudaStream_t stream) {
  copy_kernel<at_once><<<blocks_on(multiprocessors), stream_threads, 0, stream>>>(
      static_cast<float4*>(to), static_cast<const float4*>(from), bytes / 16);
  return cudaGetLastError();
}

cudaError_t launch_triad(float* to, const float* left, const float* right, std::int64_t bytes,
                         int multiprocessors, cudaStream_t stream) {
  triad_kernel<at_once><<<blocks_on(multiprocessors), stream_threads, 0, stream>>>(
      reinterpret_cast<float4*>(to), reinterpret_cast<const float4*>(left),
      reinterpret_cast<const float4*>(right), bytes / 16);
  return cudaGetLastError();
}

cudaError_t launch_set(float* to, float value, std::int64_t bytes, int multiprocessors, cudaStream_t stream) {
  set_kernel<at_once><<<blocks_on(multiprocessors), stream_threads, 0, stream>>>(
      reinterpret_cast<float4*>(to), value, bytes / 16);
  return cudaGetLastError();
}

cudaError_t launch_noise(void* to, element type, std::int64_t count, std::uint32_t seed, int multiprocessors,
                         cudaStream_t stream) {
  return with_type(type, [&](auto t) {
    noise_kernel<<<blocks_on(multiprocessors), stream_threads, 0, stream>>>(static_cast<decltype(t)*>(to),
                                                                            count, seed);
  });
}

cudaError_t launch_widen(float* to, const void* from, element type, std::int64_t count, int multiprocessors,
                         cudaStream_t stream) {
  return with_type(type, [&](auto t) {
    widen_kernel<<<blocks_on(multiprocessors), stream_threads, 0, stream>>>(
        to, static_cast<const decltype(t)*>(from), count);
  });
}

}  // namespace varve::ceilings_of_gpu
