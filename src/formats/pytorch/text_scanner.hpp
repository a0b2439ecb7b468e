// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Reads a text of known form from left to right.
#ifndef VARVE_FORMATS_PYTORCH_TEXT_SCANNER_HPP
#define VARVE_FORMATS_PYTORCH_TEXT_SCANNER_HPP

#include "formats/pytorch/number.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// A whole number that an index can be.
inline std::optional<std::int32_t> index_of(std::string_view text) noexcept {
  const auto index = whole(text, static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()));
  return index ? std::optional{static_cast<std::int32_t>(*index)} : std::nullopt;
}

class text_scanner {
 public:
  explicit text_scanner(std::string_view text) : rest_{text} {}

  text_scanner& text(std::string_view expected) noexcept {
    good_ = good_ && rest_.starts_with(expected);
    rest_.remove_prefix(good_ ? expected.size() : 0);
    return *this;
  }
  /// A number below 10^9: then no trace has passes enough for their sum to overflow.
  text_scanner& number(std::int64_t& to) noexcept { return digits(to, 9); }
  /// A sum of lengths or of products, below 10^15.
  text_scanner& sum(std::int64_t& to) noexcept { return digits(to, 15); }
  [[nodiscard]] bool next_is(char c) const noexcept { return good_ && !rest_.empty() && rest_[0] == c; }
  [[nodiscard]] bool done() const noexcept { return good_ && rest_.empty(); }
  /// What is still to be read; nothing after a text of another form.
  [[nodiscard]] std::string_view rest() const noexcept { return good_ ? rest_ : std::string_view{}; }

 private:
  text_scanner& digits(std::int64_t& to, std::size_t most) noexcept {
    const std::size_t count = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    good_ = good_ && count > 0 && count <= most;
    if (good_) {
      to = 0;
      for (const char c : rest_.substr(0, count)) {
        to = to * 10 + (c - '0');
      }
      rest_.remove_prefix(count);
    }
    return *this;
  }

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_TEXT_SCANNER_HPP
