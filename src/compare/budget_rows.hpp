// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The rows of a report that an entry of a budget is about.
#ifndef VARVE_COMPARE_BUDGET_ROWS_HPP
#define VARVE_COMPARE_BUDGET_ROWS_HPP

#include "compare/figures.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace varve {
inline namespace v0 {
namespace budgets {

/// A phase that is not meant unless it is named.
[[nodiscard]] bool is_preparation(std::string_view phase) noexcept;

/// Rows of a report by their keys.
class row_index {
 public:
  explicit row_index(const report& r) : report_{r} {}
  /// What the entry selects, in the report's order.
  [[nodiscard]] std::vector<subject> select(const budget_where& where);
  /// The row with the same key, or one that stands for nothing.
  [[nodiscard]] subject same(budget_of of, const subject& other);
  /// The first other device that has the row with the same key but for its device; none where there is none.
  [[nodiscard]] std::uint32_t device_with(budget_of of, const subject& other);
  /// Names that were there to select, of phases that fit; at most some thousands.
  [[nodiscard]] std::vector<std::string_view> candidates(const budget_where& where) const;
  /// Whether a layer is called so, without its number.
  [[nodiscard]] bool has_label(std::string_view name) const;
  /// "layer 3 / attention (decode)"
  [[nodiscard]] std::string text(const subject& s) const;

 private:
  using key = std::tuple<std::string_view, std::string_view, std::string_view, std::uint32_t,
                         std::string_view, std::int64_t>;
  using keys = std::map<key, std::size_t>;

  [[nodiscard]] static key key_of(budget_of of, const subject& other);
  [[nodiscard]] const phase_row* phase_of(const row& one);

  const report& report_;
  std::map<budget_of, keys> keys_;
  [[nodiscard]] const keys& keys_of(budget_of of);
};

/// Figures of rows of this kind belong to layers, so they mean little where few of the time does.
[[nodiscard]] constexpr bool is_of_layers(budget_of of) noexcept {
  return of == budget_of::layer || of == budget_of::label;
}

/// "layers"
[[nodiscard]] std::string_view plural(budget_of of) noexcept;
[[nodiscard]] std::string_view singular(budget_of of) noexcept;

}  // namespace budgets
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_BUDGET_ROWS_HPP
