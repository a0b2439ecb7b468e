// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "inject/pages.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace {

using varve::inject::is_writable;

// 600 pages, every other one sealed: more lines than are read at once.
TEST(pages, are_told_apart_by_what_may_be_done_in_them) {
  constexpr std::size_t count = 600;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const all = ::mmap(nullptr, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(all, MAP_FAILED);
  auto* const bytes = static_cast<std::byte*>(all);
  for (std::size_t i = 0; i < count; i += 2) {
    ASSERT_EQ(::mprotect(bytes + i * page, page, PROT_READ), 0);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const bool writable = i % 2 == 1;
    ASSERT_EQ(is_writable(bytes + i * page), writable) << i;
    ASSERT_EQ(is_writable(bytes + (i + 1) * page - 1), writable) << i;
  }
  ASSERT_EQ(::munmap(all, count * page), 0);
  EXPECT_TRUE(is_writable(nullptr));  // nothing is known of it
}

}  // namespace
