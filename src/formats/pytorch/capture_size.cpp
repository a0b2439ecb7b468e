// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/capture_size.hpp"

#include "formats/pytorch/number.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::uint64_t largest_size = std::uint64_t{1} << 40U;

/// The number that `text` begins with, taken off it.
std::optional<std::int64_t> take_number(std::string_view& text) noexcept {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = whole(text.substr(0, end), largest_size);
  text.remove_prefix(end);
  return number ? std::optional{static_cast<std::int64_t>(*number)} : std::nullopt;
}

bool take(std::string_view& text, std::string_view start) noexcept {
  const bool starts = text.substr(0, start.size()) == start;
  text.remove_prefix(starts ? start.size() : 0);
  return starts;
}

bool is_word(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

capture_size read_capture_mark(std::string_view text) {
  if (take(text, "capture_graph_bs_")) {
    const auto size = take_number(text);
    return size && text.empty() ? capture_size{*size, capture_unit::sequences, {}} : capture_size{};
  }
  if (take(text, "capture_")) {
    const auto size = take_number(text);
    if (size && take(text, "_") && is_word(text)) {
      return {*size, capture_unit::tokens, std::string{text}};
    }
  }
  return {};
}

capture_size read_capture_name(std::string_view file) {
  constexpr std::string_view mark = "bs_";
  for (std::size_t at = file.find(mark); at != std::string_view::npos; at = file.find(mark, at + 1)) {
    std::string_view rest = file.substr(at + mark.size());
    const bool begins = at == 0 || file[at - 1] == '_';
    if (const auto size = take_number(rest); begins && size && !rest.empty() && rest.front() == '_') {
      return {*size, capture_unit::sequences, std::string{file.substr(0, at == 0 ? 0 : at - 1)}};
    }
  }
  return {};
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
