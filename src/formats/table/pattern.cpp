// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/pattern.hpp"

#include <algorithm>
#include <cstdint>
#include <regex>
#include <stdexcept>
#include <string_view>

namespace varve::table {

namespace {

// Matching takes stack for each state of the expression, and time for states × text: both are bounded.
constexpr std::size_t longest_expression = 512;
constexpr std::size_t longest_name = 512;
constexpr std::uint64_t most_repeated = 32;

#ifdef __GLIBCXX__
// Without it matching recurses over the text, and some expressions take time exponential in its length.
constexpr auto flavour = std::regex::ECMAScript | std::regex_constants::__polynomial;
#else
constexpr auto flavour = std::regex::ECMAScript;
#endif

/// How often counts such as {3,7}, one inside another, can repeat a part: at most the product of all of them.
std::uint64_t repetitions(std::string_view expression) noexcept {
  std::uint64_t product = 1;
  for (std::size_t i = 0; i < expression.size() && product <= most_repeated; ++i) {
    if (expression[i] != '{') {
      continue;
    }
    std::uint64_t most = 1;
    std::uint64_t number = 0;
    for (++i; i < expression.size() && expression[i] != '}'; ++i) {
      const char c = expression[i];
      number = c >= '0' && c <= '9' ? number * 10 + static_cast<std::uint64_t>(c - '0') : 0;
      most = std::max(most, number = std::min(number, most_repeated + 1));
    }
    product *= most;
  }
  return product;
}

[[noreturn]] void refuse(const std::string& expression, const std::string& why) {
  throw std::invalid_argument{"\"" + expression + "\" is no expression to find layers by: " + why};
}

}  // namespace

std::function<bool(const row&)> rows_named(const std::string& expression) {
  if (expression.size() > longest_expression) {
    refuse(expression.substr(0, 32) + "…", "it is longer than 512 bytes");
  }
  if (repetitions(expression) > most_repeated) {
    refuse(expression, "it repeats a part more than 32 times");
  }
  try {
    return [found = std::regex{expression, flavour}](const row& r) {
      std::string name = r.label.substr(0, longest_name);
      if (std::regex_search(name, found)) {
        return true;
      }
      if (r.index == no_index) {
        return false;
      }
      name = (name + ' ' + std::to_string(r.index)).substr(0, longest_name);
      return std::regex_search(name, found);
    };
  } catch (const std::regex_error& e) {
    refuse(expression, e.what());
  }
}

}  // namespace varve::table
