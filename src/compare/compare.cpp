// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/parts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace varve {
inline namespace v0 {

namespace comparing {

pass_work work_of(const measures& m, double passes) {
  return {amount(m.declared.flops) / passes, amount(m.declared.weight_bytes) / passes,
          amount(m.declared.kv_bytes) / passes, amount(m.declared.activation_bytes) / passes};
}

bool differs(const pass_work& a, const pass_work& b) {
  const auto apart = [](double x, double y) { return std::fabs(x - y) > 0.001 * std::max(x, y); };
  return apart(a.flops, b.flops) || apart(a.weight_bytes, b.weight_bytes) || apart(a.kv_bytes, b.kv_bytes) ||
         apart(a.activation_bytes, b.activation_bytes);
}

namespace {

/// Two beyond each end of an interval.
int fewest_resamples(double confidence) { return static_cast<int>(std::lround(4 / (1 - confidence))) - 1; }

compare_options taken(compare_options o) {
  const auto within = [](double value, double low, double high, double otherwise) {
    return std::isnan(value) ? otherwise : std::clamp(value, low, high);
  };
  o.confidence = within(o.confidence, 0.5, 0.999, 0.95);
  o.noise = within(o.noise, 0, 0.99, 0.02);
  o.resamples = std::clamp(std::max(o.resamples, fewest_resamples(o.confidence)), 99, 9999);
  return o;
}

/// As many resamples as fit into some seconds, but as many as an interval takes.
int affordable(const comparison& c, const sides& s) {
  double samples = 0;
  for (const side* const one : {&s.base, &s.fresh}) {
    for (const run& r : one->runs) {
      for (const row& layer : r.of().layers) {
        samples += static_cast<double>(layer.per_pass.size());
      }
    }
  }
  constexpr double most = 3e9;
  const int fewest = std::max(99, fewest_resamples(c.options.confidence));
  return std::max(fewest, static_cast<int>(std::min<double>(c.options.resamples, most / (1 + samples))));
}

pass_work operator+(const pass_work& a, const pass_work& b) {
  return {a.flops + b.flops, a.weight_bytes + b.weight_bytes, a.kv_bytes + b.kv_bytes,
          a.activation_bytes + b.activation_bytes};
}

/// Times of several rows of a run together.
void add_to(run_times& sum, const run_times& part, bool first) {
  sum.mean += part.mean;
  if (first) {
    sum.samples = part.samples;
    sum.stride = part.stride;
    sum.passes = part.passes;
  } else if (of_same_passes(sum, part)) {
    for (std::size_t i = 0; i < sum.samples.size(); ++i) {
      sum.samples[i] += part.samples[i];
    }
  } else {
    sum.samples.clear();
  }
}

class builder {
 public:
  builder(const std::vector<report>& base, const std::vector<report>& fresh, comparison& to)
      : sides_{{{base.begin(), base.end()}}, {{fresh.begin(), fresh.end()}}},
        to_{to},
        draws_{to.options.resamples = affordable(to, sides_), to.options.seed} {}

  void build() {
    std::vector<phase_pair> pairs;
    for (const auto& [base, fresh] : align_phases(sides_.base.runs[0], sides_.fresh.runs[0])) {
      pairs.push_back({base, fresh});
      add_phase(pairs.back());
    }
    judge_all();
    for (phase_change& p : to_.phases) {
      std::stable_sort(p.contributions.begin(), p.contributions.end(), [](const auto& a, const auto& b) {
        return std::fabs(a.change()) > std::fabs(b.change());
      });
    }
    find_reasons(sides_, pairs, to_);
    check_predictions(sides_, pairs, to_);
    check_hypotheses(sides_, to_);
  }

 private:
  /// Of each run that has the phase, what `of` gives.
  template <class Of>
  static side_times times(const side& s, std::uint32_t phase, Of of) {
    side_times out;
    const std::vector<std::uint32_t> phases = s.phases(phase);
    for (std::size_t i = 0; i < s.runs.size(); ++i) {
      if (phases[i] != none) {
        of(s.runs[i], phases[i], out);
      }
    }
    return out;
  }
  template <class Of>
  static double mean(const side& s, std::uint32_t phase, Of of) {
    double sum = 0;
    double runs = 0;
    const std::vector<std::uint32_t> phases = s.phases(phase);
    for (std::size_t i = 0; i < s.runs.size(); ++i) {
      if (phases[i] != none) {
        sum += of(s.runs[i], phases[i]);
        runs += 1;
      }
    }
    return runs > 0 ? sum / runs : 0;
  }
  time_change change(const side_times& base, const side_times& fresh) {
    return change_of(base, fresh, to_.options, draws_);
  }

  void add_phase(phase_pair pair) {
    const auto index = static_cast<std::uint32_t>(to_.phases.size());
    phase_change& p = to_.phases.emplace_back();
    const phase_key& key =
        pair.base != none ? sides_.base.runs[0].keys()[pair.base] : sides_.fresh.runs[0].keys()[pair.fresh];
    p.phase = key.phase;
    p.model = key.model;
    p.batch = key.batch;
    p.device = key.device;
    p.base_phase = pair.base;
    p.fresh_phase = pair.fresh;
    const auto both = [&](auto of, double& base, double& fresh) {
      base = mean(sides_.base, pair.base, of);
      fresh = mean(sides_.fresh, pair.fresh, of);
    };
    both([](const run& r, std::uint32_t at) { return amount(r.of().phases[at].passes); }, p.base_passes,
         p.fresh_passes);
    both(
        [](const run& r, std::uint32_t at) {
          const phase_row& of = r.of().phases[at];
          return (amount(of.prefill_tokens) + amount(of.decode_tokens)) / r.passes(at);
        },
        p.base_tokens, p.fresh_tokens);
    both([](const run& r, std::uint32_t at) { return amount(r.of().phases[at].wall) / r.passes(at); },
         p.base_wall, p.fresh_wall);
    const auto step = [](const run& r, std::uint32_t at, side_times& out) { out.push_back(r.step_of(at)); };
    const auto gpu = [](const run& r, std::uint32_t at, side_times& out) {
      out.push_back(r.gpu_time_of(at));
    };
    p.step = change(times(sides_.base, pair.base, step), times(sides_.fresh, pair.fresh, step));
    p.gpu_time = change(times(sides_.base, pair.base, gpu), times(sides_.fresh, pair.fresh, gpu));

    const std::vector<aligned> rows =
        align_layers(sides_.base.runs[0], pair.base, sides_.fresh.runs[0], pair.fresh);
    const auto first = static_cast<std::uint32_t>(to_.rows.size());
    for (const aligned& one : rows) {
      add_row(pair, one, index, first);
    }
    to_.phases.back().contributions = contributions_of(sides_, pair, rows, first);
    if (pair.base != none && pair.fresh != none) {
      add_labels(pair, index, first);
      find_kernel_changes(sides_, pair, index, to_);
    }
  }

  /// Times of a layer in each run that has it.
  static side_times row_times(const side& s, std::uint32_t phase, std::uint32_t layer) {
    if (phase == none || layer == none) {
      return {};
    }
    const std::string& path = s.runs[0].of().layers[layer].path;
    return times(s, phase, [&](const run& r, std::uint32_t at, side_times& out) {
      if (const std::uint32_t found = r.find(at, path); found != none) {
        out.push_back(r.times_of(at, found));
      }
    });
  }

  void add_row(phase_pair pair, const aligned& one, std::uint32_t phase, std::uint32_t first) {
    const run& base = sides_.base.runs[0];
    const run& fresh = sides_.fresh.runs[0];
    const row* const b = one.base == none ? nullptr : &base.of().layers[one.base];
    const row* const f = one.fresh == none ? nullptr : &fresh.of().layers[one.fresh];
    row_change& r = to_.rows.emplace_back();
    r.what = one.what;
    r.phase = phase;
    if (const row* const named = b != nullptr ? b : f; named != nullptr) {
      r.path = named->path;
      r.label = named->label;
    }
    r.fresh_path = b != nullptr && f != nullptr && b->path != f->path ? f->path : std::string{};
    r.base_row = one.base;
    r.fresh_row = one.fresh;
    r.parent = one.parent == none ? none : first + one.parent;
    r.gpu_time =
        change(row_times(sides_.base, pair.base, one.base), row_times(sides_.fresh, pair.fresh, one.fresh));
    const auto counts = [](const run& of, std::uint32_t at, const row& layer, double& calls, double& launches,
                           double& kernels, pass_work& work) {
      const double passes = of.passes(at);
      calls = amount(layer.inclusive.calls) / passes;
      launches = amount(layer.inclusive.launches) / passes;
      kernels = amount(layer.inclusive.kernels) / passes;
      work = work_of(layer.inclusive, passes);
    };
    if (b != nullptr) {
      counts(base, pair.base, *b, r.base_calls, r.base_launches, r.base_kernels, r.base_work);
    }
    if (f != nullptr) {
      counts(fresh, pair.fresh, *f, r.fresh_calls, r.fresh_launches, r.fresh_kernels, r.fresh_work);
    }
    if (b != nullptr && f != nullptr) {
      r.work_changed = differs(r.base_work, r.fresh_work);
      if (b->main_kernel != f->main_kernel) {
        r.base_kernel = b->main_kernel;
        r.fresh_kernel = f->main_kernel;
      }
      r.base_inside = std::ssize(one.base_owned) - 1;
      r.fresh_inside = std::ssize(one.fresh_owned) - 1;
      if (r.base_inside > 0 && r.fresh_inside > 0) {
        r.inside = names(base.of(), one.base_owned) + " → " + names(fresh.of(), one.fresh_owned);
      }
    }
  }

  static std::string names(const report& r, const std::vector<std::uint32_t>& owned) {
    constexpr std::size_t most = 3;
    std::string out;
    for (std::size_t i = 1; i < owned.size(); ++i) {
      if (i > most) {
        return out + ", …";
      }
      out += (i > 1 ? ", " : "") + r.layers[owned[i]].label;
    }
    return out;
  }

  /// Layers of one label together, the outermost of them where they nest.
  void add_labels(phase_pair pair, std::uint32_t phase, std::uint32_t first) {
    std::map<std::string_view, std::vector<std::uint32_t>> by_label;
    std::vector<std::string_view> order;
    for (std::uint32_t i = first; i < to_.rows.size(); ++i) {
      const row_change& r = to_.rows[i];
      bool nested = false;
      int levels = 0;
      for (std::uint32_t up = r.parent; up != none && levels < 128; up = to_.rows[up].parent, ++levels) {
        nested = nested || to_.rows[up].label == r.label;
      }
      if (!nested) {
        std::vector<std::uint32_t>& of_label = by_label[r.label];
        if (of_label.empty()) {
          order.push_back(r.label);
        }
        of_label.push_back(i);
      }
    }
    for (const std::string_view label : order) {
      const std::vector<std::uint32_t>& rows = by_label[label];
      if (rows.size() < 2) {
        continue;
      }
      label_change& l = to_.labels.emplace_back();
      l.phase = phase;
      l.label = label;
      l.rows = std::ssize(rows);
      bool works = true;
      for (const std::uint32_t i : rows) {
        l.base_work = l.base_work + to_.rows[i].base_work;
        l.fresh_work = l.fresh_work + to_.rows[i].fresh_work;
        works = works && to_.rows[i].what != row_change::kind::added &&
                to_.rows[i].what != row_change::kind::removed;
      }
      l.work_changed =
          differs(l.base_work, l.fresh_work) &&
          (!works || std::any_of(rows.begin(), rows.end(), [&](auto i) { return to_.rows[i].work_changed; }));
      l.gpu_time = change(sums(sides_.base, pair.base, rows, &row_change::base_row),
                          sums(sides_.fresh, pair.fresh, rows, &row_change::fresh_row));
    }
  }

  side_times sums(const side& s, std::uint32_t phase, const std::vector<std::uint32_t>& rows,
                  std::uint32_t row_change::*layer) const {
    return times(s, phase, [&](const run& r, std::uint32_t at, side_times& out) {
      run_times sum;
      bool first = true;
      for (const std::uint32_t i : rows) {
        const std::uint32_t of_first = to_.rows[i].*layer;
        const std::uint32_t found =
            of_first == none ? none : r.find(at, s.runs[0].of().layers[of_first].path);
        if (found != none) {
          add_to(sum, r.times_of(at, found), first);
          first = false;
        }
      }
      out.push_back(std::move(sum));
    });
  }

  void judge_all() {
    std::vector<time_change*> steps;
    std::vector<time_change*> gpu_times;
    std::vector<time_change*> rows;
    std::vector<time_change*> labels;
    for (phase_change& p : to_.phases) {
      steps.push_back(&p.step);
      gpu_times.push_back(&p.gpu_time);
    }
    for (row_change& r : to_.rows) {
      rows.push_back(&r.gpu_time);
    }
    for (label_change& l : to_.labels) {
      labels.push_back(&l.gpu_time);
    }
    for (const auto* family : {&steps, &gpu_times, &rows, &labels}) {
      judge(*family, to_.options);
    }
  }

  sides sides_;
  comparison& to_;
  resampler draws_;
};

}  // namespace

}  // namespace comparing

bool comparison::comparable() const noexcept {
  return std::none_of(reasons.begin(), reasons.end(), [](const auto& r) { return r.refuses; });
}

namespace {

bool differs(const comparison& c) noexcept {
  const auto changed = [](const time_change& t) {
    return t.verdict == outcome::better || t.verdict == outcome::worse;
  };
  return !c.kernels.empty() || std::any_of(c.phases.begin(), c.phases.end(), [&](const phase_change& p) {
    return p.base_phase == none || p.fresh_phase == none || changed(p.step) || changed(p.gpu_time);
  }) || std::any_of(c.rows.begin(), c.rows.end(), [&](const row_change& r) {
    return r.what == row_change::kind::added || r.what == row_change::kind::removed || r.work_changed ||
           changed(r.gpu_time);
  }) || std::any_of(c.labels.begin(), c.labels.end(), [&](const label_change& l) {
    return l.work_changed || changed(l.gpu_time);
  });
}

bool all_same(const comparison& c) noexcept {
  const auto same = [](const time_change& t) { return t.verdict == outcome::same; };
  return !c.phases.empty() &&
         std::all_of(c.phases.begin(), c.phases.end(),
                     [&](const phase_change& p) { return same(p.step) && same(p.gpu_time); }) &&
         std::all_of(c.rows.begin(), c.rows.end(), [&](const row_change& r) { return same(r.gpu_time); }) &&
         std::all_of(c.labels.begin(), c.labels.end(),
                     [&](const label_change& l) { return same(l.gpu_time); });
}

}  // namespace

bool comparison::no_difference() const noexcept { return !differs(*this) && all_same(*this); }

bool comparison::inconclusive() const noexcept { return !differs(*this) && !all_same(*this); }

comparison compare(const std::vector<report>& base, const std::vector<report>& fresh,
                   const compare_options& options) {
  comparison out;
  out.options = comparing::taken(options);
  out.base_runs = std::ssize(base);
  out.fresh_runs = std::ssize(fresh);
  if (base.empty() || fresh.empty()) {
    out.score = 0;
    out.reasons.push_back({true, 1, "samples", "there is nothing to compare: one side has no report"});
    return out;
  }
  out.base = base[0].source;
  out.fresh = fresh[0].source;
  comparing::builder{base, fresh, out}.build();
  return out;
}

comparison compare(const report& base, const report& fresh, const compare_options& options) {
  return compare(std::vector{base}, std::vector{fresh}, options);
}

}  // namespace v0
}  // namespace varve
