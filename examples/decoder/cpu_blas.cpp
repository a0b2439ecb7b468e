// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Products by OpenBLAS.
#include "cpu_kernels.hpp"

#include <cblas.h>

namespace decoder::cpu {

void matmul(matrix out, matrix x, matrix weight) {
  const int m = static_cast<int>(x.rows);
  const int n = static_cast<int>(weight.rows);
  const int k = static_cast<int>(weight.columns);
  if (m == 1) {  // reads the weights once, without packing them first
    cblas_sgemv(CblasRowMajor, CblasNoTrans, n, k, 1.0F, weight.data, k, x.data, 1, 0.0F, out.data, 1);
  } else {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1.0F, x.data, k, weight.data, k, 0.0F,
                out.data, n);
  }
}

void keep_products_on_one_thread() { openblas_set_num_threads(1); }

}  // namespace decoder::cpu
