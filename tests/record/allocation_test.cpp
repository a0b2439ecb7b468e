// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Nothing is allocated on a marker's path after a thread's first range.
#include <varve/collector.hpp>
#include <varve/marker.hpp>
#include <varve/session.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

thread_local std::uint64_t allocations = 0;

// Not inlined: compilers warn of free() behind a new that they can see.
__attribute__((noinline)) void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  if (void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)) {
    return memory;
  }
  throw std::bad_alloc{};
}
__attribute__((noinline)) void release(void* memory) noexcept { std::free(memory); }

}  // namespace

void* operator new(std::size_t size) { return counted(size != 0 ? size : 1, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  release(memory);
}

namespace {

std::uint64_t allocations_of_markers(int rounds) {
  varve::host_device device{{0, "device"}};
  { const varve::layer first{"first"}; }
  const std::uint64_t before = allocations;
  for (int i = 0; i < rounds; ++i) {
    varve::phase pass{varve::decode};
    pass.decode_tokens(16).model("target");
    varve::sequence step{"attention", i};
    step.work([] { return varve::gemm(1, 2, 3, varve::dtype::f16); });
    step.next("mlp", i);
    const varve::op op{"op"};
    const varve::handoff where = varve::here();
    const varve::adopt adopted{where};
    varve::handle h = varve::begin_op("handle", i);
    h.end();
    const varve::host_call call{device, varve::call_kind::launch};
    device.report({0, call.correlation(), "gemm", 1, 2});
  }
  return allocations - before;
}

TEST(allocation, is_none_on_a_markers_path_after_the_threads_first_range) {
  const varve::session session;
  EXPECT_EQ(allocations_of_markers(20000), 0U);  // through many chunks
}

TEST(allocation, is_none_without_a_session_or_when_armed) {
  EXPECT_EQ(allocations_of_markers(100), 0U);
  varve::arm();
  EXPECT_EQ(allocations_of_markers(100), 0U);
  varve::disarm();
}

TEST(allocation, is_seen_by_this_test) {
  const std::uint64_t before = allocations;
  delete new int{1};
  EXPECT_EQ(allocations - before, 1U);
}

}  // namespace
