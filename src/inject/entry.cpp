// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What NVTX (NVTX_INJECTION64_PATH) and the CUDA driver (CUDA_INJECTION64_PATH) call in the library that
// these variables name.
#include "inject/exits.hpp"
#include "inject/life.hpp"
#include "inject/nvtx.hpp"
#include "inject/signal_stack.hpp"

#include <varve/varve.h>

#include <dlfcn.h>

#include <cstdlib>

namespace {

const void* module_of(const void* address) noexcept {
  Dl_info about;
  return ::dladdr(address, &about) != 0 ? about.dli_fbase : nullptr;
}

/// Whether the driver, when the engine initialises it, calls us.
bool is_told_by_cuda() noexcept;

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): others' names

/// Once for each module that has a copy of NVTX. Nothing of the recorder's own is taken over: its markers
/// record already, and need no NVTX ranges beside.
extern "C" VARVE_API int InitializeInjectionNvtx2(varve::inject::export_table_function table) {
  if (is_told_by_cuda()) {
    varve_cuda_(0);
  }
  varve::inject::start_session();
  if (module_of(reinterpret_cast<const void*>(table)) !=
      module_of(reinterpret_cast<const void*>(&varve_version))) {
    varve::inject::attach(table);
  }
  return 1;
}

/// The same of NVTX 1 and 2, which are libraries (libnvToolsExt). Their tables are laid out as NVTX 3's, and
/// may be shorter.
extern "C" VARVE_API int InitializeInjectionNvtx(varve::inject::export_table_function table) {
  return InitializeInjectionNvtx2(table);
}

/// At the driver's initialisation. The session ends before what the driver has registered for the exit by
/// now; what it registers later runs earlier still, and before that the collector has fetched the last
/// records.
extern "C" VARVE_API int InitializeInjection() {
  varve::inject::start_session();
  varve::inject::watch_exits();  // of modules that came since
  varve::inject::give_signal_stack();
  varve_cuda_(1);
  std::atexit(varve::inject::end_at_exit);
  return 1;
}

// NOLINTEND(readability-identifier-naming)

namespace {

bool is_told_by_cuda() noexcept {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  void* const library = path != nullptr ? ::dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  const bool us = library != nullptr && ::dlsym(library, "InitializeInjection") ==
                                            reinterpret_cast<const void*>(&InitializeInjection);
  if (library != nullptr) {
    ::dlclose(library);
  }
  return us;
}

}  // namespace
