// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_FORMATS_PYTORCH_AMOUNT_HPP
#define VARVE_FORMATS_PYTORCH_AMOUNT_HPP

#include <cstdint>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// A number of elements, bytes or FLOPs from a trace that may say anything: once it is negative or does not
/// fit into 62 bits it is unknown, and so is whatever is made of it.
class amount {
 public:
  constexpr amount() noexcept = default;
  // NOLINTNEXTLINE(google-explicit-constructor): numbers are amounts
  constexpr amount(std::int64_t n) noexcept : value_{n >= 0 && n < most ? n : -1} {}
  static constexpr amount unknown() noexcept { return {-1}; }

  [[nodiscard]] constexpr bool known() const noexcept { return value_ >= 0; }
  [[nodiscard]] constexpr std::int64_t value() const noexcept { return value_; }

  friend constexpr amount operator*(amount a, amount b) noexcept {
    std::int64_t n = -1;
    return !a.known() || !b.known() || __builtin_mul_overflow(a.value_, b.value_, &n) ? unknown() : amount{n};
  }
  friend constexpr amount operator+(amount a, amount b) noexcept {
    return a.known() && b.known() ? amount{a.value_ + b.value_} : unknown();
  }
  friend constexpr amount operator-(amount a, amount b) noexcept {
    return a.known() && b.known() ? amount{a.value_ - b.value_} : unknown();
  }
  friend constexpr amount half(amount a) noexcept { return a.known() ? amount{a.value_ / 2} : unknown(); }

 private:
  static constexpr std::int64_t most = std::int64_t{1} << 62U;
  std::int64_t value_ = -1;
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_AMOUNT_HPP
