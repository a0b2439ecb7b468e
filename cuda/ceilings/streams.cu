// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "ceilings/streams.hpp"

#include "ceilings/stream_kernels.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace varve::ceilings_of_gpu {

namespace {

constexpr int at_once = 4;  // accesses to an array by a thread that are under way together

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

/// As many as are resident together, so that none is left to run by itself at the end.
template <class... Parameters>
unsigned blocks_of(void (*kernel)(Parameters...), int multiprocessors) {
  int each = 0;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, stream_threads, 0) != cudaSuccess ||
      each < 1) {
    each = 1;
  }
  return static_cast<unsigned>(multiprocessors * each);
}

template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), int multiprocessors, cudaStream_t stream,
                   Arguments... arguments) {
  kernel<<<blocks_of(kernel, multiprocessors), stream_threads, 0, stream>>>(arguments...);
  return cudaGetLastError();
}

template <class Function>
cudaError_t with_type(element type, Function&& f) {
  switch (type) {
    case element::f32:
      return f(float{});
    case element::f16:
      return f(__half{});
    case element::bf16:
      return f(__nv_bfloat16{});
    case element::fp8:
      return f(__nv_fp8_e4m3{});
  }
  return cudaErrorInvalidValue;
}

}  // namespace

std::int64_t reading_threads(int multiprocessors) {
  return static_cast<std::int64_t>(blocks_of(read_kernel<at_once>, multiprocessors)) * stream_threads;
}

cudaError_t launch_read(std::uint32_t* sums, const void* from, std::int64_t bytes, int multiprocessors,
                        cudaStream_t stream) {
  return launch(read_kernel<at_once>, multiprocessors, stream, sums, static_cast<const uint4*>(from),
                bytes / 16);
}

cudaError_t launch_copy(void* to, const void* from, std::int64_t bytes, int multiprocessors,
                        cudaStream_t stream) {
  return launch(copy_kernel<at_once>, multiprocessors, stream, static_cast<float4*>(to),
                static_cast<const float4*>(from), bytes / 16);
}

cudaError_t launch_triad(float* to, const float* left, const float* right, std::int64_t bytes,
                         int multiprocessors, cudaStream_t stream) {
  return launch(triad_kernel<at_once>, multiprocessors, stream, reinterpret_cast<float4*>(to),
                reinterpret_cast<const float4*>(left), reinterpret_cast<const float4*>(right), bytes / 16);
}

cudaError_t launch_set(float* to, float value, std::int64_t bytes, int multiprocessors, cudaStream_t stream) {
  return launch(set_kernel<at_once>, multiprocessors, stream, reinterpret_cast<float4*>(to), value,
                bytes / 16);
}

cudaError_t launch_noise(void* to, element type, std::int64_t count, std::uint32_t seed, int multiprocessors,
                         cudaStream_t stream) {
  return with_type(type, [&](auto t) {
    return launch(noise_kernel<decltype(t)>, multiprocessors, stream, static_cast<decltype(t)*>(to), count,
                  seed);
  });
}

cudaError_t launch_widen(float* to, const void* from, element type, std::int64_t count, int multiprocessors,
                         cudaStream_t stream) {
  return with_type(type, [&](auto t) {
    return launch(widen_kernel<decltype(t)>, multiprocessors, stream, to,
                  static_cast<const decltype(t)*>(from), count);
  });
}

}  // namespace varve::ceilings_of_gpu
