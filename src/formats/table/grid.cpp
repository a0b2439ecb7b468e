// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/grid.hpp"

#include "formats/table/text.hpp"

#include <algorithm>

namespace varve::table {

namespace {

constexpr std::size_t gap = 2;

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

void grid::measure(const std::vector<grid_row>& rows) {
  states_.resize(columns_.size());
  name_width_ = std::max(name_width_, table::columns(name_title_));
  for (const grid_row& r : rows) {
    name_width_ = std::max(name_width_, table::columns(r.branch) + table::columns(r.name));
    for (std::size_t i = 0; i < states_.size(); ++i) {
      states_[i].width = std::max(states_[i].width, table::columns(r.cells[i]));
      states_[i].filled = states_[i].filled || (!r.strong && !r.cells[i].empty() && r.cells[i] != "0");
    }
  }
}

void grid::fit(std::size_t width, std::size_t longest_name, std::size_t share) {
  states_.resize(columns_.size());
  for (std::size_t i = 0; i < states_.size(); ++i) {
    states_[i].width = std::max(states_[i].width, table::columns(columns_[i].title));
    states_[i].shown = columns_[i].wanted && states_[i].filled;
  }
  name_width_ = std::min(name_width_, longest_name);
  if (width == 0) {
    return;
  }
  const std::size_t least = std::min(name_width_, std::max<std::size_t>(width * share / 100, 12));
  const auto numbers = [&] { return this->width() - name_width_; };
  while (least + numbers() > width) {
    std::size_t victim = states_.size();
    std::size_t left = 0;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (states_[i].shown) {
        ++left;
        if (victim == states_.size() || columns_[i].importance < columns_[victim].importance) {
          victim = i;
        }
      }
    }
    if (left <= 1) {
      break;
    }
    states_[victim].shown = false;
  }
  const std::size_t taken = numbers();
  name_width_ = std::min(name_width_, width > taken + 8 ? width - taken : 8);
}

std::size_t grid::width() const {
  std::size_t sum = name_width_;
  for (const state& s : states_) {
    sum += s.shown ? gap + s.width : 0;
  }
  return sum;
}

std::string grid::table(const std::vector<grid_row>& rows, const style& s, std::size_t longest_name,
                        std::size_t share) {
  measure(rows);
  fit(s.width, longest_name, share);
  std::string out = head(s) + '\n' + rule(s) + '\n';
  for (const grid_row& one : rows) {
    out += print(one, s) + '\n';
  }
  return out;
}

std::string grid::head(const style& s) const {
  std::string out = left(name_title_, name_width_);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].shown) {
      out += std::string(gap, ' ') + right(columns_[i].title, states_[i].width);
    }
  }
  return s.bold(trimmed(out));
}

std::string grid::rule(const style& s) const {
  std::string out;
  for (std::size_t i = 0; i < width(); ++i) {
    out += "─";
  }
  return s.dim(out);
}

std::string grid::print(const grid_row& r, const style& s) const {
  const std::size_t needed = table::columns(r.name);
  const std::size_t room = name_width_ > needed ? name_width_ - needed : 0;
  const std::string branch = shortened(r.branch, std::max(room, name_width_ / 2));
  const std::string name = shortened(r.name, name_width_ - table::columns(branch));
  std::string out = s.dim(branch) + (r.strong ? s.bold(name) : name);
  out = left(out, name_width_);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].shown) {
      out += std::string(gap, ' ') + right(r.cells[i], states_[i].width);
    }
  }
  return trimmed(out);
}

}  // namespace varve::table
