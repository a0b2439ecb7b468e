// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/input/json_text.hpp"

#include <algorithm>
#include <optional>

namespace varve {
inline namespace v0 {
namespace input {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

unsigned byte(char c) noexcept { return static_cast<unsigned char>(c); }

/// Bytes of the well-formed UTF-8 character that `text` begins with; 0 when it begins with none.
std::size_t character(std::string_view text) noexcept {
  const unsigned first = byte(text[0]);
  if (first < 0x80) {
    return 1;
  }
  const std::size_t size = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (size == 0 || text.size() < size) {
    return 0;
  }
  // Not overlong, no surrogates, not beyond U+10FFFF: all decided by the second byte.
  const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte(text[1]) < low || byte(text[1]) > high) {
    return 0;
  }
  const auto rest = text.substr(2, size - 2);
  return std::all_of(rest.begin(), rest.end(), [](char c) { return (byte(c) & 0xC0U) == 0x80; }) ? size : 0;
}

void append(std::string& out, unsigned code) {
  const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0U | (code >> 6U));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0U | (code >> 12U));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0U | (code >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

/// The four hexadecimal digits of "\uXXXX" at the beginning of `text`.
std::optional<unsigned> unit(std::string_view text) noexcept {
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') {
    return std::nullopt;
  }
  unsigned value = 0;
  for (const char c : text.substr(2, 4)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) {
      return std::nullopt;
    }
    value = value * 16 + static_cast<unsigned>(digit);
  }
  return value;
}

/// Writes the repaired text to `out`, or only counts when that is null. Returns its size.
std::size_t repair(std::string_view text, char* out, repairs& done) {
  std::size_t size = 0;
  const auto put = [&](std::string_view part) {
    if (out != nullptr) {
      std::copy(part.begin(), part.end(), out + size);
    }
    size += part.size();
  };
  bool in_string = false;
  bool escaped = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character(text.substr(i));
    if (length == 0) {
      put(replacement);
      ++done.utf8;
      ++i;
      escaped = false;
      continue;
    }
    const char c = text[i];
    if (in_string && byte(c) < 0x20) {
      put(" ");
      ++done.controls;
    } else {
      put(text.substr(i, length));
      in_string ^= c == '"' && !escaped;
    }
    escaped = in_string && c == '\\' && !escaped;
    i += length;
  }
  return size;
}

}  // namespace

std::string unescape(std::string_view text, bool& damaged) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find('\\'), text.size());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) {
      break;
    }
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    const char letter = text.size() > 1 ? text[1] : '\0';
    if (const auto at = letters.find(letter); at != std::string_view::npos) {
      out += meanings[at];
      text.remove_prefix(2);
      continue;
    }
    const auto high = unit(text);
    const auto low = high && *high >= 0xD800 && *high < 0xDC00 ? unit(text.substr(6)) : std::nullopt;
    if (low && *low >= 0xDC00 && *low < 0xE000) {
      append(out, 0x10000U + ((*high - 0xD800U) << 10U) + (*low - 0xDC00U));
      text.remove_prefix(12);
    } else if (high && (*high < 0xD800 || *high >= 0xE000)) {
      append(out, *high);
      text.remove_prefix(6);
    } else {
      out += replacement;
      damaged = true;
      text.remove_prefix(high ? 6 : 1);
    }
  }
  return out;
}

std::string_view cut(std::string_view text, std::size_t size) noexcept {
  if (text.size() <= size) {
    return text;
  }
  while (size > 0 && (byte(text[size]) & 0xC0U) == 0x80) {
    --size;
  }
  return text.substr(0, size);
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character(text);
    out += length == 0 ? replacement : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

buffer repaired(std::string_view text, repairs& done) {
  repairs counted;
  const std::size_t size = repair(text, nullptr, counted);
  buffer out;
  out.reserve(size);
  out.set_size(repair(text, out.data(), done));
  return out;
}

}  // namespace input
}  // namespace v0
}  // namespace varve
