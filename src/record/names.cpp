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

namespace {

constexpr std::size_t most_names = std::size_t{1} << 18U;

struct name_table {
  std::mutex mutex;
  std::set<std::string, std::less<>> names;
};

name_table& table() noexcept {
  static auto* const leaked = new name_table;  // outlives every thread and static destructor
  return *leaked;
}

}  // namespace

void lock_names() noexcept { table().mutex.lock(); }
void unlock_names() noexcept { table().mutex.unlock(); }

const char* intern_name(std::string_view text) noexcept {
  name_table& t = table();
  const std::lock_guard lock{t.mutex};
  try {
    auto found = t.names.find(text);
    if (found == t.names.end()) {
      if (t.names.size() >= most_names) {
        return "(further names)";
      }
      found = t.names.emplace(text).first;
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
