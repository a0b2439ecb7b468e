// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// `varve run` on an engine, and the reports that it leaves.
#ifndef VARVE_TESTS_INJECT_RUN_FIXTURE_HPP
#define VARVE_TESTS_INJECT_RUN_FIXTURE_HPP

#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/process.hpp"

namespace varve_test {

using calls = std::map<std::string, std::int64_t>;

class over_run : public testing::Test {
 protected:
  /// varve run OPTIONS --json … -- COMMAND
  testing_support::outcome run_command(const std::vector<std::string>& command,
                                       const std::vector<std::string>& options = {},
                                       std::vector<std::string> variables = {}) {
    std::vector<std::string> words{"run", "--json", json};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    testing_support::surroundings around;
    around.variables = std::move(variables);
    around.variables.push_back("TMPDIR=" + scratch);
    return testing_support::run(words, around);
  }

  /// One a process, in the order of the tables.
  std::vector<varve::report> reports() {
    std::vector<varve::report> out;
    std::ifstream lines{json};
    for (std::string line; std::getline(lines, line);) {
      out.push_back(varve::read_report(files.write("line.json", line)));
    }
    return out;
  }
  varve::report report() {
    const std::vector<varve::report> all = reports();
    EXPECT_THAT(all, testing::SizeIs(1));
    return all.empty() ? varve::report{} : all[0];
  }

  /// Files that the tool has kept, which are taken away.
  std::map<std::string, std::string> take_kept() {
    std::map<std::string, std::string> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{scratch}) {
      if (entry.is_regular_file()) {
        out[entry.path()] = testing_support::content_of(entry.path());
      }
    }
    std::filesystem::remove_all(scratch);
    std::filesystem::create_directory(scratch);
    return out;
  }

  static std::string make_folder(const std::string& path) {
    std::filesystem::create_directory(path);
    return path;
  }

  testing_support::folder files;
  std::string json = files.path("report.json");
  std::string scratch = make_folder(files.path("scratch"));

  void TearDown() override { EXPECT_TRUE(std::filesystem::is_empty(scratch)) << "something was left behind"; }
};

/// "decode: layer 1" and how often it was called, of all rows.
inline calls calls_of(const varve::report& r) {
  calls out;
  for (const varve::row& row : r.layers) {
    if (!row.path.empty()) {
      out[row.phase + ": " + row.path] += row.inclusive.calls;
    }
  }
  return out;
}

inline std::uint64_t lost(const varve::report& r, const std::string& part) {
  std::uint64_t sum = 0;
  for (const varve::loss& l : r.quality.losses) {
    sum += l.what.find(part) != std::string::npos ? l.count : 0;
  }
  return sum;
}

}  // namespace varve_test

#endif  // VARVE_TESTS_INJECT_RUN_FIXTURE_HPP
