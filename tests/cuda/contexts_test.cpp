// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cupti/contexts.hpp"

#include <gtest/gtest.h>

namespace {

using varve::cupti::context_handle;
using varve::cupti::recent_contexts;

context_handle context(std::uintptr_t at) { return reinterpret_cast<context_handle>(at); }

TEST(contexts, of_a_thread_that_alternates_are_each_told_once_in_an_era) {
  recent_contexts seen;
  for (const std::uint32_t era : {0U, 1U}) {
    int told = 0;
    for (int round = 0; round < 100; ++round) {
      for (std::uintptr_t gpu = 1; gpu <= recent_contexts::most; ++gpu) {
        told += seen.is_new(context(gpu * 4096), era) ? 1 : 0;  // as far apart as allocators put them
      }
    }
    EXPECT_EQ(told, static_cast<int>(recent_contexts::most));
  }
}

TEST(contexts, beyond_those_that_are_kept_are_told_again) {
  recent_contexts seen;
  for (std::uintptr_t gpu = 1; gpu <= recent_contexts::most + 1; ++gpu) {
    EXPECT_TRUE(seen.is_new(context(gpu), 1));
  }
  EXPECT_TRUE(seen.is_new(context(1), 1)) << "the oldest has made room";
  EXPECT_FALSE(seen.is_new(context(recent_contexts::most + 1), 1));
}

}  // namespace
