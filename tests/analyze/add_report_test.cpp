// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/report.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "analyze/distribution.hpp"
#include "formats/json/fields.hpp"
#include "trace_builder.hpp"

namespace varve_test {
namespace {

using varve::add_report;
using varve::report;
using varve::analysis::buckets;

/// A window of the session; on device 0.
trace_builder window(time_ns begin, time_ns end) {
  trace_builder b;
  b.t.source = "session";
  b.t.begin = begin;
  b.t.end = end;
  return b;
}

report report_of(const trace_builder& b) {
  varve::analyze_options options;
  options.histograms = true;
  return b.analyze(options);
}

std::uint64_t lost(const report& r, std::string_view what) {
  const auto found =
      std::find_if(r.quality.losses.begin(), r.quality.losses.end(),
                   [&](const varve::loss& l) { return l.what == what && l.where == "add_report"; });
  return found != r.quality.losses.end() ? found->count : 0;
}

/// A pass [begin, begin + 100) with a layer that runs a kernel of `gpu` ns, launched in its first 10 ns.
void add_pass(trace_builder& b, time_ns begin, time_ns gpu, std::string_view layer = "attention") {
  const std::uint32_t pass = b.phase("decode", begin, begin + 100);
  const std::uint32_t l = b.layer(pass, layer, no_index, begin, begin + 90);
  b.launched_kernel(l, begin, begin + 10, begin + 20, begin + 20 + gpu);
}

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

TEST(add_report, makes_a_copy_of_the_first) {
  trace_builder b = window(0, 1000);
  add_pass(b, 100, 30);
  report total;
  add_report(total, report_of(b));
  EXPECT_EQ(total.end, 1000);
  EXPECT_EQ(phase_of(total, "decode").passes, 1);
  EXPECT_EQ(total.findings.size(), report_of(b).findings.size());
  EXPECT_TRUE(total.quality.losses.empty());
}

TEST(add_report, adds_sums_and_remakes_what_is_made_of_them) {
  trace_builder a = window(0, 1000);
  add_pass(a, 100, 30);
  add_pass(a, 300, 50);
  trace_builder b = window(1000, 2000);
  add_pass(b, 1600, 70);
  report total;
  add_report(total, report_of(a));
  add_report(total, report_of(b));
  EXPECT_EQ(total.begin, 0);
  EXPECT_EQ(total.end, 2000);
  const varve::phase_row& decode = phase_of(total, "decode");
  EXPECT_EQ(decode.passes, 3);
  EXPECT_EQ(decode.wall, 300);
  EXPECT_EQ(decode.partition.compute, 150);
  EXPECT_EQ(decode.gpu_span, 1690 - 120);  // [120, 150) first, [1620, 1690) last
  const varve::row& attention = row_of(total.layers, "attention", "decode");
  EXPECT_EQ(attention.inclusive.gpu_time, 150);
  EXPECT_EQ(attention.inclusive.calls, 3);
  EXPECT_EQ(attention.inclusive.launch_time, 30);
  EXPECT_EQ(attention.per_call.count, 3);
  EXPECT_EQ(attention.per_call.total, 150);
  EXPECT_EQ(attention.per_call.min, 30);
  EXPECT_EQ(attention.per_call.max, 70);
  EXPECT_EQ(attention.per_call.p50, 50);
  EXPECT_EQ(attention.per_call.p99, 70);
  EXPECT_DOUBLE_EQ(attention.per_call.mean, 50);
  EXPECT_DOUBLE_EQ(attention.per_call.deviation, std::sqrt((400.0 + 0 + 400) / 3));
  EXPECT_EQ(attention.per_pass, (std::vector<time_ns>{30, 50, 70}));
  EXPECT_EQ(decode.samples.step, (std::vector<time_ns>{100, 100, 100}));
  EXPECT_EQ(decode.samples.stride, 1);
  // From 100 to 1700; in no pass from 200 to 300 and from 400, in the first window, to 1600, in the second.
  const varve::device_row& device = total.devices.at(0);
  EXPECT_EQ(device.partition.no_pass, 100 + 1200);
  EXPECT_EQ(device.partition.wall(), 1600);
  EXPECT_EQ(device.passes_begin, 100);
  EXPECT_EQ(device.passes_end, 1700);
  EXPECT_EQ(device.streams.at(0).kernels, 3);
  EXPECT_DOUBLE_EQ(total.quality.attributed, 1);
  EXPECT_EQ(total.quality.activities, 3);
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

TEST(add_report, weighs_shares_by_their_denominators) {
  trace_builder a = window(0, 1000);
  add_pass(a, 100, 30);
  trace_builder b = window(1000, 2000);
  const std::uint32_t pass = b.phase("decode", 1100, 1200);
  b.launched_kernel(pass, 1100, 1110, 1120, 1130);  // in no layer
  report total;
  add_report(total, report_of(a));
  add_report(total, report_of(b));
  EXPECT_DOUBLE_EQ(total.quality.attributed, 0.75);  // 30 of 30 + 10
}

TEST(add_report, keeps_trees_valid_where_rows_are_new) {
  trace_builder a = window(0, 1000);
  const std::uint32_t p = a.phase("decode", 0, 100);
  const std::uint32_t block = a.layer(p, "block", 0, 0, 90);
  a.launched_kernel(a.layer(block, "attention", no_index, 0, 40), 0, 5, 10, 20);
  a.launched_kernel(a.layer(p, "head", no_index, 90, 100), 90, 92, 93, 99);
  trace_builder b = window(1000, 2000);
  const std::uint32_t prefill = b.phase("prefill", 1000, 1100);
  b.launched_kernel(b.layer(prefill, "block", 0, 1000, 1100), 1000, 1005, 1010, 1020);
  const std::uint32_t decode = b.phase("decode", 1200, 1300);
  const std::uint32_t again = b.layer(decode, "block", 0, 1200, 1290);
  b.launched_kernel(b.layer(again, "mlp", no_index, 1200, 1240), 1200, 1205, 1210, 1220);
  report total;
  add_report(total, report_of(a));
  add_report(total, report_of(b));
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < total.layers.size(); ++i) {
    const varve::row& r = total.layers[i];
    paths.push_back(r.phase + ": " + r.path);
    if (r.depth == 0) {
      EXPECT_EQ(r.parent, none);
    } else {
      ASSERT_LT(r.parent, i);
      EXPECT_EQ(total.layers[r.parent].path, "block 0");
      EXPECT_EQ(total.layers[r.parent].phase, r.phase);
    }
  }
  EXPECT_EQ(paths, (std::vector<std::string>{"decode: block 0", "decode: block 0 / attention",
                                             "decode: block 0 / mlp", "decode: head", "prefill: block 0"}));
  EXPECT_EQ(total.phases.at(1).phase, "prefill");
  // In the passes of its phase, also in those before it came.
  EXPECT_EQ(row_of(total.layers, "block 0 / mlp", "decode").per_pass, (std::vector<time_ns>{0, 10}));
  EXPECT_EQ(row_of(total.layers, "head", "decode").per_pass, (std::vector<time_ns>{6, 0}));
  for (const varve::finding& f : total.findings) {
    EXPECT_TRUE(f.layer == none || f.text.find(total.layers.at(f.layer).label) != std::string::npos)
        << f.text;
  }
}

// 600 passes are more than 512: every second, whatever window it was in. Pass i takes 1000 + i.
TEST(add_report, samples_every_nth_pass_of_all) {
  report total;
  int i = 0;
  for (const int passes : {7, 300, 293}) {
    const time_ns begin = i * 10'000;
    trace_builder b = window(begin, begin + passes * 10'000);
    for (int k = 0; k < passes; ++k, ++i) {
      b.phase("decode", i * 10'000, i * 10'000 + 1000 + i);
    }
    add_report(total, report_of(b));
  }
  const varve::pass_samples& samples = phase_of(total, "decode").samples;
  EXPECT_EQ(samples.stride, 2);
  ASSERT_EQ(samples.step.size(), 300U);
  for (std::size_t k = 0; k < 300; ++k) {
    EXPECT_EQ(samples.step[k], 1000 + 2 * static_cast<time_ns>(k));
  }
  EXPECT_EQ(phase_of(total, "decode").step.count, 600);
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

TEST(add_report, takes_windows_without_passes_as_time_between_passes) {
  trace_builder idle = window(0, 1000);
  trace_builder a = window(1000, 2000);
  add_pass(a, 1100, 30);
  trace_builder between = window(2000, 3000);
  between.launched_kernel(none, 2100, 2110, 2120, 2150);
  trace_builder b = window(3000, 4000);
  add_pass(b, 3200, 30);
  report total;
  for (const trace_builder* w : {&idle, &a, &between, &b}) {
    add_report(total, report_of(*w));
  }
  EXPECT_EQ(total.begin, 0);
  EXPECT_FALSE(total.quality.implicit_pass);
  ASSERT_EQ(total.phases.size(), 1U);
  EXPECT_EQ(total.phases[0].passes, 2);
  EXPECT_EQ(row_of(total.layers, "", "").inclusive.gpu_time, 30);
  EXPECT_EQ(row_of(total.layers, "", "").inclusive.calls, 0);
  EXPECT_EQ(row_of(total.layers, "", "").inclusive.starved.total(), 0);
  EXPECT_EQ(total.devices.at(0).partition.no_pass, 3200 - 1200);
  EXPECT_EQ(total.devices.at(0).busy, 90);
}

TEST(add_report, leaves_out_what_cannot_follow) {
  trace_builder a = window(1000, 2000);
  a.t.rank = 0;
  a.t.devices.push_back({0, "GPU A", 0, 0, 0});
  add_pass(a, 1100, 30);
  report total;
  add_report(total, report_of(a));
  add_report(total, report_of(a));  // the same again
  EXPECT_EQ(lost(total, "reports that begin before the end of those added before, left out"), 1U);
  trace_builder other_rank = window(2000, 3000);
  other_rank.t.rank = 1;
  add_pass(other_rank, 2100, 30);
  add_report(total, report_of(other_rank));
  EXPECT_EQ(lost(total, "reports of another rank, left out"), 1U);
  trace_builder other_gpu = window(2000, 3000);
  other_gpu.t.devices.push_back({0, "GPU B", 0, 0, 0});
  add_pass(other_gpu, 2100, 30);
  add_report(total, report_of(other_gpu));
  add_report(total, report_of(other_gpu));
  EXPECT_EQ(lost(total, "reports of another GPU under the same number, left out"), 2U);
  EXPECT_EQ(phase_of(total, "decode").passes, 1);
  EXPECT_EQ(total.end, 2000);
}

TEST(add_report, says_where_options_or_sources_differ) {
  trace_builder a = window(0, 1000);
  add_pass(a, 100, 30);
  trace_builder b = window(1000, 2000);
  b.t.source = "another";
  add_pass(b, 1100, 30);
  report total = report_of(a);
  varve::analyze_options steady;
  steady.histograms = true;
  steady.steady = true;
  add_report(total, b.analyze(steady));
  EXPECT_EQ(lost(total,
                 "reports made with other options (steady, by_batch): their passes are in rows of their own"),
            1U);
  EXPECT_EQ(lost(total, "reports of another source, added"), 1U);
  EXPECT_EQ(phase_of(total, "decode").passes, 2);
}

TEST(add_report, adds_losses_by_what_and_where_and_keeps_the_latest_statuses) {
  trace_builder a = window(0, 1000);
  add_pass(a, 100, 30);
  a.t.losses = {{"records dropped", "cupti", 5}};
  a.t.collectors = {{"cupti", "12", varve::collector_state::running, ""}};
  a.t.clock_error = 70;
  a.t.own_overhead = 11;
  trace_builder b = window(1000, 2000);
  add_pass(b, 1100, 30);
  b.t.losses = {{"records dropped", "cupti", 7}, {"records dropped", "host", 1}};
  b.t.collectors = {{"cupti", "12", varve::collector_state::stopped, "done"}};
  b.t.clock_error = 60;
  b.t.own_overhead = 22;
  report total = report_of(a);
  add_report(total, report_of(b));
  ASSERT_EQ(total.quality.losses.size(), 2U);
  EXPECT_EQ(total.quality.losses[0].count, 12U);
  EXPECT_EQ(total.quality.losses[1].where, "host");
  EXPECT_EQ(total.quality.collectors.at(0).detail, "done");
  EXPECT_EQ(total.quality.clock_error, 70);
  EXPECT_EQ(total.quality.own_overhead, 33);
}

TEST(add_report, keeps_the_last_4096_requests) {
  report total;
  for (int w = 0; w < 2; ++w) {
    trace_builder b = window(w * 10'000, (w + 1) * 10'000);
    for (int i = 0; i < 3000; ++i) {
      b.range(varve::range_kind::request, none, "request", w * 3000 + i, w * 10'000 + i, w * 10'000 + i + 10);
    }
    add_pass(b, w * 10'000 + 5000, 30);
    add_report(total, report_of(b));
  }
  ASSERT_EQ(total.requests.size(), 4096U);
  EXPECT_EQ(total.requests.front().index, 6000 - 4096);
  EXPECT_EQ(total.requests.back().index, 5999);
  EXPECT_EQ(lost(total, "requests before the last 4,096"), 6000U - 4096);
}

TEST(add_report, keeps_65536_rows_of_a_list) {
  report total;
  total.end = 10;
  for (int i = 0; i < 65'535; ++i) {
    varve::row& r = total.kernels.emplace_back();
    r.path = r.label = std::to_string(i);
  }
  report next;
  next.begin = 10;
  for (const char* const name : {"7", "new", "newer", "newest"}) {
    varve::row& r = next.kernels.emplace_back();
    r.path = r.label = name;
    r.inclusive.calls = 1;
  }
  add_report(total, next);
  EXPECT_EQ(total.kernels.size(), 65'536U);
  EXPECT_EQ(lost(total, "rows beyond the 65,536th of a list"), 2U);
}

TEST(add_report, recomputes_rates_of_collectives) {
  report total;
  // 100 bytes in 10 ns, then 100 in 40: 200 bytes in 50 ns are 4e9 a second, not the mean of 10e9 and 2.5e9.
  for (const time_ns length : {10, 40}) {
    const time_ns begin = total.end;
    trace_builder b = window(begin, begin + 1000);
    const std::uint32_t pass = b.phase("decode", begin, begin + 100);
    b.launched_kernel(pass, begin, begin + 5, begin + 10, begin + 10 + length, "ncclDevKernel_AllReduce");
    b.t.collectives.push_back({0, b.t.strings.intern("allreduce"), 100, 100, 2});
    add_report(total, report_of(b));
  }
  ASSERT_EQ(total.collectives.size(), 1U);
  EXPECT_EQ(total.collectives[0].calls, 2);
  EXPECT_EQ(total.collectives[0].gpu_time, 50);
  EXPECT_DOUBLE_EQ(total.collectives[0].algorithm_bandwidth, 4e9);
  EXPECT_DOUBLE_EQ(total.collectives[0].bus_bandwidth, 4e9);  // × 2·(2−1)/2
}

/// A pass with a layer whose kernel takes `gpu` ns, for 1000 FLOPs and 20 bytes, on a device of a byte and of
/// 100 FLOPs a ns.
report rated_window(time_ns begin, time_ns gpu, varve::math_pipe pipe, std::int64_t flops) {
  trace_builder b = window(begin, begin + 1000);
  add_pass(b, begin + 100, gpu);
  varve::work declared;
  declared.flops = flops;
  declared.weight_bytes = 20;
  declared.pipe = pipe;
  b.t.works.push_back({1, declared});
  varve::analyze_options options;
  options.histograms = true;
  options.ceilings.emplace();
  options.ceilings->name = "GPU";
  options.ceilings->bandwidth = 1e9;
  options.ceilings->flops.fill(100e9);
  return b.analyze(options);
}

TEST(add_report, judges_by_the_sums) {
  // 20 of 30 ns at the roof: bound by memory. Together 40 of 120: by latency.
  report total;
  add_report(total, rated_window(0, 30, varve::math_pipe::fp16_tensor, 300));
  EXPECT_EQ(row_of(total.layers, "attention", "decode").verdict.by, varve::bound::memory);
  add_report(total, rated_window(1000, 90, varve::math_pipe::fp32, 500));
  const varve::row& attention = row_of(total.layers, "attention", "decode");
  EXPECT_EQ(attention.verdict.by, varve::bound::latency) << attention.verdict.why;
  EXPECT_DOUBLE_EQ(attention.verdict.memory_share, 40.0 / 120);
  EXPECT_DOUBLE_EQ(attention.verdict.compute_share, 8.0 / 120);
  // Of the compute time 3 ns are the tensor cores', 5 ns those of FP32.
  EXPECT_EQ(attention.verdict.pipe, varve::math_pipe::fp32);
  EXPECT_EQ(attention.inclusive.declared.pipe, varve::math_pipe::mixed);
  EXPECT_DOUBLE_EQ(attention.inclusive.roof.total, 40);
  EXPECT_EQ(phase_of(total, "decode").verdict.pipe, varve::math_pipe::fp32);
}

TEST(add_report, weighs_counts_by_calls) {
  report total;
  for (const int passes : {1, 2}) {
    const time_ns begin = total.end;
    trace_builder b = window(begin, begin + 1000);
    for (int p = 0; p < passes; ++p) {
      add_pass(b, begin + 200 * p, 30);
      for (const auto what : {varve::count_kind::dram_read, varve::count_kind::dram_written}) {
        b.t.counts.push_back(
            {static_cast<std::uint32_t>(b.t.ranges.size() - 1), 0, passes == 1 ? 100 : 400, what});
      }
    }
    add_report(total, report_of(b));
  }
  const varve::row& attention = row_of(total.layers, "attention", "decode");
  ASSERT_TRUE(attention.counted);
  EXPECT_EQ(attention.counted->calls, 3);
  EXPECT_DOUBLE_EQ(attention.counted->dram_read, (100 + 400 + 400) / 3.0);
}

// Where a window tells no work at all, its time is that of unknown work beside windows that tell some.
TEST(add_report, counts_windows_without_work_as_unknown) {
  trace_builder a = window(0, 1000);
  add_pass(a, 100, 30);
  varve::work declared;
  declared.flops = 1000;
  a.t.works.push_back({1, declared});
  trace_builder b = window(1000, 2000);
  add_pass(b, 1100, 50);
  report total = report_of(a);
  EXPECT_EQ(row_of(total.layers, "attention", "decode").inclusive.unknown_work_time, 0);
  add_report(total, report_of(b));
  EXPECT_EQ(row_of(total.layers, "attention", "decode").inclusive.unknown_work_time, 50);
  EXPECT_EQ(phase_of(total, "decode").total.unknown_work_time, 50);
  EXPECT_DOUBLE_EQ(total.quality.work_known[static_cast<std::size_t>(varve::work_source::engine)], 30.0 / 80);
}

TEST(add_report, weighs_gauges_and_holds_what_was_not_read) {
  trace_builder a = window(0, 1000);
  add_pass(a, 100, 30);
  a.t.gauges = {{100, 50, 0, varve::gauge_kind::temperature}};
  trace_builder b = window(1000, 2000);
  add_pass(b, 1100, 30);
  add_pass(b, 1300, 30);
  trace_builder c = window(2000, 3000);
  add_pass(c, 2100, 30);
  c.t.gauges = {{2100, 90, 0, varve::gauge_kind::temperature},
                {2110, 3, none, varve::gauge_kind::minor_faults},
                {2130, 9, none, varve::gauge_kind::minor_faults}};
  report total;
  for (const trace_builder* w : {&a, &b, &c}) {
    add_report(total, report_of(*w));
  }
  const std::vector<varve::gauge_row>& gauges = phase_of(total, "decode").gauges;
  ASSERT_EQ(gauges.size(), 2U);
  EXPECT_EQ(gauges[0].samples, 2);
  EXPECT_DOUBLE_EQ(gauges[0].mean, (100 * 50 + 200 * 50 + 100 * 90) / 400.0);
  EXPECT_DOUBLE_EQ(gauges[0].min, 50);
  EXPECT_DOUBLE_EQ(gauges[0].max, 90);
  EXPECT_EQ(gauges[0].per_pass, (std::vector<double>{50, 50, 50, 90}));
  // Six faults in the last of four passes.
  EXPECT_EQ(gauges[1].what, varve::gauge_kind::minor_faults);
  EXPECT_DOUBLE_EQ(gauges[1].total, 6);
  EXPECT_DOUBLE_EQ(gauges[1].mean, 1.5);
  EXPECT_DOUBLE_EQ(gauges[1].min, 0);
  EXPECT_EQ(gauges[1].per_pass, (std::vector<double>{0, 0, 0, 6}));
  EXPECT_EQ(total.devices.at(0).gauges.at(0).samples, 2);
  EXPECT_DOUBLE_EQ(total.devices.at(0).gauges.at(0).mean, 70);  // a reading each
}

TEST(add_report, goes_on_with_the_memory_that_is_held) {
  report total;
  for (const std::int64_t bytes : {100, 20, -50}) {
    const time_ns begin = total.end;
    trace_builder b = window(begin, begin + 1000);
    add_pass(b, begin + 100, 30);
    if (bytes != 20) {  // a window without events
      b.t.memory_events = {{begin + 110, bytes, true}};
    }
    add_report(total, report_of(b));
  }
  EXPECT_EQ(phase_of(total, "decode").samples.held_bytes, (std::vector<std::int64_t>{100, 100, 50}));
  EXPECT_EQ(total.held_bytes, 50);
  EXPECT_EQ(row_of(total.layers, "attention", "decode").inclusive.allocated_bytes, 100);
  EXPECT_EQ(row_of(total.layers, "attention", "decode").inclusive.freed_bytes, 50);
}

// A device that ran nothing in a window had nothing to do in its passes.
TEST(add_report, charges_passes_of_other_devices_to_one_that_ran_nothing) {
  trace_builder a = window(0, 1000);
  add_pass(a, 100, 30);
  trace_builder b = window(1000, 2000);
  const std::uint32_t pass = b.phase("decode", 1100, 1200);
  b.launched_kernel(pass, 1100, 1110, 1120, 1150, "k", b.stream(1, 8));
  report total;
  add_report(total, report_of(a));
  add_report(total, report_of(b));
  ASSERT_EQ(total.devices.size(), 2U);
  for (const varve::device_row& d : total.devices) {
    EXPECT_EQ(d.partition.wall(), 1200 - 100) << d.device.id;
    EXPECT_EQ(d.partition.no_pass, 1100 - 200) << d.device.id;
    EXPECT_EQ(d.partition.compute, 30) << d.device.id;
    EXPECT_GE(d.partition.starved.other, 100) << d.device.id;  // one pass of 100
  }
}

TEST(add_report, adds_the_wall_of_unprofiled_runs_where_all_have_it) {
  trace_builder a = window(0, 1000);
  add_pass(a, 100, 30);
  trace_builder b = window(1000, 2000);
  add_pass(b, 1100, 30);
  varve::analyze_options options;
  options.unprofiled_wall = 80;
  report total = a.analyze(options);
  add_report(total, b.analyze(options));
  EXPECT_EQ(total.unprofiled_wall, 160);
  EXPECT_DOUBLE_EQ(total.inflation(), 200.0 / 160);
  trace_builder c = window(2000, 3000);
  add_report(total, c.analyze());
  EXPECT_EQ(total.unprofiled_wall, std::nullopt);
}

/// Sets every number of a report, for reports of files.
class extremes {
 public:
  explicit extremes(std::int64_t value) : value_{value} {}
  template <class T>
  void operator()(const char*, T& value) {
    set(value);
  }
  template <class T>
  void unless(const char*, T&, T) {}
  template <class Enum, std::size_t N>
  void by(const char*, std::array<double, N>& values) {
    values.fill(static_cast<double>(value_));
  }

 private:
  template <class T>
  void set(T& value) {
    if constexpr (std::is_same_v<T, std::int64_t>) {
      value = value_;
    } else if constexpr (std::is_same_v<T, double>) {
      value = static_cast<double>(value_);
    } else if constexpr (std::is_same_v<T, std::optional<std::int64_t>>) {
      value = value_;
    } else if constexpr (!std::is_enum_v<T> && !std::is_arithmetic_v<T> && !std::is_same_v<T, std::string> &&
                         !std::is_array_v<T>) {
      varve::json::fields(*this, value);
    }
  }
  template <class T>
  void set(std::vector<T>& values) {
    std::for_each(values.begin(), values.end(), [&](T& value) { set(value); });
  }
  template <class T>
  void set(std::optional<T>& value) {
    if (value) {
      set(*value);
    }
  }
  void set(varve::time_bucket& b) { b.count = value_; }

  std::int64_t value_;
};

// Whatever a file says, nothing overflows and no row is lost.
TEST(add_report, takes_any_numbers) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  trace_builder a = window(0, 1000);
  add_pass(a, 100, 30);
  a.t.gauges = {{100, 50, 0, varve::gauge_kind::temperature}};
  report sound = report_of(a);
  sound.collectives.resize(2);
  sound.collectives[1].name = "all-reduce";
  sound.operators.by_name.resize(2);
  for (const std::int64_t value : {most, -most - 1, std::int64_t{-1}, std::int64_t{0}}) {
    for (const std::int64_t other : {most, -most - 1, std::int64_t{1}}) {
      report total = sound;
      report next = sound;
      extremes here{value};
      extremes there{other};
      varve::json::fields(here, total);
      varve::json::fields(there, next);
      total.end = next.begin = 0;
      add_report(total, next);
      EXPECT_EQ(total.phases.size(), 1U);
      EXPECT_EQ(total.layers.size(), sound.layers.size());
      EXPECT_LE(phase_of(total, "decode").samples.step.size(), 512U);
    }
  }
}

}  // namespace
}  // namespace varve_test
