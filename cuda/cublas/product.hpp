// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The work of one product as cuBLAS is asked for it. docs/cublas.md has the rules.
#ifndef VARVE_CUBLAS_PRODUCT_HPP
#define VARVE_CUBLAS_PRODUCT_HPP

#include "cublas/declarations.hpp"

#include <varve/work.hpp>

#include <cstdint>

namespace varve::cublas {

/// D[m,n] = A[m,k] · B[k,n] + C[m,n], `batch` times, matrices as cuBLAS counts their columns.
struct product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  bool batched = false;   ///< none of the factors is taken for weights
  bool shared_a = false;  ///< one for the whole batch
  bool shared_b = false;
  bool adds_c = false;     ///< C is read, as far as is known
  bool three_mul = false;  ///< complex products by three real ones
  int a = r_32f;           ///< types of elements
  int b = r_32f;
  int c = r_32f;
  int d = r_32f;
  int a_scales = scale_scalar;
  int b_scales = scale_scalar;
  int d_scales = scale_scalar;
  int bias = given;  ///< type of a vector of m elements that is added, or none
  math_pipe pipe = math_pipe::unknown;
};

/// False for types that are not known: `out` is left as it was.
bool work_of(const product& p, work& out) noexcept;

/// Where it runs. `mode`: what the handle allows (math_mode), 0 where there is none.
math_pipe pipe_of(int compute, int a, int b, int mode) noexcept;

/// The types that alpha and beta have where they have the type that is computed in.
int scalar_of(int compute, int c) noexcept;

/// Whether the number is known to be something else than zero. Null: no.
bool is_not_zero(const void* number, int type) noexcept;

}  // namespace varve::cublas

#endif  // VARVE_CUBLAS_PRODUCT_HPP
