// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "inject/patience.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace {

using std::chrono::milliseconds;
using varve::inject::patience;
using namespace std::chrono_literals;

/// When patience ends with a writer whose processor time is `work` of the wait, asked each 100 ms.
template <class Work>
milliseconds end_of(Work work) {
  patience p;
  milliseconds waited{0};
  while (!p.is_over(waited, work(waited))) {
    waited += 100ms;
  }
  return waited;
}

TEST(patience, ends_after_20_seconds_in_which_no_records_are_taken) {
  EXPECT_EQ(end_of([](milliseconds) { return 0ns; }), 20s);
}

TEST(patience, lasts_while_the_writer_works) {
  EXPECT_EQ(end_of([](milliseconds waited) { return 1ns + waited / 10; }), 600s);
}

// It works from 5 s to 30 s, then waits for a lock: 30 s + 20 s.
TEST(patience, ends_20_seconds_after_the_writer_came_to_rest) {
  EXPECT_EQ(end_of([](milliseconds waited) {
              return waited < 5s ? 0ns : std::chrono::nanoseconds{std::min<milliseconds>(waited, 30s)};
            }),
            50s);
}

}  // namespace
