// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Collectives in a table, and tables of several ranks.
#include <varve/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "formats/small_report.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing_support::small_report;

varve::collective_row all_reduce() {
  varve::collective_row c;
  c.name = "all-reduce";
  c.ranks = 8;
  c.phase = "decode";
  c.calls = 4;
  c.sized_calls = 4;
  c.bytes = 4000000;
  c.gpu_time = 2000000;
  c.exposed_time = 1000000;
  c.sized_time = 2000000;
  c.algorithm_bandwidth = 2e9;
  c.bus_bandwidth = 3.5e9;
  return c;
}

TEST(table_collectives, show_bytes_times_and_bandwidths) {
  varve::report r = small_report();
  r.collectives = {all_reduce()};
  EXPECT_THAT(
      varve::to_table(r),
      HasSubstr(
          "collective  ranks  calls    bytes   a call  GPU time  exposed     avg      algbw      busbw\n"
          "───────────────────────────────────────────────────────────────────────────────────────────\n"
          "all-reduce      8      4  4.00 MB  1.00 MB   2.00 ms  1.00 ms  500 µs  2.00 GB/s  3.50 GB/s\n"));
}

TEST(table_collectives, say_what_is_not_known) {
  varve::report r = small_report();
  r.collectives = {all_reduce(), all_reduce()};
  r.collectives[0].sized_calls = 2;  // of the other two calls no size: at least so much
  r.collectives[1] = {};
  r.collectives[1].name = "evil\x1b[31m";
  r.collectives[1].phase = "decode";
  r.collectives[1].calls = 1;
  r.collectives[1].gpu_time = 3000000;  // the most time, so the first
  const std::string table = varve::to_table(r);
  EXPECT_THAT(table, HasSubstr("≥ 4.00 MB  2.00 MB"));
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
  EXPECT_LT(table.find("evil"), table.find("all-reduce"));
}

TEST(table_collectives, are_not_mentioned_where_there_are_none) {
  EXPECT_THAT(varve::to_table(small_report()), Not(HasSubstr("algbw")));
  varve::report r = small_report();
  r.collectives = {all_reduce()};
  varve::table_options options;
  options.header = false;
  EXPECT_THAT(varve::to_table(r, options), Not(HasSubstr("algbw")));
}

varve::row label(std::string name, varve::time_ns time) {
  varve::row r;
  r.path = r.label = std::move(name);
  r.phase = "decode";
  r.inclusive.gpu_time = time;
  return r;
}

/// The small report as rank `rank` of 2, "mlp" taking `mlp`.
varve::report of_rank(std::int32_t rank, varve::time_ns mlp) {
  varve::report r = small_report();
  r.rank = rank;
  r.world_size = 2;
  r.backend = "nccl";
  r.labels = {label("attention", 2400000), label("mlp", mlp)};
  r.devices[0].device.id = static_cast<std::uint32_t>(rank);
  r.devices[0].partition = r.phases[0].partition;
  return r;
}

TEST(table_ranks, stand_side_by_side_with_their_spread) {
  varve::report second = of_rank(1, 5000000);
  second.devices[0].partition.compute = 7000000;  // 1 ms more than on rank 0: wall 11, busy 8.5 ms
  second.phases[0].step = testing_support::times(2, 5.5e6, 5500000, 5500000, 5500000);
  second.phases[0].total.gpu_time = 8500000;
  second.labels.push_back(label("only here", 100000));
  varve::table_options options;
  options.by = varve::view::label;
  // Given in any order. 5.5 ÷ 5 = 1.1, 8.5 ÷ 7.5 = 1.13, 5 ÷ 4 = 1.25.
  EXPECT_EQ(varve::to_ranks_table({second, of_rank(0, 4000000)}, options),
            R"(Ranks side by side · 2 of 2 · backend nccl · lengths of time on each rank's own clock

rank                         wall  GPU busy  compute  exposed comm  exposed copy  starved  device gap  wall ÷ busy
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────
rank 0 · device 0, GPU X  10.0 ms   7.50 ms  6.00 ms       1.00 ms        500 µs  1.50 ms     1.00 ms         1.33
rank 1 · device 1, GPU X  11.0 ms   8.50 ms  7.00 ms       1.00 ms        500 µs  1.50 ms     1.00 ms         1.29

phase                           rank 0   rank 1  max ÷ min  longest
───────────────────────────────────────────────────────────────────
decode: step, mean             5.00 ms  5.50 ms       1.10   rank 1
decode: GPU time               7.50 ms  8.50 ms       1.13   rank 1
decode: exposed communication  1.00 ms  1.00 ms       1.00
decode: starved                1.50 ms  1.50 ms       1.00

GPU time of layers   rank 0   rank 1  max ÷ min  longest
────────────────────────────────────────────────────────
mlp                 4.00 ms  5.00 ms       1.25   rank 1
attention           2.40 ms  2.40 ms       1.00
only here                 –   100 µs

)");
}

/// A rank whose four all-reduces took `time` and which was starved for as long.
varve::report in_collectives(std::int32_t rank, varve::time_ns time) {
  varve::report r = of_rank(rank, 4000000);
  r.collectives = {all_reduce()};
  r.collectives[0].ranks = 2;
  r.collectives[0].gpu_time = time;
  r.labels.push_back(label("nccl:all_reduce", time));
  r.phases[0].partition.exposed_communication = time;
  r.phases[0].partition.starved = {time, 0, 0, 0, 0};
  return r;
}

std::string line_with(const std::string& text, const std::string& name) {
  const std::size_t at = text.find('\n' + name);
  return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

// Rank 0 comes 2 ms earlier to its all-reduces and waits: 3 ms against 1 ms. That makes it not the slow one.
TEST(table_ranks, name_no_slow_rank_by_the_time_that_a_rank_waits) {
  const std::string table = varve::to_ranks_table({in_collectives(0, 3000000), in_collectives(1, 1000000)});
  for (const char* row : {"decode: exposed communication", "decode: starved", "nccl:all_reduce"}) {
    EXPECT_THAT(line_with(table, row), testing::EndsWith("3.00 ms  1.00 ms       3.00")) << row;
  }
  EXPECT_THAT(table,
              HasSubstr("\nIn collectives ranks wait for one another: rank 1 spends the least time there, "
                        "1.00 ms against up to 3.00 ms, so it\ncomes last and the others wait for it.\n"));
}

TEST(table_ranks, tell_who_is_waited_for_only_where_it_is_clear) {
  const auto told = [](const varve::report& a, const varve::report& b) {
    return varve::to_ranks_table({a, b}).find("wait for it") != std::string::npos;
  };
  const varve::report first = in_collectives(0, 3000000);
  EXPECT_TRUE(told(first, in_collectives(1, 2000000)));
  EXPECT_FALSE(told(first, in_collectives(1, 2800000)));  // 3 ÷ 2.8 = 1.07, less than 1.1
  varve::report other = in_collectives(1, 1000000);
  other.collectives[0].calls = 3;  // of four
  EXPECT_FALSE(told(first, other));
  other = in_collectives(1, 1000000);
  other.collectives[0].ranks = 8;  // six of them are not here
  EXPECT_FALSE(told(first, other));
  EXPECT_FALSE(told(of_rank(0, 1), of_rank(1, 2)));  // no collectives
}

TEST(table_ranks, compare_no_ramps_of_a_steady_view) {
  varve::report a = of_rank(0, 1000000);
  a.quality.steady = true;
  a.phases.push_back(a.phases[0]);
  a.phases.back().phase = "decode (ramp)";
  varve::report b = a;
  b.rank = 1;
  EXPECT_THAT(varve::to_ranks_table({a, b}), AllOf(HasSubstr("\ndecode: step"), Not(HasSubstr("(ramp)"))));
}

TEST(table_ranks, need_two_different_ones) {
  EXPECT_EQ(varve::to_ranks_table({}), "");
  EXPECT_EQ(varve::to_ranks_table({of_rank(0, 1)}), "");
  EXPECT_EQ(varve::to_ranks_table({of_rank(0, 1), of_rank(0, 2)}), "");
  EXPECT_EQ(varve::to_ranks_table({small_report(), of_rank(1, 2)}), "");  // one does not say its rank
}

// Of three reports two are of rank 1, so of two ranks: their files tell them apart.
TEST(table_ranks, given_twice_count_once_and_are_told_apart_by_file) {
  std::vector<varve::report> reports{of_rank(1, 3000000), of_rank(0, 4000000), of_rank(1, 5000000)};
  reports[0].source = "/tmp/old/a.json";
  reports[2].source = "b.json (rank 1 of 2, backend a/b)";
  std::string table = varve::to_ranks_table(reports);
  EXPECT_THAT(table, HasSubstr("Ranks side by side · 2 of 2 · "));
  EXPECT_THAT(table, HasSubstr("\n! Some files are of the same rank.\n"));
  EXPECT_THAT(table, HasSubstr("rank 0  rank 1 (a.json)  rank 1 (b.json)  max ÷ min          longest\n"));
  EXPECT_THAT(table, HasSubstr("\nrank 1 (b.json) · device 1, GPU X"));
  EXPECT_THAT(line_with(table, "mlp"), testing::EndsWith("5.00 ms       1.67  rank 1 (b.json)"));  // 5 ÷ 3
  reports[2].source = "/tmp/new/a.json";
  table = varve::to_ranks_table(reports);
  EXPECT_THAT(table, HasSubstr("rank 1 no. 1 (a.json)  rank 1 no. 2 (a.json)"));
  reports.pop_back();
  EXPECT_THAT(varve::to_ranks_table(reports), Not(HasSubstr("a.json")));
}

TEST(table_ranks, say_what_does_not_belong) {
  varve::report other = of_rank(1, 2000000);
  other.world_size = 4;
  const std::string table = varve::to_ranks_table({of_rank(0, 1000000), other, small_report()});
  EXPECT_THAT(table, HasSubstr("they are not of one run"));
  EXPECT_THAT(table, HasSubstr("1 without a rank left out"));
}

TEST(table_ranks, of_many_show_the_least_the_median_and_the_most) {
  std::vector<varve::report> ranks;
  for (std::int32_t i = 0; i < 9; ++i) {
    ranks.push_back(of_rank(i, 1000000 * (i + 1)));
  }
  ranks[8].labels.pop_back();  // rank 8 has no "mlp": 8 ranks with 1 to 8 ms, the lower median is 4 ms
  varve::table_options options;
  options.filter = "mlp";
  EXPECT_THAT(varve::to_ranks_table(ranks, options),
              HasSubstr("GPU time of layers    least   median     most  ranks  max ÷ min  longest\n"
                        "────────────────────────────────────────────────────────────────────────\n"
                        "mlp                 1.00 ms  4.00 ms  8.00 ms      8       8.00   rank 7\n"));
}

TEST(table_ranks, obey_top_and_view_and_escape_names) {
  varve::report a = of_rank(0, 1000000);
  varve::report b = of_rank(1, 2000000);
  a.kernels = {label("evil\x1b[2J", 5000000), label("gemm", 1000)};
  b.kernels = a.kernels;
  varve::table_options options;
  options.by = varve::view::kernel;
  options.top = 1;
  const std::string table = varve::to_ranks_table({a, b}, options);
  EXPECT_THAT(table, HasSubstr("GPU time of kernels"));
  EXPECT_THAT(table, HasSubstr("… 1 more row\n"));
  EXPECT_THAT(table, Not(HasSubstr("gemm")));
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
}

}  // namespace
