// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "loops.hpp"

#include <varve/collector.hpp>
#include <varve/marker.hpp>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif
#if defined(VARVE_HAS_NVTX)
#include <nvtx3/nvToolsExt.h>
#endif

namespace varve_bench {

namespace {

/// Keeps the compiler from merging or dropping what stands around it.
void barrier() { asm volatile(""); }

std::uint64_t clock_read() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return varve::clock_ticks();
#endif
}

/// `depth` layers around each other, as calls of an engine nest: their destructors run inside out.
template <int Depth>
[[gnu::always_inline]] inline void nest(int i) {
  const varve::layer layer{"attention", i};
  barrier();
  if constexpr (Depth > 1) {
    nest<Depth - 1>(i);
  }
}

void empty(int n) {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 10; ++k) {
      barrier();
    }
  }
}

void two_clock_reads(int n) {
  for (int i = 0; i < n * 10; ++i) {
    std::uint64_t t = clock_read();
    asm volatile("" : "+r"(t));
    t = clock_read();
    asm volatile("" : "+r"(t));
  }
}

void nested_markers(int n) {
  for (int i = 0; i < n; ++i) {
    nest<10>(i & 31);
  }
}

void sequence_next(int n) {
  varve::sequence step{"attention", 0};
  for (int i = 0; i < n * 10; ++i) {
    step.next("mlp", i & 31);
    barrier();
  }
}

#if defined(VARVE_HAS_NVTX)
void nvtx_push_pop(int n) {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 10; ++k) {
      nvtxRangePushA("attention");
    }
    for (int k = 0; k < 10; ++k) {
      nvtxRangePop();
    }
  }
}
constexpr auto nvtx_loop = &nvtx_push_pop;
#else
constexpr void (*nvtx_loop)(int) = nullptr;
#endif

}  // namespace

// VARVE_BENCH_WHERE: the name of the function for this copy of the loops.
loops VARVE_BENCH_WHERE() { return {empty, two_clock_reads, nested_markers, sequence_next, nvtx_loop}; }

}  // namespace varve_bench
