// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the base report said would happen, against what did.
#include "compare/parts.hpp"

#include "formats/table/units.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace varve {
inline namespace v0 {
namespace comparing {

namespace {

using table::duration;
using table::percent;

bool near(double a, double b) {
  constexpr double within = 0.05;
  return a <= b * (1 + within) && b <= a * (1 + within);
}

/// Whether `then` is `part` of `before`, give or take a fifth.
bool is_part(double before, double then, double part) {
  constexpr double within = 0.2;
  return before > 0 && then > before * part * (1 - within) && then < before * part * (1 + within);
}

bool weights_are(const pass_work& base, const pass_work& fresh, double part) {
  return is_part(base.weight_bytes, fresh.weight_bytes, part) && near(base.flops, fresh.flops) &&
         near(base.kv_bytes, fresh.kv_bytes);
}

bool kv_is_half(const pass_work& base, const pass_work& fresh) {
  return is_part(base.kv_bytes, fresh.kv_bytes, 0.5) && near(base.flops, fresh.flops) &&
         near(base.weight_bytes, fresh.weight_bytes);
}

/// How many layers of each phase have each label.
class label_counts {
 public:
  explicit label_counts(const run& r) {
    for (std::uint32_t phase = 0; phase < r.of().phases.size(); ++phase) {
      for (const std::uint32_t i : r.layers(phase)) {
        ++counts_[{phase, r.of().layers[i].label}];
      }
    }
  }
  [[nodiscard]] std::int64_t operator()(std::uint32_t phase, std::string_view label) const {
    const auto at = counts_.find({phase, label});
    return at == counts_.end() ? 0 : at->second;
  }

 private:
  std::map<std::pair<std::uint32_t, std::string_view>, std::int64_t> counts_;
};

/// Whether the new report shows what the prediction is about.
bool came_about(const prediction& p, const run& base, std::uint32_t base_phase, const run& fresh,
                std::uint32_t fresh_phase, const label_counts& of_base, const label_counts& of_fresh) {
  const measures& b = base.of().phases[base_phase].total;
  const measures& f = fresh.of().phases[fresh_phase].total;
  const pass_work before = work_of(b, base.passes(base_phase));
  const pass_work then = work_of(f, fresh.passes(fresh_phase));
  const auto single_launches = [](const measures& m, double passes) {
    return std::max(0.0, amount(m.launches) - amount(m.graph_launches)) / passes;
  };
  const std::string* const label =
      p.layer < base.of().layers.size() ? &base.of().layers[p.layer].label : nullptr;
  switch (p.what) {
    case prediction::change::graphs:
      return amount(f.graph_launches) > 0 && single_launches(f, fresh.passes(fresh_phase)) <=
                                                 0.2 * single_launches(b, base.passes(base_phase));
    case prediction::change::half_weight_bytes:
      return weights_are(before, then, 0.5);
    case prediction::change::quarter_weight_bytes:
      return weights_are(before, then, 0.25);
    case prediction::change::half_kv_bytes:
      return kv_is_half(before, then);
    case prediction::change::double_batch:
      return before.flops > 0 && near(2 * before.flops, then.flops) &&
             near(before.weight_bytes, then.weight_bytes);
    case prediction::change::fused:
      return label != nullptr && of_fresh(fresh_phase, *label) == 0 && of_base(base_phase, *label) > 0;
    case prediction::change::left_out:
      return label != nullptr && of_base(base_phase, *label) == of_fresh(fresh_phase, *label) + 1;
  }
  return false;
}

const char* name_of(prediction::change what) {
  switch (what) {
    case prediction::change::graphs:
      return "CUDA graphs";
    case prediction::change::half_weight_bytes:
      return "weights in half the bytes";
    case prediction::change::quarter_weight_bytes:
      return "weights in a quarter of the bytes";
    case prediction::change::half_kv_bytes:
      return "a KV cache in half the bytes";
    case prediction::change::double_batch:
      return "twice the batch";
    case prediction::change::fused:
      return "a fused layer";
    case prediction::change::left_out:
      return "one layer less";
  }
  return "";
}

const char* name_of(bound by) {
  switch (by) {
    case bound::compute:
      return "compute";
    case bound::memory:
      return "memory";
    case bound::communication:
      return "communication";
    case bound::copy:
      return "copies";
    case bound::starved:
      return "the host";
    case bound::latency:
      return "latency";
    case bound::unknown:
      break;
  }
  return "";
}

/// Interval of a relative change, or the change alone; of single runs wider by what two of them may differ
/// by.
std::pair<double, double> interval(const comparison& of, const time_change& c, double relative, double low,
                                   double high) {
  const bool single = of.base_runs + of.fresh_runs <= 2 || !c.has_interval;
  const double noise = single ? of.options.noise : 0;
  return {(1 + (c.has_interval ? low : relative)) * (1 - noise) - 1,
          (1 + (c.has_interval ? high : relative)) * (1 + noise) - 1};
}

/// What `c` rests on may say that something got slower or faster than was said.
bool names_changes(const comparison& of, const time_change& c) {
  return c.has_interval && (of.base_runs + of.fresh_runs > 2 ||
                            std::min(c.base_passes, c.fresh_passes) >= fewest_passes_to_tell);
}

/// Nothing was predicted and nothing came of it, as far as noise tells.
bool is_no_change(const prediction& p, double measured, double noise) {
  const double now = amount(p.now);
  return now - amount(p.at_best) <= noise * now && std::fabs(measured - now) <= noise * now;
}

std::string range(const std::string& low, const std::string& high) { return '(' + low + " to " + high + ')'; }

class hypotheses {
 public:
  explicit hypotheses(comparison& to) : to_{to} {}

  void check(std::uint32_t phase, const std::string& label, const time_change& time, const pass_work& base,
             const pass_work& fresh, bound expected) {
    constexpr double small = 0.01;
    const bool weights = weights_are(base, fresh, 0.5);
    if ((!weights && !kv_is_half(base, fresh)) || !(time.base_mean > 0 && time.fresh_mean > 0) ||
        time.base_mean < small * to_.phases[phase].gpu_time.base_mean) {
      return;
    }
    constexpr double enough = 0.2;
    const auto [low, high] = interval(to_, time, time.relative, time.low, time.high);
    hypothesis_check& h = to_.hypotheses.emplace_back();
    h.phase = phase;
    h.label = label;
    h.kv_cache = !weights;
    h.speedup = -time.relative;
    h.low = -high;
    h.high = -low;
    h.expected = expected;
    using result = hypothesis_check::result;
    h.outcome = h.high < enough ? result::not_bound : h.low >= enough ? result::bound : result::undecided;
    const std::string bytes = h.kv_cache ? "its KV cache" : "its weights";
    h.text =
        (label.empty() ? to_.phases[phase].phase : label) + ": half the bytes of " + bytes + ", " +
        percent(h.speedup, 1) + " % less time " + range(percent(h.low, 1), percent(h.high, 1) + " %") + ": " +
        (h.outcome == result::not_bound ? "it was not bound by reading them"
         : h.outcome == result::bound   ? "it was bound by reading them"
                                        : "more passes would tell whether it was bound by reading them") +
        (expected == bound::unknown ? ""
                                    : std::string{"; the base report says bound by "} + name_of(expected));
  }

 private:
  comparison& to_;
};

}  // namespace

void check_predictions(const sides& s, const std::vector<phase_pair>& phases, comparison& to) {
  const run& base = s.base.runs[0];
  const run& fresh = s.fresh.runs[0];
  const label_counts of_base{base};
  const label_counts of_fresh{fresh};
  std::vector<std::uint32_t> of_phase(base.of().phases.size(), none);
  for (std::uint32_t i = 0; i < phases.size(); ++i) {
    if (phases[i].base != none && phases[i].fresh != none) {
      of_phase[phases[i].base] = i;
    }
  }
  for (const prediction& p : base.of().predictions) {
    const std::uint32_t index = p.phase < of_phase.size() ? of_phase[p.phase] : none;
    if (index == none || is_no_change(p, to.phases[index].fresh_wall, to.options.noise) ||
        !came_about(p, base, phases[index].base, fresh, phases[index].fresh, of_base, of_fresh)) {
      continue;
    }
    const phase_change& of = to.phases[index];
    prediction_check& c = to.predictions.emplace_back();
    c.what = p.what;
    c.phase = index;
    c.now = amount(p.now);
    c.at_best = amount(p.at_best);
    c.expected = amount(p.expected);
    c.at_worst = amount(p.at_worst);
    c.measured = of.fresh_wall;
    const time_change& t = of.step;
    const double scale = 1 + t.mean_relative > 0 ? c.measured / (1 + t.mean_relative) : 0;
    c.low = t.has_interval ? scale * (1 + t.mean_low) : c.measured;
    c.high = t.has_interval ? scale * (1 + t.mean_high) : c.measured;
    const double least = c.at_best * (1 - to.options.noise);
    const double most = c.at_worst * (1 + to.options.noise);
    using result = prediction_check::result;
    c.outcome = c.low >= least && c.high <= most ? result::held
                : !names_changes(to, t)          ? result::undecided
                : c.low > most                   ? result::slower
                : c.high < least                 ? result::faster
                                                 : result::undecided;
    constexpr double tenfold = 10;
    const bool is_wide = c.high > tenfold * c.measured || c.low * tenfold < c.measured;
    c.text = of.phase + " with " + name_of(c.what) + ": predicted " + duration(c.expected) + ' ' +
             range(duration(c.at_best), duration(c.at_worst)) + ", measured " + duration(c.measured) +
             (is_wide ? "" : ' ' + range(duration(c.low), duration(c.high))) + ": " +
             (c.outcome == result::held     ? "it came true"
              : c.outcome == result::slower ? "slower than predicted at worst"
              : c.outcome == result::faster ? "faster than predicted at best"
              : is_wide                     ? "inconclusive, its passes differ too much to tell"
                                            : "inconclusive, more passes, or repeated runs, would tell");
  }
}

void check_hypotheses(const sides& s, comparison& to) {
  const report& base = s.base.runs[0].of();
  hypotheses all{to};
  for (std::uint32_t i = 0; i < to.phases.size(); ++i) {
    const phase_change& p = to.phases[i];
    if (p.base_phase == none || p.fresh_phase == none) {
      continue;
    }
    const run& fresh = s.fresh.runs[0];
    all.check(i, {}, p.gpu_time,
              work_of(base.phases[p.base_phase].total, s.base.runs[0].passes(p.base_phase)),
              work_of(fresh.of().phases[p.fresh_phase].total, fresh.passes(p.fresh_phase)),
              base.phases[p.base_phase].verdict.by);
  }
  std::map<std::pair<std::uint32_t, std::string_view>, bound> verdicts;  // of the first row of each label
  for (const row_change& r : to.rows) {
    if (r.base_row != none) {
      verdicts.try_emplace({r.phase, r.label}, base.layers[r.base_row].verdict.by);
    }
  }
  std::set<std::pair<std::uint32_t, std::string_view>> grouped;
  for (const label_change& l : to.labels) {
    grouped.emplace(l.phase, l.label);
    const auto at = verdicts.find({l.phase, l.label});
    all.check(l.phase, l.label, l.gpu_time, l.base_work, l.fresh_work,
              at == verdicts.end() ? bound::unknown : at->second);
  }
  for (const row_change& r : to.rows) {
    if (r.base_row != none && r.fresh_row != none && grouped.count({r.phase, r.label}) == 0) {
      all.check(r.phase, r.path, r.gpu_time, r.base_work, r.fresh_work, base.layers[r.base_row].verdict.by);
    }
  }
}

}  // namespace comparing
}  // namespace v0
}  // namespace varve
