// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/input/input.hpp"

#include <algorithm>

namespace varve {
inline namespace v0 {

namespace {

// Before the events of a trace may stand metadata of the user's: environment, packages, ….
constexpr std::size_t enough = std::size_t{1} << 20U;

bool holds(std::string_view text, std::string_view key) noexcept {
  return text.find(key) != std::string_view::npos;
}

void skip_space(std::string_view& text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

}  // namespace

file_kind identify(const std::string& path) {
  const std::string head = input::head(path, enough);
  std::string_view text = head;
  if (text.substr(0, 3) == "\xEF\xBB\xBF") {
    text.remove_prefix(3);
  }
  skip_space(text);
  if (text.substr(0, 1) == "[") {
    return holds(text, "\"ph\"") ? file_kind::pytorch : file_kind::unknown;
  }
  if (text.substr(0, 1) != "{") {
    return file_kind::unknown;
  }
  text.remove_prefix(1);
  skip_space(text);
  constexpr std::string_view report_key = "\"varve_report\"";  // a report's first, see docs/report-schema.md
  if (text.substr(0, report_key.size()) == report_key) {
    return file_kind::report_json;
  }
  const bool trace = holds(text, "\"traceEvents\"") || holds(text, "\"schemaVersion\"") ||
                     holds(text, "\"deviceProperties\"") || holds(text, "\"baseTimeNanoseconds\"");
  return trace ? file_kind::pytorch : file_kind::unknown;
}

}  // namespace v0
}  // namespace varve
