// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "graph_prediction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

/// Ten decode passes of so many nanoseconds each, in which the device is busy for 60 µs.
varve::report decoding(varve::time_ns a_pass) {
  varve::report r;
  r.phases.emplace_back().phase = "prefill";
  varve::phase_row& decode = r.phases.emplace_back();
  decode.phase = "decode";
  decode.passes = 10;
  decode.wall = 10 * a_pass;
  decode.partition.compute = 10 * 60'000;
  decode.partition.starved.launching = 10 * (a_pass - 60'000);
  return r;
}

/// 150 µs, which are to be 80 µs with graphs, and from 70 µs to 100 µs.
varve::report eager() {
  varve::report r = decoding(150'000);
  varve::prediction other;
  other.what = varve::prediction::change::double_batch;
  other.phase = 1;
  varve::prediction graphs;
  graphs.phase = 1;
  graphs.now = 150'000;
  graphs.at_best = 70'000;
  graphs.expected = 80'000;
  graphs.at_worst = 100'000;
  r.predictions = {other, graphs};
  return r;
}

TEST(graph_prediction, stands_beside_what_was_measured) {
  const std::string text = decoder::predicted_and_measured(eager(), decoding(84'000));
  // 150 / 60, 80 / 60, 70 / 60, 100 / 60; 84 / 60; 84 / 80 = 1.05
  EXPECT_THAT(text, AllOf(ContainsRegex("a pass, .* 150.00 +80.00 +70.00 +100.00 +84.00\n"),
                          ContainsRegex("overhead ratio +2.50 +1.33 +1.17 +1.67 +1.40\n"),
                          HasSubstr("Measured is 5.0 % more than predicted, between best and worst.")));
  EXPECT_THAT(decoder::predicted_and_measured(eager(), decoding(68'000)),
              HasSubstr("15.0 % less than predicted, and less than at best."));
  EXPECT_THAT(decoder::predicted_and_measured(eager(), decoding(120'000)),
              HasSubstr("50.0 % more than predicted, and more than at worst."));
}

TEST(graph_prediction, says_why_there_is_none) {
  EXPECT_THAT(decoder::predicted_and_measured(decoding(150'000), decoding(84'000)),
              HasSubstr("too few launches"));
  EXPECT_THAT(decoder::predicted_and_measured(eager(), varve::report{}), HasSubstr("No decode pass"));
}

}  // namespace
