// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What varve::cublas adds to a call of cuBLAS, which is the tests' stand-in here and does nothing.
#include <varve/marker.hpp>
#include <varve/session.hpp>

#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <optional>

#include "cublas/declarations.hpp"
#include "goals.hpp"
#include "standin_cublas/control.hpp"

extern "C" {
// NOLINTNEXTLINE(readability-identifier-naming): as cuBLAS has it
int cublasGemmEx(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                 const void*, void*, int, int, int, int);
}

namespace {

using namespace varve::cublas;

/// The function behind ours.
template <class Function>
Function behind(const char* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(::dlopen(library, RTLD_LAZY | RTLD_NOLOAD), name));
}

template <class Call>
void time(benchmark::State& state, bool record, const Call& call) {
  standin_cublas::note_calls(false);
  std::optional<varve::session> session;
  if (record) {
    varve::session_options options;
    options.gpu.enabled = false;
    options.marker_memory = std::size_t{96} << 20U;  // for all: none is dropped
    session.emplace(options);
  }
  {
    const varve::phase pass{varve::decode};
    const varve::layer layer{"mlp", 0};
    call();
    for (auto _ : state) {
      call();
    }
  }
  if (record) {
    for (const varve::loss& l : session->stop().losses) {
      state.SkipWithError(l.what.c_str());
    }
  }
}

void add(const char* name, void (*run)(benchmark::State&)) {
  benchmark::RegisterBenchmark(name, run)->Iterations(200'000)->Repetitions(7);
}

constexpr float one = 1;
constexpr float zero = 0;

template <bool Record, bool Direct>
void gemm(benchmark::State& state) {
  static const auto direct = behind<decltype(&cublasGemmEx)>("libcublas.so.13", "cublasGemmEx");
  const auto function = Direct ? direct : &cublasGemmEx;
  time(state, Record, [&] {
    benchmark::DoNotOptimize(function(nullptr, 1, 0, 4096, 16, 4096, &one, nullptr, r_16bf, 4096, nullptr,
                                      r_16bf, 4096, &zero, nullptr, r_16bf, 4096, compute_32f, -1));
  });
}

}  // namespace

int main(int argc, char** argv) {
  add("gemm alone", gemm<false, true>);
  add("gemm without a session", gemm<false, false>);
  add("gemm in a session", gemm<true, false>);
  return varve_bench::run(argc, argv, {});
}
