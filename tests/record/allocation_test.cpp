// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Nothing is allocated on a marker's path after a thread's first range.
#include <varve/collector.hpp>
#include <varve/marker.hpp>
#include <varve/session.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

#include "support/replaced_new.hpp"

namespace {

thread_local std::uint64_t allocations = 0;

}  // namespace

void testing_support::before_allocation() { ++allocations; }

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
