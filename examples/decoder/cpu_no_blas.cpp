// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Products without a library, many times slower: for machines where the CPU back end is only compared with.
#include "cpu_kernels.hpp"

namespace decoder::cpu {

void matmul(matrix out, matrix x, matrix weight) {
  constexpr std::int64_t parts = 8;  // sums that the compiler can keep side by side
  for (std::int64_t j = 0; j < weight.rows; ++j) {
    const float* const w = weight.row(j);
    for (std::int64_t r = 0; r < x.rows; ++r) {
      const float* const in = x.row(r);
      float sums[parts] = {};
      std::int64_t i = 0;
      for (; i + parts <= x.columns; i += parts) {
        for (std::int64_t p = 0; p < parts; ++p) {
          sums[p] += w[i + p] * in[i + p];
        }
      }
      float sum = 0;
      for (; i < x.columns; ++i) {
        sum += w[i] * in[i];
      }
      for (const float part : sums) {
        sum += part;
      }
      out.row(r)[j] = sum;
    }
  }
}

void keep_products_on_one_thread() {}

}  // namespace decoder::cpu
