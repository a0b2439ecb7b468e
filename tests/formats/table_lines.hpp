// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A printed table taken apart.
#ifndef VARVE_TESTS_FORMATS_TABLE_LINES_HPP
#define VARVE_TESTS_FORMATS_TABLE_LINES_HPP

#include <varve/report.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace testing_support {

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

inline varve::table_options rows_only() {
  varve::table_options options;
  options.header = false;
  return options;
}

/// The names of the rows in the order in which they are printed, with their branches.
inline std::vector<std::string> names(const varve::report& r, const varve::table_options& options) {
  std::vector<std::string> out;
  for (const std::string& line : lines_of(varve::to_table(r, options))) {
    const bool row = line.find(" ms") != std::string::npos || line.find(" µs") != std::string::npos;
    if (row || line.substr(0, 3) == "…") {
      const std::size_t branch = line.find("─ ");
      const std::size_t begin = branch == std::string::npos ? 0 : branch;
      const std::size_t end = line.substr(0, 3) == "…" ? line.size() : line.find("  ", begin);
      out.push_back(line.substr(0, end));
    }
  }
  return out;
}

}  // namespace testing_support

#endif  // VARVE_TESTS_FORMATS_TABLE_LINES_HPP
