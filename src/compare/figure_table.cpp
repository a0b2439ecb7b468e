// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The table of figures. docs/budgets.md lists the same lines; a test compares them.
#include "compare/figure_lines.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

namespace varve {
inline namespace v0 {
namespace budgets {

namespace {

/// Says of which figures more is better.
std::vector<definition> directed(std::vector<definition> lines) {
  for (definition& d : lines) {
    const figure_info& i = d.info;
    d.info.more_is_better = i.unit == figure_unit::byte_rate || i.unit == figure_unit::flop_rate ||
                            i.unit == figure_unit::token_rate || i.name == "efficiency" ||
                            i.name == "compute_utilisation" || i.name == "memory_utilisation" ||
                            i.name == "busy_share" || i.name == "occupancy" || i.name == "attributed" ||
                            i.name == "work_known";
  }
  return lines;
}

}  // namespace

distribution distribution_of(std::vector<time_ns> values) {
  distribution d;
  if (values.empty()) {
    return d;
  }
  std::sort(values.begin(), values.end());
  const auto rank = [&](std::size_t percent) { return values[(values.size() * percent + 99) / 100 - 1]; };
  d.count = static_cast<std::int64_t>(values.size());
  d.min = values.front();
  d.max = values.back();
  d.p50 = rank(50);
  d.p95 = rank(95);
  d.p99 = rank(99);
  const auto n = static_cast<double>(values.size());
  d.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const time_ns v : values) {
    squares += (static_cast<double>(v) - d.mean) * (static_cast<double>(v) - d.mean);
  }
  d.deviation = std::sqrt(squares / n);
  return d;
}

const std::vector<definition>& definitions(budget_of of) {
  static const std::vector<definition> rows = directed(row_lines());
  static const std::vector<definition> phases = directed(phase_lines());
  static const std::vector<definition> collectives = directed(collective_lines());
  static const std::vector<definition> whole = directed(report_lines());
  switch (of) {
    case budget_of::phase:
      return phases;
    case budget_of::collective:
      return collectives;
    case budget_of::report:
      return whole;
    default:
      return rows;
  }
}

}  // namespace budgets
}  // namespace v0
}  // namespace varve
