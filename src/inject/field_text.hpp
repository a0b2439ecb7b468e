// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Values as a text of fields, exactly: what `varve run` hands to the injected library. A type is told by a
// function fields(archive, value), which serves writer and reader.
#ifndef VARVE_INJECT_FIELD_TEXT_HPP
#define VARVE_INJECT_FIELD_TEXT_HPP

#include "inject/variables.hpp"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace varve::inject {

/// U or const U.
template <class T, class U>
concept is = std::same_as<std::remove_const_t<T>, U>;

class field_writer {
 public:
  template <class... Values>
  void operator()(const Values&... values) {
    (add(values), ...);
  }
  template <class List>
  void list(const List& all, std::size_t /*most*/) {
    add(all.size());
    for (const auto& one : all) {
      fields(*this, one);
    }
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  void add(const std::string& text) {
    std::copy_if(text.begin(), text.end(), std::back_inserter(text_),
                 [](char c) { return c != field_end && c != '\0'; });
    text_ += field_end;
  }
  void add(double value) {
    char digits[64];
    std::snprintf(digits, sizeof digits, "%a", value);
    text_ += digits;
    text_ += field_end;
  }
  template <class Whole>
  requires(std::is_integral_v<Whole> || std::is_enum_v<Whole>) void add(Whole value) {
    text_ += std::to_string(static_cast<std::int64_t>(value)) + field_end;
  }

  std::string text_;
};

class field_reader {
 public:
  explicit field_reader(std::string_view text) : left_{text} {}
  template <class... Values>
  void operator()(Values&... values) {
    (get(values), ...);
  }
  template <class List>
  void list(List& all, std::size_t most) {
    std::size_t size = 0;
    get(size);
    whole_ = whole_ && size <= most;
    for (std::size_t i = 0; whole_ && i < size; ++i) {
      fields(*this, all.emplace_back());
    }
  }
  /// Whether all was there, and nothing else.
  [[nodiscard]] bool whole() const noexcept { return whole_ && left_.empty(); }

 private:
  std::string_view next() noexcept {
    const std::size_t end = left_.find(field_end);
    whole_ = whole_ && end != std::string_view::npos;
    const std::string_view one = left_.substr(0, end);
    left_.remove_prefix(whole_ ? end + 1 : left_.size());
    return one;
  }
  void get(std::string& to) { to = next(); }
  void get(double& to) { to = std::strtod(std::string{next()}.c_str(), nullptr); }
  template <class Whole>
  requires(std::is_integral_v<Whole> || std::is_enum_v<Whole>) void get(Whole& to) {
    const std::string_view one = next();
    std::int64_t value = 0;
    const auto [end, fault] = std::from_chars(one.data(), one.data() + one.size(), value);
    whole_ = whole_ && fault == std::errc{} && end == one.data() + one.size();
    to = static_cast<Whole>(value);
  }

  std::string_view left_;
  bool whole_ = true;
};

}  // namespace varve::inject

#endif  // VARVE_INJECT_FIELD_TEXT_HPP
