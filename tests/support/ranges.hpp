// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Looking things up in a trace by name.
#ifndef VARVE_TESTS_SUPPORT_RANGES_HPP
#define VARVE_TESTS_SUPPORT_RANGES_HPP

#include <varve/trace.hpp>

#include <string>
#include <vector>

namespace varve_test {

/// Paths of all ranges in order of their begin: "decode / layer 3".
inline std::vector<std::string> paths(const varve::trace& t) {
  std::vector<std::string> out;
  for (const varve::range& r : t.ranges) {
    out.push_back(varve::label_text(t, r.label));
  }
  return out;
}

/// Index of the first range with this path; varve::none when there is none.
inline std::uint32_t find_range(const varve::trace& t, const std::string& path) {
  for (std::uint32_t i = 0; i < t.ranges.size(); ++i) {
    if (varve::label_text(t, t.ranges[i].label) == path) {
      return i;
    }
  }
  return varve::none;
}

/// Times that a loss was counted; what is matched by a part of its text.
inline std::uint64_t lost(const varve::trace& t, const std::string& part) {
  std::uint64_t sum = 0;
  for (const varve::loss& l : t.losses) {
    sum += l.what.find(part) != std::string::npos ? l.count : 0;
  }
  return sum;
}

}  // namespace varve_test

#endif  // VARVE_TESTS_SUPPORT_RANGES_HPP
