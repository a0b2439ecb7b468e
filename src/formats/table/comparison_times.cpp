// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/comparison_sections.hpp"
#include "formats/table/comparison_words.hpp"
#include "formats/table/kernel_name.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace varve::table {

namespace {

using row_kind = row_change::kind;

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

}  // namespace

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

}  // namespace varve::table
