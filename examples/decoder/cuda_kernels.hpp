// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The kernels of the CUDA back end but attention. backend.hpp says what each computes. Offsets are 64-bit,
// indices within a row 32-bit. A block works on one row unless said otherwise, and its threads take the same
// way past every barrier and shuffle.
#ifndef DECODER_CUDA_KERNELS_HPP
#define DECODER_CUDA_KERNELS_HPP

#include "cuda_device.hpp"

#include <climits>
#include <cmath>
#include <cstdint>

namespace decoder::cuda {

// --- rows ------------------------------------------------------------------------------------------------

template <class Word>
__global__ void embedding_kernel(Word* out, const Word* table, const std::int32_t* tokens, int words,
                                 std::int64_t table_rows, volatile std::uint64_t* fault) {
  const std::int32_t token = tokens[own_row()];
  if (token < 0 || token >= table_rows) {
    report(fault, fault_kind::token, token);
    return;
  }
  copy_row(out + own_row() * words, table + std::int64_t{token} * words, words);
}

template <class Word>
__global__ void gather_kernel(Word* out, const Word* x, const std::int32_t* rows, int words,
                              std::int64_t x_rows, volatile std::uint64_t* fault) {
  const std::int32_t row = rows[own_row()];
  if (row < 0 || row >= x_rows) {
    report(fault, fault_kind::row, row);
    return;
  }
  copy_row(out + own_row() * words, x + std::int64_t{row} * words, words);
}

template <int V, class T>
__global__ void rms_norm_kernel(T* out, const T* x, const T* weight, int columns, float epsilon) {
  const T* const in = x + own_row() * columns;
  T* const to = out + own_row() * columns;
  float squares = 0;
  for (int i = own_thread() * V; i < columns; i += threads * V) {
    float part[V];
    load<V>(part, in + i);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      squares += part[v] * part[v];
    }
  }
  const float scale = 1.0F / sqrtf(block_sum(squares) / static_cast<float>(columns) + epsilon);
  for (int i = own_thread() * V; i < columns; i += threads * V) {
    float part[V];
    float factors[V];
    load<V>(part, in + i);
    load<V>(factors, weight + i);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      part[v] *= scale * factors[v];
    }
    store<V>(to + i, part);
  }
}

/// The row's sines and cosines are made once, in double, for all of its heads: in float the angle of a far
/// position is wrong by more than FP16 can tell apart.
template <class T>
__global__ void rope_kernel(T* x, const std::int32_t* positions, int columns, int head_size, float base) {
  __shared__ float cosines[most_head_size / 2];
  __shared__ float sines[most_head_size / 2];
  const int half = head_size / 2;
  const double position = positions[own_row()];
  for (int i = own_thread(); i < half; i += threads) {
    const double angle = position * pow(static_cast<double>(base), -2.0 * i / head_size);
    cosines[i] = static_cast<float>(cos(angle));
    sines[i] = static_cast<float>(sin(angle));
  }
  __syncthreads();
  T* const row = x + own_row() * columns;
  for (int pair = own_thread(); pair < columns / 2; pair += threads) {
    const int i = pair % half;
    T* const first = row + pair / half * head_size + i;
    const float a = to_float(first[0]);
    const float b = to_float(first[half]);
    first[0] = from_float<T>(a * cosines[i] - b * sines[i]);
    first[half] = from_float<T>(b * cosines[i] + a * sines[i]);
  }
}

// --- elements --------------------------------------------------------------------------------------------

/// A thread works on V elements; `count` is a multiple of V.
template <int V, class T>
__global__ void swiglu_kernel(T* gate, const T* up, std::int64_t count) {
  const std::int64_t i = own_place() * V;
  if (i < count) {
    float g[V];
    float u[V];
    load<V>(g, gate + i);
    load<V>(u, up + i);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      g[v] = g[v] / (1.0F + expf(-g[v])) * u[v];
    }
    store<V>(gate + i, g);
  }
}

template <int V, class T>
__global__ void add_kernel(T* x, const T* y, std::int64_t count) {
  const std::int64_t i = own_place() * V;
  if (i < count) {
    float a[V];
    float b[V];
    load<V>(a, x + i);
    load<V>(b, y + i);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      a[v] += b[v];
    }
    store<V>(x + i, a);
  }
}

/// Numbers of one type as another.
template <class To, class From>
__global__ void convert_kernel(To* to, const From* from, std::int64_t count) {
  const std::int64_t i = own_place();
  if (i < count) {
    to[i] = from_float<To>(to_float(from[i]));
  }
}

template <class Id>
__global__ void increment_kernel(Id* ids, std::int64_t count) {
  const std::int64_t i = own_place();
  if (i < count) {
    ++ids[i];
  }
}

// --- sampling --------------------------------------------------------------------------------------------

struct candidate {
  float value = -INFINITY;
  std::int32_t column = INT_MAX;
};

/// The larger one, of equals the first.
__device__ inline candidate better(candidate a, candidate b) {
  return b.value > a.value || (b.value == a.value && b.column < a.column) ? b : a;
}

template <int V, class T>
__global__ void argmax_kernel(std::int32_t* out, const T* x, int columns) {
  __shared__ float values[warps];
  __shared__ std::int32_t places[warps];
  const T* const row = x + own_row() * columns;
  candidate best;
  for (int i = own_thread() * V; i < columns; i += threads * V) {
    float part[V];
    load<V>(part, row + i);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      best = better(best, {part[v], i + v});
    }
  }
#pragma unroll
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    const float value = __shfl_xor_sync(0xffffffffU, best.value, distance);
    const std::int32_t column = __shfl_xor_sync(0xffffffffU, best.column, distance);
    best = better(best, {value, column});
  }
  if (own_thread() % lanes == 0) {
    values[own_thread() / lanes] = best.value;
    places[own_thread() / lanes] = best.column;
  }
  __syncthreads();
  if (own_thread() == 0) {
    for (int w = 1; w < warps; ++w) {
      best = better(best, {values[w], places[w]});
    }
    out[own_row()] = best.column == INT_MAX ? 0 : best.column;  // a row that holds no number
  }
}

}  // namespace decoder::cuda

#endif  // DECODER_CUDA_KERNELS_HPP
