// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cublas/define.hpp"

#include <atomic>
#include <mutex>

namespace standin_cublas {

namespace {

struct library {
  std::mutex mutex;
  std::vector<call> made;
  std::function<void()> within;
};
library& state() {
  static library one;
  return one;
}
std::atomic<bool> noted{true};
std::atomic<int> status{varve::cublas::success};
std::atomic<int> math{varve::cublas::default_math};
std::atomic<int> pointers{varve::cublas::pointer_host};
thread_local bool in_hook = false;

}  // namespace

void reset() {
  const std::lock_guard lock{state().mutex};
  state().made.clear();
  state().within = nullptr;
  noted = true;
  status = varve::cublas::success;
  math = varve::cublas::default_math;
  pointers = varve::cublas::pointer_host;
}

std::vector<call> calls() {
  const std::lock_guard lock{state().mutex};
  return state().made;
}

void note_calls(bool on) { noted = on; }
void answer(int with) { status = with; }
void set_modes(int of_math, int of_pointers) {
  math = of_math;
  pointers = of_pointers;
}
void inside(std::function<void()> what) {
  const std::lock_guard lock{state().mutex};
  state().within = std::move(what);
}

bool notes() { return noted.load(std::memory_order_relaxed); }

int called(const char* name, std::vector<unsigned char> arguments) {
  if (notes()) {
    std::function<void()> hook;
    {
      const std::lock_guard lock{state().mutex};
      state().made.push_back({name, std::move(arguments)});
      hook = in_hook ? nullptr : state().within;
    }
    if (hook) {
      in_hook = true;
      hook();
      in_hook = false;
    }
  }
  return status.load(std::memory_order_relaxed);
}

}  // namespace standin_cublas

// NOLINTBEGIN(readability-identifier-naming): the names of cuBLAS
VARVE_CUBLAS_ENTRIES(STANDIN_CUBLAS_DEFINE)

extern "C" STANDIN_CUBLAS int cublasGetMathMode(void* /*handle*/, int* mode) {
  *mode = standin_cublas::math;
  return varve::cublas::success;
}
extern "C" STANDIN_CUBLAS int cublasGetPointerMode_v2(void* /*handle*/, int* mode) {
  *mode = standin_cublas::pointers;
  return varve::cublas::success;
}
// NOLINTEND(readability-identifier-naming)
