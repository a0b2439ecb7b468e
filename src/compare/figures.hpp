// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Every figure of a report, by name: one table (figure_table.cpp), and how names and values are read by it.
#ifndef VARVE_COMPARE_FIGURES_HPP
#define VARVE_COMPARE_FIGURES_HPP

#include <varve/budget.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {
namespace budgets {

enum class statistic : std::uint8_t { own, pass, total, mean, min, p50, p95, p99, max, deviation };

/// What must have been recorded for a figure to mean something.
enum class rests_on : std::uint8_t { markers, calls, device, work };

/// A row of any kind, and where it stands.
struct subject {
  const report* whole = nullptr;
  const row* one = nullptr;          ///< of layers, labels, kernels, categories
  const phase_row* phase = nullptr;  ///< itself, or the one that `one` is in; null outside any
  const collective_row* collective = nullptr;
};

using maybe = std::optional<double>;

/// A line of the table. Of the functions that fit its shape one is there.
struct definition {
  figure_info info;
  rests_on on = rests_on::markers;
  double (*sum)(const measures& m) = nullptr;                 ///< of all calls
  double (*sum_of)(const subject& s) = nullptr;               ///< likewise
  const distribution* (*spread)(const subject& s) = nullptr;  ///< what is kept of single values
  distribution (*gathered)(const subject& s) = nullptr;       ///< likewise, made when asked for
  figure_value (*value)(const subject& s) = nullptr;
};

[[nodiscard]] const std::vector<definition>& definitions(budget_of of);

/// A figure as an entry names it.
struct figure {
  const definition* of = nullptr;
  statistic which = statistic::own;
  /// Whether it is the same each time that the same program runs: counts and bytes are.
  [[nodiscard]] bool exact() const noexcept {
    return of->info.unit == figure_unit::count || of->info.unit == figure_unit::bytes ||
           of->info.unit == figure_unit::flops;
  }
};
[[nodiscard]] std::optional<figure> find_figure(budget_of of, std::string_view name);

[[nodiscard]] figure_value read(const figure& f, const subject& s);

/// The phase that a row is in, or null.
[[nodiscard]] const phase_row* phase_of(const report& r, const row& one) noexcept;

}  // namespace budgets
}  // namespace v0
}  // namespace varve

#endif  // VARVE_COMPARE_FIGURES_HPP
