// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cublas/next.hpp"

#include <dlfcn.h>

#include <cstring>

namespace varve::cublas {

std::atomic<void*> found[static_cast<std::size_t>(function::count)];

namespace {

#define VARVE_CUBLAS_NAME(form, name, index, scalar, a, c) #name,
constexpr const char* names[] = {
    VARVE_CUBLAS_ENTRIES(VARVE_CUBLAS_NAME) VARVE_CUBLASLT_ENTRIES(VARVE_CUBLAS_NAME) "cublasGetMathMode",
    "cublasGetPointerMode_v2", "cublasLtMatrixLayoutGetAttribute", "cublasLtMatmulDescGetAttribute"};
#undef VARVE_CUBLAS_NAME
static_assert(sizeof names / sizeof *names == static_cast<std::size_t>(function::count));

// What Python and its like load is visible to those alone that ask for it.
constexpr const char* cublas[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};
constexpr const char* cublas_lt[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"};

/// Its library stays from now on.
void keep(void* address) noexcept {
  Dl_info about;
  if (::dladdr(address, &about) != 0 && about.dli_fname != nullptr) {
    static_cast<void>(::dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD));  // never closed
  }
}

}  // namespace

void* find(function which) noexcept {
  const char* const name = names[static_cast<std::size_t>(which)];
  void* address = ::dlsym(RTLD_NEXT, name);
  if (address != nullptr) {
    keep(address);
  }
  for (const char* const library : std::strncmp(name, "cublasLt", 8) == 0 ? cublas_lt : cublas) {
    if (address != nullptr) {
      break;
    }
    if (void* const loaded = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) {  // never closed
      address = ::dlsym(loaded, name);
    }
  }
  found[static_cast<std::size_t>(which)].store(address, std::memory_order_relaxed);
  return address;
}

}  // namespace varve::cublas
