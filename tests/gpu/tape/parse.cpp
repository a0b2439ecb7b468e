// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <algorithm>
#include <charconv>
#include <fstream>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "gpu/tape/fields.hpp"

namespace varve_tape {
namespace {

constexpr std::uint64_t largest_buffer = 16U << 20U;
constexpr std::size_t most_events = 1'000'000;
constexpr std::uint32_t most_threads = 64;
constexpr std::size_t most_text = std::size_t{512} << 20U;

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
    if (value.empty()) {
      continue;
    }
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

template <const auto& Names>
void take(std::string_view value, named<Names>& out) {
  if (!out.find(value)) {
    take(value, out.number);
  }
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
  if (r.name_at != 0 && (r.data.size() < sizeof(char*) || r.name_at > r.data.size() - sizeof(char*))) {
    fail("a name that lies outside its record");
  }
  if (b->size == 0) {  // laid out when it is played
    b->records.push_back(std::move(r));
    return;
  }
  const std::uint64_t before =
      b->records.empty() ? 0 : b->records.back().offset + b->records.back().data.size();
  if (r.offset < before || r.offset > b->size || r.data.size() > b->size - r.offset) {
    fail("a record that lies outside its buffer or in another record");
  }
  b->records.push_back(std::move(r));
}

/// What is known while a tape is read, beside it.
struct reading {
  tape t;
  std::size_t line = 1;
  std::vector<std::vector<call>> open{most_threads};  ///< calls, innermost last, of each thread
};

void add(reading& r, const fields& from, decltype(event::what) what) {
  event e;
  e.line = r.line;
  take_field(from, "at", e.at);
  take_field(from, "thread", e.thread);
  if (e.thread >= most_threads) {
    fail("a thread beyond the " + std::to_string(most_threads) + "th");
  }
  if (r.t.events.size() == most_events) {
    fail("more than a million events");
  }
  e.what = std::move(what);
  r.t.events.push_back(std::move(e));
}

/// Parameters as 64-bit words, which people write rather than bytes.
void take_words(const fields& from, bytes& out) {
  std::string text;
  take_field(from, "words", text);
  std::string_view left = text;
  while (!left.empty()) {
    std::uint64_t word = 0;
    take(take_until(left, ','), word);
    for (unsigned shift = 0; shift < 64; shift += 8) {
      out.push_back(static_cast<std::byte>(word >> shift & 0xFFU));
    }
  }
}

void add_entry(reading& r, const fields& from, call c) {
  c.enter = true;
  if (c.runtime.empty() == c.driver.empty()) {
    fail("a call is one of the runtime or of the driver");
  }
  std::uint32_t thread = 0;
  take_field(from, "thread", thread);
  add(r, from, c);
  r.open[thread].push_back(std::move(c));
}

/// Who leaves without a name leaves what was entered last.
void add_exit(reading& r, const fields& from, call c) {
  std::uint32_t thread = 0;
  take_field(from, "thread", thread);
  if (thread < most_threads) {
    std::vector<call>& open = r.open[thread];
    if (c.name().empty()) {
      if (open.empty()) {
        fail("leaves a call that was not entered");
      }
      const std::int64_t result = c.result;
      c = open.back();
      c.symbol.clear();
      c.result = result;
    }
    if (!open.empty() && open.back().runtime == c.runtime && open.back().driver == c.driver) {
      open.pop_back();
    }
  }
  c.enter = false;
  add(r, from, std::move(c));
}

/// A whole call in a line: of the runtime, of the driver, or of the runtime and in it of the driver.
void add_call(reading& r, const fields& from, const call& c) {
  const std::string names[] = {c.runtime, c.driver};
  std::uint32_t inner = c.correlation;
  take_field(from, "inner", inner);
  for (const bool outer : {true, false}) {
    if (!names[outer ? 0 : 1].empty()) {
      call entered = c;
      (outer ? entered.driver : entered.runtime).clear();
      entered.correlation = outer ? c.correlation : inner;
      entered.result = 0;
      add_entry(r, from, entered);
    }
  }
  for (const std::string& name : names) {
    if (!name.empty()) {
      call left;
      left.result = c.result;
      add_exit(r, from, left);
    }
  }
}

bool add_calls(reading& r, std::string_view word, const fields& from) {
  if (word != "enter" && word != detail::leaving && word != "call") {
    return false;
  }
  call c = to_line_of<call>(from);
  take_words(from, c.params);
  word == "enter"  ? add_entry(r, from, std::move(c))
  : word == "call" ? add_call(r, from, c)
                   : add_exit(r, from, std::move(c));
  return true;
}

/// Adds the event that `word` names to the tape, if Line is its type.
template <class Line>
bool add_event(reading& r, std::string_view word, const fields& from) {
  if (word != detail::word_of<Line>()) {
    return false;
  }
  Line line = to_line_of<Line>(from);
  if constexpr (std::is_same_v<Line, buffer>) {
    if (line.size > largest_buffer) {
      fail("a buffer of more than 16 MiB");
    }
  }
  add(r, from, std::move(line));
  return true;
}

template <class... Lines>
bool add_any(reading& r, std::string_view word, const fields& from, const std::variant<Lines...>* /*types*/) {
  return (add_event<Lines>(r, word, from) || ...);
}

void add_line(reading& r, std::string_view line) {
  const std::string_view word = take_until(line, ' ');
  if (r.line != 1 && (word.empty() || word.front() == '#')) {
    return;
  }
  const fields from = split(line);
  tape& t = r.t;
  if (r.line == 1) {
    t.head = to_line_of<header>(from);
    if (word != detail::word_of<header>() || t.head.version != format_version) {
      fail("no tape of version " + std::to_string(format_version));
    }
    if (t.head.origin != "recorded" && t.head.origin != "belief") {
      fail("the origin is neither 'recorded' nor 'belief'");
    }
  } else if (t.finished) {
    fail("a line after the last");
  } else if (word == "finish") {
    t.finished = true;
    take_field(from, "left_out", t.left_out);
  } else if (word == detail::word_of<record>()) {
    add_record(t, to_line_of<record>(from));
  } else if (!add_calls(r, word, from) &&
             !add_any(r, word, from, static_cast<decltype(event::what)*>(nullptr))) {
    fail("'" + std::string{word} + "' is no line of a tape");
  }
}

}  // namespace

tape parse(std::string_view text) {
  reading r;
  do {
    const std::string_view line = take_until(text, '\n');
    try {
      add_line(r, line);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error("line " + std::to_string(r.line) + ": " + error.what());
    }
    ++r.line;
  } while (!text.empty());
  return std::move(r.t);
}

tape read(const std::string& path) {
  std::ifstream file{path, std::ios::binary | std::ios::ate};
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (size < 0 || static_cast<std::size_t>(size) > most_text) {
    throw std::runtime_error("cannot read " + path);
  }
  std::string text(static_cast<std::size_t>(size), '\0');
  file.seekg(0);
  if (!file.read(text.data(), size)) {
    throw std::runtime_error("cannot read " + path);
  }
  try {
    return parse(text);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

}  // namespace varve_tape
