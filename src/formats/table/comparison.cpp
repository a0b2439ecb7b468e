// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/comparison.hpp"

#include "formats/table/kernel_name.hpp"
#include "formats/table/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace varve::table {

namespace {

using row_kind = row_change::kind;

/// "+5.8 %", "×12" for what is more than tenfold, "0 %".
std::string signed_percent(double share) {
  constexpr double tenfold = 9;
  if (std::isnan(share)) {
    return "–";
  }
  constexpr double hundredfold = 99;
  if (share > tenfold) {
    return share > hundredfold ? ">×100" : "×" + number(share + 1);
  }
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * share);
  const std::string out{text};
  return out == "+0.0 %" || out == "-0.0 %" ? "0 %" : out;
}

/// A number a pass: "4", "0.500".
std::string times(double n) { return n == std::floor(n) ? count(n) : number(n); }

std::string signed_duration(double ns) { return (ns > 0 ? "+" : "") + duration(ns); }

const char* name_of(outcome o) {
  switch (o) {
    case outcome::same:
      return "same";
    case outcome::better:
      return "better";
    case outcome::worse:
      return "worse";
    case outcome::inconclusive:
      break;
  }
  return "inconclusive";
}

std::string change(const time_change& c) {
  return c.base_mean > 0 && c.fresh_mean > 0 ? signed_percent(c.relative) : "";
}

std::string interval(const time_change& c) {
  return c.has_interval ? signed_percent(c.low) + " to " + signed_percent(c.high) : "";
}

std::string time(double ns) { return ns > 0 ? duration(ns) : "–"; }

/// A phase with all that belongs to it.
struct phase_parts {
  const phase_change* of = nullptr;
  std::string name;
  std::vector<const row_change*> rows;
  std::vector<const label_change*> labels;
  std::vector<const kernel_change*> kernels;
};

std::string name_of(const phase_change& p, bool several) {
  return p.phase + (p.model.empty() ? "" : " of " + p.model) + (p.batch.empty() ? "" : ", " + p.batch) +
         (several ? ", device no. " + std::to_string(p.device + 1) : "");
}

bool changed(const time_change& t) { return t.verdict == outcome::better || t.verdict == outcome::worse; }

/// Layers by what became of them: each counts once.
class tally {
 public:
  void add(const row_change& r) {
    if (r.what == row_kind::added || r.what == row_kind::removed) {
      ++one_sided_;
    } else {
      ++by_verdict_[static_cast<std::size_t>(r.gpu_time.verdict)];
    }
  }
  /// "4 layers worse, 0 better, 2 the same, 1 inconclusive"
  [[nodiscard]] std::string text() const {
    std::string out = counted(of(outcome::worse), "layer") + " worse, " + count(of(outcome::better)) +
                      " better, " + count(of(outcome::same)) + " the same";
    const std::int64_t open = of(outcome::inconclusive);
    out += open > 0 ? ", " + count(open) + " inconclusive" : "";
    return out + (one_sided_ > 0 ? ", " + count(one_sided_) + " added or removed" : "");
  }

 private:
  [[nodiscard]] std::int64_t of(outcome o) const { return by_verdict_[static_cast<std::size_t>(o)]; }

  std::array<std::int64_t, 4> by_verdict_{};
  std::int64_t one_sided_ = 0;
};

/// Worth a line. What cannot be told is, where it is a hundredth of the phase's wall at least.
bool is_news(const row_change& r, double wall) {
  const bool open = r.gpu_time.verdict == outcome::inconclusive &&
                    std::fabs(r.gpu_time.fresh_mean - r.gpu_time.base_mean) >= 0.01 * wall;
  return open || changed(r.gpu_time) || r.what != row_kind::matched || r.work_changed ||
         !r.base_kernel.empty() || !r.fresh_kernel.empty() || !r.inside.empty();
}

/// What changed beside the time.
std::string notes_of(const row_change& r) {
  std::vector<std::string> parts;
  switch (r.what) {
    case row_kind::added:
      parts.emplace_back("added");
      break;
    case row_kind::removed:
      parts.emplace_back("removed");
      break;
    case row_kind::renamed:
      parts.push_back("renamed to " + r.fresh_path);
      break;
    case row_kind::matched:
      break;
  }
  const bool both = r.base_row != none && r.fresh_row != none;
  const auto counts = [&](double base, double fresh, const char* what) {
    if (both && std::fabs(base - fresh) > 0.01 * std::max(base, fresh)) {
      parts.push_back(times(base) + " → " + times(fresh) + ' ' + what);
    }
  };
  counts(r.base_calls, r.fresh_calls, "calls");
  counts(r.base_launches, r.fresh_launches, "launches");
  counts(r.base_kernels, r.fresh_kernels, "kernels");
  if (!r.base_kernel.empty() || !r.fresh_kernel.empty()) {
    const auto named = [](const std::string& kernel) { return kernel.empty() ? "–" : kernel_name(kernel); };
    parts.push_back(named(r.base_kernel) + " → " + named(r.fresh_kernel));
  }
  if (r.work_changed) {
    const auto work = [&](double base, double fresh, const char* what) {
      if (std::fabs(base - fresh) > 0.001 * std::max(base, fresh)) {
        parts.push_back(what + std::string{" "} + (base > 0 ? signed_percent(fresh / base - 1) : "new"));
      }
    };
    work(r.base_work.flops, r.fresh_work.flops, "FLOPs");
    work(r.base_work.weight_bytes, r.fresh_work.weight_bytes, "weight bytes");
    work(r.base_work.kv_bytes, r.fresh_work.kv_bytes, "KV bytes");
    work(r.base_work.activation_bytes, r.fresh_work.activation_bytes, "activation bytes");
  }
  if (!r.inside.empty()) {
    parts.push_back("inside: " + r.inside);
  }
  std::string out;
  for (const std::string& one : parts) {
    out += (out.empty() ? "" : "; ") + one;
  }
  return out;
}

/// Whether the mean told what the median, or its interval, does not show.
bool is_by_mean(const time_change& t) {
  const double sign = t.mean_relative > 0 ? 1 : -1;
  return changed(t) && t.mean_p < t.p &&
         (sign * t.relative < 0.5 * sign * t.mean_relative || (t.low <= 0 && t.high >= 0));
}

std::vector<std::string> cells(std::string name, const time_change& t, std::string verdict,
                               std::string notes) {
  if (is_by_mean(t)) {
    notes = "mean " + signed_percent(t.mean_relative) + " (" + signed_percent(t.mean_low) + " to " +
            signed_percent(t.mean_high) + ")" + (notes.empty() ? "" : "; ") + notes;
  }
  return {std::move(name), time(t.base),       time(t.fresh),   change(t),
          interval(t),     std::move(verdict), std::move(notes)};
}

const std::vector<std::string> time_columns{"a pass",   "base",    "new",  "change",
                                            "interval", "verdict", "notes"};

template <class T>
void cut(std::vector<T>& all, std::size_t top, const char* what, std::vector<std::string>& notes) {
  if (top != 0 && all.size() > top) {
    notes.push_back(
        "… " + counted(static_cast<std::int64_t>(all.size() - top), (std::string{"more "} + what).c_str()));
    all.resize(top);
  }
}

std::vector<phase_parts> parts_of(const comparison& c) {
  const bool several =
      std::any_of(c.phases.begin(), c.phases.end(), [](const phase_change& p) { return p.device > 0; });
  std::vector<phase_parts> out;
  for (const phase_change& p : c.phases) {
    phase_parts& one = out.emplace_back();
    one.of = &p;
    one.name = name_of(p, several);
  }
  for (const row_change& r : c.rows) {
    out[r.phase].rows.push_back(&r);
  }
  for (const label_change& l : c.labels) {
    out[l.phase].labels.push_back(&l);
  }
  for (const kernel_change& k : c.kernels) {
    out[k.phase].kernels.push_back(&k);
  }
  const auto size = [](const time_change& t) { return std::fabs(t.fresh_mean - t.base_mean); };
  for (phase_parts& one : out) {
    std::stable_sort(one.rows.begin(), one.rows.end(), [&](const row_change* a, const row_change* b) {
      return size(a->gpu_time) > size(b->gpu_time);
    });
  }
  return out;
}

comparison_section times_of(const phase_parts& phase, std::size_t top) {
  const phase_change& p = *phase.of;
  comparison_section out{
      phase.name + " · " + times(p.base_passes) + " → " + times(p.fresh_passes) + " passes",
      time_columns,
      {},
      {}};
  const bool both = p.base_phase != none && p.fresh_phase != none;
  const auto verdict = [&](const time_change& t) { return both ? name_of(t.verdict) : ""; };
  out.rows.push_back(cells("step", p.step, verdict(p.step), ""));
  if (p.gpu_time.base_mean > 0 || p.gpu_time.fresh_mean > 0) {
    out.rows.push_back(cells("GPU time", p.gpu_time, verdict(p.gpu_time), ""));
  }
  std::vector<std::vector<std::string>> labels;
  for (const label_change* const l : phase.labels) {
    if (changed(l->gpu_time) || l->work_changed) {
      labels.push_back(cells(l->label + " (" + count(l->rows) + ")", l->gpu_time,
                             name_of(l->gpu_time.verdict), l->work_changed ? "other work" : ""));
    }
  }
  cut(labels, top, "label", out.notes);
  out.rows.insert(out.rows.end(), labels.begin(), labels.end());
  std::vector<std::vector<std::string>> layers;
  tally all;
  std::int64_t unlisted = 0;
  for (const row_change* const r : phase.rows) {
    all.add(*r);
    if (is_news(*r, p.base_wall)) {
      const bool matched = r->base_row != none && r->fresh_row != none;
      layers.push_back(
          cells(r->path, r->gpu_time, matched ? name_of(r->gpu_time.verdict) : "", notes_of(*r)));
    } else {
      ++unlisted;
    }
  }
  cut(layers, top, "layer", out.notes);
  out.rows.insert(out.rows.end(), layers.begin(), layers.end());
  if (!phase.rows.empty()) {
    out.notes.push_back(all.text() + (unlisted > 0 ? "; " + count(unlisted) + " of them not listed" : ""));
  }
  return out;
}

std::string name_of(const comparison& c, const contribution& one) {
  switch (one.what) {
    case contribution::kind::layer:
      return c.rows[one.row].path;
    case contribution::kind::other_work:
      return "other work on the device";
    case contribution::kind::starved:
      return "starved";
    case contribution::kind::device_gap:
      return "device gap";
    case contribution::kind::unrecorded:
      return "unrecorded";
    case contribution::kind::outside_layer:
      return "outside any layer";
  }
  return {};
}

/// Empty where nothing changed.
comparison_section makers_of(const comparison& c, const phase_parts& phase, std::size_t top) {
  const phase_change& p = *phase.of;
  const double total = p.fresh_wall - p.base_wall;
  comparison_section out{"What made " + signed_duration(total) + " a pass",
                         {"of the wall of " + phase.name, "base", "new", "change", "of base"},
                         {},
                         {}};
  constexpr double small = 0.001;
  double rest = 0;
  std::size_t left = 0;
  for (const contribution& one : p.contributions) {
    if (std::fabs(one.change()) < small * p.base_wall || (top != 0 && out.rows.size() == top)) {
      rest += one.change();
      left += one.change() != 0 ? 1U : 0U;
      continue;
    }
    out.rows.push_back({name_of(c, one), time(one.base), time(one.fresh), signed_duration(one.change()),
                        signed_percent(one.change() / p.base_wall)});
  }
  if (!out.rows.empty() && left > 0) {
    out.notes.push_back("… " + counted(static_cast<std::int64_t>(left), "smaller part") + ": " +
                        signed_duration(rest) + " together");
  }
  return out;
}

std::string shape(const launch_shape& s) {
  const auto three = [](const std::uint32_t* n) {
    return std::to_string(n[0]) + "×" + std::to_string(n[1]) + "×" + std::to_string(n[2]);
  };
  return three(s.grid) + " of " + three(s.block);
}

comparison_section kernels_of(const phase_parts& phase, std::size_t top) {
  comparison_section out{"Kernels that changed", {"a pass", "base", "new", "count", "what"}, {}, {}};
  for (const kernel_change* const one : phase.kernels) {
    const kernel_change& k = *one;
    using kind = kernel_change::kind;
    const std::string base = shape(k.base_shape);
    const std::string fresh = shape(k.fresh_shape);
    const std::string shapes = base == fresh ? "" : base + " → " + fresh;
    const std::string what = k.what == kind::added     ? "added"
                             : k.what == kind::removed ? "removed"
                             : k.what == kind::count   ? (shapes.empty() ? "count" : "count; " + shapes)
                                                       : shapes;
    out.rows.push_back({kernel_name(k.name), time(k.base_time), time(k.fresh_time),
                        k.base_count == k.fresh_count ? times(k.base_count)
                                                      : times(k.base_count) + " → " + times(k.fresh_count),
                        what});
  }
  cut(out.rows, top, "kernel", out.notes);
  return out;
}

std::string summary_of(const comparison& c, const std::vector<phase_parts>& phases) {
  if (c.phases.empty()) {
    return "Nothing to compare.";
  }
  if (c.no_difference() || c.inconclusive()) {
    return c.no_difference() ? "No difference." : "No difference can be told from noise.";
  }
  std::string out;
  for (const phase_parts& p : phases) {
    if (p.of->base_phase == none || p.of->fresh_phase == none) {
      continue;
    }
    const time_change& t = p.of->step;
    out += (out.empty() ? "" : "; ") + p.name + ": " +
           (t.verdict == outcome::inconclusive ? std::string{"step inconclusive"}
            : t.verdict == outcome::same
                ? std::string{"step the same"}
                : "step " + (is_by_mean(t) ? signed_percent(t.mean_relative) + " in the mean" : change(t)) +
                      ", " + name_of(t.verdict));
  }
  tally all;
  std::int64_t work = 0;
  for (const row_change& r : c.rows) {
    all.add(r);
    work += r.work_changed ? 1 : 0;
  }
  out += (out.empty() ? "" : ". ") + all.text();
  std::string besides = work > 0 ? counted(work, "layer") + " with other work" : "";
  if (!c.kernels.empty()) {
    besides += (besides.empty() ? "" : ", ") + counted(std::ssize(c.kernels), "kernel") + " changed";
  }
  return out + (besides.empty() ? "" : "; ") + besides + '.';
}

}  // namespace

comparison_text describe(const comparison& c, std::size_t top) {
  comparison_text out;
  const std::vector<phase_parts> phases = parts_of(c);
  out.summary = summary_of(c, phases);
  const auto side = [](const char* name, const std::string& source, std::int64_t runs) {
    return name + source + (runs > 1 ? " and " + counted(runs - 1, "more run") : "");
  };
  out.sides = {side("base: ", c.base, c.base_runs), side("new: ", c.fresh, c.fresh_runs),
               "comparable to " + percent(c.score, 1) + " %"};
  for (const comparability_reason& r : c.reasons) {
    out.warnings.push_back((r.refuses ? "not comparable: " : "") + r.text);
  }
  for (const phase_parts& p : phases) {
    out.sections.push_back(times_of(p, top));
    if (p.of->base_phase == none || p.of->fresh_phase == none) {
      continue;
    }
    for (comparison_section& s : std::vector{makers_of(c, p, top), kernels_of(p, top)}) {
      if (!s.rows.empty()) {
        out.sections.push_back(std::move(s));
      }
    }
  }
  comparison_section checks{"What the base report said", {}, {}, {}};
  for (const prediction_check& p : c.predictions) {
    checks.notes.push_back(p.text);
  }
  for (const hypothesis_check& h : c.hypotheses) {
    checks.notes.push_back(h.text);
  }
  if (!checks.notes.empty()) {
    out.sections.push_back(std::move(checks));
  }
  out.method = "change: median over passes, with its " + percent(c.options.confidence, 1) +
               " % interval of " + counted(c.options.resamples, "resample") +
               "; same: all of it, and the mean, within ±" + percent(c.options.noise, 1) +
               " %; better, worse: beyond " +
               (c.base_runs + c.fresh_runs > 2 ? "what repeated runs differ by"
                                               : "that, as two single runs may differ by it") +
               ", at a false discovery rate of " + percent(1 - c.options.confidence, 1) + " %";
  return out;
}

}  // namespace varve::table
