// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/number.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::uint64_t most_unsigned = std::numeric_limits<std::uint64_t>::max();
constexpr auto most_signed = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Digits from `p` on into `value` until something else comes. False where they overflow.
bool digits(const char*& p, const char* end, std::uint64_t& value) noexcept {
  constexpr std::ptrdiff_t safe = 19;  // so many always fit
  const char* const fits = p + std::min(safe, end - p);
  for (value = 0; p != fits && is_digit(*p); ++p) {
    value = value * 10 + static_cast<std::uint64_t>(*p - '0');
  }
  for (; p != end && is_digit(*p); ++p) {
    const auto digit = static_cast<std::uint64_t>(*p - '0');
    if (value > (most_unsigned - digit) / 10) {
      return false;
    }
    value = value * 10 + digit;
  }
  return true;
}

/// value × 10^exponent, rounded; false where it does not fit into 63 bits.
bool shift(std::uint64_t& value, std::int64_t exponent) noexcept {
  for (; exponent > 0 && value != 0; --exponent) {
    if (value > most_signed / 10) {
      return false;
    }
    value *= 10;
  }
  if (exponent < 0) {
    std::uint64_t divisor = 1;
    for (; exponent < 0 && divisor <= most_unsigned / 10; ++exponent) {
      divisor *= 10;
    }
    const std::uint64_t rest = value % divisor;
    // A value has at most 20 digits, as many as the divisor: whatever is left to divide makes it zero.
    value = exponent < 0 ? 0 : value / divisor + (rest >= divisor - rest ? 1 : 0);
  }
  return value <= most_signed;
}

}  // namespace

number scaled(std::string_view token, int power) noexcept {
  const char* p = token.data();
  const char* const end = p + token.size();
  const bool negative = p != end && *p == '-';
  p += negative ? 1 : 0;
  if (p == end || !is_digit(*p)) {
    return {};
  }
  std::uint64_t value = 0;
  std::int64_t exponent = power;
  bool fraction = false;
  for (; p != end; ++p) {
    if (*p == '.' && !fraction && p + 1 != end && is_digit(p[1])) {
      fraction = true;
    } else if (!is_digit(*p)) {
      break;
    } else if (value <= (most_unsigned - 9) / 10) {
      value = value * 10 + static_cast<std::uint64_t>(*p - '0');
      exponent -= fraction ? 1 : 0;
    } else {  // beyond 19 digits only the magnitude counts
      exponent += fraction ? 0 : 1;
    }
  }
  if (p != end && (*p == 'e' || *p == 'E')) {
    ++p;
    const bool down = p != end && *p == '-';
    p += p != end && (*p == '-' || *p == '+') ? 1 : 0;
    if (p == end || !is_digit(*p)) {
      return {};
    }
    std::uint64_t by = 0;
    constexpr std::uint64_t enough = std::uint64_t{1} << 40U;  // more than a text has digits
    if (!digits(p, end, by)) {
      by = enough;
      p = std::find_if_not(p, end, is_digit);
    }
    const auto steps = static_cast<std::int64_t>(std::min(by, enough));
    exponent += down ? -steps : steps;
  }
  if (p != end) {
    return {};
  }
  if (!shift(value, exponent)) {
    return {0, number_state::out_of_range};
  }
  const auto result = static_cast<std::int64_t>(value);
  return {negative ? -result : result, number_state::good};
}

std::optional<std::uint64_t> whole(std::string_view token, std::uint64_t most) noexcept {
  const char* p = token.data();
  std::uint64_t value = 0;
  if (token.empty() || !digits(p, token.data() + token.size(), value) || p != token.data() + token.size() ||
      value > most) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::uint64_t> identifier(std::string_view token) noexcept {
  if (token.size() >= 2 && token.front() == '"') {
    token = token.substr(1, token.size() - 2);
    token = token.substr(0, token.find_last_not_of(' ') + 1);
    if (const auto space = token.find(' '); space != std::string_view::npos) {
      token.remove_prefix(space + 1);
    }
  }
  const bool negative = !token.empty() && token.front() == '-';
  token.remove_prefix(negative ? 1 : 0);
  const auto value = whole(token, negative ? most_signed : most_unsigned);
  return value && negative ? std::optional{~*value + 1} : value;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
