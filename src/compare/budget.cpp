// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/budget_rows.hpp"
#include "compare/device_match.hpp"
#include "compare/limit.hpp"
#include "compare/nearest.hpp"
#include "compare/noise.hpp"
#include "formats/table/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {

namespace budgets {
namespace {

/// Both texts, exact ones where short ones do not tell them apart.
std::pair<std::string, std::string> told_apart(double a, double b, figure_unit unit) {
  std::pair out{short_text(a, unit), short_text(b, unit)};
  if (out.first == out.second && a != b) {
    out = {exact_text(a, unit), exact_text(b, unit)};
  }
  return out;
}

std::string signed_percent(double change) {
  return (change < 0 ? "-" : "+") + table::number(std::fabs(change) * 100) + " %";
}

class entry_check {
 public:
  entry_check(const budget& b, std::size_t number, row_index& rows, std::vector<row_index>& baseline,
              const report& r, const budget_check_options& options)
      : budget_{b},
        entry_{b.entries[number]},
        rows_{rows},
        baseline_{baseline},
        report_{r},
        options_{options} {
    out_.entry = number;
    out_.name = entry_.name;
  }

  budget_outcome run() {
    const budget_where& where = entry_.where;
    if (out_.name.empty()) {
      out_.name = place() + (place().empty() ? "" : ": ") + entry_.figure;
    }
    if (report_.phases.empty() && report_.layers.empty()) {
      return error("the report is empty: it has neither passes nor layers");
    }
    const auto found = find_figure(where.of, entry_.figure);
    if (!found) {
      return error("there is no figure \"" + entry_.figure + "\" of " + std::string{plural(where.of)} +
                   comparing::nearest(entry_.figure, figure_names()));
    }
    figure_ = *found;
    out_.unit = figure_.of->info.unit;
    if (!entry_.at_most && !entry_.at_least && !entry_.max_change) {
      return error("it has no limit: give at_most, at_least or max_change");
    }
    if (entry_.max_change && baseline_.empty()) {
      return error("max_change needs a baseline to compare with: give a report of one");
    }
    const std::vector<subject> selected = rows_.select(where);
    if (selected.empty()) {
      return error(nothing_selected());
    }
    for (const subject& s : selected) {
      look_at(s);
    }
    finish();
    return std::move(out_);
  }

 private:
  budget_outcome error(std::string message) {
    out_.status = budget_status::error;
    out_.message = std::move(message);
    return std::move(out_);
  }

  [[nodiscard]] std::string place() const {
    const budget_where& w = entry_.where;
    std::string out = w.pattern;
    for (const std::string& more : {w.phase, w.model}) {
      out += more.empty() ? "" : (out.empty() ? "" : ", ") + more;
    }
    return out + (w.device ? (out.empty() ? "device " : ", device ") + std::to_string(*w.device) : "");
  }

  [[nodiscard]] std::vector<std::string_view> figure_names() const {
    std::vector<std::string_view> names;
    for (const definition& d : definitions(entry_.where.of)) {
      names.push_back(d.info.name);
    }
    return names;
  }

  [[nodiscard]] std::string nothing_selected() const {
    const budget_where& w = entry_.where;
    std::string out = "no " + std::string{singular(w.of)} + " fits";
    out += w.of == budget_of::phase ? "" : " \"" + w.pattern + '"';
    out += w.phase.empty() ? "" : (w.of == budget_of::phase ? " \"" : " in phase \"") + w.phase + '"';
    out += w.model.empty() ? "" : " of model \"" + w.model + '"';
    out += w.device ? " on device " + std::to_string(*w.device) : "";
    const std::vector<std::string_view> names = rows_.candidates(w);
    if (names.empty()) {
      return out + ": the report has no " + std::string{plural(w.of)} + " there";
    }
    if (w.of != budget_of::layer) {
      return out + comparing::nearest(w.of == budget_of::phase ? w.phase : w.pattern, names);
    }
    return out + (rows_.has_label(w.pattern)
                      ? "; patterns are of whole paths: \"** / " + w.pattern + "\" is it wherever it stands"
                      : comparing::nearest_paths(w.pattern, names));
  }

  void look_at(const subject& s) {
    ++out_.rows;
    figure_value v = read(figure_, s);
    std::string why = v.value ? withheld(s) : v.why;
    std::vector<bound_value> bounds;
    if (why.empty()) {
      why = bounds_of(s, bounds);
    }
    if (!why.empty()) {
      note_unknown(s, why);
      return;
    }
    const bool exceeded = std::any_of(bounds.begin(), bounds.end(),
                                      [&](const bound_value& b) { return is_exceeded(*v.value, b); });
    const auto unsure = std::find_if(bounds.begin(), bounds.end(),
                                     [&](const bound_value& b) { return is_unsure(*v.value, b); });
    if (!exceeded && unsure != bounds.end()) {
      note_unknown(s, "by chance alone two such runs differ by " +
                          short_text(std::fabs(unsure->change), figure_unit::share) + ", more than the " +
                          short_text(std::fabs(*entry_.max_change), figure_unit::share) +
                          " of max_change: record more passes, or allow more");
      return;
    }
    for (const bound_value& b : bounds) {
      const double used = used_of(*v.value, b);
      if (!measured_ || used > out_.used) {
        measured_ = true;
        out_.used = used;
        out_.actual = v.value;
        worst_ = b;
        worst_row_ = s;
      }
    }
    out_.rows_exceeded += exceeded ? 1 : 0;
  }

  void note_unknown(const subject& s, const std::string& why) {
    ++out_.rows_unknown;
    if (unknown_.empty()) {
      unknown_ = rows_.text(s) + ": " + entry_.figure + " is not measurable: " + why;
      unknown_where_ = rows_.text(s);
    }
  }

  /// Why a value means too little to be judged; empty when it doesn't.
  [[nodiscard]] std::string withheld(const subject& s) const {
    const rests_on on = figure_.of->on;
    const double share = s.whole->quality.attributed;
    if (is_of_layers(entry_.where.of) && (on == rests_on::device || on == rests_on::work) &&
        !(share >= budget_.least_attributed)) {  // a file may say that it is no number
      return (std::isfinite(share) ? "only " + short_text(share, figure_unit::share) : "an unknown share") +
             " of the GPU time belongs to a layer, " +
             short_text(budget_.least_attributed, figure_unit::share) + " are needed (least_attributed)";
    }
    const std::int64_t passes = passes_of(s);
    if (entry_.least_passes > passes) {
      return "it rests on " + table::counted(passes, "pass", "passes") + ", " +
             std::to_string(entry_.least_passes) + " are needed (least_passes)";
    }
    return {};
  }

  [[nodiscard]] static std::int64_t passes_of(const subject& s) {
    if (s.phase != nullptr) {
      return s.phase->passes;
    }
    std::int64_t all = 0;
    for (const phase_row& p : s.whole->phases) {
      all = sizes::sum(all, p.passes);
    }
    return all;
  }

  /// That a row is of, or none.
  [[nodiscard]] static std::uint32_t device_of(const subject& s) noexcept {
    return s.one != nullptr          ? s.one->device
           : s.phase != nullptr      ? s.phase->device
           : s.collective != nullptr ? s.collective->device
                                     : none;
  }

  /// That a row is of; all of them, of figures of the whole run.
  [[nodiscard]] static std::vector<const device_row*> devices_of(const subject& s) {
    const std::uint32_t device = device_of(s);
    std::vector<const device_row*> out;
    for (const device_row& d : s.whole->devices) {
      if (device == none || d.device.id == device) {
        out.push_back(&d);
      }
    }
    return out;
  }

  /// Why the two do not compare; empty when they do.
  [[nodiscard]] std::string mismatch(const subject& now, const subject& before) const {
    if (options_.force) {
      return {};
    }
    if (now.whole->quality.live_cpu != before.whole->quality.live_cpu) {
      return "one ran on processor cores, the other on a device";
    }
    const std::vector<const device_row*> then = devices_of(before);
    const std::vector<const device_row*> here = devices_of(now);
    for (std::size_t i = 0; i < std::min(then.size(), here.size()); ++i) {
      for (comparing::device_difference& d : comparing::differences_of(*then[i], *here[i])) {
        if (d.refuses && !(d.of_clocks && figure_.exact())) {
          return std::move(d.text);
        }
      }
    }
    return {};
  }

  /// Why there are none; empty when there are.
  [[nodiscard]] std::string bounds_of(const subject& s, std::vector<bound_value>& to) {
    if (entry_.at_most) {
      to.push_back({*entry_.at_most, false, {}, 0, false, {}});
    }
    if (entry_.at_least) {
      to.push_back({*entry_.at_least, true, {}, 0, false, {}});
    }
    if (!entry_.max_change) {
      return {};
    }
    double noise = 0;
    std::vector<double> values;
    for (row_index& run : baseline_) {
      const subject before = run.same(entry_.where.of, s);
      if (before.whole == nullptr) {
        const std::uint32_t there = run.device_with(entry_.where.of, s);
        return there == none
                   ? "the baseline has no such row"
                   : "the baseline has no such row on device " + std::to_string(device_of(s)) +
                         ", but on device " + std::to_string(there) + ": measure both on the same one";
      }
      const figure_value v = read(figure_, before);
      if (const std::string why = v.value ? withheld(before) : v.why; !why.empty()) {
        return "of the baseline: " + why;
      }
      if (const std::string why = mismatch(s, before); !why.empty()) {
        return "the baseline does not compare: " + why + "; force compares it all the same";
      }
      noise = std::max(noise, noise_of(figure_, s, before));
      values.push_back(*v.value);
    }
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    const double middle = values.size() % 2 != 0 ? values[half] : values[half - 1] / 2 + values[half] / 2;
    if (!figure_.exact() && middle > 0) {
      noise = std::max(noise, (values.back() - values.front()) / middle);
    }
    const double asked = std::fabs(*entry_.max_change);
    const double allowed = std::max(asked, noise);
    const bool least = std::signbit(*entry_.max_change);
    bound_value b{middle * (least ? std::max(0.0, 1 - allowed) : 1 + allowed),
                  least,
                  middle,
                  least ? -allowed : allowed,
                  allowed > asked,
                  {}};
    if (noise > std::max(asked, noise_floor)) {
      b.surely = middle * (1 + (least ? noise - asked : asked - noise));
    }
    to.push_back(b);
    return {};
  }

  void finish() {
    out_.status = out_.rows_exceeded > 0  ? budget_status::exceeded
                  : out_.rows_unknown > 0 ? budget_status::not_measurable
                                          : budget_status::ok;
    if (measured_) {
      out_.where = rows_.text(worst_row_);
      out_.limit = worst_.limit;
      out_.least = worst_.least;
      out_.baseline = worst_.baseline;
    }
    if (out_.status == budget_status::not_measurable) {
      out_.where = unknown_where_;
      out_.message = unknown_ + others(out_.rows_unknown, "can't be measured");
      return;
    }
    const auto [actual, limit] = told_apart(*out_.actual, worst_.limit, out_.unit);
    out_.message = out_.where + ": " + entry_.figure + ' ' + actual + per() +
                   (worst_.least ? ", at least " : ", at most ") + limit;
    if (worst_.baseline) {
      out_.message += " (" + short_text(*worst_.baseline, out_.unit) + " before, " +
                      signed_percent(worst_.change) + " allowed" + (worst_.noisy ? " by its noise" : "") +
                      ')';
    }
    if (out_.status == budget_status::exceeded) {
      const double off = worst_.limit > 0 ? std::fabs(*out_.actual - worst_.limit) / worst_.limit * 100 : 0;
      out_.message += off > 0 ? ": " + table::number(off) + (worst_.least ? " % less" : " % more") : "";
      out_.message += others(out_.rows_exceeded, "exceed it");
    }
  }

  [[nodiscard]] std::string per() const {
    const std::string_view of = figure_.which == statistic::pass    ? "pass"
                                : figure_.which == statistic::total ? "run"
                                                                    : figure_.of->info.per;
    return of == "run" || of.empty() ? "" : " a " + std::string{of};
  }

  [[nodiscard]] std::string others(std::int64_t n, const char* what) const {
    if (out_.rows <= 1) {
      return {};
    }
    return "; " + std::to_string(n) + " of " + std::to_string(out_.rows) + " rows " + what +
           (out_.status == budget_status::exceeded && out_.rows_unknown > 0
                ? ", " + std::to_string(out_.rows_unknown) + " can't be measured"
                : "");
  }

  const budget& budget_;
  const budget_entry& entry_;
  row_index& rows_;
  std::vector<row_index>& baseline_;
  const report& report_;
  const budget_check_options& options_;
  figure figure_;
  budget_outcome out_;
  bool measured_ = false;
  bound_value worst_;
  subject worst_row_;
  std::string unknown_;
  std::string unknown_where_;
};

}  // namespace
}  // namespace budgets

namespace {

budget_result check_against(const report& r, const budget& b, const report* baseline, std::size_t runs,
                            const budget_check_options& options) {
  budgets::row_index rows{r};
  std::vector<budgets::row_index> before;
  before.reserve(runs);
  for (std::size_t i = 0; i < runs; ++i) {
    before.emplace_back(baseline[i]);
  }
  budget_result out;
  for (std::size_t i = 0; i < b.entries.size(); ++i) {
    out.entries.push_back(budgets::entry_check{b, i, rows, before, r, options}.run());
  }
  return out;
}

}  // namespace

budget_result check(const report& r, const budget& b, const report* baseline) {
  return check_against(r, b, baseline, baseline != nullptr ? 1 : 0, {});
}

budget_result check(const report& r, const budget& b, const std::vector<report>& baseline,
                    const budget_check_options& options) {
  return check_against(r, b, baseline.data(), baseline.size(), options);
}

}  // namespace v0
}  // namespace varve
