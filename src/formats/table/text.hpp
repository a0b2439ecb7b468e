// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Text for a terminal: safe, measured in columns, shortened and wrapped.
#ifndef VARVE_FORMATS_TABLE_TEXT_HPP
#define VARVE_FORMATS_TABLE_TEXT_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace varve::table {

/// `text` with every control character (C0, DEL, C1), bidirectional override, line or paragraph separator
/// and invalid UTF-8 sequence replaced by U+FFFD: nothing in it can move the cursor or reorder a line.
std::string printable(std::string_view text);

/// Columns that `text` (UTF-8) takes; colour sequences take none.
std::size_t columns(std::string_view text);

/// `text` in at most `width` columns, its middle replaced by "…" where it is longer.
std::string shortened(std::string_view text, std::size_t width);

/// `text` with spaces after or before it up to `width` columns.
std::string left(std::string_view text, std::size_t width);
std::string right(std::string_view text, std::size_t width);

/// Pieces joined by `separator` and broken between pieces into lines of at most `width` columns (0: one
/// line); lines after the first begin with `indent` spaces. What is too long for a line is broken at its
/// spaces, and shortened where it has none.
std::string flow(const std::vector<std::string>& pieces, std::string_view separator, std::size_t indent,
                 std::size_t width);

}  // namespace varve::table

#endif  // VARVE_FORMATS_TABLE_TEXT_HPP
