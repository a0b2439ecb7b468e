// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "goals.hpp"

#include <algorithm>
#include <cstdio>

namespace varve_bench {

void median_reporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.run_type == Run::RT_Iteration && !run.error_occurred) {
      for (const auto& [counter, value] : run.counters) {
        samples_[run.run_name.function_name + ' ' + counter].push_back(value.value);
      }
    }
  }
  ConsoleReporter::ReportRuns(runs);
}

std::optional<double> median_reporter::median(const std::string& name, const std::string& counter) const {
  const auto found = samples_.find(name + ' ' + counter);
  if (found == samples_.end()) {
    return std::nullopt;
  }
  std::vector<double> sorted = found->second;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 != 0 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

int run(int argc, char** argv, const std::vector<goal>& goals) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  median_reporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  std::printf("\n%-58s %9s %9s %7s %8s\n", "ratio of medians in this run", "value", "against", "ratio",
              "goal");
  for (const goal& g : goals) {
    const std::optional<double> value = reporter.median(g.numerator, g.counter);
    const std::optional<double> against =
        g.denominator.empty() ? 1 : reporter.median(g.denominator, g.counter);
    if (!value || !against || *against == 0) {
      continue;  // not run, by a filter
    }
    const double ratio = *value / *against;
    if (g.denominator.empty()) {
      std::printf("%-58s %9.2f %9s %7s", g.what.c_str(), *value, "", "");
    } else {
      std::printf("%-58s %9.2f %9.2f %7.3f", g.what.c_str(), *value, *against, ratio);
    }
    if (g.target != no_goal) {
      const bool met = g.at_least ? ratio >= g.target : ratio <= g.target;
      std::printf(" %s%7.2f %s", g.at_least ? ">=" : "<=", g.target, met ? "met" : "MISSED");
    }
    std::printf("\n");
  }
  return 0;
}

}  // namespace varve_bench
