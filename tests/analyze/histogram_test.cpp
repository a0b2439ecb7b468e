// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Histograms of times, and the percentiles of windows that are made of them.
#include <varve/report.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "analyze/distribution.hpp"
#include "report_windows.hpp"

namespace varve_test {
namespace {

using varve::add_report;
using varve::report;
using varve::analysis::buckets;

TEST(histogram, has_a_bucket_for_each_short_time_and_64_an_octave) {
  EXPECT_EQ(buckets::of(0), 0U);
  EXPECT_EQ(buckets::of(63), 63U);
  EXPECT_EQ(buckets::of(64), 64U);  // s = 0: 64·0 + 64
  EXPECT_EQ(buckets::of(127), 127U);
  EXPECT_EQ(buckets::of(128), 128U);  // s = 1: 64·1 + 64
  EXPECT_EQ(buckets::of(129), 128U);
  EXPECT_EQ(buckets::of(1000), 64U * 3 + 125);  // s = ⌊log2 1000⌋ − 6 = 3: 1000 ÷ 8
  EXPECT_EQ(buckets::of(std::numeric_limits<time_ns>::max()), 3711U);
  EXPECT_EQ(buckets::middle(127), 127);
  EXPECT_EQ(buckets::middle(128), 129);            // of 128 and 129
  EXPECT_EQ(buckets::middle(64 * 3 + 125), 1004);  // of 1000 … 1007
  for (time_ns v = 1; v < (time_ns{1} << 60); v += v / 20 + 1) {
    EXPECT_LE(std::abs(buckets::middle(buckets::of(v)) - v), v / 128) << v;
  }
}

TEST(histogram, is_there_when_asked_for_only) {
  trace_builder b = window(0, 1000);
  add_pass(b, 100, 30);
  add_pass(b, 300, 30);
  add_pass(b, 500, 70);
  const report plain = b.analyze();
  const report asked = report_of(b);
  EXPECT_TRUE(phase_of(plain, "decode").step.histogram.empty());
  EXPECT_TRUE(row_of(plain.layers, "attention", "decode").per_call.histogram.empty());
  const std::vector<varve::time_bucket>& calls =
      row_of(asked.layers, "attention", "decode").per_call.histogram;
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].bucket, 30);
  EXPECT_EQ(calls[0].count, 2);
  EXPECT_EQ(calls[1].bucket, 70);
  EXPECT_EQ(calls[1].count, 1);
  // Steps of 100; latencies of 20 and queue delays of 10, of all launches.
  const varve::phase_row& decode = phase_of(asked, "decode");
  EXPECT_EQ(decode.step.histogram.at(0).bucket, 100);
  for (const varve::row* r : {&asked.layers[0], &asked.labels[0], &asked.kernels[0], &asked.categories[0]}) {
    EXPECT_EQ(r->launch_latency.histogram.at(0).bucket, 20) << r->path;
    EXPECT_EQ(r->queue_delay.histogram.at(0).count, 3) << r->path;
    EXPECT_EQ(r->per_call.histogram.size(), 2U) << r->path;
  }
  EXPECT_EQ(decode.launch_latency.histogram.at(0).count, 3);
  EXPECT_EQ(decode.queue_delay.histogram.at(0).bucket, 10);
}

// More than a thousand values of a row are not kept one by one.
TEST(histogram, counts_all_of_many_calls) {
  trace_builder b = window(0, 1'000'000);
  for (int i = 0; i < 3000; ++i) {
    add_pass(b, 200 * i, 1 + i % 50);
  }
  const report r = report_of(b);
  const varve::row& calls = row_of(r.layers, "attention", "decode");
  ASSERT_EQ(calls.per_call.histogram.size(), 50U);
  EXPECT_EQ(calls.per_call.histogram[0].bucket, 1);
  EXPECT_EQ(calls.per_call.histogram[49].count, 60);  // 3000 ÷ 50
}

// The example of docs/metrics.md.
TEST(add_report, joins_means_deviations_and_percentiles) {
  trace_builder a = window(0, 1000);
  a.phase("decode", 100, 200);
  a.phase("decode", 300, 600);
  trace_builder b = window(1000, 2000);
  b.phase("decode", 1000, 1500);
  report total;
  add_report(total, report_of(a));
  add_report(total, report_of(b));
  const varve::distribution& step = phase_of(total, "decode").step;
  EXPECT_DOUBLE_EQ(step.mean, 300);
  EXPECT_NEAR(step.deviation, std::sqrt(80'000 / 3.0), 1e-9);  // of −200, 0 and 200
  EXPECT_EQ(step.p50, 302);                                    // the middle of the bucket of 300 to 303
  EXPECT_EQ(step.p99, 500);                                    // that of 500 to 503, cut to the longest
}

TEST(add_report, has_percentiles_at_most_a_128th_off) {
  report total;
  std::vector<time_ns> all;
  for (int w = 0; w < 10; ++w) {
    const time_ns begin = w * 100'000'000;
    trace_builder b = window(begin, begin + 100'000'000);
    for (int k = 0; k < 50; ++k) {
      const time_ns length = 1000 + (w * 7919 + k * 104'729) % 900'000;
      b.phase("decode", begin + k * 1'000'000, begin + k * 1'000'000 + length);
      all.push_back(length);
    }
    add_report(total, report_of(b));
  }
  std::sort(all.begin(), all.end());
  const varve::distribution& step = phase_of(total, "decode").step;
  const auto close = [](time_ns is, time_ns exact) { return std::abs(is - exact) <= exact / 128; };
  EXPECT_TRUE(close(step.p50, all[249])) << step.p50 << " and " << all[249];  // ⌈0.5·500⌉-th smallest
  EXPECT_TRUE(close(step.p95, all[474])) << step.p95 << " and " << all[474];
  EXPECT_TRUE(close(step.p99, all[494])) << step.p99 << " and " << all[494];
  EXPECT_EQ(step.max, all.back());
}

TEST(add_report, says_where_percentiles_leave_times_out) {
  trace_builder a = window(0, 1000);
  a.phase("decode", 100, 200);
  trace_builder b = window(1000, 2000);
  b.phase("decode", 1100, 1500);
  const char* const text = "distributions added without histograms: percentiles leave their times out";
  report total = report_of(a);
  add_report(total, b.analyze());
  EXPECT_EQ(lost(total, text), 1U);                    // the steps of decode
  EXPECT_EQ(phase_of(total, "decode").step.p99, 100);  // of the first window
  EXPECT_DOUBLE_EQ(phase_of(total, "decode").step.mean, 250);
  EXPECT_EQ(phase_of(total, "decode").step.max, 400);
}

// What is new in the sum has its own percentiles, and those are right.
TEST(add_report, loses_no_percentiles_of_a_kind_of_pass_that_is_new) {
  trace_builder a = window(0, 1000);
  a.phase("decode", 100, 200);
  trace_builder b = window(1000, 2000);
  b.phase("prefill", 1100, 1401);
  report total = report_of(a);
  add_report(total, b.analyze());
  EXPECT_TRUE(total.quality.losses.empty());
  EXPECT_EQ(phase_of(total, "prefill").step.p50, 301);
}

}  // namespace
}  // namespace varve_test
