// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What is to be counted, in an environment variable.
#ifndef VARVE_INJECT_COUNTERS_TEXT_HPP
#define VARVE_INJECT_COUNTERS_TEXT_HPP

#include "inject/field_text.hpp"

#include <varve/session.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace varve::inject {

template <class Archive>
void fields(Archive& a, is<std::string> auto& text) {
  a(text);
}

template <class Archive>
void fields(Archive& a, is<counter_options> auto& c) {
  auto& [enabled, depth, labels, operations, ranges] = c;
  constexpr std::size_t most_labels = 1000;
  a(enabled, depth, operations, ranges);
  a.list(labels, most_labels);
}

inline std::string counters_text(const counter_options& c) {
  field_writer out;
  fields(out, c);
  return out.text();
}

/// What counters_text() wrote; nothing of anything else.
inline std::optional<counter_options> counters_in(std::string_view text) {
  counter_options out;
  field_reader in{text};
  fields(in, out);
  return in.whole() ? std::optional{out} : std::nullopt;
}

}  // namespace varve::inject

#endif  // VARVE_INJECT_COUNTERS_TEXT_HPP
