// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Keys and values: their cache, and attention to it.
#ifndef DECODER_CUDA_ATTENTION_HPP
#define DECODER_CUDA_ATTENTION_HPP

#include "cuda_device.hpp"

#include <cmath>
#include <cstdint>

namespace decoder::cuda {

/// A row's place in a cache: where its sequence begins, and its position.
struct cache_place {
  std::int64_t first = 0;
  std::int32_t position = -1;  ///< negative: there is no such place, which has been reported
};

/// `bound`: positions are below it.
__device__ inline cache_place find_place(const std::int32_t* sequences, const std::int32_t* positions,
                                         std::int64_t capacity, std::int64_t cache_rows, std::int64_t bound,
                                         volatile std::uint64_t* fault) {
  const std::int32_t position = positions[own_row()];
  const std::int32_t sequence = sequences[own_row()];
  if (position < 0 || position >= bound || position >= capacity) {
    report(fault, fault_kind::position, position);
    return {};
  }
  const std::int64_t first = sequence * capacity;
  if (sequence < 0 || first + capacity > cache_rows) {
    report(fault, fault_kind::sequence, sequence);
    return {};
  }
  return {first, position};
}

template <class Word>
__global__ void store_kv_kernel(Word* cached_keys, Word* cached_values, const Word* keys, const Word* values,
                                const std::int32_t* sequences, const std::int32_t* positions, int words,
                                std::int64_t capacity, std::int64_t cache_rows,
                                volatile std::uint64_t* fault) {
  const cache_place place = find_place(sequences, positions, capacity, cache_rows, capacity, fault);
  if (place.position < 0) {
    return;
  }
  const std::int64_t to = (place.first + place.position) * words;
  copy_row(cached_keys + to, keys + own_row() * words, words);
  copy_row(cached_values + to, values + own_row() * words, words);
}

/// A block for each row (x) and head (y). Its warps take four keys at a time by turns, each lane V elements
/// of the head; every warp keeps the largest score so far, the sum of exponentials and the weighted sum of
/// values below it, and these are brought together at the end. What it attends to is read from `positions`,
/// so that a replayed launch takes the context of its own pass.
template <int V, class T>
__global__ void attention_kernel(T* out, const T* queries, const T* keys, const T* values,
                                 const std::int32_t* sequences, const std::int32_t* positions, int heads,
                                 int kv_heads, int size, float scale, std::int64_t capacity,
                                 std::int64_t cache_rows, std::int64_t bound, volatile std::uint64_t* fault) {
  constexpr int at_once = 4;
  const cache_place place = find_place(sequences, positions, capacity, cache_rows, bound, fault);
  if (place.position < 0) {
    return;
  }
  const int context = place.position + 1;
  const int head = static_cast<int>(blockIdx.y);
  const int lane = own_thread() % lanes;
  const int warp = own_thread() / lanes;
  const bool has_part = lane * V < size;
  const std::int64_t own = (own_row() * heads + head) * size;
  const std::int64_t stride = std::int64_t{kv_heads} * size;
  const std::int64_t begin = place.first * stride + std::int64_t{head / (heads / kv_heads)} * size + lane * V;

  float query[V] = {};
  if (has_part) {
    load<V>(query, queries + own + lane * V);
  }
  float largest = -INFINITY;
  float total = 0;
  float sum[V] = {};
  for (int t = warp * at_once; t < context; t += warps * at_once) {
    float scores[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      scores[k] = 0;
      if (has_part && t + k < context) {
        float key[V];
        load<V>(key, keys + begin + (t + k) * stride);
#pragma unroll
        for (int v = 0; v < V; ++v) {
          scores[k] += query[v] * key[v];
        }
      }
    }
    float top = largest;
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      scores[k] = warp_sum(scores[k]) * scale;
      scores[k] = t + k < context ? scores[k] : -INFINITY;
      top = fmaxf(top, scores[k]);
    }
    const float shrink = expf(largest - top);  // 0 at first: the key at t is there, so the top is finite
    largest = top;
    total *= shrink;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      sum[v] *= shrink;
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const float weight = expf(scores[k] - top);  // 0 beyond the context
      total += weight;
      if (has_part && t + k < context) {
        float value[V];
        load<V>(value, values + begin + (t + k) * stride);
#pragma unroll
        for (int v = 0; v < V; ++v) {
          sum[v] += weight * value[v];
        }
      }
    }
  }

  __shared__ float tops[warps];
  __shared__ float totals[warps];
  __shared__ float sums[warps][lanes * V];
  if (lane == 0) {
    tops[warp] = largest;  // -INFINITY where the warp had no key: the first warp always has one
    totals[warp] = total;
  }
#pragma unroll
  for (int v = 0; v < V; ++v) {
    sums[warp][lane * V + v] = sum[v];
  }
  __syncthreads();
  if (own_thread() < size) {  // lanes · V ≥ size, and threads ≥ size
    float top = tops[0];
    for (int w = 1; w < warps; ++w) {
      top = fmaxf(top, tops[w]);
    }
    float all = 0;
    float result = 0;
    for (int w = 0; w < warps; ++w) {
      const float share = expf(tops[w] - top);
      all += share * totals[w];
      result += share * sums[w][own_thread()];
    }
    out[own + own_thread()] = from_float<T>(result / all);
  }
}

}  // namespace decoder::cuda

#endif  // DECODER_CUDA_ATTENTION_HPP
