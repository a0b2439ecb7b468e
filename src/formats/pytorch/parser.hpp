// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// simdjson's on-demand parser, as the walk uses it: raw tokens, and errors as `refused`. Only the
// walk itself, arguments.cpp and header.cpp include this.
#ifndef VARVE_FORMATS_PYTORCH_PARSER_HPP
#define VARVE_FORMATS_PYTORCH_PARSER_HPP

#include "formats/pytorch/document.hpp"
#include "formats/pytorch/losses.hpp"

#include <simdjson.h>

#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace json = simdjson::ondemand;

[[noreturn]] inline void refuse(simdjson::error_code code) {
  switch (code) {
    case simdjson::UTF8_ERROR:
    case simdjson::UNESCAPED_CHARS:
      throw refused{refusal::encoding};
    case simdjson::CAPACITY:
      throw refused{refusal::too_long};
    case simdjson::MEMALLOC:
      throw std::bad_alloc{};
    default:
      throw refused{refusal::damaged};
  }
}

template <class T>
T need(simdjson::simdjson_result<T> result) {
  T value;
  if (const auto code = std::move(result).get(value)) {
    refuse(code);
  }
  return value;
}

/// `value` as an object or array, or nothing when it is something else.
template <class T>
bool is_a(json::value& value, T& out) {
  const auto code = value.get(out);
  if (code != simdjson::SUCCESS && code != simdjson::INCORRECT_TYPE) {
    refuse(code);
  }
  return code == simdjson::SUCCESS;
}

/// An element of an array. A comma before the closing bracket makes that look like one.
inline json::value element(simdjson::simdjson_result<json::value> result) {
  json::value value = need(result);
  if (value.raw_json_token().front() == ']') {
    throw refused{refusal::damaged};
  }
  return value;
}

/// Whether the raw key, which ends with its quote, is `name`.
template <std::size_t Size>
bool is(const char* key, const char (&name)[Size]) noexcept {
  return std::memcmp(key, name, Size - 1) == 0 && key[Size - 1] == '"';
}

inline std::string_view token_of(json::value& value) noexcept {
  std::string_view token = value.raw_json_token();
  while (!token.empty() &&
         (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' || token.back() == '\t')) {
    token.remove_suffix(1);
  }
  return token;
}

/// The first value of a key counts.
template <class Text>
void take(Text& to, json::value& value, loss_counts& losses) {
  if (!to.empty()) {
    losses.add(lost::repeated_key);
    return;
  }
  to = token_of(value);
}

/// What is of use of an event's "args".
void read_arguments(json::value& value, event& e, loss_counts& losses);

/// One member of the root object that says something about the run or its devices.
void read_header(const char* key, json::value& value, header& about, builder& to, loss_counts& losses);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_PARSER_HPP
