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
using testing::ContainsRegex;

TEST(overhead, medians_are_the_middle_of_what_was_measured) {
  EXPECT_EQ(decoder::median({}), 0);
  EXPECT_EQ(decoder::median({3}), 3);
  EXPECT_EQ(decoder::median({9, 1, 4}), 4);
  EXPECT_EQ(decoder::median({8, 1, 4, 2}), 3);  // (2 + 4) / 2
}

TEST(overhead, ratios_are_to_the_same_launches_without_a_session) {
  const std::vector<overhead_row> rows{
      {launch_mode::eager, recorder::off, {200e-6, 210e-6, 190e-6}, {100e-6, 100e-6, 120e-6}, 0},
      {launch_mode::eager, recorder::everything, {220e-6, 230e-6, 222e-6}, {110e-6, 110e-6, 90e-6}, 0.9995},
      {launch_mode::graphs, recorder::off, {50e-6}, {40e-6}, 0},
      {launch_mode::graphs, recorder::markers, {51e-6}, {40e-6}, 0}};
  const std::string table = to_table(rows);
  // Medians 200 and 222: 1.11; from 220 to 230 are 10 / 222 = 4.5 %; 110 / 100.
  EXPECT_THAT(table, ContainsRegex("one by one +off +200.0 +1.0000 +10.0 % +100.0 +1.0000\n"));
  EXPECT_THAT(table,
              ContainsRegex("one by one +everything +222.0 +1.1100 +4.5 % +110.0 +1.1000 +99.950 %\n"));
  EXPECT_THAT(table, ContainsRegex("as graphs +markers only +51.0 +1.0200 +0.0 % +40.0 +1.0000\n"));
}

TEST(overhead, is_measured_with_every_recorder_that_is_asked_for) {
  const auto device = decoder::make_cpu_backend();
  const auto rows = measure_overhead(*device, decoder::preset("tiny"), {{1, 2, 3}, {4}}, 4, 2, 1);
  ASSERT_EQ(rows.size(), 9U);  // four eager, five replayed
  for (const overhead_row& row : rows) {
    ASSERT_EQ(row.host.size(), 2U);
    ASSERT_EQ(row.device.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_GT(row.device[i], 0);
      EXPECT_GT(row.host[i], row.device[i]);  // the host waits until the device is done
    }
    const bool records = row.with == recorder::everything || row.with == recorder::whole_graphs;
    EXPECT_EQ(row.attributed, records ? 1.0 : 0.0);
  }
  EXPECT_THROW((void)measure_overhead(*device, decoder::preset("tiny"), {{1}}, 1, 1, 1),
               std::invalid_argument);
}

}  // namespace
