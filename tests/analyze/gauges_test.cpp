// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Readings of gauges tied to passes by time.
#include "analyze/trace_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace varve_test;
using testing::AllOf;
using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using varve::finding;
using varve::gauge_kind;
using varve::gauge_row;

constexpr std::int64_t power_cap = 1 << static_cast<int>(varve::clock_limit::power_cap);
constexpr std::int64_t idle = 1 << static_cast<int>(varve::clock_limit::idle);

const gauge_row& gauge_of(const std::vector<gauge_row>& all, gauge_kind what, const std::string& limit = "") {
  static const gauge_row nothing;
  for (const gauge_row& g : all) {
    if (g.what == what && g.limit == limit) {
      return g;
    }
  }
  ADD_FAILURE() << "no gauge " << static_cast<int>(what) << ' ' << limit;
  return nothing;
}

bool has_gauge(const std::vector<gauge_row>& all, gauge_kind what) {
  return std::any_of(all.begin(), all.end(), [&](const gauge_row& g) { return g.what == what; });
}

/// Passes of "decode" at 1000, 2000, …, each so long, with a kernel of 10 ns.
trace_builder passes_of(const std::vector<time_ns>& lengths) {
  trace_builder b;
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    const auto at = static_cast<time_ns>(1000 * (k + 1));
    const auto pass = b.phase("decode", at, at + lengths[k]);
    b.launched_kernel(pass, at, at + 5, at + 10, at + 20);
  }
  return b;
}

TEST(gauges, of_a_level_are_means_over_the_time_of_passes) {
  trace_builder b = passes_of({100, 100});
  b.t.gauges = {{1000, 2000, 0, gauge_kind::sm_clock},
                {1075, 1000, 0, gauge_kind::sm_clock},
                {1500, 1600, 0, gauge_kind::sm_clock}};
  const varve::report r = b.analyze();
  const gauge_row& clock = gauge_of(phase_of(r, "decode").gauges, gauge_kind::sm_clock);
  // The first pass is [1000, 1100): 2000 for 75 ns, 1000 for 25. The second is [2000, 2100): 1600, read
  // before.
  EXPECT_THAT(clock.per_pass, ElementsAre(DoubleEq(1750), DoubleEq(1600)));
  EXPECT_DOUBLE_EQ(clock.mean, (1750.0 * 100 + 1600.0 * 100) / 200);
  EXPECT_EQ(clock.min, 1000);
  EXPECT_EQ(clock.max, 2000);
  EXPECT_EQ(clock.samples, 2);  // meanwhile
  EXPECT_EQ(clock.total, 0);
  // Of the device from first to last reading: 2000 for 75 ns, 1000 for 425.
  const gauge_row& whole = gauge_of(r.devices[0].gauges, gauge_kind::sm_clock);
  EXPECT_DOUBLE_EQ(whole.mean, (2000.0 * 75 + 1000.0 * 425) / 500);
  EXPECT_EQ(whole.min, 1000);
  EXPECT_EQ(whole.max, 2000);
  EXPECT_EQ(whole.samples, 3);
  EXPECT_THAT(whole.per_pass, IsEmpty());
}

TEST(gauges, hold_before_their_first_reading_too) {
  trace_builder b = passes_of({100, 100});
  b.t.gauges = {{2050, 70, 0, gauge_kind::temperature}};
  const varve::report r = b.analyze();
  const gauge_row& g = gauge_of(phase_of(r, "decode").gauges, gauge_kind::temperature);
  EXPECT_THAT(g.per_pass, ElementsAre(70, 70));
  EXPECT_EQ(g.mean, 70);
  EXPECT_EQ(g.samples, 1);
  EXPECT_EQ(gauge_of(r.devices[0].gauges, gauge_kind::temperature).mean, 70);
}

TEST(gauges, that_grow_do_so_evenly_between_readings) {
  trace_builder b = passes_of({100, 100});
  b.t.gauges = {{900, 50, none, gauge_kind::minor_faults},
                {1100, 90, none, gauge_kind::minor_faults},
                {2050, 280, none, gauge_kind::minor_faults},
                {2150, 300, none, gauge_kind::minor_faults}};
  const varve::report r = b.analyze();
  const gauge_row& g = gauge_of(phase_of(r, "decode").gauges, gauge_kind::minor_faults);
  // [1000, 1100): half of the 40 of the first 200 ns. [2000, 2100): 50 of the 950 ns in which there were 190,
  // and half of the last 20.
  EXPECT_THAT(g.per_pass, ElementsAre(DoubleEq(20), DoubleNear(20, 1e-9)));
  EXPECT_DOUBLE_EQ(g.total, 40);
  EXPECT_DOUBLE_EQ(g.mean, 20);
  EXPECT_EQ(g.samples, 1);  // at 2050; the one at 1100 is past its pass
}

TEST(gauges, count_no_growth_twice_where_passes_overlap) {
  trace_builder b;
  b.phase("decode", 1000, 1100, none, 0);
  b.t.intern_thread(101);
  b.phase("decode", 1050, 1150, none, 1);
  b.t.gauges = {{1000, 0, none, gauge_kind::major_faults}, {1200, 200, none, gauge_kind::major_faults}};
  const varve::report r = b.analyze();
  const gauge_row& g = gauge_of(phase_of(r, "decode").gauges, gauge_kind::major_faults);
  EXPECT_THAT(g.per_pass, ElementsAre(100, 100));
  EXPECT_EQ(g.total, 150);  // [1000, 1150)
  EXPECT_EQ(g.mean, 100);
}

TEST(gauges, of_limits_are_shares_of_the_time) {
  trace_builder b = passes_of({100, 100});
  b.t.gauges = {{900, idle, 0, gauge_kind::clock_limits},
                {950, 0, 0, gauge_kind::clock_limits},
                {1040, power_cap, 0, gauge_kind::clock_limits},
                {1500, 0, 0, gauge_kind::clock_limits}};
  const varve::report r = b.analyze();
  const auto& gauges = phase_of(r, "decode").gauges;
  ASSERT_EQ(gauges.size(), 1U);  // it was idle in no pass
  const gauge_row& cap = gauge_of(gauges, gauge_kind::clock_limits, "power cap");
  EXPECT_THAT(cap.per_pass, ElementsAre(DoubleEq(0.6), DoubleEq(0)));  // [1040, 1100) of 100 ns
  EXPECT_DOUBLE_EQ(cap.mean, 0.3);
  EXPECT_EQ(cap.max, 1);
  EXPECT_EQ(r.devices[0].gauges.size(), 2U);
}

TEST(gauges, are_those_of_the_phases_device) {
  trace_builder b;
  const auto other = b.stream(1, 8);
  const auto pass = b.phase("decode", 1000, 1100);
  b.launched_kernel(pass, 1000, 1005, 1010, 1020);
  b.launched_kernel(pass, 1010, 1015, 1020, 1030, "k", other);
  b.t.gauges = {{1000, 7, 0, gauge_kind::temperature},          {1000, 9, 1, gauge_kind::temperature},
                {1000, 11, 2, gauge_kind::temperature},        // of no device of the trace
                {1000, 13, none, gauge_kind::temperature},     // no gauge of a process
                {1000, 1, 1, gauge_kind::minor_faults},        // nor of a device
                {1000, 5, none, static_cast<gauge_kind>(77)},  // nor any
                {1000, 3, none, gauge_kind::voluntary_switches}};
  const varve::report r = b.analyze();
  EXPECT_EQ(gauge_of(phase_of(r, "decode", 0).gauges, gauge_kind::temperature).mean, 7);
  EXPECT_EQ(gauge_of(phase_of(r, "decode", 1).gauges, gauge_kind::temperature).mean, 9);
  for (const std::uint32_t device : {0U, 1U}) {
    EXPECT_EQ(phase_of(r, "decode", device).gauges.size(), 2U);
    EXPECT_TRUE(has_gauge(phase_of(r, "decode", device).gauges, gauge_kind::voluntary_switches));
    EXPECT_EQ(r.devices[device].gauges.size(), 1U);
  }
}

TEST(gauges, survive_any_times_and_values) {
  constexpr auto most = std::numeric_limits<time_ns>::max();
  trace_builder b = passes_of({100, 0});
  b.phase("endless", -most, most);
  b.phase("backwards", 500, 400);
  for (const time_ns at : {most, -most, time_ns{2000}, time_ns{2000}}) {
    b.t.gauges.push_back({at, most, 0, gauge_kind::power});
    b.t.gauges.push_back({at, -most, none, gauge_kind::major_faults});
    b.t.gauges.push_back({at, -1, 0, gauge_kind::clock_limits});
  }
  const varve::report r = b.analyze();
  for (const varve::phase_row& p : r.phases) {
    for (const gauge_row& g : p.gauges) {
      EXPECT_TRUE(std::isfinite(g.mean)) << p.phase;
      EXPECT_LE(g.min, g.max) << p.phase;
      EXPECT_EQ(g.per_pass.size(), p.samples.step.size()) << p.phase;
    }
  }
}

/// Nine passes of 100 ns and one, the fourth, of 400; the SM clock and what limits it in each.
trace_builder one_slow_pass(std::int64_t slow_clock, std::int64_t limits) {
  trace_builder b = passes_of({100, 100, 100, 400, 100, 100, 100, 100, 100, 100});
  b.t.gauges = {
      {1000, 2'000'000'000, 0, gauge_kind::sm_clock}, {1000, 0, 0, gauge_kind::clock_limits},
      {4000, slow_clock, 0, gauge_kind::sm_clock},    {4000, 0, 0, gauge_kind::clock_limits},
      {4100, limits, 0, gauge_kind::clock_limits},    {4400, 2'000'000'000, 0, gauge_kind::sm_clock},
      {4400, 0, 0, gauge_kind::clock_limits}};
  return b;
}

std::vector<finding> of_kind(const varve::report& r, finding::kind what) {
  std::vector<finding> out;
  std::copy_if(r.findings.begin(), r.findings.end(), std::back_inserter(out),
               [&](const finding& f) { return f.what == what; });
  return out;
}

TEST(gauges, tell_of_clocks_that_dropped_in_slow_passes) {
  const varve::report r = one_slow_pass(1'500'000'000, power_cap).analyze();
  const std::vector<finding> found = of_kind(r, finding::kind::clocks_dropped);
  ASSERT_EQ(found.size(), 1U);
  // Steps: median 100, median deviation 0, so slow is beyond 100 + 0.2 × 100 = 120. 1 − 1.5 ÷ 2 = 0.25. The
  // cap held in [4100, 4400) of the 400 ns.
  EXPECT_EQ(r.phases[found[0].phase].phase, "decode");
  EXPECT_DOUBLE_EQ(found[0].value, 0.25);
  EXPECT_DOUBLE_EQ(found[0].threshold, 0.05);
  EXPECT_EQ(
      found[0].text,
      "1 of 10 passes of decode took 400 ns against a median of 100 ns, beyond 120 ns; in it the SM clock "
      "was 1.50 GHz against 2.00 GHz, 25.0 % lower and more than 5.0 %, held down by power cap for 75.0 % "
      "of the time against 0 %");
  EXPECT_THAT(found[0].next_step, HasSubstr("nvidia-smi"));
}

TEST(gauges, tell_nothing_of_clocks_that_hardly_dropped) {
  // 1 − 1.91 ÷ 2 = 0.045: not more than the threshold; 1 − 1.89 ÷ 2 = 0.055 is.
  EXPECT_THAT(of_kind(one_slow_pass(1'910'000'000, 0).analyze(), finding::kind::clocks_dropped), IsEmpty());
  EXPECT_EQ(of_kind(one_slow_pass(1'890'000'000, 0).analyze(), finding::kind::clocks_dropped).size(), 1U);
}

TEST(gauges, tell_nothing_where_no_pass_is_slow) {
  trace_builder b = passes_of({100, 100, 100, 120, 100, 100, 100, 100, 100, 100});  // not beyond 120
  b.t.gauges = {{1000, 2000, 0, gauge_kind::sm_clock},
                {4000, 1000, 0, gauge_kind::sm_clock},
                {4200, 2000, 0, gauge_kind::sm_clock}};
  EXPECT_THAT(of_kind(b.analyze(), finding::kind::clocks_dropped), IsEmpty());
}

TEST(gauges, tell_of_page_faults_and_switches_in_slow_passes) {
  trace_builder b = one_slow_pass(2'000'000'000, 0);
  b.t.gauges.clear();
  const auto grows = [&](gauge_kind what, std::int64_t in_slow) {
    b.t.gauges.push_back({900, 0, none, what});
    b.t.gauges.push_back({4000, 0, none, what});
    b.t.gauges.push_back({4400, in_slow, none, what});
    b.t.gauges.push_back({11'000, in_slow, none, what});
  };
  grows(gauge_kind::minor_faults, 101);
  grows(gauge_kind::major_faults, 1);  // not more than the floor of 1
  grows(gauge_kind::involuntary_switches, 12);
  grows(gauge_kind::voluntary_switches, 11);
  const varve::report r = b.analyze();
  const std::vector<finding> faults = of_kind(r, finding::kind::page_faults);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_DOUBLE_EQ(faults[0].value, 101);
  EXPECT_DOUBLE_EQ(faults[0].threshold, 100);  // the floor; twice the others' is 0
  EXPECT_EQ(
      faults[0].text,
      "1 of 10 passes of decode took 400 ns against a median of 100 ns, beyond 120 ns; in it there were 101 "
      "page faults a pass against 0, beyond 100");
  const std::vector<finding> switches = of_kind(r, finding::kind::context_switches);
  ASSERT_EQ(switches.size(), 2U);
  EXPECT_THAT(switches[0].text, HasSubstr("11.0 waits of threads"));
  EXPECT_THAT(switches[1].text, HasSubstr("12.0 involuntary context switches"));
}

TEST(gauges, tell_nothing_of_what_is_as_frequent_in_other_passes) {
  trace_builder b = one_slow_pass(2'000'000'000, 0);
  // 10 faults in each nanosecond: 4000 in the slow pass, 1000 in the others. Not more than twice as many
  // would be 2000: told. With 4.9 a nanosecond in the slow pass it is 1960: not told.
  const auto with = [&](std::int64_t in_slow) {
    b.t.gauges = {{0, 0, none, gauge_kind::minor_faults},
                  {4000, 40'000, none, gauge_kind::minor_faults},
                  {4400, 40'000 + in_slow, none, gauge_kind::minor_faults},
                  {10'400, 100'000 + in_slow, none, gauge_kind::minor_faults}};
    return of_kind(b.analyze(), finding::kind::page_faults);
  };
  EXPECT_EQ(with(4000).size(), 1U);
  EXPECT_DOUBLE_EQ(with(4000)[0].threshold, 2000);
  EXPECT_THAT(with(1960), IsEmpty());
}

TEST(gauges, have_a_line_in_the_table_where_they_say_something) {
  trace_builder b = one_slow_pass(1'500'000'000, power_cap);
  b.t.gauges.push_back({1000, 71, 0, gauge_kind::temperature});
  b.t.gauges.push_back({1000, 348'000, 0, gauge_kind::power});
  b.t.gauges.push_back({1000, 0, none, gauge_kind::major_faults});
  b.t.gauges.push_back({1100, 3, none, gauge_kind::major_faults});
  // In 1300 ns of passes 400 at 1.5 GHz and 900 at 2: mean 2.4 ÷ 1.3 = 1.846; capped for 300 ns, 23.1 %.
  EXPECT_THAT(
      varve::to_table(b.analyze()),
      AllOf(HasSubstr("gauges   SM clock 1.50 to 2.00 GHz, mean 1.85 · power cap 23.1 % of the time · up "
                      "to 71.0 °C · 348 W"),
            HasSubstr("3.00 major page faults")));
  EXPECT_THAT(varve::to_table(one_slow_pass(2'000'000'000, idle).analyze()), Not(HasSubstr("gauges")));
}

}  // namespace
