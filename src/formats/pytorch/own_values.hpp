// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Single values of a trace that varve wrote, for the two halves of its reader.
#ifndef VARVE_FORMATS_PYTORCH_OWN_VALUES_HPP
#define VARVE_FORMATS_PYTORCH_OWN_VALUES_HPP

#include "formats/input/json_text.hpp"
#include "formats/pytorch/own_reader.hpp"
#include "formats/pytorch/own_scan.hpp"

#include <charconv>
#include <system_error>

namespace varve {
inline namespace v0 {
namespace pytorch {

template <class Number>
Number own_reader::number_of(std::string_view token, Number otherwise) {
  Number value{};
  const char* const end = token.data() + token.size();
  const auto [last, code] = std::from_chars(token.data(), end, value);
  if (!token.empty() && code == std::errc{} && last == end) {
    return value;
  }
  losses_.add(lost::own_value, token.empty() || token == "null" ? 0 : 1);
  return otherwise;
}

template <class Enum, std::size_t Size>
Enum own_reader::one_of(std::string_view token, const std::array<std::string_view, Size>& names,
                        Enum otherwise) {
  if (token.empty()) {
    return otherwise;
  }
  if (input::is_string(token)) {
    for (std::size_t i = 0; i < Size; ++i) {
      if (names[i] == input::inside(token)) {
        return static_cast<Enum>(i);
      }
    }
  }
  losses_.add(lost::own_value);
  return otherwise;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_OWN_VALUES_HPP
