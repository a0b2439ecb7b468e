// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The ceilings of a device, and its clock, in environment variables, exactly.
#ifndef VARVE_INJECT_DEVICE_TEXT_HPP
#define VARVE_INJECT_DEVICE_TEXT_HPP

#include "inject/field_text.hpp"

#include <varve/device.hpp>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

namespace varve::inject {

template <class Archive>
void fields(Archive& a, is<ceilings> auto& c) {
  auto& [name, flops, bandwidth, l2_bytes, l2_bandwidth, link_bandwidth, host_bandwidth, multiprocessors,
         compute_capability, clock, top_clock, measured, source] = c;
  for (auto& rate : flops) {
    a(rate);
  }
  a(name, bandwidth, l2_bytes, l2_bandwidth, link_bandwidth, host_bandwidth, multiprocessors,
    compute_capability, clock, top_clock, measured, source);
}

inline std::string device_text(const ceilings& c) {
  field_writer out;
  fields(out, c);
  return out.text();
}

/// What device_text() wrote; nothing of anything else.
inline std::optional<ceilings> device_in(std::string_view text) {
  ceilings out;
  field_reader in{text};
  fields(in, out);
  return in.whole() ? std::optional{out} : std::nullopt;
}

/// In Hz.
inline std::string clock_text(double clock) {
  field_writer out;
  out(clock);
  return out.text();
}

/// What clock_text() wrote; 0 of anything else.
inline double clock_in(std::string_view text) {
  double out = 0;
  field_reader in{text};
  in(out);
  return in.whole() && out > 0 && std::isfinite(out) ? out : 0;
}

}  // namespace varve::inject

#endif  // VARVE_INJECT_DEVICE_TEXT_HPP
