// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Where there is no memory to add a report, one adds to a copy and keeps what there was.
#include <varve/report.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "analyze/report_values.hpp"
#include "report_windows.hpp"
#include "support/replaced_new.hpp"

namespace {

constexpr std::int64_t plenty = std::numeric_limits<std::int64_t>::max();
std::int64_t left = plenty;  // allocations, before one fails

}  // namespace

void testing_support::before_allocation() {
  if (left != plenty && left-- == 0) {
    left = plenty;
    throw std::bad_alloc{};
  }
}

namespace varve_test {
namespace {

using varve::report;

report busy_window(time_ns begin, const char* layer) {
  trace_builder b = window(begin, begin + 1000);
  add_pass(b, begin + 100, 30);
  add_pass(b, begin + 300, 50, layer);
  b.t.works.push_back({1, {100, 50, 0, 0, varve::math_pipe::fp32}});
  b.t.counts.push_back({1, 0, 100, varve::count_kind::dram_read});
  b.t.gauges = {{begin + 100, 50, 0, varve::gauge_kind::temperature}};
  b.t.losses = {{"a loss with a name that is long enough for the heap", layer, 1}};
  b.range(varve::range_kind::request, none, "a request", 0, begin, begin + 500);
  return report_of(b);
}

TEST(add_report, to_a_copy_leaves_the_total_whole_whichever_allocation_fails) {
  const report total = busy_window(0, "attention");
  const report next = busy_window(1000, "a layer that is new, with a long name");
  static_assert(std::is_nothrow_move_assignable_v<report>);
  std::int64_t failures = 0;
  for (;; ++failures) {
    report copy = total;
    left = failures;
    try {
      varve::add_report(copy, next);
    } catch (const std::bad_alloc&) {
      continue;
    }
    left = plenty;
    EXPECT_EQ(phase_of(copy, "decode").passes, 4);
    break;
  }
  EXPECT_GT(failures, 10);
  const auto none_is = [](const std::string&, const std::string&) { return false; };
  EXPECT_EQ(difference(busy_window(0, "attention"), total, none_is), "");
}

}  // namespace
}  // namespace varve_test
