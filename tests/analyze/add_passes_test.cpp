// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Passes of windows one by one, what stands between them, and gauges over them.
#include <varve/report.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "report_windows.hpp"

namespace varve_test {
namespace {

using varve::add_report;
using varve::report;

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

const char* const overlap = "windows whose passes overlap those before: their time counts twice";

/// Passes of 90 ns, `from`-th to before `to`-th, one each 100 ns.
void add_regular_passes(trace_builder& b, int from, int to) {
  for (int i = from; i < to; ++i) {
    b.phase("decode", i * 100, i * 100 + 90);
  }
}

// Of 20 passes the fourth comes with the second window. From 0 to 1990 are 20 · 90 ns in passes, 190 in none.
TEST(add_report, counts_no_time_in_no_pass_in_which_passes_of_the_window_before_ran) {
  trace_builder a = window(0, 1000);
  add_regular_passes(a, 0, 3);
  add_regular_passes(a, 4, 10);
  trace_builder b = window(1000, 2000);
  add_regular_passes(b, 3, 4);
  add_regular_passes(b, 10, 20);
  report total;
  add_report(total, report_of(a));
  EXPECT_EQ(total.devices.at(0).partition.no_pass, 8 * 10 + 100);
  add_report(total, report_of(b));  // [300, 390), nothing until 1000
  EXPECT_EQ(total.devices.at(0).partition.no_pass, 190);
  EXPECT_EQ(total.devices.at(0).partition.wall(), 1990);
  EXPECT_EQ(phase_of(total, "decode").wall, 1800);
  EXPECT_EQ(lost(total, overlap), 1U);
}

TEST(add_report, takes_a_pass_from_before_all_others) {
  trace_builder a = window(0, 1000);
  add_regular_passes(a, 5, 10);
  trace_builder b = window(1000, 2000);
  add_regular_passes(b, 2, 3);
  add_regular_passes(b, 10, 11);
  report total;
  add_report(total, report_of(a));
  add_report(total, report_of(b));
  EXPECT_EQ(total.devices.at(0).passes_begin, 200);
  EXPECT_EQ(total.devices.at(0).passes_end, 1090);
  EXPECT_EQ(total.devices.at(0).partition.wall(), 890);
  EXPECT_EQ(total.devices.at(0).partition.no_pass, 890 - 7 * 90);
}

// The second window's pass begins 50 ns before that of the first ends: no pause is there to make up for it.
TEST(add_report, keeps_pauses_where_passes_overlap) {
  trace_builder a = window(0, 1000);
  add_pass(a, 100, 30);
  add_pass(a, 900, 30);
  trace_builder b = window(1000, 2000);
  add_pass(b, 950, 30);
  report total;
  add_report(total, report_of(a));
  add_report(total, report_of(b));
  EXPECT_EQ(total.devices.at(0).partition.no_pass, 700);
  EXPECT_EQ(total.devices.at(0).partition.wall(), 700 + 300);
  EXPECT_EQ(lost(total, overlap), 1U);
}

}  // namespace
}  // namespace varve_test
