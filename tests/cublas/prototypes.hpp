// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The products of cuBLAS as a program calls them.
#ifndef VARVE_TESTS_CUBLAS_PROTOTYPES_HPP
#define VARVE_TESTS_CUBLAS_PROTOTYPES_HPP

#include "cublas/declarations.hpp"
#include "cublas/entries.inc"

// clang-format off
#define VARVE_TEST_DECLARE(form, name, index, scalar, a, c)                                               \
  extern "C" VARVE_CUBLAS_RESULT_##form name(                                                             \
      VARVE_CUBLAS_PARAMETERS_##form(index, varve::cublas::passed<varve::cublas::scalar>));
VARVE_CUBLAS_ENTRIES(VARVE_TEST_DECLARE)
VARVE_CUBLASLT_ENTRIES(VARVE_TEST_DECLARE)
// clang-format on

#endif  // VARVE_TESTS_CUBLAS_PROTOTYPES_HPP
