// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// How comparable two reports are. docs/compare.md has the weights.
#include "compare/device_match.hpp"
#include "compare/parts.hpp"

#include "formats/table/units.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

namespace varve {
inline namespace v0 {
namespace comparing {

namespace {

using table::counted;
using table::number;
using table::percent;

class judge_of_sides {
 public:
  explicit judge_of_sides(comparison& to) : to_{to} {}

  /// The same reason is told once, however many runs have it.
  void tell(bool refuses, double weight, const char* what, std::string text) {
    if (!told_.insert(text).second) {
      return;
    }
    to_.score *= 1 - weight;
    to_.reasons.push_back({refuses, weight, what, std::move(text)});
  }

  void devices(const report& a, const report& b) {
    if (a.quality.live_cpu != b.quality.live_cpu) {
      tell(true, 1, "device", "one ran on processor cores, the other on a device");
    }
    if (a.devices.size() != b.devices.size()) {
      tell(true, 0.5, "device",
           "one ran on " + counted(std::ssize(a.devices), "device") + ", the other on " +
               counted(std::ssize(b.devices), "device"));
    }
    for (std::size_t i = 0; i < std::min(a.devices.size(), b.devices.size()); ++i) {
      for (device_difference& d : differences_of(a.devices[i], b.devices[i])) {
        tell(d.refuses, d.weight, d.of_clocks ? "clock" : "device", std::move(d.text));
      }
    }
  }

  void ranks(const report& a, const report& b) {
    if (a.world_size != b.world_size && a.world_size > 0 && b.world_size > 0) {
      tell(true, 0.5, "ranks",
           "one ran among " + counted(a.world_size, "rank") + ", the other among " +
               counted(b.world_size, "rank"));
    } else if (a.rank >= 0 && b.rank >= 0 && a.rank != b.rank) {
      tell(false, 0.3, "ranks",
           "these are ranks " + std::to_string(a.rank) + " and " + std::to_string(b.rank) + " of " +
               (a.world_size > 0 ? std::to_string(a.world_size) : "a number that is not known") +
               ": they differ by their share of the work and wait for each other, which says nothing of "
               "versions");
    }
  }

  void quality(const report& a, const report& b) {
    const report_quality& x = a.quality;
    const report_quality& y = b.quality;
    constexpr double far = 0.1;
    constexpr double enough = 0.95;
    if (!(std::fabs(x.attributed - y.attributed) <= far)) {
      tell(true, 0.5, "quality",
           "share of GPU time that belongs to a layer: " + percent(x.attributed, 1) + " % against " +
               percent(y.attributed, 1) + " %");
    } else if (!(std::min(x.attributed, y.attributed) >= enough) && x.activities > 0 && y.activities > 0) {
      tell(false, 0.1, "quality",
           "only " + percent(std::min(x.attributed, y.attributed), 1) +
               " % of the GPU time belongs to a layer: what changed in the rest has no row");
    }
    const double lost_x = lost(a);
    const double lost_y = lost(b);
    if (std::max(lost_x, lost_y) > 0.01) {
      const bool alike = std::fabs(lost_x - lost_y) <= 0.01;
      tell(!alike, alike ? 0.1 : 0.4, "quality",
           "records lost, repaired or left out: " + percent(lost_x, 1) + " % against " + percent(lost_y, 1) +
               " % of the activities");
    }
    const auto unmatched = [](const report_quality& q) {
      return std::min(1.0, amount(q.unmatched) / std::max(1.0, amount(q.activities)));
    };
    const double unmatched_x = unmatched(x);
    const double unmatched_y = unmatched(y);
    if (std::max(unmatched_x, unmatched_y) > 0.01) {
      const bool alike = std::fabs(unmatched_x - unmatched_y) <= far;
      tell(!alike, alike ? 0.1 : 0.4, "quality",
           "activities whose launch is not in the trace: " + percent(unmatched_x, 1) + " % against " +
               percent(unmatched_y, 1) + " %: numbers of launches and waits are that much too small");
    }
    const double bare_x = bare_graphs(a);
    const double bare_y = bare_graphs(b);
    if (std::fabs(bare_x - bare_y) > 0.01) {
      tell(true, 0.4, "quality",
           "graph launches whose kernels are missing: " + percent(bare_x, 1) + " % against " +
               percent(bare_y, 1) + " %");
    }
    if (x.implicit_pass != y.implicit_pass) {
      tell(true, 0.5, "quality", "one has no passes marked and is taken as one pass");
    } else if (x.inferred_passes != y.inferred_passes) {
      tell(false, 0.1, "quality", "passes were found in another way: marked, or inferred");
    }
    if (x.steady != y.steady) {
      tell(false, 0.3, "quality", "one sets ramps apart (--steady), the other does not");
    }
    if (x.clock != y.clock) {
      tell(false, 0.05, "clock",
           "times were taken by " + name_or_unknown(x.clock) + " and by " + name_or_unknown(y.clock));
    }
  }

  void phase(const phase_change& p) {
    const std::string name = p.phase + ": ";
    if (p.base_phase == none || p.fresh_phase == none) {
      tell(false, 0.1, "phases",
           name + "only the " + (p.base_phase == none ? "new report" : "base") + " has such passes");
      return;
    }
    constexpr double near = 0.05;
    if (std::fabs(p.base_tokens - p.fresh_tokens) > near * std::max(p.base_tokens, p.fresh_tokens)) {
      tell(false, 0.4, "batch",
           name + number(p.base_tokens) + " tokens a pass against " + number(p.fresh_tokens) +
               ": times of passes that do not do the same");
    }
    if (!p.step.has_interval) {
      const bool old = p.base_passes > 1.5 && p.fresh_passes > 1.5;
      tell(false, 0.2, "samples",
           name + (old ? "a report has no times of single passes" : "one side has a single pass") +
               ": what changed by more than " + percent(to_.options.noise, 1) + " % is not told from chance");
    } else if (p.step.base_runs + p.step.fresh_runs <= 2 &&
               std::min(p.base_passes, p.fresh_passes) < static_cast<double>(fewest_passes_to_tell)) {
      tell(false, 0.1, "samples",
           name + table::count(p.base_passes) + " passes against " + table::count(p.fresh_passes) +
               ": fewer than 16 of single runs name no change");
    } else if (to_.base_runs == 1 && to_.fresh_runs == 1 && std::max(p.base_passes, p.fresh_passes) > 0 &&
               p.step.inflation * 2 >
                   static_cast<double>(std::min(p.step.base_passes, p.step.fresh_passes))) {
      tell(false, 0.2, "samples",
           name + "its time drifts, so that passes of one run say little about another: repeat the runs");
    }
  }

  /// Of the side's runs, those that do not have the phase of its first.
  void missing(const phase_change& p, const side& of, std::uint32_t phase, const char* name) {
    const std::vector<std::uint32_t> phases = of.phases(phase);
    const auto without = std::count(phases.begin(), phases.end(), none);
    if (phase != none && without > 0) {
      tell(false, 0.1, "phases",
           p.phase + ": " + std::to_string(without) + " of " + counted(std::ssize(of.runs), "run") + " of " +
               name + (without == 1 ? " has" : " have") + " no such passes");
    }
  }

 private:
  static double lost(const report& r) {
    double sum = 0;
    for (const loss& l : r.quality.losses) {
      sum += static_cast<double>(l.count);
    }
    return sum / std::max(1.0, amount(r.quality.activities));
  }
  static double bare_graphs(const report& r) {
    double launches = 0;
    for (const phase_row& p : r.phases) {
      launches += amount(p.total.graph_launches);
    }
    return std::min(1.0, amount(r.quality.graph_launches_without_kernels) / std::max(1.0, launches));
  }

  comparison& to_;
  std::set<std::string> told_;
};

/// The models that phases name.
std::set<std::string> models_of(const report& r) {
  std::set<std::string> out;
  for (const phase_row& p : r.phases) {
    if (!p.model.empty()) {
      out.insert(p.model);
    }
  }
  return out;
}

std::string list_of(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& one : names) {
    out += (out.empty() ? "" : ", ") + one;
  }
  return out;
}

}  // namespace

void find_reasons(const sides& s, const std::vector<phase_pair>& phases, comparison& to) {
  judge_of_sides j{to};
  const report& base = s.base.runs[0].of();
  std::set<std::string> models;  // of the first run that names any
  for (const side* const one : {&s.base, &s.fresh}) {
    for (const run& r : one->runs) {
      if (&r.of() != &base) {
        j.devices(base, r.of());
        j.ranks(base, r.of());
        j.quality(base, r.of());
      }
      const std::set<std::string> named = models_of(r.of());
      if (models.empty()) {
        models = named;
      } else if (!named.empty() && named != models) {
        j.tell(true, 0.5, "model", "model: " + list_of(models) + " against " + list_of(named));
      }
    }
  }
  for (const side* const one : {&s.base, &s.fresh}) {
    for (const run& r : one->runs) {
      if (r.of().rank != one->runs[0].of().rank) {
        j.tell(true, 0.5, "ranks", "the runs of one side are of several ranks: compare rank by rank");
      }
      if (r.of().devices.empty() != one->runs[0].of().devices.empty()) {
        j.tell(true, 0.5, "device", "the runs of one side are of several devices");
      }
    }
  }
  if (phases.empty()) {
    j.tell(true, 1, "phases", "neither side has any phase");
  } else if (std::none_of(phases.begin(), phases.end(),
                          [](phase_pair p) { return p.base != none && p.fresh != none; })) {
    j.tell(true, 1, "phases", "the sides have no phase in common");
  }
  for (const phase_change& p : to.phases) {
    j.phase(p);
    j.missing(p, s.base, p.base_phase, "the base");
    j.missing(p, s.fresh, p.fresh_phase, "the new side");
  }
}

}  // namespace comparing
}  // namespace v0
}  // namespace varve
