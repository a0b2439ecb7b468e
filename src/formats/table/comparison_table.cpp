// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/comparison.hpp"
#include "formats/table/grid.hpp"
#include "formats/table/parts.hpp"
#include "formats/table/text.hpp"

#include <utility>

namespace varve {
inline namespace v0 {

namespace {

using namespace table;

constexpr std::size_t longest_name = 60;
constexpr std::size_t longest_note = 80;

/// The change is what one looks for, notes go first where the terminal is narrow.
int importance(const std::string& column) {
  return column == "change"     ? 100
         : column == "verdict"  ? 95
         : column == "interval" ? 70
         : column == "notes"    ? 40
                                : 80;
}

std::string section(const comparison_section& of, const style& s) {
  std::string out = '\n' + heading(of.title, s) + '\n';
  if (!of.rows.empty()) {
    std::vector<column> columns;
    for (std::size_t i = 1; i < of.columns.size(); ++i) {
      columns.push_back({printable(of.columns[i]), importance(of.columns[i])});
    }
    std::vector<grid_row> rows;
    for (const std::vector<std::string>& cells : of.rows) {
      grid_row& r = rows.emplace_back();
      r.name = printable(cells[0]);
      for (std::size_t i = 1; i < cells.size(); ++i) {
        r.cells.push_back(shortened(printable(cells[i]), longest_note));
      }
    }
    grid g{printable(of.columns[0]), std::move(columns)};
    out += g.table(rows, s, longest_name);
  }
  for (const std::string& note : of.notes) {
    out += flow({printable(note)}, " ", indent, s.text_width()) + '\n';
  }
  return out;
}

}  // namespace

std::string to_table(const comparison& c, const comparison_table_options& options) {
  const style s{options.colour, options.width > 0 ? static_cast<std::size_t>(options.width) : 0};
  const comparison_text text = describe(c, options.top);
  std::string out;
  for (const std::string& side : text.sides) {
    out += flow({printable(side)}, " ", indent, s.text_width()) + '\n';
  }
  for (const std::string& warning : text.warnings) {
    out += s.warning("! ") + flow({printable(warning)}, " ", indent, s.text_width()) + '\n';
  }
  out += '\n' + s.bold(flow({printable(text.summary)}, " ", indent, s.text_width())) + '\n';
  for (const comparison_section& one : text.sections) {
    out += section(one, s);
  }
  return out + '\n' + s.dim(flow({text.method}, " ", indent, s.text_width())) + '\n';
}

}  // namespace v0
}  // namespace varve
