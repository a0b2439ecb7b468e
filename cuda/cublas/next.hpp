// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The functions of cuBLAS itself, behind ours. Found when they are first called, and kept.
#ifndef VARVE_CUBLAS_NEXT_HPP
#define VARVE_CUBLAS_NEXT_HPP

#include "cublas/entries.inc"

#include <atomic>
#include <cstddef>

namespace varve::cublas {

/// All that are called: the products, and what tells of them.
#define VARVE_CUBLAS_NUMBER(form, name, index, scalar, a, c) name,
enum class function : std::size_t {
  VARVE_CUBLAS_ENTRIES(VARVE_CUBLAS_NUMBER) VARVE_CUBLASLT_ENTRIES(VARVE_CUBLAS_NUMBER) cublasGetMathMode,
  cublasGetPointerMode_v2,
  cublasLtMatrixLayoutGetAttribute,
  cublasLtMatmulDescGetAttribute,
  count
};
#undef VARVE_CUBLAS_NUMBER

extern std::atomic<void*> found[static_cast<std::size_t>(function::count)];

/// In the library that comes next where the process looks for names; else in a cuBLAS that is loaded, which
/// is never loaded for this. Null: there is none (so far).
void* find(function which) noexcept;

template <class Function>
Function next(function which) noexcept {
  void* known = found[static_cast<std::size_t>(which)].load(std::memory_order_relaxed);
  if (__builtin_expect(known == nullptr, 0)) {
    known = find(which);
  }
  return reinterpret_cast<Function>(known);
}

}  // namespace varve::cublas

#endif  // VARVE_CUBLAS_NEXT_HPP
