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
using varve::analysis::buckets;
using varve::analysis::row_statistics;
using varve::analysis::summarise;

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
  row_statistics s{{2, 1}};
  s.add(0, 10);
  s.add(0, 30);
  s.settle();
  const auto some = s.want(0, 3);  // 0 0 0 10 30
  const auto all = s.want(1, 4);
  const distribution d = s.get(some);
  EXPECT_EQ(d.count, 5);
  EXPECT_EQ(d.total, 40);
  EXPECT_EQ(d.min, 0);
  EXPECT_EQ(d.p50, 0);
  EXPECT_EQ(d.p95, 30);
  EXPECT_DOUBLE_EQ(d.mean, 8);
  EXPECT_DOUBLE_EQ(d.deviation, std::sqrt((3 * 64 + 4 + 484) / 5.0));
  EXPECT_EQ(s.get(all).count, 4);
  EXPECT_EQ(s.get(all).p99, 0);
}

TEST(distribution, buckets_ascend_with_the_values) {
  std::size_t last = 0;
  for (time_ns v = 0; v < 100000; ++v) {
    const std::size_t bucket = buckets::of(v);
    EXPECT_GE(bucket, last);
    last = bucket;
  }
  for (int bit = 17; bit < 63; ++bit) {
    for (const time_ns v : {(1LL << bit) - 1, 1LL << bit, (1LL << bit) + (1LL << (bit - 6))}) {
      EXPECT_GE(buckets::of(v), last);
      last = buckets::of(v);
    }
  }
  EXPECT_LT(buckets::of(std::numeric_limits<time_ns>::max()), buckets::count);
  EXPECT_LT(buckets::of(10000), buckets::of(10200));
}

// Against sorting: rows with few values and with many, of all magnitudes, alone and together.
TEST(distribution, equals_what_sorting_finds) {
  std::mt19937_64 random{1};
  const std::vector<std::size_t> sizes{0, 1, 2, 99, 101, 1023, 1024, 5000, 50000};
  for (const unsigned bits : {1U, 5U, 7U, 20U, 40U, 61U}) {
    row_statistics s{sizes};
    std::vector<std::vector<time_ns>> rows;
    for (const std::size_t n : sizes) {
      std::vector<time_ns>& row = rows.emplace_back(n);
      for (time_ns& v : row) {
        v = static_cast<time_ns>(random() >> (64 - bits) >> (random() % bits));
        s.add(rows.size() - 1, v);
      }
    }
    s.settle();
    struct question {
      std::vector<std::uint32_t> rows;
      std::int64_t zeros;
      std::size_t number;
    };
    std::vector<question> questions{{{0, 1, 2, 3, 4, 5, 6, 7, 8}, 0, 0},
                                    {{3, 4, 7}, 1700, 0},
                                    {{3, 4, 5}, 0, 0},
                                    {{2, 3, 4}, 0, 0},
                                    {{8}, 49000, 0}};
    for (std::uint32_t r = 0; r < sizes.size(); ++r) {
      questions.push_back({{r}, 0, 0});
    }
    for (question& q : questions) {
      q.number = s.want(q.rows, q.zeros);
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (const time_ns v : rows[r]) {
        s.collect(r, v);
      }
    }
    for (const question& q : questions) {
      std::vector<time_ns> sorted(static_cast<std::size_t>(q.zeros), 0);
      for (const std::uint32_t r : q.rows) {
        sorted.insert(sorted.end(), rows[r].begin(), rows[r].end());
      }
      std::sort(sorted.begin(), sorted.end());
      const distribution d = s.get(q.number);
      ASSERT_EQ(d.count, static_cast<std::int64_t>(sorted.size()));
      if (sorted.empty()) {
        continue;
      }
      const auto nth = [&](std::size_t percent) { return sorted[(sorted.size() * percent + 99) / 100 - 1]; };
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
      const auto deviation =
          static_cast<double>(std::sqrt(squares / static_cast<long double>(sorted.size())));
      ASSERT_NEAR(d.mean, static_cast<double>(mean), 1e-9 * static_cast<double>(mean));
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

}  // namespace
