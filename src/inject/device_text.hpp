// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The ceilings of a device in an environment variable, exactly.
#ifndef VARVE_INJECT_DEVICE_TEXT_HPP
#define VARVE_INJECT_DEVICE_TEXT_HPP

#include "inject/variables.hpp"

#include <varve/device.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace varve::inject {

/// Calls `number` with each number and `text` with each text.
template <class Ceilings, class Number, class Text>
void each_of(Ceilings& c, Number&& number, Text&& text) {
  for (auto& rate : c.flops) {
    number(rate);
  }
  number(c.bandwidth);
  number(c.l2_bytes);
  number(c.l2_bandwidth);
  number(c.link_bandwidth);
  number(c.host_bandwidth);
  number(c.multiprocessors);
  number(c.compute_capability);
  number(c.clock);
  number(c.top_clock);
  number(c.measured);
  text(c.name);
  text(c.source);
}

inline std::string device_text(const ceilings& c) {
  std::string out;
  each_of(
      c,
      [&](auto value) {
        char digits[64];
        std::snprintf(digits, sizeof digits, "%a", static_cast<double>(value));
        out += digits;
        out += field_end;
      },
      [&](const std::string& text) { out += text + field_end; });
  return out;
}

/// What device_text() wrote; nothing of anything else.
inline std::optional<ceilings> device_in(std::string_view text) {
  ceilings out;
  bool whole = true;
  const auto field = [&] {
    const std::size_t end = text.find(field_end);
    whole = whole && end != std::string_view::npos;
    std::string one{text.substr(0, end)};
    text.remove_prefix(whole ? end + 1 : text.size());
    return one;
  };
  each_of(
      out,
      [&](auto& value) {
        value = static_cast<std::remove_reference_t<decltype(value)>>(std::strtod(field().c_str(), nullptr));
      },
      [&](std::string& to) { to = field(); });
  return whole ? std::optional{std::move(out)} : std::nullopt;
}

}  // namespace varve::inject

#endif  // VARVE_INJECT_DEVICE_TEXT_HPP
