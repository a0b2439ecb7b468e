// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Numbers as they stand in a JSON text, without a detour through binary floating point.
#ifndef VARVE_FORMATS_PYTORCH_NUMBER_HPP
#define VARVE_FORMATS_PYTORCH_NUMBER_HPP

#include <cstdint>
#include <optional>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace pytorch {

enum class number_state : std::uint8_t { good, invalid, out_of_range };

struct number {
  std::int64_t value = 0;
  number_state state = number_state::invalid;
};

/// The JSON number `token` times 10^`power`, rounded to the nearest integer, halves away from zero.
[[nodiscard]] number scaled(std::string_view token, int power) noexcept;

/// A whole number from 0 to `most`, or nothing.
[[nodiscard]] std::optional<std::uint64_t> whole(std::string_view token, std::uint64_t most) noexcept;

/// A 64-bit id, bare or in quotes, as text perhaps after one word ("stream 7", "GPU 0"); negative ones as
/// their two's complement.
[[nodiscard]] std::optional<std::uint64_t> identifier(std::string_view token) noexcept;

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_NUMBER_HPP
