// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// How the stand-ins define a product.
#ifndef VARVE_TESTS_STANDIN_CUBLAS_DEFINE_HPP
#define VARVE_TESTS_STANDIN_CUBLAS_DEFINE_HPP

#include "cublas/declarations.hpp"
#include "cublas/entries.inc"
#include "standin_cublas/control.hpp"

namespace standin_cublas {

template <class... Arguments>
int take(const char* name, const Arguments&... arguments) {
  return called(name, notes() ? bytes_of(arguments...) : std::vector<unsigned char>{});
}

}  // namespace standin_cublas

// clang-format off
#define STANDIN_CUBLAS_DEFINE(form, name, index, scalar, a, c)                                            \
  extern "C" STANDIN_CUBLAS VARVE_CUBLAS_RESULT_##form name(                                              \
      VARVE_CUBLAS_PARAMETERS_##form(index, varve::cublas::passed<varve::cublas::scalar>)) {              \
    return static_cast<VARVE_CUBLAS_RESULT_##form>(                                                       \
        standin_cublas::take(#name, VARVE_CUBLAS_ARGUMENTS_##form));                                      \
  }
// clang-format on

#endif  // VARVE_TESTS_STANDIN_CUBLAS_DEFINE_HPP
