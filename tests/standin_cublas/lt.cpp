// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cublas/define.hpp"

#include <cstring>

namespace standin_cublas {

void load_lt() {}

namespace {

int get(const attributes* of, int which, void* value, std::size_t size, std::size_t* written) {
  constexpr int invalid_value = 7;
  const auto found = of->values.find(which);
  if (found == of->values.end() || (size != 4 && size != 8)) {
    return invalid_value;
  }
  std::memcpy(value, &found->second, size);  // the lower bytes come first
  *written = size;
  return varve::cublas::success;
}

}  // namespace

}  // namespace standin_cublas

// NOLINTBEGIN(readability-identifier-naming): the names of cuBLAS
VARVE_CUBLASLT_ENTRIES(STANDIN_CUBLAS_DEFINE)

extern "C" STANDIN_CUBLAS int cublasLtMatrixLayoutGetAttribute(const standin_cublas::attributes* of,
                                                               int which, void* value, std::size_t size,
                                                               std::size_t* written) {
  return standin_cublas::get(of, which, value, size, written);
}
extern "C" STANDIN_CUBLAS int cublasLtMatmulDescGetAttribute(const standin_cublas::attributes* of, int which,
                                                             void* value, std::size_t size,
                                                             std::size_t* written) {
  return standin_cublas::get(of, which, value, size, written);
}
// NOLINTEND(readability-identifier-naming)
