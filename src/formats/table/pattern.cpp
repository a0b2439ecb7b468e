// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/pattern.hpp"

#include "formats/input/pattern.hpp"

#include <regex>
#include <stdexcept>
#include <utility>

namespace varve::table {

namespace {

[[noreturn]] void refuse(const std::string& expression, const std::string& why) {
  throw std::invalid_argument{"\"" + expression + "\" is no expression to find layers by: it " + why};
}

}  // namespace

std::function<bool(const row&)> rows_named(const std::string& expression) {
  auto compiled = input::compile_pattern(
      expression, [&](const std::string& why) { refuse(expression.substr(0, input::longest_pattern), why); });
  return [found = std::move(compiled)](const row& r) {
    std::string name = r.label.substr(0, input::longest_searched);
    if (std::regex_search(name, found)) {
      return true;
    }
    if (r.index == no_index) {
      return false;
    }
    name = (name + ' ' + std::to_string(r.index)).substr(0, input::longest_searched);
    return std::regex_search(name, found);
  };
}

}  // namespace varve::table
