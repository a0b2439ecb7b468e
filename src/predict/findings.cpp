// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What stands out in a report.
#include "predict/memory_jumps.hpp"
#include "predict/ncu.hpp"
#include "predict/peers.hpp"
#include "predict/robust.hpp"
#include "predict/slow_passes.hpp"
#include "predict/warm_up.hpp"

#include "analyze/verdict.hpp"
#include "formats/table/rounding.hpp"
#include "formats/table/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace varve {
inline namespace v0 {

namespace {

using predict::peers;
using table::duration;
using table::number;
using table::percent;

constexpr std::size_t most_of_a_kind = 10;  ///< told one by one; the rest is counted
constexpr std::size_t slowest_rows = 3;
constexpr double alike = 1.2;              ///< of the mean of its label's layers: these are told as one
constexpr double least_difference = 0.05;  ///< of the median: less is no news, however sure
constexpr double least_drift = 0.1;        ///< of the median, from first to last
constexpr double trend_limit = 3;          ///< standard deviations
constexpr std::size_t fewest_for_trend = 8;
constexpr std::size_t most_for_trend = 256;  ///< pairs grow with the square
constexpr double explained = 0.8;            ///< of a layer's excess by one inside it: that one is told alone
constexpr double high_overhead = 2;

std::string where(const row& layer) {
  return layer.phase.empty() ? layer.path : layer.path + " in " + layer.phase;
}

bool comes_from(const report& r, std::string_view collector) {
  const std::vector<collector_status>& all = r.quality.collectors;
  return std::any_of(all.begin(), all.end(), [&](const collector_status& c) { return c.name == collector; });
}

class finder {
 public:
  explicit finder(const report& r)
      : r_{r},
        predicted_{analysis::is_prediction(r.quality.collectors)},
        on_a_gpu_{!predicted_ && !r.quality.live_cpu},
        told_by_label_(r.layers.size(), false),
        profiled_(r.layers.size(), none) {
    find_profiled();
  }

  std::vector<finding> find() {
    overheads();
    predict::find_warm_ups(r_, found_);
    predict::find_causes_of_slow_passes(r_, found_);
    slowest_labels();
    slowest();
    slowest_kernels();
    if (predicted_) {  // nothing ran: what differs among peers is rounding
      return std::move(found_);
    }
    const std::vector<peers> groups = predict::find_peers(r_);
    outliers(groups);
    for (const peers& group : groups) {
      drift(group);
    }
    predict::find_memory_jumps(r_, groups, found_);
    return std::move(found_);
  }

 private:
  void find_profiled();
  void overheads();
  void slowest();
  void slowest_labels();
  void leave_out_equals(std::vector<std::uint32_t> rows);
  [[nodiscard]] bool is_rounding(std::uint32_t a, std::uint32_t b) const noexcept {
    return table::is_rounding(r_.layers[a].exclusive, r_.layers[b].exclusive);
  }
  void slowest_kernels();
  void outliers(const std::vector<peers>& groups);
  void drift(const peers& group);
  void add(finding::kind what, std::uint32_t layer, double value, double threshold, std::string text) {
    found_.push_back({what, layer == none ? none : predict::phase_of(r_, r_.layers[layer]), layer, value,
                      threshold, std::move(text), layer == none ? std::string{} : command_of(layer)});
  }
  /// What profiles the kernel that a layer spends most of its time in.
  [[nodiscard]] std::string command_of(std::uint32_t layer) const;
  [[nodiscard]] std::string command_of(const row& around, std::string_view kernel) const;

  const report& r_;
  bool predicted_;
  bool on_a_gpu_;                        // what ran can be profiled by ncu
  std::vector<bool> told_by_label_;      // by layer: all of its label are told as one
  std::vector<std::uint32_t> profiled_;  // by layer: of it and those below the one with most time of its own
  std::vector<finding> found_;
};

void finder::find_profiled() {
  const auto time = [&](std::uint32_t i) { return r_.layers[i].exclusive.gpu_time; };
  for (auto i = static_cast<std::uint32_t>(r_.layers.size()); i-- > 0;) {
    std::uint32_t& best = profiled_[i];
    if (!r_.layers[i].main_kernel.empty() && (best == none || time(i) >= time(best))) {
      best = i;
    }
    const std::uint32_t parent = r_.layers[i].parent;
    if (best != none && parent < i && (profiled_[parent] == none || time(best) >= time(profiled_[parent]))) {
      profiled_[parent] = best;
    }
  }
}

// Inside of a graph no marker is open. Only varve's own markers are in its domain.
std::string finder::command_of(const row& around, std::string_view kernel) const {
  const measures& m = around.inclusive;
  const bool marked = m.launches > 0 && m.graph_launches == 0 && comes_from(r_, "markers");
  return on_a_gpu_
             ? predict::profile_command(kernel, marked ? std::string_view{around.label} : std::string_view{})
             : std::string{};
}

std::string finder::command_of(std::uint32_t layer) const {
  return profiled_[layer] == none ? std::string{}
                                  : command_of(r_.layers[layer], r_.layers[profiled_[layer]].main_kernel);
}

/// What held the device up for most of the starved time, and what helps against it.
std::pair<std::string, std::string> cause_and_remedy(const phase_row& p) {
  const starved_time& s = p.partition.starved;
  const bool many = static_cast<double>(p.total.launches - p.total.graph_launches) >=
                    analysis::many_launches * static_cast<double>(p.passes);
  const std::array parts{many ? s.launching + s.other : 0,
                         s.launching,
                         s.other,
                         s.synchronising,
                         s.allocating,
                         s.graph_building};
  const std::array<std::pair<const char*, const char*>, 6> texts{
      {{"launch-bound", ""},
       {"held up by launching", "graphs of fewer nodes, "},
       {"held up by the engine's own code", "less of it in each pass, "},
       {"held up by synchronising", "fewer waits for the device, "},
       {"held up by allocating", "memory from a pool, "},
       {"held up by building graphs", "graphs that are built once, "}}};
  return texts[static_cast<std::size_t>(std::max_element(parts.begin(), parts.end()) - parts.begin())];
}

void finder::overheads() {
  std::vector<prediction> predicted;
  for (std::uint32_t p = 0; p < r_.phases.size(); ++p) {
    const phase_row& phase = r_.phases[p];
    const wall_partition& w = phase.partition;
    if (!predict::is_of_interest(phase) || phase.overhead_ratio() < high_overhead ||
        w.starved.total() < w.wall() - w.starved.total()) {
      continue;
    }
    if (predicted.empty()) {
      predicted = predictions_of(r_);
    }
    const bool graphs = std::any_of(predicted.begin(), predicted.end(), [&](const prediction& one) {
      return one.what == prediction::change::graphs && one.phase == p && one.helps;
    });
    const auto [cause, remedy] = cause_and_remedy(phase);
    found_.push_back({finding::kind::overhead,
                      p,
                      none,
                      phase.overhead_ratio(),
                      high_overhead,
                      phase.phase + " is " + cause + ": the device worked " + duration(w.busy()) + " of " +
                          duration(phase.wall) + " and had nothing to do for " +
                          percent(static_cast<double>(w.starved.total()), static_cast<double>(w.wall())) +
                          " % of it, overhead ratio " + number(phase.overhead_ratio()) +
                          ": quantisation won't help, " + remedy + (graphs ? "CUDA graphs or " : "") +
                          (remedy.empty() || graphs ? "" : "or ") + "larger batches will",
                      {}});
  }
}

/// Of layers that are predicted to be equal none is the slowest.
void finder::leave_out_equals(std::vector<std::uint32_t> rows) {
  const auto time = [&](std::uint32_t i) { return r_.layers[i].exclusive.gpu_time; };
  std::sort(rows.begin(), rows.end(), [&](auto a, auto b) { return time(a) < time(b); });
  for (std::size_t i = 1; predicted_ && i < rows.size(); ++i) {
    if (is_rounding(rows[i - 1], rows[i])) {
      told_by_label_[rows[i - 1]] = told_by_label_[rows[i]] = true;
    }
  }
}

// Where several layers have one name, what they take together says more than what one of them does.
void finder::slowest_labels() {
  const std::vector<std::uint32_t> phases = predict::phases_of(r_);
  std::map<std::pair<std::uint32_t, std::string_view>, std::vector<std::uint32_t>> layers;
  const auto time = [&](std::uint32_t i) { return r_.layers[i].exclusive.gpu_time; };
  for (std::uint32_t i = 0; i < r_.layers.size(); ++i) {
    if (phases[i] != none && time(i) > 0 && !r_.layers[i].path.empty()) {
      layers[{phases[i], r_.layers[i].label}].push_back(i);
    }
  }
  std::vector<std::vector<const row*>> labels(r_.phases.size());
  for (const row& label : r_.labels) {
    const std::uint32_t phase = label.exclusive.gpu_time > 0 ? predict::phase_of(r_, label) : none;
    if (phase != none && layers[{phase, label.label}].size() > 1) {
      labels[phase].push_back(&label);
    }
  }
  for (std::uint32_t p = 0; p < r_.phases.size(); ++p) {
    std::vector<const row*>& here = labels[p];
    for (const row* const label : here) {
      leave_out_equals(layers[{p, label->label}]);
    }
    std::stable_sort(here.begin(), here.end(), [](const row* a, const row* b) {
      return a->exclusive.gpu_time > b->exclusive.gpu_time;
    });
    here.resize(std::min(here.size(), slowest_rows));
    for (const row* const label : here) {
      const std::vector<std::uint32_t>& of = layers[{p, label->label}];
      const auto all = static_cast<double>(label->exclusive.gpu_time);
      const auto whole = static_cast<double>(r_.phases[p].total.gpu_time);
      for (const std::uint32_t i : of) {
        told_by_label_[i] =
            told_by_label_[i] || static_cast<double>(time(i)) <= alike * all / static_cast<double>(of.size());
      }
      auto longest =
          *std::max_element(of.begin(), of.end(), [&](auto a, auto b) { return time(a) < time(b); });
      if (predicted_) {
        longest = *std::find_if(of.begin(), of.end(), [&](auto i) { return is_rounding(i, longest); });
      }
      found_.push_back(
          {finding::kind::slowest, p, longest, whole > 0 ? all / whole : 0, 0,
           label->label + (label->phase.empty() ? "" : " in " + label->phase) + " takes " +
               duration(label->exclusive.gpu_time) + " itself in " + std::to_string(of.size()) +
               (predict::is_layer(r_, r_.layers[longest]) ? " layers" : " places of graphs") + " together, " +
               percent(all, whole) + " % of its phase's GPU time",
           label->main_kernel.empty() ? command_of(longest) : command_of(*label, label->main_kernel)});
    }
  }
}

void finder::slowest() {
  std::vector<std::vector<std::uint32_t>> rows(r_.phases.size());
  const std::vector<std::uint32_t> phases = predict::phases_of(r_);
  for (std::uint32_t i = 0; i < r_.layers.size(); ++i) {
    if (phases[i] != none && r_.layers[i].exclusive.gpu_time > 0 && !r_.layers[i].path.empty() &&
        !told_by_label_[i]) {
      rows[phases[i]].push_back(i);
    }
  }
  const auto time = [&](std::uint32_t i) { return r_.layers[i].exclusive.gpu_time; };
  for (std::uint32_t p = 0; p < r_.phases.size(); ++p) {
    const time_ns whole = r_.phases[p].total.gpu_time;
    std::vector<std::uint32_t>& here = rows[p];
    std::stable_sort(here.begin(), here.end(), [&](auto a, auto b) { return time(a) > time(b); });
    here.resize(std::min(here.size(), slowest_rows));
    for (const std::uint32_t i : here) {
      const double share = static_cast<double>(time(i)) / static_cast<double>(whole);
      add(finding::kind::slowest, i, share, 0,
          where(r_.layers[i]) + " takes " + duration(time(i)) + " itself, " + percent(share, 1) +
              " % of its phase's GPU time");
    }
  }
}

void finder::slowest_kernels() {
  const auto key = [](const auto& r) { return std::tie(r.phase, r.model, r.device, r.batch); };
  std::map<decltype(key(r_.phases[0])), std::vector<const row*>> kernels;
  for (const phase_row& p : r_.phases) {
    kernels[key(p)];
  }
  for (const row& k : r_.kernels) {
    const auto found = kernels.find(key(k));
    if (found != kernels.end() && k.inclusive.kernels > 0 && k.inclusive.gpu_time > 0) {
      found->second.push_back(&k);
    }
  }
  for (std::uint32_t p = 0; p < r_.phases.size(); ++p) {
    std::vector<const row*> here = std::move(kernels.at(key(r_.phases[p])));
    std::stable_sort(here.begin(), here.end(), [](const row* a, const row* b) {
      return a->inclusive.gpu_time > b->inclusive.gpu_time;
    });
    here.resize(std::min(here.size(), slowest_rows));
    for (const row* const k : here) {
      const auto time = static_cast<double>(k->inclusive.gpu_time);
      const auto whole = static_cast<double>(r_.phases[p].total.gpu_time);
      found_.push_back({finding::kind::slowest, p, none, whole > 0 ? time / whole : 0, 0,
                        (predicted_ ? "operator " : "kernel ") + k->path + " in " + k->phase + " takes " +
                            duration(time) + ", " + percent(time, whole) + " % of its phase's GPU time",
                        on_a_gpu_ ? predict::profile_command(k->path, {}) : std::string{}});
    }
  }
}

void finder::outliers(const std::vector<peers>& groups) {
  struct outlier {
    std::uint32_t row;
    double excess;  ///< of a call
    double score;
    double median;
    std::size_t others;
  };
  std::vector<outlier> all;
  std::vector<double> excess(r_.layers.size(), 0);
  for (const peers& group : groups) {
    const std::vector<double> times = group.times(r_);
    const double middle = predict::median(times);
    const double deviation = predict::median_deviation(times, middle);
    for (std::size_t i = 0; i < times.size(); ++i) {
      const double score = predict::robust_score(times[i], middle, deviation);
      if (score > predict::score_limit && std::abs(times[i] - middle) > least_difference * middle) {
        all.push_back({group.rows[i], times[i] - middle, score, middle, times.size() - 1});
        excess[group.rows[i]] = times[i] - middle;
      }
    }
  }
  std::vector<bool> told(r_.layers.size(), false);
  for (const outlier& o : all) {
    const std::uint32_t parent = r_.layers[o.row].parent;
    if (parent != none && excess[parent] != 0 && o.excess / excess[parent] >= explained) {
      told[parent] = true;  // by the layer inside it
    }
  }
  all.erase(std::remove_if(all.begin(), all.end(), [&](const outlier& o) { return told[o.row]; }), all.end());
  const auto cost = [&](const outlier& o) {
    return std::abs(o.excess) * static_cast<double>(r_.layers[o.row].inclusive.calls);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const outlier& a, const outlier& b) { return cost(a) > cost(b); });
  for (std::size_t i = 0; i < std::min(all.size(), most_of_a_kind); ++i) {
    const outlier& o = all[i];
    add(finding::kind::stands_out, o.row, o.score, predict::score_limit,
        where(r_.layers[o.row]) + " takes " + duration(o.median + o.excess) + " a call against " +
            duration(o.median) + " of its " + std::to_string(o.others) + " peers: " +
            (std::isinf(o.score)
                 ? "they are all alike"
                 : number(o.score) + " robust deviations, beyond " + number(predict::score_limit)));
  }
  if (all.size() > most_of_a_kind) {
    add(finding::kind::stands_out, none, static_cast<double>(all.size() - most_of_a_kind),
        predict::score_limit,
        "and " + table::counted(static_cast<std::int64_t>(all.size() - most_of_a_kind), "layer") +
            " more that stand out less");
  }
}

void finder::drift(const peers& group) {
  if (group.rows.size() < fewest_for_trend) {
    return;
  }
  const std::vector<double> times = group.times(r_);
  const std::size_t step = (times.size() + most_for_trend - 1) / most_for_trend;
  std::vector<double> at;
  std::vector<double> values;
  for (std::size_t i = 0; i < times.size(); i += step) {
    at.push_back(group.index[i]);
    values.push_back(times[i]);
  }
  const predict::trend found = predict::find_trend(at, values);
  const double change = found.slope * (at.back() - at.front());
  const double middle = predict::median(values);
  if (std::abs(found.score) < trend_limit || std::abs(change) < least_drift * middle) {
    return;
  }
  const row& first = r_.layers[group.rows.front()];
  const row& last = r_.layers[group.rows.back()];
  add(finding::kind::drift, group.rows.back(), change / middle, least_drift,
      "from " + first.path + " to " + where(last) + " GPU time a call " +
          (change > 0 ? "rises by " : "falls by ") + duration(std::abs(change)) + ", " +
          percent(std::abs(change), middle) + " % of the median " + duration(middle) + ", by " +
          duration(std::abs(found.slope)) + " a layer");
}

}  // namespace

std::vector<finding> findings_of(const report& r) { return finder{r}.find(); }

}  // namespace v0
}  // namespace varve
