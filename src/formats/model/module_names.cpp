// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/model/module_names.hpp"

namespace varve {
inline namespace v0 {
namespace model_file {

namespace {

/// How many characters of `text` from `at` on a pattern with * takes, or npos: the fewest, by going back to
/// the last * alone.
std::size_t match(std::string_view pattern, std::string_view text, std::size_t at) {
  std::size_t p = 0;
  std::size_t t = at;
  std::size_t star = std::string_view::npos;
  std::size_t retry = 0;
  while (p < pattern.size()) {
    if (pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (t < text.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos && retry < text.size()) {
      p = star + 1;
      t = ++retry;
    } else {
      return std::string_view::npos;
    }
  }
  return t;
}

}  // namespace

bool names_module(std::string_view pattern, std::string_view module) {
  const bool open_begin = !pattern.empty() && pattern.front() == '*';
  const bool open_end = !pattern.empty() && pattern.back() == '*';
  if (pattern.empty()) {
    return false;
  }
  for (std::size_t at = 0; at < module.size(); ++at) {
    if (at > 0 && module[at - 1] != '.' && !open_begin) {
      continue;
    }
    const std::size_t end = match(pattern, module, at);
    if (end != std::string_view::npos && (open_end || end == module.size() || module[end] == '.')) {
      return true;
    }
  }
  return false;
}

}  // namespace model_file
}  // namespace v0
}  // namespace varve
