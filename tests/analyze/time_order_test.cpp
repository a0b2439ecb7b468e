// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/time_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace {

using varve::time_ns;
using varve::analysis::sort_by_time;

/// Sorts by time, then by the rank that each record has in `ranks`, and compares with std::sort.
void expect_sorted(const std::vector<time_ns>& times, const std::vector<int>& ranks) {
  std::vector<std::uint32_t> ids(times.size());
  std::iota(ids.begin(), ids.end(), 0U);
  std::vector<std::uint32_t> expected = ids;
  std::sort(expected.begin(), expected.end(), [&](std::uint32_t a, std::uint32_t b) {
    return times[a] != times[b] ? times[a] < times[b] : ranks[a] < ranks[b];
  });
  sort_by_time(
      std::span{ids}, [&](std::uint32_t i) { return times[i]; },
      [&](std::uint32_t a, std::uint32_t b) {
        return times[a] != times[b] ? times[a] < times[b] : ranks[a] < ranks[b];
      });
  EXPECT_EQ(ids, expected);
}

class time_order : public testing::Test {
 protected:
  static constexpr std::size_t n = 20000;

  time_order() : ranks_(n) {
    std::iota(ranks_.begin(), ranks_.end(), 0);
    std::shuffle(ranks_.begin(), ranks_.end(), random_);
  }

  /// Buffers of 1000 records, each `apart` ns after the one before, in a random order.
  std::vector<time_ns> in_buffers(time_ns apart) {
    std::vector<time_ns> buffers(n / 1000);
    std::iota(buffers.begin(), buffers.end(), 0);
    std::shuffle(buffers.begin(), buffers.end(), random_);
    std::vector<time_ns> times;
    for (const time_ns b : buffers) {
      for (time_ns k = 0; k < 1000; ++k) {
        times.push_back(b * apart + 5 * (k / 2));
      }
    }
    return times;
  }

  std::mt19937_64 random_{3};
  std::vector<int> ranks_;
};

TEST_F(time_order, of_nothing) { expect_sorted({}, {}); }

TEST_F(time_order, of_sorted_times_with_ties) {
  std::vector<time_ns> times(n);
  for (std::size_t k = 0; k < n; ++k) {
    times[k] = static_cast<time_ns>(k / 3);
  }
  expect_sorted(times, ranks_);
}

TEST_F(time_order, of_times_a_little_out_of_order) {
  std::vector<time_ns> times(n);
  for (std::size_t k = 0; k < n; ++k) {
    times[k] = static_cast<time_ns>(10 * k + random_() % 100);
  }
  expect_sorted(times, ranks_);
}

TEST_F(time_order, of_buffers_in_any_order) { expect_sorted(in_buffers(2500), ranks_); }  // the last ties

TEST_F(time_order, of_buffers_that_overlap) { expect_sorted(in_buffers(700), ranks_); }

TEST_F(time_order, of_random_times) {
  for (const unsigned bits : {4U, 20U, 31U, 33U, 45U, 64U}) {
    std::vector<time_ns> times(n);
    for (time_ns& t : times) {
      t = static_cast<time_ns>(random_() >> (64 - bits));
    }
    expect_sorted(times, ranks_);
  }
}

TEST_F(time_order, of_times_of_which_one_is_far_away) {
  std::vector<time_ns> times(n);
  for (time_ns& t : times) {
    t = static_cast<time_ns>(random_() % 1000000);
  }
  times[17] = std::numeric_limits<time_ns>::max();
  times[18] = std::numeric_limits<time_ns>::min();
  expect_sorted(times, ranks_);
}

}  // namespace
