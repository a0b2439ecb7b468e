// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Where a JSON text stops being one: for the message, once the fast parser has refused it.
#ifndef VARVE_FORMATS_INPUT_JSON_DAMAGE_HPP
#define VARVE_FORMATS_INPUT_JSON_DAMAGE_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace input {

struct damage {
  std::size_t byte = 0;
  std::string cause;
};

/// The first place at which `text` is not one JSON document, or nothing. Says nothing about the encoding of
/// strings. Needs no stack, one byte of memory a level of nesting.
[[nodiscard]] std::optional<damage> find_damage(std::string_view text);

}  // namespace input
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_INPUT_JSON_DAMAGE_HPP
