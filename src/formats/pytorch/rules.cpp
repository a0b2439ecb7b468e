// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/rules.hpp"

#include "formats/pytorch/text_scanner.hpp"

#include <string>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::size_t longest = 512;  // pattern, and text that is looked at

std::regex compile(const std::string& pattern) {
  const auto refuse = [&](const std::string& why) {
    throw error{"naming rule \"" + pattern.substr(0, longest) + "\": " + why};
  };
  if (pattern.size() > longest) {
    refuse("is longer than " + std::to_string(longest) + " bytes");
  }
  auto flags = std::regex::ECMAScript | std::regex::optimize;
#if defined(__GLIBCXX__)
  flags |= std::regex_constants::__polynomial;  // no text can make a match take exponential time
#endif
  try {
    return std::regex{pattern, flags};
  } catch (const std::regex_error& e) {
    const auto code = e.code();
    refuse(code == std::regex_constants::error_complexity ? "has a back-reference, which is not supported"
           : code == std::regex_constants::error_space || code == std::regex_constants::error_stack
               ? "is too large"
               : std::string{"is not a regular expression: "} + e.what());
  }
  return {};
}

bool all_digits(std::string_view text) noexcept {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// `plain` is what the text marks without the rule.
mark apply(const naming_rule& rule, const std::cmatch& found, mark plain) {
  mark out;
  out.form = plain.form == mark_form::module_call ? mark_form::module_call : mark_form::plain;
  for (std::size_t g = 1; g < found.size(); ++g) {
    const std::string_view group{found[g].first, static_cast<std::size_t>(found[g].length())};
    if (out.index == no_index && all_digits(group)) {
      out.index = index_of(group).value_or(no_index);
    } else if (out.name.empty() && !all_digits(group)) {
      out.name = group;
    }
  }
  switch (rule.as) {
    case naming_rule::kind::phase:
      out.kind = range_kind::phase;
      out.attributes = std::move(plain.attributes);
      break;
    case naming_rule::kind::layer:
      out.kind = range_kind::layer;
      break;
    case naming_rule::kind::op:
      out.kind = range_kind::op;
      break;
    case naming_rule::kind::ignore:
      out.form = mark_form::ignored;
      break;
  }
  if (!rule.name.empty()) {
    out.name = rule.name;
  } else if (out.name.empty()) {
    out.name = std::move(plain.name);
    out.index = out.index == no_index ? plain.index : out.index;
  }
  return out;
}

}  // namespace

naming_rules::naming_rules(const std::vector<naming_rule>& rules) {
  for (const naming_rule& rule : rules) {
    rules_.push_back({rule, compile(rule.pattern)});
  }
}

mark naming_rules::read(std::string_view text, bool is_module) const {
  const std::string_view start = text.substr(0, longest);
  for (const compiled& c : rules_) {
    std::cmatch found;
    if ((is_module ? c.rule.modules : c.rule.annotations) &&
        std::regex_search(start.data(), start.data() + start.size(), found, c.pattern)) {
      return apply(c.rule, found, read_mark(text, is_module));
    }
  }
  return read_mark(text, is_module);
}

}  // namespace pytorch

void check(const naming_rule& rule) { (void)pytorch::naming_rules{{rule}}; }

}  // namespace v0
}  // namespace varve
