// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Where a JSON text stops being one, and what can be done about it, once the fast parser has refused it.
#ifndef VARVE_FORMATS_INPUT_JSON_DAMAGE_HPP
#define VARVE_FORMATS_INPUT_JSON_DAMAGE_HPP

#include "formats/input/input.hpp"

#include <cstddef>
#include <cstdint>
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

/// The first place at which `text` is not one JSON document, or holds a number that is none or is beyond 64
/// bits, or nothing. Says nothing about the encoding of strings. Needs no stack, one byte of memory a level
/// of nesting.
[[nodiscard]] std::optional<damage> find_damage(std::string_view text);

/// What was done to a list of events to make it JSON again.
struct mended {
  std::uint64_t commas = 0;  ///< after the last member of an object or array: now spaces
  bool cut_off = false;      ///< the text ended before its brackets were closed: what came last is cut away
  bool in_event = false;     ///< … in the middle of an event
  std::uint64_t events = 0;  ///< … and before it stand so many whole ones
};

/// Makes `text` JSON again, in place, where commas stand after a last member, or where the text ends early
/// and whole events stand before: as an array, or in the array "traceEvents" of an object. Gives the first
/// damage of another kind, of which numbers are none; then `text` is of no use. Time and memory as
/// find_damage().
[[nodiscard]] std::optional<damage> mend_events(buffer& text, mended& done);

}  // namespace input
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_INPUT_JSON_DAMAGE_HPP
