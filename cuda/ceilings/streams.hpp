// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Kernels that move memory as fast as it goes, and fill matrices. All that nvcc compiles is behind this
// header.
#ifndef VARVE_CUDA_CEILINGS_STREAMS_HPP
#define VARVE_CUDA_CEILINGS_STREAMS_HPP

#include <cuda_runtime_api.h>

#include <cstdint>

namespace varve::ceilings_of_gpu {

/// What matrices are made of.
enum class element : std::uint8_t { f32, f16, bf16, fp8 };

// Arrays are of `bytes`, a multiple of 16, and aligned as cudaMalloc does it.

/// Threads of launch_read().
std::int64_t reading_threads(int multiprocessors);
/// Reads all; `sums` gets, of each thread, the sum of the 32-bit words that it read, modulo 2³².
cudaError_t launch_read(std::uint32_t* sums, const void* from, std::int64_t bytes, int multiprocessors,
                        cudaStream_t stream);
/// to[i] = from[i].
cudaError_t launch_copy(void* to, const void* from, std::int64_t bytes, int multiprocessors,
                        cudaStream_t stream);
/// to[i] = left[i] + 3 · right[i], in float.
cudaError_t launch_triad(float* to, const float* left, const float* right, std::int64_t bytes,
                         int multiprocessors, cudaStream_t stream);
/// to[i] = value.
cudaError_t launch_set(float* to, float value, std::int64_t bytes, int multiprocessors, cudaStream_t stream);
/// Numbers in [-1, 1) that follow from their index and the seed: products of zeros would take less power and
/// so run at a higher clock than an engine's.
cudaError_t launch_noise(void* to, element type, std::int64_t count, std::uint32_t seed, int multiprocessors,
                         cudaStream_t stream);
/// Elements as float.
cudaError_t launch_widen(float* to, const void* from, element type, std::int64_t count, int multiprocessors,
                         cudaStream_t stream);

}  // namespace varve::ceilings_of_gpu

#endif  // VARVE_CUDA_CEILINGS_STREAMS_HPP
