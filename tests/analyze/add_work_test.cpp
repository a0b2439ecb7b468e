// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Work, counts and verdicts of windows, added up.
#include <varve/report.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyze/report_values.hpp"
#include "report_windows.hpp"

namespace varve_test {
namespace {

using varve::add_report;
using varve::count_kind;
using varve::counted_work;
using varve::math_pipe;
using varve::report;

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

/// One window of passes after another, [from, to) of all: in those of an even number a layer's DRAM bytes are
/// counted, in the others its operations.
report counted_in_turns(int from, int to) {
  trace_builder b = window(from * 1000, to * 1000);
  for (int p = from; p < to; ++p) {
    add_pass(b, p * 1000, 30);
    const auto layer = static_cast<std::uint32_t>(b.t.ranges.size() - 1);
    if (p % 2 == 0) {
      b.t.counts.push_back({layer, 0, 1000 + p, count_kind::dram_read});
      b.t.counts.push_back({layer, 0, 10, count_kind::dram_written});
    } else {
      b.t.counts.push_back({layer, 0, 5000, count_kind::operations, math_pipe::fp32});
      b.t.counts.push_back({layer, 0, 2000 + p, count_kind::operations, math_pipe::fp16_tensor, 1});
    }
  }
  return report_of(b);
}

// Whatever turns a window holds: 1000, 1002, 1004 bytes read in three passes, and 2001, 2003, 2005 operations
// on tensor cores in the three others.
TEST(add_report, knows_counts_that_take_turns_over_windows) {
  const report whole = counted_in_turns(0, 6);
  for (const std::vector<int>& cuts : {std::vector{0, 4, 5, 6}, {0, 1, 2, 3, 4, 5, 6}, {0, 1, 6}, {0, 6}}) {
    report total;
    for (std::size_t w = 1; w < cuts.size(); ++w) {
      add_report(total, counted_in_turns(cuts[w - 1], cuts[w]));
    }
    const varve::row& attention = row_of(total.layers, "attention", "decode");
    ASSERT_TRUE(attention.counted);
    EXPECT_EQ(attention.counted->calls, 3);
    EXPECT_DOUBLE_EQ(attention.counted->dram_read, 1002);
    EXPECT_DOUBLE_EQ(attention.counted->dram_written, 10);
    EXPECT_DOUBLE_EQ(attention.counted->core_flops, 5000);
    EXPECT_DOUBLE_EQ(attention.counted->tensor_ops, 2003);
    EXPECT_TRUE(attention.counted->all_operations);
    EXPECT_DOUBLE_EQ(attention.counted->operations[static_cast<std::size_t>(math_pipe::fp32)], 5000);
    EXPECT_DOUBLE_EQ(attention.counted->intensity, 7003.0 / 1012);
    EXPECT_TRUE(attention.counted->used) << attention.counted->why;
    ASSERT_TRUE(attention.rated);
    EXPECT_DOUBLE_EQ(attention.rated->bytes, 6 * 1012.0);  // of six calls
    const auto is_of_other_things = [](const std::string& name, const std::string&) {
      return name.find(".counted.") == std::string::npos && name.find(".rated.") == std::string::npos;
    };
    EXPECT_EQ(difference(whole, total, is_of_other_things), "");
  }
}

TEST(add_report, uses_no_counts_of_which_a_turn_is_missing_anywhere) {
  report total = counted_in_turns(0, 1);
  EXPECT_FALSE(row_of(total.layers, "attention", "decode").counted->used);
  trace_builder b = window(1000, 2000);
  add_pass(b, 1000, 30, "mlp");
  b.t.counts.push_back({1, 0, 5000, count_kind::operations, math_pipe::fp32});
  add_report(total, report_of(b));
  // Operations of attention were counted nowhere, bytes of the MLP neither.
  EXPECT_EQ(row_of(total.layers, "attention", "decode").counted->core_flops, -1);
  EXPECT_EQ(row_of(total.layers, "mlp", "decode").counted->dram_read, -1);
  EXPECT_FALSE(row_of(total.layers, "attention", "decode").counted->used);
  EXPECT_FALSE(row_of(total.layers, "mlp", "decode").counted->used);
}

// Counts that were put beside other work by add_counted().
TEST(add_report, uses_no_counts_of_other_work) {
  const auto timed = [](time_ns begin, std::int64_t bytes) {
    trace_builder b = window(begin, begin + 1000);
    add_pass(b, begin, 30);
    b.t.works.push_back({1, {100, bytes, 0, 0, math_pipe::fp32}});
    return b;
  };
  trace_builder counting = timed(0, 500);
  counting.t.counts.push_back({1, 0, 400, count_kind::dram_read});
  counting.t.counts.push_back({1, 0, 100, count_kind::dram_written});
  const report counted = report_of(counting);
  report total;
  for (const std::int64_t bytes : {500, 1000}) {
    report next = report_of(timed(total.end, bytes));
    add_counted(next, counted);
    EXPECT_EQ(row_of(next.layers, "attention", "decode").counted->used, bytes == 500);
    add_report(total, next);
  }
  const varve::row& attention = row_of(total.layers, "attention", "decode");
  EXPECT_FALSE(attention.counted->used);
  EXPECT_NE(attention.counted->why.find("some are of other work"), std::string::npos);
  EXPECT_FALSE(attention.rated);
}

// Reports that were made by hand may have means alone.
TEST(add_report, weighs_means_of_counts_without_sums) {
  report total = counted_in_turns(0, 2);
  report next = counted_in_turns(2, 6);
  EXPECT_EQ(row_of(next.layers, "attention", "decode").counted->calls, 2);
  for (varve::row& r : next.layers) {
    if (r.counted) {
      r.counted->sums.clear();
    }
  }
  add_report(total, next);
  const counted_work& three = *row_of(total.layers, "attention", "decode").counted;
  EXPECT_EQ(three.calls, 3);
  EXPECT_DOUBLE_EQ(three.dram_read, (1000 + 2 * 1003) / 3.0);
  EXPECT_TRUE(three.sums.empty());
}

}  // namespace
}  // namespace varve_test
