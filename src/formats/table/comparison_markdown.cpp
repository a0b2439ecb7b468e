// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/comparison.hpp"
#include "formats/table/text.hpp"

namespace varve {
inline namespace v0 {

namespace {

/// Text that Markdown and HTML leave as it is.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : table::printable(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '@':  // names nobody
        out += "&#64;";
        break;
      case '|':
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '#':
      case '~':
      case '!':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  }
  return out;
}

void line(std::string& out, const std::vector<std::string>& cells) {
  constexpr std::size_t longest = 160;
  for (const std::string& cell : cells) {
    out += "| " + plain(table::shortened(cell, longest)) + ' ';
  }
  out += "|\n";
}

}  // namespace

std::string to_markdown(const comparison& c, std::size_t top) {
  const table::comparison_text text = table::describe(c, top);
  std::string out = "**" + plain(text.summary) + "**\n\n";
  for (const std::string& side : text.sides) {
    out += "- " + plain(side) + '\n';
  }
  for (const std::string& warning : text.warnings) {
    out += "- ⚠ " + plain(warning) + '\n';
  }
  for (const table::comparison_section& one : text.sections) {
    out += "\n### " + plain(one.title) + "\n\n";
    if (!one.rows.empty()) {
      line(out, one.columns);
      out += "|---";
      for (std::size_t i = 1; i < one.columns.size(); ++i) {
        out += "|---:";
      }
      out += "|\n";
      for (const std::vector<std::string>& row : one.rows) {
        line(out, row);
      }
    }
    for (std::size_t i = 0; i < one.notes.size(); ++i) {
      out += (i == 0 && !one.rows.empty() ? "\n- " : "- ") + plain(one.notes[i]) + '\n';
    }
  }
  return out + "\n<sub>" + plain(text.method) + "</sub>\n";
}

}  // namespace v0
}  // namespace varve
