// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// How the messages of testing.hpp write numbers and names. Not an interface.
#ifndef VARVE_TESTING_TEXT_HPP
#define VARVE_TESTING_TEXT_HPP

#include <varve/report.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace testing_detail {

/// Six digits: a limit and what missed it by little are not to look alike.
inline std::string number_text(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

inline std::string number_text(std::int64_t value) { return std::to_string(value); }

inline std::string time_text(double ns) {
  return ns >= 1e9   ? number_text(ns / 1e9) + " s"
         : ns >= 1e6 ? number_text(ns / 1e6) + " ms"
         : ns >= 1e3 ? number_text(ns / 1e3) + " \u00b5s"
                     : number_text(ns) + " ns";
}

inline std::string time_text(time_ns ns) { return time_text(static_cast<double>(ns)); }

inline std::string percent_text(double share) { return number_text(share * 100) + " %"; }

/// "1 call", "64 calls".
inline std::string count_text(std::int64_t n, std::string_view one, std::string_view many) {
  return std::to_string(n) + ' ' + std::string{n == 1 ? one : many};
}

/// A name for a terminal: no control characters, and not the hundreds of letters of a kernel's template.
inline std::string name_text(std::string_view name, std::size_t most = 100) {
  const bool cut = name.size() > most;
  if (cut) {
    while (most > 0 && (static_cast<unsigned char>(name[most]) & 0xC0U) == 0x80U) {
      --most;  // not inside a letter of several bytes
    }
    name = name.substr(0, most);
  }
  std::string out{name};
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20U || c == 0x7F) {
      c = '?';
    }
  }
  return cut ? out + "\u2026" : out;
}

/// "decode", or "decode of draft" where the engine names models.
inline std::string phase_text(std::string_view phase, std::string_view model) {
  std::string out = phase.empty() ? "outside passes" : name_text(phase);
  if (!model.empty()) {
    out += " of " + name_text(model);
  }
  return out;
}

/// "decode: layer 3 / attention".
inline std::string layer_text(const row& r) {
  return phase_text(r.phase, r.model) + ": " + (r.path.empty() ? "outside layers" : name_text(r.path));
}

}  // namespace testing_detail
}  // namespace v0
}  // namespace varve

#endif  // VARVE_TESTING_TEXT_HPP
