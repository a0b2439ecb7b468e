// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The kernels that move memory, run on the host thread by thread: what they leave, for counts of words around
// the numbers of threads and of accesses at once.
#include "examples/emulated_cuda.hpp"

#include "ceilings/stream_kernels.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace {

using namespace varve::ceilings_of_gpu;

constexpr int at_once = 4;
constexpr unsigned blocks = 3;
constexpr std::int64_t grid = blocks * stream_threads;  // 768 threads
constexpr std::int64_t counts[] = {0, 1, grid - 1, grid, 3 * grid + 1, 4 * grid - 1, 4 * grid, 9 * grid + 5};

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), Arguments... arguments) {
  emulated::launch(blocks, 1, stream_threads, emulated::order::descending, kernel, arguments...);
}

/// `count` words and one beyond, which no kernel may touch.
std::vector<float4> words(std::int64_t count, float first) {
  std::vector<float4> out;
  for (std::int64_t i = 0; i <= count; ++i) {
    const float x = first + static_cast<float>(i);
    out.push_back(make_float4(x, x + 0.25F, x + 0.5F, x + 0.75F));
  }
  return out;
}

void expect_same(const float4& a, const float4& b, std::int64_t at) {
  EXPECT_TRUE(a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w) << "word " << at;
}

TEST(stream_kernels, read_every_word_once) {
  for (const std::int64_t count : counts) {
    // Word i holds i, 2³¹ + i, 3·i and 1: sums pass 2³².
    std::vector<uint4> from;
    for (std::int64_t i = 0; i <= count; ++i) {
      const auto n = static_cast<std::uint32_t>(i);
      from.push_back(make_uint4(n, 0x80000000U + n, 3 * n, 1));
    }
    std::vector<std::uint32_t> sums(grid + 1, 77);
    launch(read_kernel<at_once>, sums.data(), from.data(), count);
    EXPECT_EQ(sums.back(), 77U);
    sums.pop_back();
    // 5 · (0 + … + (n − 1)) + n · 2³¹ + n, modulo 2³².
    const auto n = static_cast<std::uint64_t>(count);
    const std::uint64_t expected = (n == 0 ? 0 : 5 * (n * (n - 1) / 2)) + n * 0x80000000U + n;
    EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), std::uint32_t{0}),
              static_cast<std::uint32_t>(expected))
        << count;
  }
}

TEST(stream_kernels, share_their_reads_evenly) {
  std::vector<uint4> from(9 * grid, make_uint4(1, 0, 0, 0));
  std::vector<std::uint32_t> sums(grid);
  launch(read_kernel<at_once>, sums.data(), from.data(), 9 * grid);
  EXPECT_EQ(sums, std::vector<std::uint32_t>(grid, 9));
}

TEST(stream_kernels, copy_add_and_set_every_word_and_none_beyond) {
  for (const std::int64_t count : counts) {
    const std::vector<float4> left = words(count, 1);
    const std::vector<float4> right = words(count, 100);
    const std::vector<float4> before = words(count, -5);
    std::vector<float4> copied = before;
    std::vector<float4> added = before;
    std::vector<float4> set = before;
    launch(copy_kernel<at_once>, copied.data(), left.data(), count);
    launch(triad_kernel<at_once>, added.data(), left.data(), right.data(), count);
    launch(set_kernel<at_once>, set.data(), 7.0F, count);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      expect_same(copied[at], left[at], i);
      const float4& a = left[at];
      const float4& b = right[at];
      expect_same(added[at], make_float4(a.x + 3 * b.x, a.y + 3 * b.y, a.z + 3 * b.z, a.w + 3 * b.w), i);
      expect_same(set[at], make_float4(7, 7, 7, 7), i);
    }
    for (const std::vector<float4>* const out : {&copied, &added, &set}) {
      expect_same(out->back(), before.back(), count);
    }
  }
}

}  // namespace
