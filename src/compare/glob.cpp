// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/glob.hpp"

#include <cstddef>

namespace varve {
inline namespace v0 {
namespace budgets {

namespace {

constexpr std::string_view separator = " / ";

std::vector<std::string_view> steps_of(std::string_view path) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0;;) {
    const std::size_t end = path.find(separator, at);
    out.push_back(path.substr(at, end - at));
    if (end == std::string_view::npos) {
      return out;
    }
    at = end + separator.size();
  }
}

constexpr std::size_t nowhere = std::string_view::npos;

}  // namespace

// What follows the last star takes the earliest place that fits: where that leads nowhere, a later one is
// tried; an earlier star need not be, since it could only leave less text.
bool fits(std::string_view pattern, std::string_view text) noexcept {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = nowhere;
  std::size_t tried = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      tried = t;
      continue;
    }
    const bool literal = p + 1 < pattern.size() && pattern[p] == '\\';
    const std::size_t at = literal ? p + 1 : p;
    if (at < pattern.size() && pattern[at] == text[t]) {
      p = at + 1;
      ++t;
    } else if (star != nowhere) {
      p = star + 1;
      t = ++tried;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') {
    ++p;
  }
  return p == pattern.size();
}

path_pattern::path_pattern(std::string_view pattern) : steps_{steps_of(pattern)} {}

bool path_pattern::fits(std::string_view path) const {
  const std::vector<std::string_view> steps = steps_of(path);
  std::size_t p = 0;
  std::size_t s = 0;
  std::size_t star = nowhere;
  std::size_t tried = 0;
  while (s < steps.size()) {
    if (p < steps_.size() && steps_[p] == "**") {
      star = p++;
      tried = s;
    } else if (p < steps_.size() && budgets::fits(steps_[p], steps[s])) {
      ++p;
      ++s;
    } else if (star != nowhere) {
      p = star + 1;
      s = ++tried;
    } else {
      return false;
    }
  }
  while (p < steps_.size() && steps_[p] == "**") {
    ++p;
  }
  return p == steps_.size();
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '*' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  return out;
}

}  // namespace budgets
}  // namespace v0
}  // namespace varve
