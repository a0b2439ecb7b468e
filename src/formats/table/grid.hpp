// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_FORMATS_TABLE_GRID_HPP
#define VARVE_FORMATS_TABLE_GRID_HPP

#include "formats/table/style.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace varve::table {

/// A column of numbers.
struct column {
  std::string title;
  int importance = 0;  ///< the least important columns go first when the terminal is narrow
  bool wanted = true;
};

struct grid_row {
  std::string branch;
  std::string name;
  std::vector<std::string> cells;  ///< one a column
  bool strong = false;             ///< a total: printed bold, and no reason to show a column
};

/// Names at the left, numbers at the right, in a given width.
class grid {
 public:
  grid(std::string name_title, std::vector<column> columns)
      : name_title_{std::move(name_title)}, columns_{std::move(columns)} {}

  /// Makes room for these rows. Columns in which all rows measured are empty or 0 are left out.
  void measure(const std::vector<grid_row>& rows);
  /// Decides what fits. `longest_name` bounds the names where the width does not.
  /// Columns go until names have `share` % of the line.
  void fit(std::size_t width, std::size_t longest_name, std::size_t share = 35);

  /// Measures, fits and prints these rows below their head.
  [[nodiscard]] std::string table(const std::vector<grid_row>& rows, const style& s, std::size_t longest_name,
                                  std::size_t share = 35);

  [[nodiscard]] std::string head(const style& s) const;
  [[nodiscard]] std::string rule(const style& s) const;
  [[nodiscard]] std::string print(const grid_row& r, const style& s) const;
  [[nodiscard]] std::size_t width() const;

 private:
  struct state {
    std::size_t width = 0;
    bool filled = false;
    bool shown = false;
  };
  std::string name_title_;
  std::vector<column> columns_;
  std::vector<state> states_;
  std::size_t name_width_ = 0;
};

}  // namespace varve::table

#endif  // VARVE_FORMATS_TABLE_GRID_HPP
