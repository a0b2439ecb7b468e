// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Naming rules of the user, which come before the names that varve knows.
#ifndef VARVE_FORMATS_PYTORCH_RULES_HPP
#define VARVE_FORMATS_PYTORCH_RULES_HPP

#include "formats/pytorch/marks.hpp"

#include <varve/io.hpp>

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
  [[nodiscard]] mark read(std::string_view text, bool is_module) const;

 private:
  struct compiled {
    naming_rule rule;
    std::regex pattern;
  };
  std::vector<compiled> rules_;
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_RULES_HPP
