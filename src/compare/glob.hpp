// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Patterns of names and of label paths.
#ifndef VARVE_COMPARE_GLOB_HPP
#define VARVE_COMPARE_GLOB_HPP

#include <string>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {
namespace budgets {

/// `*` is any text, `\` takes the next character as it is. Time: at most pattern × text, no recursion.
[[nodiscard]] bool fits(std::string_view pattern, std::string_view text) noexcept;

/// A pattern of label paths, step by step: `*` stays within a step, a step `**` is any number of steps.
class path_pattern {
 public:
  /// `pattern` must outlive it.
  explicit path_pattern(std::string_view pattern);
  [[nodiscard]] bool fits(std::string_view path) const;

 private:
  std::vector<std::string_view> steps_;
};

/// A pattern that fits this text alone.
[[nodiscard]] std::string escaped(std::string_view text);

}  // namespace budgets
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_GLOB_HPP
