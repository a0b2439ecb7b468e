// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_FORMATS_BUDGET_FIELDS_HPP
#define VARVE_FORMATS_BUDGET_FIELDS_HPP

#include <varve/budget.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace budget_file {

inline constexpr const char* version_field = "varve_budget";
inline constexpr int version = 1;
inline constexpr std::size_t longest_name = 64;

/// Fields that say what kind of row an entry is of, by budget_of; phases and the report have none.
inline constexpr std::array<std::string_view, 5> kinds{"layer", "label", "kernel", "category", "collective"};

[[nodiscard]] constexpr std::optional<budget_of> kind_named(std::string_view field) noexcept {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] == field) {
      return static_cast<budget_of>(i);
    }
  }
  return std::nullopt;
}

}  // namespace budget_file
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_BUDGET_FIELDS_HPP
