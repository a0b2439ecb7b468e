// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The kernels of the CPU back end: plain functions over host memory, in float. backend.hpp says what each
// computes. A token, position or row outside its table throws std::out_of_range.
#ifndef DECODER_CPU_KERNELS_HPP
#define DECODER_CPU_KERNELS_HPP

#include "backend.hpp"

#include <cstdint>

namespace decoder::cpu {

struct matrix {
  float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  [[nodiscard]] float* row(std::int64_t i) const { return data + i * columns; }
  [[nodiscard]] std::int64_t size() const { return rows * columns; }
};

struct indices {
  std::int32_t* data = nullptr;
  std::int64_t size = 0;

  std::int32_t& operator[](std::int64_t i) const { return data[i]; }
};

struct places {
  indices sequences;
  indices positions;
};

struct cache {
  matrix keys;
  matrix values;
  std::int64_t capacity = 0;
};

void embedding(matrix out, matrix table, indices tokens);
void rms_norm(matrix out, matrix x, matrix weight, float epsilon);
void rope(matrix x, indices positions, std::int64_t head_size, float base);
void store_kv(const cache& to, matrix keys, matrix values, const places& where);
void attention(matrix out, matrix queries, const cache& from, const places& where, const head_shape& shape,
               std::int64_t bound);
void swiglu(matrix gate, matrix up);
void add(matrix x, matrix y);
void gather(matrix out, matrix x, indices rows);
void argmax(indices out, matrix x);
void increment(indices ids);

// In cpu_blas.cpp, or where there is no OpenBLAS in cpu_no_blas.cpp.
void matmul(matrix out, matrix x, matrix weight);
/// Products start no threads of their own.
void keep_products_on_one_thread();

}  // namespace decoder::cpu

#endif  // DECODER_CPU_KERNELS_HPP
