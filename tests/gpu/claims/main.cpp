// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// gpu_claims CLAIM REPORT…: a line for each claim, which begins with PASS or FAIL. Exit codes: 1, one failed;
// 2, wrong use.
#include "gpu/claims/claims.hpp"

#include <varve/io.hpp>

#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr const char* usage =
    "gpu_claims attributed REPORT…\n"
    "gpu_claims bounds OF_PREFILL OF_DECODE\n"
    "gpu_claims starved OF_DECODE\n"
    "gpu_claims graphs EAGER REPLAYED\n"
    "gpu_claims same OWN FROM_OUTSIDE\n"
    "gpu_claims counted JOINED\n"
    "gpu_claims explained JOINED…\n";

bool say(const varve_gpu::claim& c, const std::string& of = {}) {
  std::cout << (c.holds ? "PASS  " : "FAIL  ") << of << c.text << '\n';
  return c.holds;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string what = arguments.empty() ? "" : arguments.front();
  std::vector<varve::report> reports;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    reports.push_back(varve::read_report(arguments[i]));
  }
  bool all = true;
  if ((what == "attributed" || what == "explained") && !reports.empty()) {
    const auto judge = what == "attributed" ? varve_gpu::attributed : varve_gpu::explained;
    for (std::size_t i = 0; i < reports.size(); ++i) {
      const std::string& path = arguments[i + 1];
      all = say(judge(reports[i]), path.substr(path.rfind('/') + 1) + ": ") && all;
    }
  } else if (what == "bounds" && reports.size() == 2) {
    all = say(varve_gpu::bound_by(reports[0], "prefill", varve::bound::compute));
    all = say(varve_gpu::bound_by(reports[1], "decode", varve::bound::memory)) && all;
  } else if (what == "starved" && reports.size() == 1) {
    all = say(varve_gpu::bound_by(reports[0], "decode", varve::bound::starved), "of eager launches: ");
  } else if (what == "graphs" && reports.size() == 2) {
    all = say(varve_gpu::graphs_as_predicted(reports[0], reports[1]));
  } else if (what == "same" && reports.size() == 2) {
    all = say(varve_gpu::same_work(reports[0], reports[1]));
  } else if (what == "counted" && reports.size() == 1) {
    all = say(varve_gpu::counted(reports[0]));
  } else {
    std::cerr << usage;
    return 2;
  }
  return all ? 0 : 1;
} catch (const std::exception& e) {
  std::cout << "FAIL  " << (argc > 1 ? argv[1] : "") << ": " << e.what() << '\n';
  return 1;
}
