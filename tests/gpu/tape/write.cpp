// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "gpu/tape/fields.hpp"

namespace varve_tape {
namespace {

constexpr char hexadecimal[] = "0123456789abcdef";

void put_byte(std::string& out, unsigned char byte) {
  out += hexadecimal[byte >> 4U];
  out += hexadecimal[byte & 15U];
}

std::string value(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c > ' ' && c < 127 && c != '%') {
      out += c;
    } else {
      out += '%';
      put_byte(out, static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string value(const bytes& data) {
  std::string out;
  for (const std::byte b : data) {
    put_byte(out, std::to_integer<unsigned char>(b));
  }
  return out;
}

template <class Number>
requires std::is_arithmetic_v<Number> std::string value(Number number) { return std::to_string(number); }

template <const auto& Names>
std::string value(named<Names> number) {
  return number.name().empty() ? std::to_string(number.number) : std::string{number.name()};
}

/// All fields that are not as those of a line that says nothing.
template <class Line>
std::string fields_of(const Line& line) {
  std::vector<std::string> defaults;
  const Line empty;
  detail::each_field(empty,
                     [&](const char* /*key*/, const auto& field) { defaults.push_back(value(field)); });
  std::string out;
  std::size_t i = 0;
  detail::each_field(line, [&](const char* key, const auto& field) {
    if (const std::string text = value(field); text != defaults[i++]) {
      out.append(" ").append(key).append("=").append(text);
    }
  });
  return out;
}

template <class Line>
const char* word(const Line& line) {
  if constexpr (std::is_same_v<Line, call>) {
    return line.enter ? detail::word_of<call>() : detail::leaving;
  } else {
    return detail::word_of<Line>();
  }
}

}  // namespace

std::string to_line(const header& head) { return detail::word_of<header>() + fields_of(head) + "\n"; }

std::string to_lines(const event& e) {
  const std::string when =
      (e.at != 0 ? " at=" + value(e.at) : "") + (e.thread != 0 ? " thread=" + value(e.thread) : "");
  return std::visit(
      [&](const auto& what) {
        using line = std::remove_cvref_t<decltype(what)>;
        std::string out = word(what) + when + fields_of(what) + "\n";
        if constexpr (std::is_same_v<line, buffer>) {
          for (const record& r : what.records) {
            out += detail::word_of<record>() + fields_of(r) + "\n";
          }
        }
        return out;
      },
      e.what);
}

std::string finish_line(std::uint64_t left_out) { return "finish left_out=" + value(left_out) + "\n"; }

std::string to_text(const tape& t) {
  std::string out = to_line(t.head);
  for (const event& e : t.events) {
    out += to_lines(e);
  }
  return t.finished ? out + finish_line(t.left_out) : out;
}

bytes memory_of(const buffer& b) {
  bytes out(b.size);
  for (const record& r : b.records) {
    std::copy(r.data.begin(), r.data.end(), out.begin() + static_cast<std::ptrdiff_t>(r.offset));
    if (r.name_at != 0) {
      const char* const name = r.name.c_str();
      std::memcpy(out.data() + r.offset + r.name_at, &name, sizeof name);
    }
  }
  return out;
}

}  // namespace varve_tape
