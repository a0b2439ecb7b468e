// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which kernel does what the engine asks for, on how many blocks, and how many numbers a thread moves at
// once. `launch` starts a kernel: launch(name, grid, kernel, arguments...), each block with `threads`
// threads.
#ifndef DECODER_CUDA_LAUNCH_HPP
#define DECODER_CUDA_LAUNCH_HPP

#include "backend.hpp"
#include "cuda_attention.hpp"
#include "cuda_kernels.hpp"

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace decoder::cuda {

/// Blocks. Rows are along x, which takes 2³¹ − 1 of them; y takes 65535.
struct grid {
  std::int64_t x = 0;
  std::int64_t y = 1;
};

template <int V>
using width = std::integral_constant<int, V>;

template <class T>
T* numbers(const tensor& t) {
  return static_cast<T*>(t.data);
}
inline std::int32_t* numbers(const id_list& l) { return static_cast<std::int32_t*>(l.data); }

/// Calls `f` with the most elements that one access moves and that rows of `columns` are a multiple of.
/// Matrices begin where memory was allocated, so that their first row is aligned for every access.
template <class T, class Function>
void with_width(std::int64_t columns, Function&& f) {
  constexpr int wide = 16 / static_cast<int>(sizeof(T));
  if (columns % wide == 0) {
    f(width<wide>{});
  } else {
    f(width<1>{});
  }
}

/// Calls `f` with a word that rows of `columns` are made of, and how many of them.
template <class T, class Function>
void with_words(std::int64_t columns, Function&& f) {
  const auto bytes = columns * static_cast<std::int64_t>(sizeof(T));
  if (bytes % 16 == 0) {
    f(uint4{}, static_cast<int>(bytes / 16));
  } else {
    f(typename word<sizeof(T)>::type{}, static_cast<int>(columns));
  }
}

/// Calls `f` with the elements of a head that each lane of a warp takes.
template <class Function>
void with_head_part(std::int64_t size, Function&& f) {
  if (size <= lanes) {
    f(width<1>{});
  } else if (size <= 2 * lanes && size % 2 == 0) {
    f(width<2>{});
  } else if (size <= 4 * lanes && size % 4 == 0) {
    f(width<4>{});
  } else if (size <= 8 * lanes && size % 8 == 0) {
    f(width<8>{});
  } else {
    throw std::invalid_argument{"the CUDA back end has no attention for heads of " + std::to_string(size) +
                                " elements: it takes up to 64, multiples of 4 up to 128, of 8 up to 256"};
  }
}

/// Blocks for `count` elements of which a thread takes V.
constexpr grid spread(std::int64_t count, int v = 1) {
  const std::int64_t each = std::int64_t{threads} * v;
  return {(count + each - 1) / each};
}

using fault_word = volatile std::uint64_t*;

template <class T, class Launch>
void embedding(const Launch& launch, fault_word fault, tensor out, tensor table, id_list tokens) {
  with_words<T>(table.columns, [&](auto word, int words) {
    using w = decltype(word);
    launch("embedding", grid{out.rows}, embedding_kernel<w>, numbers<w>(out), numbers<w>(table),
           numbers(tokens), words, table.rows, fault);
  });
}

template <class T, class Launch>
void gather(const Launch& launch, fault_word fault, tensor out, tensor x, id_list rows) {
  with_words<T>(x.columns, [&](auto word, int words) {
    using w = decltype(word);
    launch("gather", grid{out.rows}, gather_kernel<w>, numbers<w>(out), numbers<w>(x), numbers(rows), words,
           x.rows, fault);
  });
}

template <class T, class Launch>
void rms_norm(const Launch& launch, tensor out, tensor x, tensor weight, float epsilon) {
  with_width<T>(x.columns, [&](auto v) {
    launch("rms_norm", grid{x.rows}, rms_norm_kernel<decltype(v)::value, T>, numbers<T>(out), numbers<T>(x),
           numbers<T>(weight), static_cast<int>(x.columns), epsilon);
  });
}

template <class T, class Launch>
void rope(const Launch& launch, tensor x, id_list positions, std::int64_t head_size, float base) {
  if (head_size > most_head_size) {
    throw std::invalid_argument{"the CUDA back end turns heads of " + std::to_string(most_head_size) +
                                " elements at most, not of " + std::to_string(head_size)};
  }
  launch("rope", grid{x.rows}, rope_kernel<T>, numbers<T>(x), numbers(positions), static_cast<int>(x.columns),
         static_cast<int>(head_size), base);
}

template <class T, class Launch>
void store_kv(const Launch& launch, fault_word fault, const kv_cache& cache, tensor keys, tensor values,
              const row_places& places) {
  with_words<T>(keys.columns, [&](auto word, int words) {
    using w = decltype(word);
    launch("store_kv", grid{keys.rows}, store_kv_kernel<w>, numbers<w>(cache.keys), numbers<w>(cache.values),
           numbers<w>(keys), numbers<w>(values), numbers(places.sequences), numbers(places.positions), words,
           cache.capacity, cache.keys.rows, fault);
  });
}

template <class T, class Launch>
void attention(const Launch& launch, fault_word fault, tensor out, tensor queries, const kv_cache& cache,
               const row_places& places, const head_shape& shape, std::int64_t bound) {
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape.size));
  with_head_part(shape.size, [&](auto v) {
    launch("attention", grid{queries.rows, shape.heads}, attention_kernel<decltype(v)::value, T>,
           numbers<T>(out), numbers<T>(queries), numbers<T>(cache.keys), numbers<T>(cache.values),
           numbers(places.sequences), numbers(places.positions), static_cast<int>(shape.heads),
           static_cast<int>(shape.kv_heads), static_cast<int>(shape.size), scale, cache.capacity,
           cache.keys.rows, bound, fault);
  });
}

template <class T, class Launch>
void swiglu(const Launch& launch, tensor gate, tensor up) {
  const std::int64_t count = gate.rows * gate.columns;
  with_width<T>(count, [&](auto v) {
    launch("swiglu", spread(count, v), swiglu_kernel<decltype(v)::value, T>, numbers<T>(gate), numbers<T>(up),
           count);
  });
}

template <class T, class Launch>
void add(const Launch& launch, tensor x, tensor y) {
  const std::int64_t count = x.rows * x.columns;
  with_width<T>(count, [&](auto v) {
    launch("add", spread(count, v), add_kernel<decltype(v)::value, T>, numbers<T>(x), numbers<T>(y), count);
  });
}

template <class T, class Launch>
void argmax(const Launch& launch, id_list out, tensor x) {
  with_width<T>(x.columns, [&](auto v) {
    launch("argmax", grid{x.rows}, argmax_kernel<decltype(v)::value, T>, numbers(out), numbers<T>(x),
           static_cast<int>(x.columns));
  });
}

template <class Launch>
void increment(const Launch& launch, id_list ids) {
  launch("increment", spread(ids.size), increment_kernel<std::int32_t>, numbers(ids), ids.size);
}

template <class To, class From, class Launch>
void convert(const Launch& launch, To* to, const From* from, std::int64_t count) {
  launch("convert", spread(count), convert_kernel<To, From>, to, from, count);
}

}  // namespace decoder::cuda

#endif  // DECODER_CUDA_LAUNCH_HPP
