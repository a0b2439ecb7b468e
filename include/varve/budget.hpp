// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Budgets: what an engine's figures may be at most or at least, for a test or a CI job to keep.
// docs/budgets.md has every figure, the rules and recipes; io.hpp reads and writes budgets as files.
//
// All are values; the functions are pure and may run concurrently.
#ifndef VARVE_BUDGET_HPP
#define VARVE_BUDGET_HPP

#include <varve/report.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {

/// What a figure counts in: nanoseconds, a number, a share (0.95 is 95 %), a ratio, bytes, FLOPs, bytes a
/// second, FLOPs a second, FLOPs a byte, tokens a second.
enum class figure_unit : std::uint8_t {
  time,
  count,
  share,
  ratio,
  bytes,
  flops,
  byte_rate,
  flop_rate,
  intensity,
  token_rate
};

/// Reads "200us", "1.5 ms", "12", "95 %", "300 GB/s". Throws std::invalid_argument, which says what is wrong
/// and what would be right, for a wrong or missing unit, a share above 1 without %, what is no number,
/// negative, or beyond 1e18.
[[nodiscard]] VARVE_API double parse_quantity(std::string_view text, figure_unit unit);
/// Reads "+5 %" or "-5%" as 0.05 or -0.05; the sign must be there. Throws std::invalid_argument likewise.
[[nodiscard]] VARVE_API double parse_change(std::string_view text);
/// Text that parse_quantity() reads as the very same value: "1.5 ms".
[[nodiscard]] VARVE_API std::string exact_text(double value, figure_unit unit);
/// The same for people, with three significant digits.
[[nodiscard]] VARVE_API std::string short_text(double value, figure_unit unit);

/// Which rows of a report a figure is of.
enum class budget_of : std::uint8_t { layer, label, kernel, category, collective, phase, report };

/// Which names a figure has. `value`: its own. `sum`: its own is the mean per `per`; NAME.pass per pass, of
/// rows that are no phases; NAME.total of the whole run. `spread`: its own and NAME.mean are the mean, and
/// there are NAME.min, .p50, .p95, .p99, .max and .deviation. `time`: all of these.
enum class figure_shape : std::uint8_t { value, sum, spread, time };

struct figure_info {
  std::string_view name;
  figure_unit unit = figure_unit::time;
  figure_shape shape = figure_shape::value;
  std::string_view per;   ///< "call", "pass", "request", or "run" where it is of all of them
  std::string_view what;  ///< one sentence
  bool more_is_better = false;
};

/// All figures of such rows.
[[nodiscard]] VARVE_API std::vector<figure_info> figures(budget_of of);
/// The unit of a figure by its full name ("gpu_time.p95"); nothing when such rows have no such figure.
[[nodiscard]] VARVE_API std::optional<figure_unit> unit_of(budget_of of, std::string_view figure);

/// A figure of one row, or why there is none.
struct figure_value {
  std::optional<double> value;
  std::string why;
};
/// `r` is what the row belongs to: a row of one of its views, a phase, a collective.
[[nodiscard]] VARVE_API figure_value figure_of(const report& r, const row& of, std::string_view figure);
[[nodiscard]] VARVE_API figure_value figure_of(const report& r, const phase_row& of, std::string_view figure);
[[nodiscard]] VARVE_API figure_value figure_of(const report& r, const collective_row& of,
                                               std::string_view figure);
[[nodiscard]] VARVE_API figure_value figure_of(const report& r, std::string_view figure);

/// Selects rows. Patterns are whole names: `*` is any text (of paths, within one step), a step `**` of a path
/// any number of steps, `\` takes the next character as it is; case counts.
struct budget_where {
  budget_of of = budget_of::report;
  std::string pattern;  ///< of paths ("layer * / attention"), of names; not of phases and the report
  /// Pattern; empty: any but load, capture and warm-up, which must be named.
  std::string phase;
  std::string model;  ///< pattern; empty: any
  std::optional<std::uint32_t> device;
};

/// One figure and its limits: one of them at least. Each row that is selected must keep them.
struct budget_entry {
  std::string name;  ///< for people; empty: made of the rest
  budget_where where;
  std::string figure;              ///< "gpu_time.p95"
  std::optional<double> at_most;   ///< in the figure's unit
  std::optional<double> at_least;  ///< likewise
  /// Against the same row of a baseline: 0.05 allows it to rise by 5 %, -0.05 to fall by 5 %. Of times 2 %
  /// are always allowed. Where single passes are noisier than both, what the noise may hide is not
  /// measurable.
  std::optional<double> max_change;
  std::int64_t least_passes = 0;  ///< of the row's phase; with fewer it is not measurable
};

struct budget {
  std::string source;  ///< what it was made of, for people
  /// Share of GPU time that must belong to layers, else figures of layers and labels that rest on the GPU's
  /// work are not measurable.
  double least_attributed = 0.95;
  std::vector<budget_entry> entries;
};

/// `error`: no row is selected, there is no such figure, or no baseline to compare with.
enum class budget_status : std::uint8_t { ok, exceeded, not_measurable, error };

/// One entry, by the row that is nearest to or furthest beyond its limit.
struct budget_outcome {
  std::size_t entry = 0;  ///< in budget::entries
  budget_status status = budget_status::error;
  std::string name;   ///< the entry's, or made
  std::string where;  ///< that row: "layer 3 / attention (decode)"
  figure_unit unit = figure_unit::time;
  std::optional<double> actual;
  std::optional<double> limit;
  bool least = false;  ///< the limit is one from below
  std::optional<double> baseline;
  double used = 0;        ///< actual ÷ limit, of limits from below limit ÷ actual: beyond 1 it is exceeded
  std::int64_t rows = 0;  ///< that were selected
  std::int64_t rows_exceeded = 0;
  std::int64_t rows_unknown = 0;  ///< that could not be measured
  std::string message;            ///< one sentence that names the row, its figure and the limit, or the cause
};

struct budget_result {
  std::vector<budget_outcome> entries;  ///< one each, in the budget's order
  [[nodiscard]] std::size_t count(budget_status status) const noexcept {
    std::size_t n = 0;
    for (const budget_outcome& e : entries) {
      n += e.status == status ? 1U : 0U;
    }
    return n;
  }
  /// Whether every entry was measured and is kept. A budget without entries is not kept: it says nothing.
  [[nodiscard]] bool ok() const noexcept {
    return !entries.empty() && count(budget_status::ok) == entries.size();
  }
};

/// An entry is exceeded where any row exceeds it, else not measurable where any row can't be measured.
/// `baseline` may be null where no entry has max_change. Throws only std::bad_alloc.
[[nodiscard]] VARVE_API budget_result check(const report& r, const budget& b,
                                            const report* baseline = nullptr);

struct budget_check_options {
  /// Against a baseline of another device too, or of other clocks; without, max_change is not measurable
  /// there. Counts and bytes do not depend on clocks.
  bool force = false;
};
/// Against repeated runs of a baseline: a row is compared with the median of theirs, which all must have, and
/// what they differ by counts as noise.
[[nodiscard]] VARVE_API budget_result check(const report& r, const budget& b,
                                            const std::vector<report>& baseline,
                                            const budget_check_options& options = {});

struct budget_draft_options {
  /// By which times and ratios may be worse than in the run. Counts that are the same in each pass get none.
  double headroom = 0.1;
  /// In place of the usual ones. Those that a kind of row doesn't have are left out there.
  std::vector<std::string> figures;
  /// Pattern of paths, or a layer's name without `*`, `/` and `\`, wherever it stands: these layers, one
  /// entry each, instead of groups of layers with `least_share`.
  std::string layers;
  double least_share = 0.05;  ///< of its phase's GPU time
};

/// A first budget, which the run itself keeps: of each phase step and GPU time, launches and overhead ratio;
/// GPU time of the layers that take most, those that differ in their numbers alone together ("layer * /
/// attention"); the share of time that belongs to layers. Load, capture and warm-up are left out.
[[nodiscard]] VARVE_API budget draft_budget(const report& r, const budget_draft_options& options = {});

}  // namespace v0
}  // namespace varve

#endif  // VARVE_BUDGET_HPP
