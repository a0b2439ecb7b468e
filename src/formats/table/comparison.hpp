// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a comparison says, as sentences and rows, for the table and for Markdown. Names in it are as they
// came.
#ifndef VARVE_FORMATS_TABLE_COMPARISON_HPP
#define VARVE_FORMATS_TABLE_COMPARISON_HPP

#include <varve/compare.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace varve::table {

struct comparison_section {
  std::string title;
  std::vector<std::string> columns;            ///< the first is of names
  std::vector<std::vector<std::string>> rows;  ///< one cell a column
  std::vector<std::string> notes;              ///< below
};

struct comparison_text {
  std::string summary;
  std::vector<std::string> sides;     ///< where they come from
  std::vector<std::string> warnings;  ///< reasons against comparing
  std::vector<comparison_section> sections;
  std::string method;  ///< what intervals and verdicts are
};

/// At most `top` rows a list, 0: all.
[[nodiscard]] comparison_text describe(const comparison& c, std::size_t top);

}  // namespace varve::table

#endif  // VARVE_FORMATS_TABLE_COMPARISON_HPP
