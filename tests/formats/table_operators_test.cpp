// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The table of operators (--by operator).
#include <varve/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using varve::operator_row;

/// Self times: 10 + 60 + 20 + 10 = 100 µs of the host, 30 + 10 = 40 µs of the device.
varve::report operators_report() {
  varve::report r;
  operator_row linear;
  linear.name = "aten::linear";
  linear.calls = 2;
  linear.cpu_total = 70'000;
  linear.cpu_self = 10'000;
  linear.gpu_total = 30'000;
  linear.declared = {3'000'000, 1000, 500, 1500};
  linear.calls_with_work = 2;
  operator_row mm;
  mm.name = "aten::mm";
  mm.calls = 2;
  mm.cpu_total = 60'000;
  mm.cpu_self = 60'000;
  mm.gpu_total = 30'000;
  mm.gpu_self = 30'000;
  mm.gpu_memory = 2048;
  mm.gpu_memory_self = 2048;
  mm.declared = {1'500'000, 500, 0, 1000};
  mm.calls_with_work = 1;  // of two
  operator_row copy;
  copy.name = "aten::copy_";
  copy.calls = 4;
  copy.cpu_total = 20'000;
  copy.cpu_self = 20'000;
  copy.gpu_total = 10'000;
  copy.gpu_self = 10'000;
  copy.gpu_memory = -512;
  operator_row launch;
  launch.name = "cudaLaunchKernel";
  launch.calls = 10;
  launch.cpu_total = 10'000;
  launch.cpu_self = 10'000;
  operator_row kernel;
  kernel.name = "gemm";
  kernel.on_device = true;
  kernel.calls = 6;
  kernel.gpu_total = 45'000;  // 5 µs of it launched by no operator
  kernel.gpu_self = 45'000;
  r.operators.by_name = {linear, mm, copy, launch, kernel};
  mm.shapes = "[[16, 64], [64, 8]]";
  r.operators.by_shape = {mm, kernel};
  return r;
}

varve::table_options by_operator() {
  varve::table_options options;
  options.by = varve::view::operators;
  options.header = false;
  return options;
}

std::vector<std::string> names_of(const varve::report& r, const varve::table_options& options) {
  std::vector<std::string> out;
  std::istringstream in{varve::to_table(r, options)};
  for (std::string line; std::getline(in, line);) {
    const bool row = line.find(" µs") != std::string::npos || line.find("…") == 0;
    if (row) {
      out.push_back(line.substr(0, line.find("  ")));
    }
  }
  return out;
}

// linear: 3e6 FLOPs ÷ 30 µs = 0.1 TFLOP/s; 3000 bytes ÷ 30 µs = 0.1 GB/s; 3e6 ÷ 3000 = 1000 FLOPs a byte. Of
// mm's calls one has no known work, so there is no rate: 1.5e6 ÷ 1500 = 1000.
TEST(table_of_operators, has_the_columns_that_torch_users_know) {
  varve::table_options options = by_operator();
  options.fold_below = 0;
  EXPECT_EQ(
      varve::to_table(operators_report(), options),
      R"(operator          calls  GPU total  Self GPU  Self GPU %  GPU avg  CPU total  Self CPU  Self CPU %  CPU avg  GPU mem  Self GPU mem  TFLOP/s   GB/s  FLOP/B
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
aten::linear          2    30.0 µs                        15.0 µs    70.0 µs   10.0 µs        10.0  35.0 µs                           0.100  0.100   1,000
aten::mm              2    30.0 µs   30.0 µs        75.0  15.0 µs    60.0 µs   60.0 µs        60.0  30.0 µs  2.05 kB       2.05 kB                   1,000
aten::copy_           4    10.0 µs   10.0 µs        25.0  2.50 µs    20.0 µs   20.0 µs        20.0  5.00 µs   −512 B
cudaLaunchKernel     10                                              10.0 µs   10.0 µs        10.0  1.00 µs

)");
}

TEST(table_of_operators, is_sorted_cut_and_filtered) {
  varve::table_options options = by_operator();
  options.sort = varve::sort_key::self_cpu_time;
  EXPECT_THAT(names_of(operators_report(), options),
              ElementsAre("aten::mm", "aten::copy_", "aten::linear", "cudaLaunchKernel"));
  options.sort = varve::sort_key::cpu_time;
  EXPECT_THAT(names_of(operators_report(), options),
              ElementsAre("aten::linear", "aten::mm", "aten::copy_", "cudaLaunchKernel"));
  options.sort = varve::sort_key::calls;
  options.top = 2;
  EXPECT_THAT(names_of(operators_report(), options),
              ElementsAre("cudaLaunchKernel", "aten::copy_", "… 2 more rows"));
  options.top = 0;
  options.filter = "ATEN";
  options.sort = varve::sort_key::self_gpu_time;
  EXPECT_THAT(names_of(operators_report(), options), ElementsAre("aten::mm", "aten::copy_", "aten::linear"));
  options.filter = "nothing";
  EXPECT_EQ(varve::to_table(operators_report(), options), "  (no row matches the filter)\n\n");
}

TEST(table_of_operators, folds_rows_that_are_small_on_both_sides) {
  // Under 30 %: copy_ has 20 % of the host's and 25 % of the device's time, cudaLaunchKernel 10 % and 0;
  // linear has 10 % of its own, but 75 % of the device's.
  varve::table_options options = by_operator();
  options.fold_below = 0.3;
  EXPECT_THAT(names_of(operators_report(), options),
              ElementsAre("aten::linear", "aten::mm", "… 2 more rows"));
}

TEST(table_of_operators, shows_shapes_when_asked) {
  varve::table_options options = by_operator();
  options.by_shape = true;
  EXPECT_THAT(names_of(operators_report(), options), ElementsAre("aten::mm [[16, 64], [64, 8]]"));
}

TEST(table_of_operators, says_what_it_adds_up_to) {
  varve::report r = operators_report();
  r.operators.work_share = 0.75;
  r.quality.activities = 6;
  varve::table_options options = by_operator();
  options.header = true;
  const std::string text = varve::to_table(r, options);
  EXPECT_THAT(text,
              HasSubstr("Self CPU 100 µs in all · Self GPU 40.0 µs · 5.00 µs more on the GPU was launched by "
                        "no operator"));
  EXPECT_THAT(text,
              HasSubstr("FLOPs and bytes are from the shapes of operators' inputs, known for those that "
                        "launched 75.0 % of the GPU time."));
}

TEST(table_of_operators, says_when_there_are_none) {
  EXPECT_EQ(varve::to_table(varve::report{}, by_operator()), "  (the trace has no operators)\n\n");
}

TEST(table_of_operators, takes_any_numbers_and_names) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  varve::report r;
  for (const std::int64_t n : {least, most, std::int64_t{-1}, std::int64_t{0}}) {
    operator_row row;
    row.name = "a\x1b[31m\nb";
    row.shapes = "\x9b";
    row.calls = n;
    row.cpu_total = row.cpu_self = row.gpu_total = row.gpu_self = n;
    row.cpu_memory = row.cpu_memory_self = row.gpu_memory = row.gpu_memory_self = n;
    row.declared = {n, n, n, n};
    row.calls_with_work = n;
    r.operators.by_name.push_back(row);
  }
  for (const int width : {0, 1, 20, 80, 200}) {
    varve::table_options options = by_operator();
    options.fold_below = 0;
    options.width = width;
    const std::string text = varve::to_table(r, options);
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("inf")));
    EXPECT_THAT(text, Not(HasSubstr("nan")));
  }
}

}  // namespace
