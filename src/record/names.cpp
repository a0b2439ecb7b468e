// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/names.hpp"

#include <varve/varve.h>

#include <charconv>
#include <mutex>
#include <new>
#include <set>
#include <string>

namespace varve::record {

const char* intern_name(std::string_view text) noexcept {
  struct table {
    std::mutex mutex;
    std::set<std::string, std::less<>> names;
  };
  static auto* const leaked = new table;
  const std::lock_guard lock{leaked->mutex};
  try {
    auto found = leaked->names.find(text);
    if (found == leaked->names.end()) {
      found = leaked->names.emplace(text).first;
    }
    return found->c_str();
  } catch (const std::bad_alloc&) {
    return "";
  }
}

}  // namespace varve::record

extern "C" {

varve_label_t varve_label(const char* name, int32_t index) noexcept {
  return {varve::record::intern_name(name != nullptr ? name : ""), index};
}

varve_label_t varve_label_parse(const char* text) noexcept {
  const std::string_view whole = text != nullptr ? text : "";
  const auto mark = whole.find_last_of("-_.");
  if (mark != std::string_view::npos && mark > 0) {
    std::int32_t index = 0;
    const char* const first = whole.data() + mark + 1;
    const char* const last = whole.data() + whole.size();
    const auto [end, fault] = std::from_chars(first, last, index);
    if (first != last && *first != '-' && end == last && fault == std::errc{}) {
      return {varve::record::intern_name(whole.substr(0, mark)), index};
    }
  }
  return {varve::record::intern_name(whole), VARVE_NO_INDEX};
}

}  // extern "C"
