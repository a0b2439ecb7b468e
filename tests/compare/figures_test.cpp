// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/budget.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <set>

#include "formats/small_report.hpp"

namespace {

using testing::HasSubstr;
using testing_support::small_report;
using varve::budget_of;
using varve::figure_of;
using varve::figure_shape;
using varve::figure_unit;

const char* word_of(figure_unit unit) {
  constexpr const char* words[] = {"duration", "count",   "share",  "ratio",  "bytes",
                                   "FLOPs",    "bytes/s", "FLOP/s", "FLOP/B", "tokens/s"};
  return words[static_cast<std::size_t>(unit)];
}

const char* names_of(figure_shape shape) {
  constexpr const char* words[] = {"itself", "sum", "spread", "sum, spread"};
  return words[static_cast<std::size_t>(shape)];
}

/// The lines of docs/budgets.md for such rows.
std::string documented(budget_of of) {
  std::string out = "| figure | in | names | per | what it is |\n|---|---|---|---|---|\n";
  for (const varve::figure_info& f : varve::figures(of)) {
    out += "| `" + std::string{f.name} + "` | " + word_of(f.unit) + (f.more_is_better ? " ↑" : "") + " | " +
           names_of(f.shape) + " | " + std::string{f.per} + " | " + std::string{f.what} + " |\n";
  }
  return out;
}

TEST(figures, are_those_that_the_documentation_lists) {
  std::ifstream file{VARVE_DOCS "/budgets.md"};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  for (const budget_of of : {budget_of::layer, budget_of::phase, budget_of::collective, budget_of::report}) {
    const std::string table = documented(of);
    EXPECT_NE(text.find("\n\n" + table + '\n'), std::string::npos) << table;
  }
}

TEST(figures, have_each_name_once) {
  for (const budget_of of : {budget_of::layer, budget_of::phase, budget_of::collective, budget_of::report}) {
    std::set<std::string_view> names;
    for (const varve::figure_info& f : varve::figures(of)) {
      EXPECT_TRUE(names.insert(f.name).second) << f.name;
      EXPECT_FALSE(f.per.empty()) << f.name;
      EXPECT_FALSE(f.what.empty()) << f.name;
      EXPECT_EQ(varve::unit_of(of, f.name), f.unit);
    }
  }
}

TEST(figures, have_the_names_of_their_shape_alone) {
  // launches is a sum: a pass and in total, no percentiles; launch_latency a spread: never summed.
  EXPECT_EQ(varve::unit_of(budget_of::layer, "launches.pass"), figure_unit::count);
  EXPECT_EQ(varve::unit_of(budget_of::layer, "launches.total"), figure_unit::count);
  EXPECT_FALSE(varve::unit_of(budget_of::layer, "launches.p95"));
  EXPECT_EQ(varve::unit_of(budget_of::phase, "launch_latency.p99"), figure_unit::time);
  EXPECT_FALSE(varve::unit_of(budget_of::phase, "launch_latency.total"));
  EXPECT_EQ(varve::unit_of(budget_of::layer, "gpu_time.pass"), figure_unit::time);
  EXPECT_EQ(varve::unit_of(budget_of::layer, "gpu_time.deviation"), figure_unit::time);
  // A phase's own is a pass's already.
  EXPECT_FALSE(varve::unit_of(budget_of::phase, "gpu_time.pass"));
  EXPECT_FALSE(varve::unit_of(budget_of::phase, "overhead_ratio.p50"));
  EXPECT_FALSE(varve::unit_of(budget_of::phase, "nonsense"));
  EXPECT_FALSE(varve::unit_of(budget_of::phase, ".p50"));
  EXPECT_FALSE(varve::unit_of(budget_of::report, "step"));
}

TEST(figures, of_a_layer_are_a_call_a_pass_and_in_total) {
  const varve::report r = small_report();
  const varve::row& attention = r.layers[2];  // 2 calls in 2 passes, 1500 µs, 500 launches of 5 µs
  EXPECT_EQ(figure_of(r, attention, "gpu_time").value, 750e3);
  EXPECT_EQ(figure_of(r, attention, "gpu_time.mean").value, 750e3);
  EXPECT_EQ(figure_of(r, attention, "gpu_time.p50").value, 600e3);  // 40 % of 1500
  EXPECT_EQ(figure_of(r, attention, "gpu_time.max").value, 900e3);
  EXPECT_EQ(figure_of(r, attention, "gpu_time.total").value, 1500e3);
  EXPECT_EQ(figure_of(r, attention, "launches").value, 250);
  EXPECT_EQ(figure_of(r, attention, "launches.total").value, 500);
  EXPECT_EQ(figure_of(r, attention, "launch_time.pass").value, 1250e3);  // 500 · 5 µs ÷ 2
  EXPECT_EQ(figure_of(r, attention, "calls_per_pass").value, 1);
  EXPECT_EQ(figure_of(r, attention, "share").value, 0.2);  // 1.5 of 7.5 ms
}

TEST(figures, of_a_call_and_of_a_pass_differ_where_a_layer_is_called_more_often) {
  varve::report r = small_report();
  r.layers[2].inclusive.calls = 10;  // in 2 passes
  EXPECT_EQ(figure_of(r, r.layers[2], "launches").value, 50);
  EXPECT_EQ(figure_of(r, r.layers[2], "launches.pass").value, 250);
  EXPECT_EQ(figure_of(r, r.layers[2], "calls_per_pass").value, 5);
  r.layers[2].phase.clear();  // outside passes
  EXPECT_EQ(figure_of(r, r.layers[2], "launches").value, 50);
  EXPECT_FALSE(figure_of(r, r.layers[2], "launches.pass").value);
  EXPECT_EQ(figure_of(r, r.layers[2], "share").why, "it ran outside of any pass");
  r.layers[2].inclusive.calls = 0;
  EXPECT_EQ(figure_of(r, r.layers[2], "launches").why, "it was never called");
}

TEST(figures, of_a_phase_are_a_pass) {
  varve::report r = small_report();
  const varve::phase_row& decode = r.phases[0];  // 2 passes, wall 10 ms, busy 7.5 ms, 8 tokens
  EXPECT_EQ(figure_of(r, decode, "step.p50").value, 4900e3);
  EXPECT_EQ(figure_of(r, decode, "gpu_time").value, 3750e3);
  EXPECT_EQ(figure_of(r, decode, "gpu_time.total").value, 7500e3);
  EXPECT_EQ(figure_of(r, decode, "launches").value, 700);
  EXPECT_EQ(figure_of(r, decode, "launches_per_token").value, 175);
  EXPECT_EQ(figure_of(r, decode, "busy").value, 3750e3);
  EXPECT_EQ(figure_of(r, decode, "starved").value, 750e3);
  EXPECT_EQ(figure_of(r, decode, "starved_launching.total").value, 1000e3);
  EXPECT_EQ(figure_of(r, decode, "starved_share").value, 0.15);
  EXPECT_EQ(figure_of(r, decode, "busy_share").value, 0.75);
  EXPECT_EQ(figure_of(r, decode, "exposed_copy_share").value, 0.05);
  EXPECT_DOUBLE_EQ(*figure_of(r, decode, "overhead_ratio").value, 10 / 7.5);
  EXPECT_EQ(figure_of(r, decode, "tokens_per_second").value, 800);  // 8 in 10 ms
  EXPECT_EQ(figure_of(r, decode, "time_per_token").value, 1250e3);
  EXPECT_EQ(figure_of(r, decode, "tokens_per_pass").value, 4);
  EXPECT_FALSE(figure_of(r, decode, "gpu_time.p95").value) << "single passes were not kept";

  r.phases[0].samples.stride = 1;
  r.phases[0].samples.gpu_time = {50, 10, 40, 20, 30};
  EXPECT_EQ(figure_of(r, r.phases[0], "gpu_time.p50").value, 30);
  EXPECT_EQ(figure_of(r, r.phases[0], "gpu_time.p95").value, 50);  // rank ⌈4.75⌉ = 5
  EXPECT_EQ(figure_of(r, r.phases[0], "gpu_time.min").value, 10);
  // √((20² + 10² + 0 + 10² + 20²) ÷ 5) = √200
  EXPECT_DOUBLE_EQ(*figure_of(r, r.phases[0], "gpu_time.deviation").value, std::sqrt(200.0));
  EXPECT_EQ(figure_of(r, r.phases[0], "gpu_time").value, 3750e3) << "the mean is that of all passes";
}

TEST(figures, of_work_need_all_of_it) {
  varve::report r = small_report();
  varve::row& mlp = r.layers[3];  // 2 calls, 3 ms
  EXPECT_EQ(figure_of(r, mlp, "flop_rate").why, "its work is not known");
  mlp.inclusive.declared.flops = 6'000'000'000;
  mlp.inclusive.declared.weight_bytes = 50'000'000;
  mlp.inclusive.declared.kv_bytes = 10'000'000;
  mlp.inclusive.calls_with_work = 1;
  EXPECT_EQ(figure_of(r, mlp, "flop_rate").why, "its work is known in part only");
  mlp.inclusive.calls_with_work = 2;
  EXPECT_DOUBLE_EQ(*figure_of(r, mlp, "flop_rate").value, 2e12);  // 6e9 in 3 ms
  EXPECT_DOUBLE_EQ(*figure_of(r, mlp, "byte_rate").value, 2e10);  // 6e7 in 3 ms
  EXPECT_DOUBLE_EQ(*figure_of(r, mlp, "intensity").value, 100);
  EXPECT_DOUBLE_EQ(*figure_of(r, mlp, "flops").value, 3e9);
  EXPECT_DOUBLE_EQ(*figure_of(r, mlp, "kv_bytes.total").value, 1e7);
  mlp.inclusive.unknown_work_time = 30'001;  // more than a hundredth of 3 ms
  EXPECT_EQ(figure_of(r, mlp, "intensity").why, "its work is known in part only");
}

TEST(figures, of_efficiency_are_withheld_with_the_verdict) {
  varve::report r = small_report();
  varve::verdict& v = r.layers[3].verdict;
  v.roof_share = 0.7;
  v.memory_share = 0.6;
  v.why = "withheld: beats the roof";
  EXPECT_EQ(figure_of(r, r.layers[3], "efficiency").why, "withheld: beats the roof");
  v.by = varve::bound::memory;
  EXPECT_EQ(figure_of(r, r.layers[3], "efficiency").value, 0.7);
  EXPECT_EQ(figure_of(r, r.layers[3], "memory_utilisation").value, 0.6);
  v.by = varve::bound::starved;
  v.roof_share = 0;
  EXPECT_THAT(figure_of(r, r.layers[3], "efficiency").why, HasSubstr("is not known"));
}

TEST(figures, of_what_was_not_recorded_are_unknown) {
  varve::report r = small_report();
  r.quality.activities = 0;
  EXPECT_EQ(figure_of(r, r.layers[2], "gpu_time").why, "nothing but markers was recorded");
  EXPECT_EQ(figure_of(r, r.phases[0], "launches").why, "nothing but markers was recorded");
  EXPECT_EQ(figure_of(r, r.phases[0], "step.p95").value, 5100e3);
  EXPECT_FALSE(figure_of(r, "attributed").value);
  r = small_report();
  r.layers[2].per_call.mean = std::nan("");
  EXPECT_EQ(figure_of(r, r.layers[2], "gpu_time").why, "it is no number in the report");
  r = small_report();
  r.phases[0].partition.unrecorded = 600'000;  // of a wall of 10 ms
  EXPECT_EQ(figure_of(r, r.phases[0], "gpu_time").why,
            "what the GPU did is not recorded for 6.0 % of the wall of decode");
  EXPECT_FALSE(figure_of(r, r.layers[2], "gpu_time").value);
  EXPECT_TRUE(figure_of(r, r.layers[2], "launches").value);
}

TEST(figures, of_calls_need_the_launches_of_what_ran) {
  varve::report r = small_report();
  r.quality.unmatched = 70;  // of 1400 activities: a twentieth
  EXPECT_EQ(figure_of(r, r.phases[0], "synchronisations").value, 0);
  r.quality.unmatched = 71;
  for (const char* const name : {"launches", "graph_launches", "synchronisations", "allocations",
                                 "launch_time", "launches_per_token"}) {
    EXPECT_EQ(figure_of(r, r.phases[0], name).why,
              "the launches of 5.1 % of the activities were not recorded, so other calls may be missing too")
        << name;
  }
  EXPECT_FALSE(figure_of(r, r.layers[2], "allocations").value);
  EXPECT_TRUE(figure_of(r, r.layers[2], "gpu_time").value);
  // The others' launches are no proof that this phase's were recorded.
  r.quality.unmatched = 0;
  r.phases[0].total.launches = 0;
  r.phases[0].total.kernels = 1;
  EXPECT_EQ(figure_of(r, r.phases[0], "allocations").why,
            "kernels of decode ran, and none of their launches was recorded");
  EXPECT_FALSE(figure_of(r, r.layers[2], "launches").value);
}

TEST(figures, of_the_whole_run) {
  varve::report r = small_report();
  r.quality.attributed = 0.97;
  r.quality.unmatched = 14;
  r.quality.losses.push_back({varve::loss{}});
  r.quality.losses.back().count = 3;
  EXPECT_EQ(figure_of(r, "attributed").value, 0.97);
  EXPECT_EQ(figure_of(r, "unmatched_share").value, 0.01);  // 14 of 1400
  EXPECT_EQ(figure_of(r, "losses").value, 3);
  EXPECT_EQ(figure_of(r, "duration").value, 12e6);
  EXPECT_FALSE(figure_of(r, "time_to_first_token.p95").value);
  for (const varve::time_ns t : {30, 10, 20}) {
    r.requests.emplace_back();
    r.requests.back().time_to_first_token = t;
  }
  r.requests.emplace_back();  // was not served yet: −1
  EXPECT_EQ(figure_of(r, "time_to_first_token").value, 20);
  EXPECT_EQ(figure_of(r, "time_to_first_token.p95").value, 30);
  EXPECT_EQ(figure_of(r, "requests").value, 4);
}

TEST(figures, of_collectives) {
  varve::report r = small_report();
  varve::collective_row c;
  c.name = "all-reduce";
  c.phase = "decode";
  c.calls = 4;
  c.gpu_time = 200'000;
  c.exposed_time = 100'000;
  c.bytes = 8192;
  r.collectives.push_back(c);
  EXPECT_EQ(figure_of(r, r.collectives[0], "gpu_time").value, 50e3);
  EXPECT_EQ(figure_of(r, r.collectives[0], "exposed_time.total").value, 100e3);
  EXPECT_EQ(figure_of(r, r.collectives[0], "message_bytes").value, 2048);
  EXPECT_THAT(figure_of(r, r.collectives[0], "bus_bandwidth").why, HasSubstr("sizes"));
}

}  // namespace
