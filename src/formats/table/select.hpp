// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which rows a table shows, in which order and tree, and what it leaves out.
#ifndef VARVE_FORMATS_TABLE_SELECT_HPP
#define VARVE_FORMATS_TABLE_SELECT_HPP

#include <varve/report.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace varve::table {

/// One line of the table.
struct line {
  const row* source = nullptr;
  std::string name;    ///< printable, without its branch
  std::string branch;  ///< "│  ├─ "
  double share = 0;    ///< of the section's GPU time
  double running = 0;  ///< shares of this row and of its siblings above
};

/// The rows of one kind of pass and model on one device.
struct section {
  const phase_row* phase = nullptr;  ///< null for work outside any pass
  const row* first = nullptr;        ///< any of its rows, for the key; null when it has none
  double gpu_time = 0;               ///< what shares are of
  std::vector<line> lines;
  std::size_t folded = 0;       ///< rows left out for their small share
  std::size_t cut = 0;          ///< rows left out by table_options::top, folded ones included
  std::size_t levels = 0;       ///< of the tree that are shown; 0: all
  std::size_t deeper = 0;       ///< rows that lie deeper and count for those above them
  std::size_t deepest = 0;      ///< level of the deepest of them
  double left_out = 0;          ///< share of the rows left out, each with those below it counted once
  double in_shown = 0;          ///< of it, the share of those that stand below rows shown
  std::size_t bare = 0;         ///< rows left out since their blocks would take too many lines
  std::size_t bare_blocks = 0;  ///< blocks that hold them
};

/// One section a phase in the report's order, then one for each key that has no phase row.
std::vector<section> select(const report& r, const table_options& options);

/// Whether a row is wanted at all.
using row_test = std::function<bool(const row&)>;
row_test wanted_rows(const table_options& options);

/// Whether the user chose rows by their names: then what is small is no less wanted.
bool chosen(const table_options& options) noexcept;
/// Whether by table_options::layers, which says nothing of kernels.
bool chosen_by_name(const table_options& options) noexcept;

/// "layer 3": the last step of the row's path.
std::string step_name(const row& r);

/// Whether `text` holds `part`, whatever the case of ASCII letters.
bool holds(std::string_view text, std::string_view part) noexcept;

/// The number that `key` sorts by, largest first.
double sort_value(const row& r, sort_key key) noexcept;

}  // namespace varve::table

#endif  // VARVE_FORMATS_TABLE_SELECT_HPP
