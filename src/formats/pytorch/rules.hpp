// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Naming rules of the user, which come before the names that varve knows.
#ifndef VARVE_FORMATS_PYTORCH_RULES_HPP
#define VARVE_FORMATS_PYTORCH_RULES_HPP

#include "formats/pytorch/marks.hpp"

#include <varve/io.hpp>

#include <cstdint>
#include <regex>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

class naming_rules {
 public:
  naming_rules() = default;
  /// Throws varve::error.
  explicit naming_rules(const std::vector<naming_rule>& rules);

  /// read_mark(), or what the first rule that fits makes of the text.
  [[nodiscard]] mark read(std::string_view text, bool is_module);
  /// Searches that were given up since they take too long: their rule counts as one that does not fit.
  [[nodiscard]] std::uint64_t given_up() const noexcept { return given_up_; }

 private:
  struct compiled {
    naming_rule rule;
    std::regex pattern;
    std::int64_t states = 0;  ///< at most, of its automaton
    std::int64_t groups = 0;
  };
  std::vector<compiled> rules_;
  std::int64_t steps_left_ = 128'000'000;  ///< a few seconds; each search adds what an ordinary one takes
  std::uint64_t given_up_ = 0;
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_RULES_HPP
