// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/operator_inputs.hpp"

#include "formats/pytorch/number.hpp"

#include <limits>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::size_t most_inputs = 1024;
constexpr std::size_t most_dimensions = 64;

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blank);
  return first == std::string_view::npos ? std::string_view{}
                                         : text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// Where the element that begins at `text[at]` ends: at a comma or bracket that is not inside of it.
std::size_t element_end(std::string_view text, std::size_t at) noexcept {
  std::size_t depth = 0;
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      at += c == '\\' ? 1U : 0U;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      if (depth == 0) {
        return at;
      }
      --depth;
    } else if (c == ',' && depth == 0) {
      return at;
    }
  }
  return text.size();
}

/// The elements of "[…]", at most `most`; nothing for another text.
std::optional<std::vector<std::string_view>> elements(std::string_view text, std::size_t most) {
  text = trimmed(text);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') {
    return std::nullopt;
  }
  std::vector<std::string_view> out;
  if (trimmed(text.substr(1, text.size() - 2)).empty()) {
    return out;
  }
  for (std::size_t at = 1; at < text.size();) {
    const std::size_t end = element_end(text, at);
    const std::string_view one = trimmed(text.substr(at, end - at));
    if (one.empty() || out.size() == most || end == text.size()) {
      return std::nullopt;
    }
    out.push_back(one);
    if (text[end] != ',') {
      return end + 1 == text.size() ? std::optional{std::move(out)} : std::nullopt;
    }
    at = end + 1;
  }
  return std::nullopt;
}

std::string_view without_quotes(std::string_view token) noexcept {
  return token.size() >= 2 && token.front() == '"' && token.back() == '"' ? token.substr(1, token.size() - 2)
                                                                          : std::string_view{};
}

/// Elements of a tensor with these sizes; none of "[]".
amount elements_of(std::string_view sizes) {
  const auto all = elements(sizes, most_dimensions);
  amount n = all && !all->empty() ? 1 : 0;
  for (std::size_t i = 0; all && i < all->size(); ++i) {
    const auto size = whole((*all)[i], static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
    n = n * (size ? amount{static_cast<std::int64_t>(*size)} : amount::unknown());
  }
  return all ? n : amount::unknown();
}

bool read_sizes(std::string_view token, operator_input& to) {
  const auto sizes = elements(token, std::numeric_limits<std::size_t>::max());
  if (!sizes) {
    return false;
  }
  to.is_list = !sizes->empty() && sizes->front().front() == '[';
  if (to.is_list) {
    for (const std::string_view one : *sizes) {
      to.listed = to.listed + elements_of(one);
    }
    return true;
  }
  if (sizes->size() > most_dimensions) {
    return false;
  }
  for (const std::string_view size : *sizes) {
    const auto n = whole(size, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
    if (!n) {
      return false;
    }
    to.sizes.push_back(static_cast<std::int64_t>(*n));
  }
  return true;
}

}  // namespace

const operator_input& operator_inputs::operator[](std::size_t i) const noexcept {
  static const operator_input nothing;
  return i < all_.size() ? all_[i] : nothing;
}

std::string operator_inputs::shape_text() const {
  std::string out;
  for (const operator_input& input : all_) {
    out += out.empty() ? "[[" : ", [";
    for (std::size_t i = 0; i < input.sizes.size(); ++i) {
      out += (i == 0 ? "" : ", ") + std::to_string(input.sizes[i]);
    }
    out += ']';
  }
  return out.empty() ? out : out + ']';
}

std::optional<operator_inputs> read_inputs(std::string_view shapes, std::string_view types,
                                           std::string_view values) {
  operator_inputs out;
  if (shapes.empty()) {
    return out;
  }
  const auto all = elements(shapes, most_inputs);
  const auto of_type =
      types.empty() ? std::optional{std::vector<std::string_view>{}} : elements(types, most_inputs);
  if (!all || !of_type) {
    return std::nullopt;
  }
  const auto value = elements(values, most_inputs);
  for (std::size_t i = 0; i < all->size(); ++i) {
    operator_input one;
    if (!read_sizes((*all)[i], one)) {
      return std::nullopt;
    }
    one.type = i < of_type->size() ? without_quotes((*of_type)[i]) : std::string_view{};
    one.value = value && i < value->size() ? without_quotes((*value)[i]) : std::string_view{};
    out.all_.push_back(std::move(one));
  }
  return out;
}

std::optional<std::vector<std::int64_t>> whole_numbers(std::string_view value) {
  std::vector<std::string_view> tokens{trimmed(value)};
  if (!tokens[0].empty() && tokens[0].front() == '[') {
    auto list = elements(tokens[0], most_dimensions);
    if (!list) {
      return std::nullopt;
    }
    tokens = std::move(*list);
  }
  std::vector<std::int64_t> out;
  for (const std::string_view token : tokens) {
    const number n = scaled(token, 0);
    if (n.state != number_state::good) {
      return std::nullopt;
    }
    out.push_back(n.value);
  }
  return out;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
