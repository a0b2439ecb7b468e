// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Texts of a JSON document: what is wrong with them is repaired and counted.
#ifndef VARVE_FORMATS_INPUT_JSON_TEXT_HPP
#define VARVE_FORMATS_INPUT_JSON_TEXT_HPP

#include "formats/input/input.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace input {

/// Whether a raw token is a string, quotes and all.
[[nodiscard]] inline bool is_string(std::string_view token) noexcept {
  return token.size() >= 2 && token.front() == '"';
}
/// What stands between the quotes of a string.
[[nodiscard]] inline std::string_view inside(std::string_view token) noexcept {
  return token.substr(1, token.size() - 2);
}

/// What stands between the quotes of a JSON string, unescaped. Escapes that mean nothing and halves of
/// surrogate pairs become U+FFFD and set `damaged`.
[[nodiscard]] std::string unescape(std::string_view text, bool& damaged);

/// `text` cut to at most `size` bytes, not inside a character.
[[nodiscard]] std::string_view cut(std::string_view text, std::size_t size) noexcept;

/// `text` with each byte that is no UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view text);

struct repairs {
  std::uint64_t utf8 = 0;      ///< bytes that are no UTF-8, each now U+FFFD
  std::uint64_t controls = 0;  ///< bare control characters inside strings, each now a space
};

/// A copy of a JSON text that a strict parser takes.
[[nodiscard]] buffer repaired(std::string_view text, repairs& done);

}  // namespace input
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_INPUT_JSON_TEXT_HPP
