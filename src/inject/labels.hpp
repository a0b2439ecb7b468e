// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the texts of NVTX ranges mark: found out once a text, looked up from then on.
#ifndef VARVE_INJECT_LABELS_HPP
#define VARVE_INJECT_LABELS_HPP

#include <varve/io.hpp>
#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace varve::inject {

/// What a range with a certain text is recorded as.
struct range_mark {
  std::string text;
  std::size_t hash = 0;
  const char* name = "";  ///< of a label: lives for ever
  std::int32_t index = VARVE_NO_INDEX;
  int kind = VARVE_KIND_LAYER;
  bool ignored = false;
  std::vector<std::pair<varve_attribute, std::int64_t>> attributes;  ///< of a pass
};

/// Longer texts are cut here.
inline constexpr std::size_t longest_text = 4096;

/// Rules of the user, before the first text is looked at.
void set_rules(const std::vector<naming_rule>& rules);

/// Of a text: lives for ever, but for those beyond 65536 texts, which last until the thread's next call.
/// Thread safe.
const range_mark& mark_of(std::string_view text) noexcept;
/// The same mark, one that lives for ever; beyond 65536 texts one that all share.
const range_mark* kept_mark_of(const range_mark& mark) noexcept;

/// UTF-8; what is no character becomes U+FFFD.
std::string narrow(const wchar_t* text);

/// Around a fork.
void lock_marks() noexcept;
void unlock_marks() noexcept;

}  // namespace varve::inject

#endif  // VARVE_INJECT_LABELS_HPP
