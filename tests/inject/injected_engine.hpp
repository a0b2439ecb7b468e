// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What engines that know nothing of varve do: mark their work for NVTX tools, and initialise CUDA.
#ifndef VARVE_TESTS_INJECT_INJECTED_ENGINE_HPP
#define VARVE_TESTS_INJECT_INJECTED_ENGINE_HPP

#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdlib>
#include <string>

class range {
 public:
  explicit range(const std::string& name) { nvtxRangePushA(name.c_str()); }
  range(const range&) = delete;
  range& operator=(const range&) = delete;
  ~range() { nvtxRangePop(); }
};

/// What the driver does when an engine initialises it.
inline void initialise_cuda() {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  void* const library = path != nullptr ? ::dlopen(path, RTLD_NOW) : nullptr;
  if (library != nullptr) {
    reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"))();
  }
}

#endif  // VARVE_TESTS_INJECT_INJECTED_ENGINE_HPP
