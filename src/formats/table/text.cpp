// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace varve::table {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view ellipsis = "…";

struct code_point {
  char32_t value = 0;
  std::size_t length = 1;  ///< bytes
  bool valid = false;
};

/// The code point at the beginning of `text`, which is not empty. An invalid one has the length of the
/// longest beginning that could have become valid, so that one damaged character is replaced once.
code_point decode(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) {
    return {lead, 1, true};
  }
  const std::size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                             : lead >= 0xE0 && lead <= 0xEF ? 3
                             : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                            : 1;
  if (length == 1) {
    return {};
  }
  // The second byte's range excludes overlong forms, surrogates and what lies beyond U+10FFFF.
  unsigned lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  char32_t value = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (i >= text.size() || byte(i) < lowest || byte(i) > highest) {
      return {0, i, false};
    }
    value = (value << 6U) | (byte(i) & 0x3FU);
    lowest = 0x80;
    highest = 0xBF;
  }
  return {value, length, true};
}

struct code_points {
  char32_t first;
  char32_t last;
};

template <std::size_t N>
bool within(const std::array<code_points, N>& intervals, char32_t c) noexcept {
  const auto* next = std::upper_bound(intervals.begin(), intervals.end(), c,
                                      [](char32_t value, const code_points& i) { return value < i.first; });
  return next != intervals.begin() && c <= std::prev(next)->last;
}

// What could move the cursor, or make a line read in another order than it is stored.
constexpr std::array<code_points, 7> unsafe{{{0x0000, 0x001F},
                                             {0x007F, 0x009F},
                                             {0x061C, 0x061C},
                                             {0x200E, 0x200F},
                                             {0x2028, 0x202E},
                                             {0x2066, 0x2069},
                                             {0xFFF9, 0xFFFB}}};

// Combining marks, joiners and variation selectors.
constexpr std::array<code_points, 12> zero_width{{{0x0300, 0x036F},
                                                  {0x0483, 0x0489},
                                                  {0x0591, 0x05BD},
                                                  {0x0610, 0x061A},
                                                  {0x064B, 0x065F},
                                                  {0x1AB0, 0x1AFF},
                                                  {0x1DC0, 0x1DFF},
                                                  {0x200B, 0x200D},
                                                  {0x20D0, 0x20FF},
                                                  {0xFE00, 0xFE0F},
                                                  {0xFE20, 0xFE2F},
                                                  {0xFEFF, 0xFEFF}}};

// East Asian wide and full-width characters, and emoji.
constexpr std::array<code_points, 15> double_width{{{0x1100, 0x115F},
                                                    {0x231A, 0x231B},
                                                    {0x23E9, 0x23EC},
                                                    {0x2E80, 0x303E},
                                                    {0x3041, 0x33FF},
                                                    {0x3400, 0x4DBF},
                                                    {0x4E00, 0xA4CF},
                                                    {0xA960, 0xA97F},
                                                    {0xAC00, 0xD7A3},
                                                    {0xF900, 0xFAFF},
                                                    {0xFE30, 0xFE6F},
                                                    {0xFF00, 0xFF60},
                                                    {0xFFE0, 0xFFE6},
                                                    {0x1F300, 0x1FAFF},
                                                    {0x20000, 0x3FFFD}}};

std::size_t columns_of(char32_t c) noexcept {
  return within(zero_width, c) ? 0 : within(double_width, c) ? 2 : 1;
}

/// Length of the colour sequence that `text` begins with, or 0.
std::size_t colour_sequence(std::string_view text) noexcept {
  if (text.substr(0, 2) != "\x1b[") {
    return 0;
  }
  const std::size_t end = text.find('m');
  return end != std::string_view::npos ? end + 1 : 0;
}

/// The first space at which a line may end: not between a number and its unit.
std::size_t breaking_space(std::string_view text) {
  constexpr std::size_t longest_unit = 3;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t space = text.find(' ');
  while (space != std::string_view::npos && space != 0 && is_digit(text[space - 1])) {
    const std::size_t next = text.find(' ', space + 1);
    if (columns(text.substr(space + 1, next == std::string_view::npos ? next : next - space - 1)) >
        longest_unit) {
      break;
    }
    space = next;
  }
  return space;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const code_point c = decode(text);
    out += c.valid && !within(unsafe, c.value) ? text.substr(0, c.length) : replacement;
    text.remove_prefix(c.length);
  }
  return out;
}

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    if (const std::size_t skip = colour_sequence(text); skip != 0) {
      text.remove_prefix(skip);
      continue;
    }
    const code_point c = decode(text);
    count += columns_of(c.value);
    text.remove_prefix(c.length);
  }
  return count;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (columns(text) <= width) {
    return std::string{text};
  }
  if (width == 0) {
    return {};
  }
  // The end tells as much as the beginning: "model.layers.31…q_proj".
  const std::size_t before = width / 2;
  const std::size_t after = width - 1 - before;
  std::size_t used = 0;
  std::size_t head = 0;
  for (std::size_t i = 0; i < text.size();) {
    const code_point c = decode(text.substr(i));
    used += columns_of(c.value);
    if (used > before) {
      break;
    }
    i += c.length;
    head = i;
  }
  std::size_t left_over = columns(text);
  std::size_t tail = 0;
  while (tail < text.size() && left_over > after) {
    const code_point c = decode(text.substr(tail));
    left_over -= columns_of(c.value);
    tail += c.length;
  }
  std::string out{text.substr(0, head)};
  out += ellipsis;
  out += text.substr(tail);
  return out;
}

std::string left(std::string_view text, std::size_t width) {
  const std::size_t taken = columns(text);
  return std::string{text} + std::string(width > taken ? width - taken : 0, ' ');
}

std::string right(std::string_view text, std::size_t width) {
  const std::size_t taken = columns(text);
  return std::string(width > taken ? width - taken : 0, ' ') + std::string{text};
}

std::string flow(const std::vector<std::string>& pieces, std::string_view separator, std::size_t indent,
                 std::size_t width) {
  std::string out;
  std::size_t column = indent;  // the caller has written as much before the first line
  bool fresh = true;
  const auto add = [&](std::string_view text, std::string_view before) {
    const bool coloured = text.find('\x1b') != std::string_view::npos;
    const std::string piece{width > indent && !coloured ? shortened(text, width - indent) : text};
    const std::size_t needed = columns(piece) + columns(before);
    if (!fresh && width != 0 && column + needed > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
      fresh = true;
    }
    if (!fresh) {
      out += before;
      column += columns(before);
    }
    out += piece;
    column += columns(piece);
    fresh = false;
  };
  for (std::string_view piece : pieces) {
    std::string_view before = separator;
    const bool too_long = width != 0 && columns(piece) + indent > width;
    for (std::size_t space = 0; too_long && (space = breaking_space(piece)) != std::string_view::npos;) {
      add(piece.substr(0, space), before);
      piece.remove_prefix(space + 1);
      before = " ";
    }
    add(piece, before);
  }
  return out;
}

}  // namespace varve::table
