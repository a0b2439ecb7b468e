// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The entry points of cuBLAS that are products, under their own names: each calls the one of cuBLAS with what
// it was called with, and tells the recorder of the work.
#include "cublas/calls.hpp"
#include "cublas/recorder.hpp"

#include <string_view>
#include <type_traits>

namespace varve::cublas {

namespace {

/// Whether this thread is in a product: what cuBLAS calls of itself is part of that.
thread_local bool inside __attribute__((tls_model("initial-exec"))) = false;

void tell(bool known, const work& w) noexcept {
  const declare_function declare = the_recorder.declare.load(std::memory_order_relaxed);
  if (!known) {
    declare(nullptr);
  } else if (!w.empty()) {
    const varve_work_t declared{w.flops, w.weight_bytes, w.kv_bytes, w.activation_bytes,
                                static_cast<varve_math>(w.pipe)};
    declare(&declared);
  }
}

/// The functions of cublas.h return nothing, and asking for its error would take that from the program.
template <class Result, class Describe, class... Arguments>
inline Result call(function which, const Describe& describe, Arguments... arguments) noexcept {
  constexpr bool answers = !std::is_void_v<Result>;
  const auto forward = next<Result (*)(Arguments...)>(which);
  if (__builtin_expect(forward == nullptr, 0)) {
    return static_cast<Result>(not_initialized);
  }
  if (__builtin_expect(!is_recording(), 1) || inside) {
    return forward(arguments...);
  }
  inside = true;
  int status = success;
  if constexpr (answers) {
    status = forward(arguments...);
  } else {
    forward(arguments...);
  }
  inside = false;
  if (status == success) {
    work w;
    tell(describe(w), w);
  }
  return static_cast<Result>(status);
}

constexpr bool multiplies_thrice(std::string_view name) noexcept {
  return name.find("3m") != std::string_view::npos;
}

}  // namespace

}  // namespace varve::cublas

// NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses): the names of cuBLAS
// clang-format off
#define VARVE_CUBLAS_DEFINE(form, name, index, scalar, a, c)                                              \
  extern "C" __attribute__((visibility("default"))) VARVE_CUBLAS_RESULT_##form name(                      \
      VARVE_CUBLAS_PARAMETERS_##form(index, varve::cublas::passed<varve::cublas::scalar>)) {              \
    using namespace varve::cublas;                                                                        \
    constexpr entry_types types{scalar, a, c, multiplies_thrice(#name)};                                  \
    return call<VARVE_CUBLAS_RESULT_##form>(                                                              \
        function::name,                                                                                   \
        [&](varve::work& out) {                                                                           \
          return form<index, passed<scalar>>(out, types, VARVE_CUBLAS_ARGUMENTS_##form);                  \
        },                                                                                                \
        VARVE_CUBLAS_ARGUMENTS_##form);                                                                   \
  }
VARVE_CUBLAS_ENTRIES(VARVE_CUBLAS_DEFINE)
VARVE_CUBLASLT_ENTRIES(VARVE_CUBLAS_DEFINE)
// clang-format on
// NOLINTEND(readability-identifier-naming,bugprone-macro-parentheses)
