// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cpu_backend.hpp"
#include "overhead.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using decoder::launch_mode;
using decoder::overhead_row;
using decoder::recorder;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(overhead, medians_are_the_middle_of_what_was_measured) {
  EXPECT_EQ(decoder::median({}), 0);
  EXPECT_EQ(decoder::median({3}), 3);
  EXPECT_EQ(decoder::median({9, 1, 4}), 4);
  EXPECT_EQ(decoder::median({8, 1, 4, 2}), 3);  // (2 + 4) / 2
}

TEST(overhead, ratios_are_to_the_same_launches_without_a_session) {
  const std::vector<overhead_row> rows{
      {launch_mode::eager, recorder::off, {200e-6, 210e-6, 190e-6}, {100e-6, 100e-6, 120e-6}, 0},
      {launch_mode::eager,
       recorder::everything,
       {220e-6, 230e-6, 222e-6},
       {110e-6, 110e-6, 90e-6},
       0.9995,
       {80e-6, 81e-6, 70e-6},
       {2.8, 2.6, 2.7}},
      {launch_mode::graphs, recorder::off, {50e-6}, {40e-6}, 0},
      {launch_mode::graphs, recorder::markers, {51e-6}, {40e-6}, 0}};
  const std::string table = to_table(rows);
  // Medians 200 and 222: 1.11; from 220 to 230 are 10 / 222 = 4.5 %; 110 / 100.
  EXPECT_THAT(table, ContainsRegex("one by one +off +200.0 +1.0000 +10.0 % +100.0 +1.0000\n"));
  EXPECT_THAT(table, ContainsRegex("one by one +everything +222.0 +1.1100 +4.5 % +110.0 +1.1000 +80.0 +2.70 "
                                   "+99.950 %\n"));
  EXPECT_THAT(table, ContainsRegex("as graphs +markers only +51.0 +1.0200 +0.0 % +40.0 +1.0000\n"));
}

/// Decode passes as graphs, whose device times are 100 µs and up to 104 µs without a session; with one it
/// needs 110 µs in all, of which kernels are recorded for `kernels` and 2 µs more.
std::string dilation_of(double overhead_ratio, double kernels) {
  const std::string table =
      decoder::to_table({{launch_mode::graphs, recorder::off, {105e-6}, {100e-6, 100e-6, 104e-6}, 0},
                         {launch_mode::graphs,
                          recorder::everything,
                          {115e-6},
                          {110e-6},
                          1,
                          {kernels, kernels + 2e-6},
                          {overhead_ratio}}});
  return table.substr(table.find("Ratios are"));
}

TEST(overhead, of_the_device_is_dilation_where_it_hardly_waits) {
  // 110 / 100, and (104 - 100) / 100; the shortest kernels, 105, are beyond the longest span, 104: 106 / 100.
  EXPECT_THAT(dilation_of(1.05, 105e-6),
              AllOf(HasSubstr("replayed as graphs: GPU-bound as recorded, wall / busy 1.05"),
                    HasSubstr("ratio, 1.1000 with everything, is the dilation"), HasSubstr("spread by 4.0 %"),
                    HasSubstr("Kernels alone take at least 1.0600 times")));
  EXPECT_THAT(dilation_of(1.1, 103e-6), AllOf(HasSubstr("GPU-bound"), HasSubstr("does not show")));
}

TEST(overhead, of_the_device_is_no_dilation_where_it_waits_for_launches) {
  EXPECT_THAT(dilation_of(1.11, 105e-6),
              AllOf(HasSubstr("replayed as graphs: launch-bound as recorded, wall / busy 1.11"),
                    HasSubstr("no dilation of kernels"), Not(HasSubstr("1.1000"))));
}

/// Replayed passes of 100 µs, times of which lie `apart` apart, and of `with` that ones with markers.
std::string aim_of_markers(double with, double apart) {
  const double middle = 100e-6;
  const std::string table =
      decoder::to_table({{launch_mode::graphs,
                          recorder::off,
                          {middle, middle - apart * middle / 2, middle + apart * middle / 2},
                          {100e-6},
                          0},
                         {launch_mode::graphs, recorder::markers, {with}, {100e-6}, 0}});
  const std::size_t at = table.find("  replayed as graphs, markers only: costs");
  return at >= 4 && at != std::string::npos ? table.substr(at - 4) : table;
}

TEST(overhead, is_judged_by_its_aims_where_times_lie_closely_enough) {
  EXPECT_EQ(
      aim_of_markers(100.1e-6, 0.001),
      "PASS  replayed as graphs, markers only: costs 0.10 % of a decode pass, the aim is at most 0.2 %; "
      "times lie 0.10 % apart\n");
  EXPECT_THAT(aim_of_markers(100.1e-6, 0.01), HasSubstr("OPEN  "));  // 1 % apart
  EXPECT_THAT(aim_of_markers(100.9e-6, 0.01), HasSubstr("OPEN  "));  // 0.9 is less than 0.2 + 1
  EXPECT_THAT(aim_of_markers(101.3e-6, 0.01), HasSubstr("FAIL  "));
}

TEST(overhead, says_why_kernels_are_missing) {
  overhead_row without{launch_mode::graphs, recorder::everything, {50e-6}, {40e-6}, 0.1};
  without.missing = "no kernels in decode passes, 3 of 4 activities belong to no call";
  const std::string table = decoder::to_table({without});
  EXPECT_THAT(table, ContainsRegex("as graphs +everything +50.0 +0.0000 +0.0 % +40.0 +0.0000\n"));
  EXPECT_THAT(table, HasSubstr("replayed as graphs, everything: no kernels in decode passes, 3 of 4"));
}

TEST(overhead, is_measured_with_every_recorder_that_is_asked_for) {
  const auto device = decoder::make_cpu_backend();
  const auto rows = measure_overhead(*device, decoder::preset("tiny"), {{1, 2, 3}, {4}}, 4, 2, 1);
  ASSERT_EQ(rows.size(), 11U);  // five eager, six replayed
  for (const overhead_row& row : rows) {
    ASSERT_EQ(row.host.size(), 2U);
    ASSERT_EQ(row.device.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_GT(row.device[i], 0);
      EXPECT_GT(row.host[i], row.device[i]);  // the host waits until the device is done
    }
    const bool records = row.with == recorder::everything || row.with == recorder::added_up ||
                         row.with == recorder::whole_graphs;
    EXPECT_EQ(row.attributed, records ? 1.0 : 0.0);
    EXPECT_EQ(row.missing, "");
    EXPECT_EQ(row.seconds.size(), 2U);
    ASSERT_EQ(row.kernels.size(), records ? 2U : 0U);
    ASSERT_EQ(row.overhead_ratio.size(), row.kernels.size());
    for (std::size_t i = 0; i < row.kernels.size(); ++i) {
      EXPECT_GT(row.kernels[i], 0);
      EXPECT_LT(row.kernels[i], row.host[i]);  // a part of the pass
      EXPECT_GT(row.overhead_ratio[i], 1);
    }
  }
  EXPECT_THROW((void)measure_overhead(*device, decoder::preset("tiny"), {{1}}, 1, 1, 1),
               std::invalid_argument);
}

}  // namespace
