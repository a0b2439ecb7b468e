// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Reports of windows added up: sums, rows, losses, and what is left out.
#include <varve/report.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "formats/json/fields.hpp"
#include "report_windows.hpp"

namespace varve_test {
namespace {

using varve::add_report;
using varve::report;

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
