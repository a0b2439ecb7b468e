// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What labels stand for in a model.
#ifndef VARVE_WORK_LABEL_RULES_HPP
#define VARVE_WORK_LABEL_RULES_HPP

#include <varve/model.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace varve {
inline namespace v0 {
namespace model_work {

/// A block of operators, or one of its operators.
struct label_part {
  std::string block;
  std::string name;  ///< empty: all

  [[nodiscard]] bool holds(const operator_work& o) const noexcept;
};

struct parsed_rule {
  std::string pattern;
  std::vector<label_part> parts;   ///< none: the label stands for nothing
  std::vector<label_part> nested;  ///< in place of these inside a range that stands for the same block
  bool one_each = false;
  bool is_layer = false;

  /// Names operators, not blocks.
  [[nodiscard]] bool is_named() const noexcept;
  /// A block as a whole is among the parts of both.
  [[nodiscard]] bool stands_for_block_of(const parsed_rule& other) const noexcept;
};

class label_rules {
 public:
  /// Those of a user, then the usual ones. Throws std::invalid_argument for one that check() refuses.
  explicit label_rules(const std::vector<label_rule>& first);

  /// Those whose pattern fits the text with this id, in order.
  const std::vector<std::uint32_t>& fitting(const string_table& strings, std::uint32_t name);
  [[nodiscard]] const parsed_rule& operator[](std::uint32_t rule) const noexcept { return rules_[rule]; }

 private:
  std::vector<parsed_rule> rules_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> fitting_;  // by name
};

/// A norm inside of attention.
[[nodiscard]] bool is_inner_norm(const operator_work& o) noexcept;

}  // namespace model_work
}  // namespace v0
}  // namespace varve

#endif  // VARVE_WORK_LABEL_RULES_HPP
