// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/comparison.hpp"

#include "formats/table/comparison_sections.hpp"
#include "formats/table/comparison_words.hpp"
#include "formats/table/units.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace varve::table {

namespace {

std::string phase_name(const phase_change& p, bool several) {
  return p.phase + (p.model.empty() ? "" : " of " + p.model) + (p.batch.empty() ? "" : ", " + p.batch) +
         (several ? ", device no. " + std::to_string(p.device + 1) : "");
}

std::vector<phase_parts> parts_of(const comparison& c) {
  const bool several =
      std::any_of(c.phases.begin(), c.phases.end(), [](const phase_change& p) { return p.device > 0; });
  std::vector<phase_parts> out;
  for (const phase_change& p : c.phases) {
    phase_parts& one = out.emplace_back();
    one.of = &p;
    one.name = phase_name(p, several);
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
