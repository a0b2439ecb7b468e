// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A first budget of a run.
#include "compare/budget_rows.hpp"
#include "compare/glob.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace varve {
inline namespace v0 {

namespace budgets {
namespace {

constexpr std::size_t most_groups = 256;  ///< of layers: a file may say that each took all of the time
constexpr std::size_t deepest = 64;

/// Three significant digits, away from the value.
double rounded(double value, bool up) {
  if (!(value > 0) || !std::isfinite(value)) {
    return 0;
  }
  const int exponent = static_cast<int>(std::floor(std::log10(value))) - 2;
  const double step = std::pow(10.0, std::abs(exponent));  // exact, unlike its inverse
  const double scaled = exponent < 0 ? value * step : value / step;
  const double noise = scaled * 1e-12;  // of the products: 750 · 1.1 is a little more than 825
  const double whole = up ? std::ceil(scaled - noise) : std::floor(scaled + noise);
  return exponent < 0 ? whole / step : whole * step;
}

bool is_ramp(std::string_view phase) noexcept {
  constexpr std::string_view suffix = " (ramp)";
  return phase.size() > suffix.size() && phase.substr(phase.size() - suffix.size()) == suffix;
}

/// Whether a name that is no pattern is the layer's own, with or without its number.
bool is_called(std::string_view name, const row& r) noexcept {
  if (name.find_first_of("*/\\") != std::string_view::npos) {
    return false;
  }
  const std::string_view path = r.path;
  const std::size_t step = path.rfind(" / ");
  return name == r.label || name == (step == std::string_view::npos ? path : path.substr(step + 3));
}

class draft {
 public:
  draft(const report& r, const budget_draft_options& options) : report_{r}, options_{options}, rows_{r} {}

  budget run() {
    out_.source = report_.source;
    add_phases();
    if (attributed_ >= out_.least_attributed || !on_device_) {
      add_layers();
    } else if (!options_.layers.empty() && attributed_ >= 0) {
      out_.least_attributed = std::floor(attributed_ * 100) / 100;
      add_layers();
    }
    if (options_.figures.empty()) {
      if (on_device_ && attributed_ >= 0) {  // a file may say that it is no number
        const double usual = budget{}.least_attributed;
        budget_entry e;
        e.figure = "attributed";
        e.at_least = attributed_ >= usual ? usual : std::floor(attributed_ * 100) / 100;
        out_.entries.push_back(e);
      }
    } else {
      add({}, options_.figures);
    }
    return std::move(out_);
  }

 private:
  using place = std::pair<std::string_view, std::string_view>;  ///< phase and model

  [[nodiscard]] std::vector<std::string> figures_or(const std::vector<std::string>& usual) const {
    return options_.figures.empty() ? usual : options_.figures;
  }

  static budget_where at(budget_of of, const place& p, std::string pattern) {
    budget_where where;
    where.of = of;
    where.pattern = std::move(pattern);
    where.phase = escaped(p.first);
    where.model = escaped(p.second);
    return where;
  }

  /// An entry for each of these figures that all selected rows have.
  void add(const budget_where& where, const std::vector<std::string>& names) {
    const std::vector<subject> selected = rows_.select(where);
    for (const std::string& name : names) {
      const auto found = find_figure(where.of, name);
      maybe worst;
      bool known = found.has_value() && !selected.empty();
      for (std::size_t i = 0; known && i < selected.size(); ++i) {
        const figure_value v = read(*found, selected[i]);
        known = v.value.has_value();
        if (known && (!worst || (found->of->info.more_is_better ? *v.value < *worst : *v.value > *worst))) {
          worst = v.value;
        }
      }
      if (known && (*worst > 0 || found->exact())) {
        out_.entries.push_back(entry_of(where, name, *found, *worst));
      }
    }
  }

  [[nodiscard]] budget_entry entry_of(const budget_where& where, const std::string& name, const figure& f,
                                      double value) const {
    budget_entry e;
    e.where = where;
    e.figure = name;
    if (f.of->info.more_is_better) {
      e.at_least = rounded(value * (1 - options_.headroom), false);
    } else if (f.exact() && std::floor(value) == value) {
      e.at_most = value;  // the same in each pass, most likely: one more is news
    } else {
      e.at_most = rounded(value * (1 + options_.headroom), true);
    }
    return e;
  }

  [[nodiscard]] std::vector<place> places() const {
    std::vector<place> out;
    for (const phase_row& p : report_.phases) {
      const place at{p.phase, p.model};
      if (!is_preparation(p.phase) && !is_ramp(p.phase) &&
          std::find(out.begin(), out.end(), at) == out.end()) {
        out.push_back(at);
      }
    }
    return out;
  }

  void add_phases() {
    const std::vector<std::string> names = figures_or({"step.p50", "gpu_time", "launches", "overhead_ratio"});
    for (const place& p : places()) {
      add(at(budget_of::phase, p, {}), names);
    }
  }

  /// The row's path with `*` in place of numbers; empty for none.
  [[nodiscard]] std::string group_of(std::uint32_t number) const {
    const std::vector<row>& layers = report_.layers;
    std::string out;
    std::uint32_t at = number;
    for (std::size_t depth = 0; depth < deepest; ++depth) {
      const row& r = layers[at];
      const std::string step = escaped(r.label) + (r.index == no_index ? "" : " *");
      out = out.empty() ? step : step + " / " + out;
      if (r.parent == none) {
        const std::string& path = layers[number].path;
        return path.empty() || path_pattern{out}.fits(path) ? out : escaped(path);
      }
      if (r.parent >= at) {
        break;
      }
      at = r.parent;
    }
    return {};
  }

  void add_layers() {
    const std::vector<std::string> names = figures_or({on_device_ ? "gpu_time" : "host_time"});
    if (!options_.layers.empty()) {
      const path_pattern asked{options_.layers};
      for (const row& r : report_.layers) {
        if (!r.path.empty() && (asked.fits(r.path) || is_called(options_.layers, r)) &&
            !is_preparation(r.phase)) {
          budget_where where = at(budget_of::layer, {r.phase, r.model}, escaped(r.path));
          where.device = report_.devices.size() > 1 ? std::optional{r.device} : std::nullopt;
          add(where, names);
        }
      }
      return;
    }
    for (const place& p : places()) {
      for (const std::string& pattern : largest(p)) {
        add(at(budget_of::layer, p, pattern), names);
      }
    }
  }

  /// Groups of layers with enough of the phase's time, in the report's order.
  [[nodiscard]] std::vector<std::string> largest(const place& p) const {
    double whole = 0;
    for (const phase_row& r : report_.phases) {
      if (place{r.phase, r.model} == p) {
        whole += static_cast<double>(on_device_ ? r.total.gpu_time : r.step.total);
      }
    }
    std::map<std::string, double> times;
    std::vector<std::string> order;
    for (std::uint32_t i = 0; i < report_.layers.size(); ++i) {
      const row& r = report_.layers[i];
      if (r.path.empty() || place{r.phase, r.model} != p) {
        continue;
      }
      const std::string group = group_of(i);
      if (group.empty()) {
        continue;
      }
      const auto [found, is_new] = times.try_emplace(group, 0.0);
      found->second += static_cast<double>(on_device_ ? r.inclusive.gpu_time : r.inclusive.host_time);
      if (is_new) {
        order.push_back(group);
      }
    }
    std::vector<std::string> out;
    for (const std::string& group : order) {
      if (out.size() < most_groups && times[group] >= options_.least_share * whole) {
        out.push_back(group);
      }
    }
    return out;
  }

  const report& report_;
  const budget_draft_options& options_;
  row_index rows_;
  budget out_;
  const bool on_device_ = report_.quality.activities > 0;
  const double attributed_ = report_.quality.attributed;
};

}  // namespace
}  // namespace budgets

budget draft_budget(const report& r, const budget_draft_options& options) {
  return budgets::draft{r, options}.run();
}

}  // namespace v0
}  // namespace varve
