// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Ratios of medians in one run, against the goals.
#ifndef VARVE_BENCH_GOALS_HPP
#define VARVE_BENCH_GOALS_HPP

#include <benchmark/benchmark.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace varve_bench {

/// Prints as the console does, and keeps the median of each benchmark.
class median_reporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override;
  /// Median of the benchmark's counter; nothing when it was not run.
  [[nodiscard]] std::optional<double> median(const std::string& name, const std::string& counter) const;

 private:
  std::map<std::string, std::vector<double>> samples_;  // by "name counter"
};

inline constexpr double no_goal = -1;

/// A ratio of two medians that should be at most (or, with `at_least`, at least) `target`; `no_goal`: it is
/// worth knowing. No denominator: the median itself, against the target.
struct goal {
  std::string what;
  std::string numerator;
  std::string denominator;
  std::string counter;
  double target;
  bool at_least = false;
};

/// Runs everything that is registered and prints the goals' table. Returns main()'s exit code; missed goals
/// do not fail: machines are shared and noisy.
int run(int argc, char** argv, const std::vector<goal>& goals);

}  // namespace varve_bench

#endif  // VARVE_BENCH_GOALS_HPP
