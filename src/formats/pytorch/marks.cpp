// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/marks.hpp"

#include "formats/pytorch/number.hpp"

#include <limits>
#include <optional>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::string_view module_prefix = "nn.Module: ";

bool starts(std::string_view text, std::string_view with) noexcept {
  return text.substr(0, with.size()) == with;
}

/// A whole number that an index can be.
std::optional<std::int32_t> index_of(std::string_view text) noexcept {
  const auto index = whole(text, static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()));
  return index ? std::optional{static_cast<std::int32_t>(*index)} : std::nullopt;
}

/// "Linear_3" as ("Linear", 3).
mark read_module(std::string_view name) {
  const std::size_t bar = name.rfind('_');
  if (bar != std::string_view::npos && bar != 0) {
    if (const auto index = index_of(name.substr(bar + 1))) {
      return {std::string{name.substr(0, bar)}, *index, range_kind::layer, {}};
    }
  }
  return {std::string{name}, no_index, range_kind::layer, {}};
}

}  // namespace

bool is_module(std::string_view token) noexcept {
  return !token.empty() && token.front() == '"' && starts(token.substr(1), module_prefix);
}

mark read_mark(std::string_view text, bool is_module) {
  if (is_module) {
    return read_module(text.substr(module_prefix.size()));
  }
  constexpr std::string_view step = "ProfilerStep#";
  if (starts(text, step)) {
    if (const auto index = index_of(text.substr(step.size()))) {
      return {std::string{step.substr(0, step.size() - 1)}, *index, range_kind::phase, {}};
    }
  }
  return {std::string{text}, no_index, range_kind::op, {}};
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
