// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace {

using varve::distribution;
using varve::time_ns;
using varve::analysis::grouped_values;
using varve::analysis::summariser;

distribution summarise(const std::vector<time_ns>& values, std::int64_t zeros = 0) {
  return summariser{}.summarise(std::span{values}, zeros);
}

TEST(distribution, of_nothing_is_zero) {
  const distribution d = summarise({});
  EXPECT_EQ(d.count, 0);
  EXPECT_EQ(d.min, 0);
  EXPECT_EQ(d.max, 0);
}

TEST(distribution, by_hand) {
  const distribution d = summarise({4, 1, 3, 2});
  EXPECT_EQ(d.count, 4);
  EXPECT_EQ(d.total, 10);
  EXPECT_EQ(d.min, 1);
  EXPECT_EQ(d.max, 4);
  EXPECT_DOUBLE_EQ(d.mean, 2.5);
  EXPECT_EQ(d.p50, 2);  // the ⌈0.5·4⌉ = 2nd
  EXPECT_EQ(d.p95, 4);  // the ⌈3.8⌉ = 4th
  EXPECT_EQ(d.p99, 4);
  EXPECT_DOUBLE_EQ(d.deviation, std::sqrt(1.25));  // (2.25 + 0.25 + 0.25 + 2.25) ÷ 4
}

TEST(distribution, percentiles_are_nearest_rank) {
  std::vector<time_ns> values(200);
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = static_cast<time_ns>(200 - k);
  }
  const distribution d = summarise(values);
  EXPECT_EQ(d.p50, 100);
  EXPECT_EQ(d.p95, 190);
  EXPECT_EQ(d.p99, 198);
  EXPECT_EQ(summarise({7}).p50, 7);
  EXPECT_EQ(summarise({7}).p99, 7);
}

TEST(distribution, zeros_besides_come_first) {
  const distribution d = summarise({10, 30}, 3);  // 0 0 0 10 30
  EXPECT_EQ(d.count, 5);
  EXPECT_EQ(d.total, 40);
  EXPECT_EQ(d.min, 0);
  EXPECT_EQ(d.p50, 0);
  EXPECT_EQ(d.p95, 30);
  EXPECT_DOUBLE_EQ(d.mean, 8);
  EXPECT_DOUBLE_EQ(d.deviation, std::sqrt((3 * 64 + 4 + 484) / 5.0));
  EXPECT_EQ(summarise({}, 4).count, 4);
  EXPECT_EQ(summarise({}, 4).p99, 0);
}

// Against sorting, for values of all magnitudes, in many sizes and in several parts.
TEST(distribution, equals_what_sorting_finds) {
  std::mt19937_64 random{1};
  for (const std::size_t n : {1U, 2U, 99U, 101U, 511U, 512U, 513U, 5000U, 50000U}) {
    for (const unsigned bits : {1U, 5U, 7U, 20U, 40U, 61U}) {
      std::vector<time_ns> values(n);
      for (time_ns& v : values) {
        v = static_cast<time_ns>(random() >> (64 - bits) >> (random() % bits));
      }
      const std::int64_t zeros = n % 2 == 0 ? 0 : static_cast<std::int64_t>(n / 3);
      const std::array parts{std::span<const time_ns>{values}.first(n / 3),
                             std::span<const time_ns>{values}.subspan(n / 3)};
      const distribution d = summariser{}.summarise(parts, zeros);
      std::vector<time_ns> sorted = values;
      sorted.insert(sorted.end(), static_cast<std::size_t>(zeros), 0);
      std::sort(sorted.begin(), sorted.end());
      const auto nth = [&](std::size_t percent) { return sorted[(sorted.size() * percent + 99) / 100 - 1]; };
      ASSERT_EQ(d.count, static_cast<std::int64_t>(sorted.size()));
      ASSERT_EQ(d.min, sorted.front());
      ASSERT_EQ(d.max, sorted.back());
      ASSERT_EQ(d.p50, nth(50));
      ASSERT_EQ(d.p95, nth(95));
      ASSERT_EQ(d.p99, nth(99));
      long double sum = 0;
      for (const time_ns v : sorted) {
        sum += static_cast<long double>(v);
      }
      const long double mean = sum / static_cast<long double>(sorted.size());
      long double squares = 0;
      for (const time_ns v : sorted) {
        squares += (static_cast<long double>(v) - mean) * (static_cast<long double>(v) - mean);
      }
      ASSERT_NEAR(d.mean, static_cast<double>(mean), 1e-9 * static_cast<double>(mean));
      const double deviation =
          static_cast<double>(std::sqrt(squares / static_cast<long double>(sorted.size())));
      ASSERT_NEAR(d.deviation, deviation, 1e-9 * deviation + 1e-9);
    }
  }
}

TEST(distribution, sums_beyond_what_a_number_holds_stop_at_the_greatest) {
  const time_ns huge = std::numeric_limits<time_ns>::max();
  const distribution d = summarise(std::vector<time_ns>(1000, huge));
  EXPECT_EQ(d.total, huge);
  EXPECT_EQ(d.p50, huge);
  EXPECT_DOUBLE_EQ(d.mean, static_cast<double>(huge));
}

TEST(grouped_values, keep_rows_side_by_side) {
  grouped_values values{4};
  values.count(2, 2);
  values.count(0);
  values.count(3);
  values.allocate();
  values.add(2, 21);
  values.add(3, 31);
  values.add(0, 1);
  values.add(2, 22);
  EXPECT_EQ(std::vector<time_ns>(values.of(2).begin(), values.of(2).end()), (std::vector<time_ns>{21, 22}));
  EXPECT_TRUE(values.of(1).empty());
  const auto all = values.of(0, 4);
  EXPECT_EQ(std::vector<time_ns>(all.begin(), all.end()), (std::vector<time_ns>{1, 21, 22, 31}));
}

}  // namespace
