// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/rules.hpp"

#include "formats/input/pattern.hpp"
#include "formats/pytorch/text_scanner.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

// In visits of a state of the automaton, 10 to 30 ns each.
constexpr std::int64_t most_search_steps = 4'000'000;  // of one search
constexpr std::int64_t usual_steps = 50'000;

struct out_of_steps {};

/// Walks over a text and counts what the search does: it throws out_of_steps when it has done enough. A
/// search without match begins again at each byte, so the time of an innocent expression too is quadratic.
class counted_text {
 public:
  using iterator_category = std::bidirectional_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  struct meter {
    std::int64_t left;
    std::int64_t a_move;  ///< to another byte: visits all states at most
    std::int64_t a_look;  ///< at one: copies all groups
  };

  counted_text() = default;
  counted_text(const char* at, meter& m) noexcept : at_{at}, meter_{&m} {}

  [[nodiscard]] const char* base() const noexcept { return at_; }
  reference operator*() const {
    pay(meter_->a_look);
    return *at_;
  }
  counted_text& operator++() {
    pay(meter_->a_move);
    ++at_;
    return *this;
  }
  counted_text operator++(int) {
    counted_text before = *this;
    ++*this;
    return before;
  }
  counted_text& operator--() {
    pay(meter_->a_look);
    --at_;
    return *this;
  }
  counted_text operator--(int) {
    counted_text before = *this;
    --*this;
    return before;
  }
  friend bool operator==(const counted_text& a, const counted_text& b) noexcept { return a.at_ == b.at_; }
  friend bool operator!=(const counted_text& a, const counted_text& b) noexcept { return a.at_ != b.at_; }

 private:
  void pay(std::int64_t steps) const {
    meter_->left -= steps;
    if (meter_->left < 0) {
      throw out_of_steps{};
    }
  }

  const char* at_ = nullptr;
  meter* meter_ = nullptr;
};

using found_groups = std::match_results<counted_text>;

std::regex compile(const std::string& pattern) {
  return input::compile_pattern(pattern, [&](const std::string& why) {
    throw error{"naming rule \"" + pattern.substr(0, input::longest_pattern) + "\": " + why};
  });
}

bool all_digits(std::string_view text) noexcept {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// `plain` is what the text marks without the rule.
mark apply(const naming_rule& rule, const found_groups& found, mark plain) {
  mark out;
  out.by_rule = true;
  out.form = plain.form == mark_form::module_call ? mark_form::module_call : mark_form::plain;
  for (std::size_t g = 1; g < found.size(); ++g) {
    if (!found[g].matched) {
      continue;
    }
    const char* const begin = found[g].first.base();
    const std::string_view group{begin, static_cast<std::size_t>(found[g].second.base() - begin)};
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
    const std::string& p = rule.pattern;
    compiled c{rule, compile(p), 0, std::count(p.begin(), p.end(), '(')};
    c.states = static_cast<std::int64_t>(p.size() * input::repetitions(p));
    rules_.push_back(std::move(c));
  }
}

mark naming_rules::read(std::string_view text, bool is_module) {
  const std::string_view start = text.substr(0, input::longest_searched);
  for (const compiled& c : rules_) {
    if (!(is_module ? c.rule.modules : c.rule.annotations)) {
      continue;
    }
    steps_left_ += usual_steps;
    const std::int64_t most = std::min(steps_left_, most_search_steps);
    counted_text::meter meter{most, 1 + c.states, 1 + c.groups / 4};
    try {
      found_groups found;
      const bool fits = std::regex_search(counted_text{start.data(), meter},
                                          counted_text{start.data() + start.size(), meter}, found, c.pattern);
      steps_left_ -= most - meter.left;
      if (fits) {
        return apply(c.rule, found, read_mark(text, is_module));
      }
    } catch (const out_of_steps&) {
      steps_left_ -= most;
      ++given_up_;
    }
  }
  return read_mark(text, is_module);
}

}  // namespace pytorch

void check(const naming_rule& rule) { (void)pytorch::naming_rules{{rule}}; }

}  // namespace v0
}  // namespace varve
