// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "predict/warm_up.hpp"

#include <varve/varve.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using varve::finding;
using varve::time_ns;

varve::phase_row& add_phase(varve::report& r, const std::string& name, std::vector<time_ns> steps,
                            std::int64_t stride = 1) {
  varve::phase_row& p = r.phases.emplace_back();
  p.phase = name;
  p.samples.stride = stride;
  p.samples.step = std::move(steps);
  return p;
}

std::vector<finding> warm_ups_in(const varve::report& r) {
  std::vector<finding> found;
  varve::predict::find_warm_ups(r, found);
  return found;
}

TEST(warm_up, passes_at_the_start_that_take_far_longer_are_told) {
  varve::report r;
  add_phase(r, "decode", {5000, 3000, 1000, 1010, 990, 1000, 1000, 1000, 1000, 1000});
  // Sorted 990, 1000 (6 times), 1010, 3000, 5000: median 1000; deviations 0 (6 times), 10, 10, 2000, 4000:
  // their median is 0, so the limit is a fifth more than the median. 5000 + 3000 − 2 × 1000 = 6000 too many.
  const auto found = warm_ups_in(r);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, finding::kind::warming_up);
  EXPECT_EQ(found[0].phase, 0U);
  EXPECT_EQ(found[0].layer, varve::none);
  EXPECT_DOUBLE_EQ(found[0].value, 4);
  EXPECT_DOUBLE_EQ(found[0].threshold, 1.2);
  EXPECT_EQ(
      found[0].text,
      "decode warms up: its first 2 passes take 4.00 µs on average against a median of 1.00 µs, beyond 1.20 "
      "µs: 6.00 µs more in all");
  EXPECT_EQ(found[0].next_step,
            "run these passes before the session starts, or mark them as warm-up; --steady sets ramps apart");
}

TEST(warm_up, of_every_nth_pass_it_is_an_estimate) {
  varve::report r;
  add_phase(r, "decode", {5000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}, 100);
  ASSERT_EQ(warm_ups_in(r).size(), 1U);
  EXPECT_EQ(
      warm_ups_in(r)[0].text,
      "decode warms up: about its first 100 passes take 5.00 µs on average against a median of 1.00 µs, "
      "beyond 1.20 µs: 400 µs more in all");
}

TEST(warm_up, passes_that_vary_have_to_differ_more) {
  // Median 1000, deviations 300 (4 times) and 700 … 0: of 0, 0, 0, 300, 300, 300, 300, 1500 the median is
  // 300, so the limit is 1000 + 3.5 × 1.4826 × 300 = 2557.
  varve::report r;
  add_phase(r, "prefill", {2500, 1000, 700, 1300, 700, 1300, 1000, 1000});
  EXPECT_TRUE(warm_ups_in(r).empty());
  r.phases[0].samples.step[0] = 2600;
  ASSERT_EQ(warm_ups_in(r).size(), 1U);
  EXPECT_EQ(
      warm_ups_in(r)[0].text,
      "prefill warms up: its first pass takes 2.60 µs against a median of 1.00 µs, beyond 2.56 µs: 1.60 µs "
      "more in all");
}

TEST(warm_up, nothing_is_told_of_phases_that_are_steady_short_or_meant_to_be_cold) {
  const std::vector<time_ns> cold{5000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};
  varve::report r;
  add_phase(r, "decode", {1000, 1000, 5000, 1000, 1000, 1000, 1000, 1000});  // not at the start
  add_phase(r, "slow", {1190, 1000, 1000, 1000, 1000, 1000, 1000, 1000});    // less than a fifth
  add_phase(r, "few", {5000, 1000, 1000, 1000, 1000, 1000, 1000});           // seven
  add_phase(r, VARVE_LOAD, cold);
  add_phase(r, VARVE_WARM_UP, cold);
  add_phase(r, "none", {});
  std::vector<time_ns> many(200, 1000);  // 2000 more are 0.99 % of 202,000
  many[0] = 3000;
  add_phase(r, "cheap", many);
  EXPECT_TRUE(warm_ups_in(r).empty());
  add_phase(r, "cold", cold);
  EXPECT_EQ(warm_ups_in(r).size(), 1U);
}

TEST(warm_up, several_devices_tell_it_once) {
  const std::vector<time_ns> cold{5000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};
  varve::report r;
  add_phase(r, "decode", cold);
  add_phase(r, "decode", cold).device = 1;
  add_phase(r, "decode", cold).model = "draft";
  ASSERT_EQ(warm_ups_in(r).size(), 2U);
  EXPECT_EQ(warm_ups_in(r)[1].phase, 2U);
}

TEST(warm_up, hostile_times_do_no_harm) {
  constexpr time_ns most = std::numeric_limits<time_ns>::max();
  constexpr time_ns least = std::numeric_limits<time_ns>::min();
  varve::report r;
  add_phase(r, "decode", std::vector<time_ns>(9, most), most).samples.step[8] = 1;
  add_phase(r, "decode", std::vector<time_ns>(9, least), least).batch = "b";
  add_phase(r, "decode", std::vector<time_ns>(9, 1), most).samples.step[0] = most;
  EXPECT_EQ(warm_ups_in(r).size(), 1U);
}

}  // namespace
