// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/input/input.hpp"

#include <initializer_list>

namespace varve {
inline namespace v0 {

namespace {

// Before the events of a trace may stand metadata of the user's: environment, packages, ….
constexpr std::size_t enough = std::size_t{1} << 20U;

bool holds_any(std::string_view text, std::initializer_list<std::string_view> keys) noexcept {
  for (const std::string_view key : keys) {
    if (text.find(key) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

file_kind identify(const std::string& path) {
  const std::string head = input::head(path, enough);
  std::string_view text = head;
  if (text.substr(0, 3) == "\xEF\xBB\xBF") {
    text.remove_prefix(3);
  }
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (text.empty() || (text.front() != '{' && text.front() != '[')) {
    return file_kind::unknown;
  }
  if (text.front() == '[') {
    return holds_any(text, {"\"ph\""}) ? file_kind::pytorch : file_kind::unknown;
  }
  if (holds_any(text, {"\"varve_report\""})) {
    return file_kind::report_json;
  }
  return holds_any(text, {"\"traceEvents\"", "\"deviceProperties\"", "\"baseTimeNanoseconds\""})
             ? file_kind::pytorch
             : file_kind::unknown;
}

}  // namespace v0
}  // namespace varve
