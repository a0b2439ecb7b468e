// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// JSON as text, piece by piece: a trace of millions of events is never held as a whole.
#ifndef VARVE_FORMATS_PYTORCH_JSON_WRITER_HPP
#define VARVE_FORMATS_PYTORCH_JSON_WRITER_HPP

#include <varve/trace.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// `text`, which is UTF-8, as a JSON string, quotes and all.
[[nodiscard]] inline std::string json_string(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  out.reserve(text.size() + 2);
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      ((out += "\\u00") += c < 0x10 ? '0' : '1') += digits[static_cast<std::size_t>(c) & 0xFU];
    } else {
      out += c;
    }
  }
  return out += '"';
}

class json_writer {
 public:
  explicit json_writer(std::function<void(std::string_view)> sink) : sink_{std::move(sink)} {
    out_.reserve(full + full / 4);
  }

  json_writer& raw(std::string_view text) {
    out_ += text;
    return *this;
  }
  template <class Number>
  json_writer& number(Number value) {
    static_assert(std::is_integral_v<Number> && !std::is_same_v<Number, bool>);
    char digits[24];
    out_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    return *this;
  }
  /// Microseconds with 3 decimals.
  json_writer& microseconds(time_ns t) {
    out_ += t < 0 ? "-" : "";
    const std::uint64_t ns = t < 0 ? ~static_cast<std::uint64_t>(t) + 1 : static_cast<std::uint64_t>(t);
    number(ns / 1000);
    const auto rest = static_cast<unsigned>(ns % 1000);
    const char decimals[4] = {'.', static_cast<char>('0' + rest / 100),
                              static_cast<char>('0' + rest / 10 % 10), static_cast<char>('0' + rest % 10)};
    out_.append(decimals, sizeof decimals);
    return *this;
  }
  /// A comma where something stands before it in the same object or array.
  json_writer& next() {
    const char last = out_.empty() ? last_ : out_.back();
    if (last != '{' && last != '[') {
      out_ += ',';
    }
    return *this;
  }
  json_writer& key(std::string_view name) {
    next();
    ((out_ += '"') += name) += "\":";
    return *this;
  }
  template <class Number>
  json_writer& member(std::string_view name, Number value) {
    return key(name).number(value);
  }
  json_writer& member(std::string_view name, std::string_view plain) {
    key(name);
    ((out_ += '"') += plain) += '"';
    return *this;
  }
  /// Hands over what there is once it is enough.
  void pause() {
    if (out_.size() >= full) {
      flush();
    }
  }
  void flush() {
    if (!out_.empty()) {
      last_ = out_.back();
      sink_(out_);
      out_.clear();
    }
  }

 private:
  static constexpr std::size_t full = std::size_t{1} << 20U;
  std::function<void(std::string_view)> sink_;
  std::string out_;
  char last_ = '[';
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_JSON_WRITER_HPP
