// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cli/values.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <locale>
#include <map>
#include <sstream>
#include <stdexcept>

namespace varve::cli {

std::optional<double> share_of(std::string text) {
  if (!text.empty() && text.back() == '%') {
    text.pop_back();
  }
  std::istringstream in{text};
  in.imbue(std::locale::classic());
  double value = 0;
  in >> value;
  return !in.fail() && in.eof() && value >= 0 && value <= 100 ? std::optional{value / 100} : std::nullopt;
}

std::optional<time_ns> duration_of(const std::string& text) {
  static const std::map<std::string, double> units{{"ns", 1},   {"us", 1e3}, {"µs", 1e3},
                                                   {"ms", 1e6}, {"s", 1e9},  {"min", 60e9}};
  std::istringstream in{text};
  in.imbue(std::locale::classic());
  double value = 0;
  std::string unit;
  in >> value >> unit;
  const auto found = units.find(unit);
  if (in.bad() || found == units.end() || !(value > 0)) {
    return std::nullopt;
  }
  const double ns = std::round(value * found->second);
  return ns >= 1 && ns < 9e18 ? std::optional{static_cast<time_ns>(ns)} : std::nullopt;
}

std::optional<double> clock_of(const std::string& text) {
  constexpr double least = 100;
  constexpr double most = 5000;
  constexpr double mega = 1e6;
  std::istringstream in{text};
  in.imbue(std::locale::classic());
  double value = 0;
  std::string unit;
  in >> value;
  const bool read = !in.fail();
  std::getline(in, unit);
  return read && (unit.empty() || unit == "MHz" || unit == " MHz") && value >= least && value <= most
             ? std::optional{value * mega}
             : std::nullopt;
}

std::optional<std::vector<pass_sequence>> batch_of(const std::string& text) {
  constexpr std::int64_t most_sequences = 65536;
  std::istringstream in{text};
  in.imbue(std::locale::classic());
  std::int64_t tokens = 0;
  std::int64_t sequences = 1;
  char times = 'x';
  in >> tokens;
  if (!in.eof()) {
    in >> times >> sequences;
  }
  if (in.fail() || !in.eof() || times != 'x' || sequences < 1 || sequences > most_sequences ||
      tokens < sequences || tokens > std::int64_t{1} << 40U) {
    return std::nullopt;
  }
  std::vector<pass_sequence> out;
  for (std::int64_t i = 0; i < sequences; ++i) {
    const std::int64_t length = tokens / sequences + (i < tokens % sequences ? 1 : 0);
    out.push_back({length, length, false});
  }
  return out;
}

naming_rule naming_rule_of(const std::string& text, naming_rule::kind as) {
  naming_rule rule;
  rule.as = as;
  rule.pattern = text;
  const std::size_t equals = text.rfind('=');
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == ' ' || c == '_' || c == '-' || c == '.';
  };
  if (as != naming_rule::kind::ignore && equals != std::string::npos && equals + 1 < text.size() &&
      std::all_of(text.begin() + static_cast<std::ptrdiff_t>(equals) + 1, text.end(), plain)) {
    rule.pattern.resize(equals);
    rule.name = text.substr(equals + 1);
  }
  check(rule);
  return rule;
}

label_rule label_rule_of(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  label_rule rule;
  rule.pattern = text.substr(0, equals);
  rule.parts = equals != std::string::npos ? text.substr(equals + 1) : std::string{};
  if (equals == std::string::npos) {
    throw std::invalid_argument{"\"" + text + "\" is not PATTERN=PART, such as 'my attention=attention'"};
  }
  check(rule);
  return rule;
}

}  // namespace varve::cli
