// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Reports of engines whose device nobody saw: layers by the host's time.
#include <varve/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::HasSubstr;
using testing::Not;

varve::row layer(const char* path, varve::time_ns host_time) {
  varve::row r;
  r.path = path;
  r.label = path;
  r.phase = "decode";
  r.inclusive.calls = 2;
  r.inclusive.host_time = host_time;
  r.exclusive = r.inclusive;
  return r;
}

// Two passes of 1 µs and 3 µs: 4 µs in all. "mlp" had 3 µs of it in 2 calls: 75 %, 1.5 µs a call.
varve::report host_report() {
  varve::report r;
  r.source = "session";
  varve::phase_row p;
  p.phase = "decode";
  p.passes = 2;
  p.wall = 4000;
  p.step.count = 2;
  p.step.total = 4000;
  p.step.mean = 2000;
  p.step.p50 = 1000;
  p.step.p95 = 3000;
  p.partition.starved.other = 4000;
  r.phases.push_back(p);
  r.layers = {layer("attention", 1000), layer("mlp", 3000)};
  r.labels = r.layers;
  return r;
}

TEST(table_of_host_times, ranks_layers_by_the_hosts_time_and_claims_nothing_of_a_device) {
  EXPECT_EQ(
      to_table(host_report()),
      "session\n"
      "\n"
      "decode · 2 passes\n"
      "  step     mean 2.00 µs · p50 1.00 µs · p95 3.00 µs\n"
      "  slowest  mlp 75.0 % · attention 25.0 %\n"
      "\n"
      "layer      calls  host time      %  cum %      avg\n"
      "──────────────────────────────────────────────────\n"
      "mlp            2    3.00 µs   75.0   75.0  1.50 µs\n"
      "attention      2    1.00 µs   25.0  100.0   500 ns\n"
      "total               4.00 µs  100.0\n"
      "\n"
      "What the numbers rest on\n"
      "  ! No work on a GPU was recorded: nothing ran, or no collector saw it. Times are the host's own.\n");
}

TEST(table_of_host_times, is_left_for_the_devices_as_soon_as_one_was_seen) {
  varve::report r = host_report();
  r.quality.activities = 1;
  EXPECT_THAT(to_table(r), HasSubstr("GPU time"));
  EXPECT_THAT(to_table(r), Not(HasSubstr("host time")));
}

/// The same passes with spans of 2 µs and 1 µs between CUDA events; the last ends 500 ns after its pass does
/// on the host.
varve::report report_with_spans() {
  varve::report r = host_report();
  varve::phase_row& p = r.phases[0];
  p.wall = p.step.total = 4500;
  p.step.mean = 2250;
  p.step.p95 = 3500;
  p.total.host_time = 4000;
  p.event_span.count = 2;
  p.event_span.total = 3000;
  p.event_span.mean = 1500;
  p.event_span.p50 = 1000;
  p.event_span.p95 = 2000;
  p.partition.unrecorded = 3000;
  p.partition.starved.other = 1500;
  r.quality.event_spans = 2;
  return r;
}

TEST(table_of_event_spans, calls_them_spans_and_gives_layers_the_hosts_time) {
  EXPECT_EQ(
      to_table(report_with_spans()),
      "session\n"
      "\n"
      "decode · 2 passes\n"
      "  step     mean 2.25 µs · p50 1.00 µs · p95 3.50 µs\n"
      "  GPU      span mean 1.50 µs · p50 1.00 µs · p95 2.00 µs · between CUDA events, kernels inside "
      "are not known\n"
      "  slowest  mlp 75.0 % · attention 25.0 %\n"
      "\n"
      "layer      calls  host time      %  cum %      avg\n"
      "──────────────────────────────────────────────────\n"
      "mlp            2    3.00 µs   75.0   75.0  1.50 µs\n"
      "attention      2    1.00 µs   25.0  100.0   500 ns\n"
      "total               4.00 µs  100.0\n"
      "\n"
      "What the numbers rest on\n"
      "  ! No work on a GPU was recorded, only 2 spans of passes between CUDA events: a span holds the GPU's "
      "idle time too, and\n"
      "    what ran in it, in which layer, is not known. It counts as unrecorded. Times of layers are the "
      "host's "
      "own.\n");
}

TEST(table_of_event_spans, makes_no_ratio_of_them_and_says_of_how_many_passes_they_are) {
  varve::report r = report_with_spans();
  r.phases[0].event_span.count = 1;
  varve::table_options by_phase;
  by_phase.by = varve::view::phase;
  EXPECT_THAT(to_table(r, by_phase),
              testing::AllOf(HasSubstr("  GPU      span 3.00 µs · of 1 of the passes · between CUDA events"),
                             HasSubstr("unrecorded 66.7 %"), Not(HasSubstr("GPU busy")),
                             Not(HasSubstr("ran nothing")), Not(HasSubstr("overhead ratio"))));
}

// Of 1 s, layers of 4 µs in all are under 1 % each: without them the table would say nothing.
TEST(table_of_host_times, shows_the_largest_rows_where_all_are_small) {
  varve::report r = host_report();
  r.phases[0].step.total = 1000000000;
  EXPECT_THAT(to_table(r),
              testing::AllOf(HasSubstr("\nattention "), HasSubstr("\nmlp "), Not(HasSubstr("no rows"))));
}

}  // namespace
