// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/parts.hpp"

#include <varve/report.hpp>

#include <ostream>

namespace varve {
inline namespace v0 {

std::string to_table(const report& r, const table_options& options) {
  const table::style s{options.colour, options.width > 0 ? static_cast<std::size_t>(options.width) : 0};
  std::string out;
  if (options.header) {
    out += table::title(r, s) + '\n';
  }
  out += options.by == view::phase ? table::phases(r, options, s) : table::sections(r, options, s);
  if (options.header) {
    out += table::quality(r, s);
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const report& r) { return out << to_table(r); }

}  // namespace v0
}  // namespace varve
