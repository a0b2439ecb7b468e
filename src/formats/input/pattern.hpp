// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Regular expressions of a user, bounded in what compiling them and searching for them takes. All inline: the
// core has them without the library of formats.
#ifndef VARVE_FORMATS_INPUT_PATTERN_HPP
#define VARVE_FORMATS_INPUT_PATTERN_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <regex>
#include <string>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace input {

// Matching takes stack for each state of the expression, and time for states × text: both are bounded.
inline constexpr std::size_t longest_pattern = 512;
inline constexpr std::size_t longest_searched = 512;  ///< bytes of a text that may be looked at
inline constexpr std::uint64_t most_repeated = 32;
inline constexpr std::uint64_t longest_written_out = 4096;  ///< bytes × repetitions: below 2 MiB of stack

/// How often counts such as {3,7} can repeat a part: at most the product of all of them, wherever they stand.
/// Exact up to most_repeated.
[[nodiscard]] inline std::uint64_t repetitions(std::string_view pattern) noexcept {
  std::uint64_t product = 1;
  for (std::size_t i = 0; i < pattern.size() && product <= most_repeated; ++i) {
    if (pattern[i] != '{') {
      continue;
    }
    std::uint64_t most = 1;
    std::uint64_t number = 0;
    for (++i; i < pattern.size() && pattern[i] != '}'; ++i) {
      const char c = pattern[i];
      number = c >= '0' && c <= '9' ? number * 10 + static_cast<std::uint64_t>(c - '0') : 0;
      most = std::max(most, number = std::min(number, most_repeated + 1));
    }
    product *= most;
  }
  return product;
}

/// ECMAScript. Calls `refuse` with what is wrong ("is longer than 512 bytes"), which must not return.
template <class Refuse>
[[nodiscard]] std::regex compile_pattern(const std::string& pattern, const Refuse& refuse) {
  if (pattern.size() > longest_pattern) {
    refuse("is longer than 512 bytes");
  }
  if (repetitions(pattern) > most_repeated) {
    refuse("repeats a part more than 32 times");
  }
  if (pattern.size() * repetitions(pattern) > longest_written_out) {
    refuse("is longer than 4096 bytes with its counts written out");
  }
  auto flags = std::regex::ECMAScript | std::regex::optimize;
#if defined(__GLIBCXX__)
  // Without it matching recurses over the text, and some expressions take time exponential in its length.
  flags |= std::regex_constants::__polynomial;
#endif
  try {
    return std::regex{pattern, flags};
  } catch (const std::regex_error& e) {
    const auto code = e.code();
    refuse(code == std::regex_constants::error_complexity ? "has a back-reference, which is not supported"
           : code == std::regex_constants::error_space || code == std::regex_constants::error_stack
               ? "is too large"
               : std::string{"is not a regular expression: "} + e.what());
  }
  return {};
}

}  // namespace input
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_INPUT_PATTERN_HPP
