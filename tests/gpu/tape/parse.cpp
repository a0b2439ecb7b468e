// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <charconv>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "gpu/tape/fields.hpp"

namespace varve_tape {
namespace {

constexpr std::uint64_t largest_buffer = 16U << 20U;

using fields = std::vector<std::pair<std::string_view, std::string_view>>;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

/// What comes before the first `at`, which is taken off too.
std::string_view take_until(std::string_view& text, char at) {
  const std::size_t end = std::min(text.find(at), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

fields split(std::string_view line) {
  fields out;
  while (!line.empty()) {
    std::string_view value = take_until(line, ' ');
    if (value.find('=') == std::string_view::npos) {
      fail("'" + std::string{value} + "' is no key=value");
    }
    const std::string_view key = take_until(value, '=');
    out.emplace_back(key, value);
  }
  return out;
}

unsigned char to_byte(std::string_view digits) {
  unsigned char byte = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
  if (digits.size() != 2 || error != std::errc{} || end != digits.data() + 2) {
    fail("'" + std::string{digits} + "' are no two hexadecimal digits");
  }
  return byte;
}

void take(std::string_view value, std::string& out) {
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '%') {
      out += static_cast<char>(to_byte(value.substr(i + 1, 2)));
      i += 2;
    } else {
      out += value[i];
    }
  }
}

void take(std::string_view value, bytes& out) {
  for (std::size_t i = 0; i < value.size(); i += 2) {
    out.push_back(std::byte{to_byte(value.substr(i, 2))});
  }
}

template <class Number>
requires std::is_arithmetic_v<Number>
void take(std::string_view value, Number& out) {
  std::conditional_t<std::is_same_v<Number, bool>, unsigned char, Number> number{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() ||
      (std::is_same_v<Number, bool> && number > 1)) {
    fail("'" + std::string{value} + "' is no number of this field");
  }
  out = static_cast<Number>(number);
}

template <class Field>
void take_field(const fields& from, std::string_view key, Field& out) {
  for (const auto& [name, value] : from) {
    if (name == key) {
      return take(value, out);
    }
  }
}

template <class Line>
Line to_line_of(const fields& from) {
  Line line;
  detail::each_field(line, [&from](const char* key, auto& field) { take_field(from, key, field); });
  return line;
}

void add_record(tape& t, record r) {
  auto* const b = t.events.empty() ? nullptr : std::get_if<buffer>(&t.events.back().what);
  if (b == nullptr) {
    fail("a record outside a buffer");
  }
  const std::uint64_t before =
      b->records.empty() ? 0 : b->records.back().offset + b->records.back().data.size();
  if (r.offset < before || r.offset > b->size || r.data.size() > b->size - r.offset) {
    fail("a record that lies outside its buffer or in another record");
  }
  if (r.name_at != 0 && (r.data.size() < sizeof(char*) || r.name_at > r.data.size() - sizeof(char*))) {
    fail("a name that lies outside its record");
  }
  b->records.push_back(std::move(r));
}

/// Adds the event that `word` names to the tape, if Line is its type.
template <class Line>
bool add_event(tape& t, std::string_view word, const fields& from) {
  if (word != detail::word_of<Line>()) {
    return false;
  }
  event e;
  take_field(from, "at", e.at);
  take_field(from, "thread", e.thread);
  e.what = to_line_of<Line>(from);
  if constexpr (std::is_same_v<Line, buffer>) {
    if (std::get<buffer>(e.what).size > largest_buffer) {
      fail("a buffer of more than 16 MiB");
    }
  }
  t.events.push_back(std::move(e));
  return true;
}

template <class... Lines>
bool add_any(tape& t, std::string_view word, const fields& from, const std::variant<Lines...>* /*types*/) {
  return (add_event<Lines>(t, word, from) || ...);
}

void add_line(tape& t, std::string_view line, bool first) {
  const std::string_view word = take_until(line, ' ');
  const fields from = split(line);
  if (first) {
    t.head = to_line_of<header>(from);
    if (word != detail::word_of<header>() || t.head.version != 1) {
      fail("no tape of version 1");
    }
  } else if (t.finished) {
    fail("a line after the last");
  } else if (word == "finish") {
    t.finished = true;
    take_field(from, "left_out", t.left_out);
  } else if (word == detail::word_of<record>()) {
    add_record(t, to_line_of<record>(from));
  } else if (!add_any(t, word, from, static_cast<decltype(event::what)*>(nullptr))) {
    fail("'" + std::string{word} + "' is no line of a tape");
  }
}

}  // namespace

tape parse(std::string_view text) {
  tape t;
  std::size_t number = 1;
  do {
    const std::string_view line = take_until(text, '\n');
    try {
      add_line(t, line, number == 1);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error("line " + std::to_string(number) + ": " + error.what());
    }
    ++number;
  } while (!text.empty());
  return t;
}

tape read(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    throw std::runtime_error("cannot read " + path);
  }
  try {
    return parse(text.str());
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

}  // namespace varve_tape
