// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What `varve run` has every program of an engine load. It comes before all else, so it needs no library but
// C's: the engine may bring a C++ runtime of its own.
#include "cublas/recorder.hpp"

#include <dlfcn.h>

namespace varve::cublas {

namespace {
constexpr std::uint32_t nothing = 0;
}

recorder the_recorder{{&nothing}, {nullptr}};

}  // namespace varve::cublas

/// From now on this recorder is told, which stays for as long as the process.
extern "C" __attribute__((visibility("default"))) void varve_cublas_record_(
    const std::uint32_t* state, varve::cublas::declare_function declare) {
  if (::dlsym(RTLD_NEXT, "varve_cublas_is_linked_") == nullptr) {
    varve::cublas::the_recorder.declare.store(declare, std::memory_order_relaxed);
    varve::cublas::the_recorder.state.store(state, std::memory_order_release);
  }
}
