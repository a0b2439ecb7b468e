// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Phases and layers, whose samples of single passes go together.
#include "analyze/add_trees.hpp"

#include "analyze/add_sums.hpp"
#include "analyze/numbers.hpp"
#include "analyze/pass_times.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

/// Brings `values` into an order of their positions. Returns where each went.
template <class T>
std::vector<std::uint32_t> reorder(std::vector<T>& values, const std::vector<std::uint32_t>& order) {
  std::vector<T> out;
  out.reserve(values.size());
  std::vector<std::uint32_t> places(values.size());
  for (const std::uint32_t i : order) {
    places[i] = static_cast<std::uint32_t>(out.size());
    out.push_back(std::move(values[i]));
  }
  values.swap(out);
  return places;
}

/// An order in which each row's children follow it, otherwise as they are; trees by `rank` of their roots.
template <class Rank>
std::vector<std::uint32_t> order_trees(const std::vector<row>& rows, const Rank& rank) {
  std::vector<std::uint32_t> first_child(rows.size(), none);
  std::vector<std::uint32_t> sibling(rows.size(), none);
  std::vector<std::uint32_t> roots;
  for (auto i = static_cast<std::uint32_t>(rows.size()); i-- > 0;) {
    if (rows[i].parent < i) {
      sibling[i] = std::exchange(first_child[rows[i].parent], i);
    } else {
      roots.push_back(i);
    }
  }
  std::reverse(roots.begin(), roots.end());
  std::stable_sort(roots.begin(), roots.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return rank(rows[a]) < rank(rows[b]); });
  std::vector<std::uint32_t> order;
  order.reserve(rows.size());
  for (const std::uint32_t root : roots) {
    for (std::uint32_t at = root; at != none;) {
      order.push_back(at);
      std::uint32_t to = first_child[at];
      while (to == none && at != root) {
        to = sibling[at];
        at = rows[at].parent;
      }
      at = to;
    }
  }
  return order;
}

void add_phase(phase_row& to, const phase_row& next, left_out& lost) {
  add_to(to.passes, next.passes);
  add_to(to.wall, next.wall);
  add_window(to.step, next.step, lost);
  add_window(to.partition, next.partition);
  add_window(to.event_span, next.event_span, lost);
  add_to(to.prefill_tokens, next.prefill_tokens);
  add_to(to.decode_tokens, next.decode_tokens);
  add_to(to.sequences, next.sequences);
  add_to(to.emitted_tokens, next.emitted_tokens);
  add_window(to.total, next.total);
  to.gpu_span = to.total.span;
  add_window(to.launch_latency, next.launch_latency, lost);
  add_window(to.queue_delay, next.queue_delay, lost);
  add_window(to.counted, next.counted);
}

class tree_joiner {
 public:
  tree_joiner(report& total, report& next, left_out& lost) : t_{total}, n_{next}, lost_{lost} {}

  joined run() {
    joined out;
    layers_before_ = t_.layers.size();
    join_phases(out.phases);
    out.layers.of_next = join_rows(t_.layers, n_.layers, false, lost_);
    plan(out.phases.of_next);
    add_samples(out);
    sort(out);
    return out;
  }

 private:
  /// Their sums are added later: what samples and gauges weigh is what was there before.
  void join_phases(new_places& out) {
    out.of_next = match(t_.phases, n_.phases, [](const phase_row& p) { return group_of(p); });
    for (std::uint32_t i = 0; i < n_.phases.size(); ++i) {
      if (out.of_next[i] == none) {
        if (t_.phases.size() >= most_rows) {
          ++lost_.rows;
          continue;
        }
        out.of_next[i] = static_cast<std::uint32_t>(t_.phases.size());
        phase_row& added = t_.phases.emplace_back();
        added.phase = n_.phases[i].phase;
        added.model = n_.phases[i].model;
        added.device = n_.phases[i].device;
        added.batch = n_.phases[i].batch;
      }
    }
  }

  void plan(const std::vector<std::uint32_t>& of_next) {
    std::map<group_key, std::size_t> rows;
    for (const row& r : t_.layers) {
      ++rows[group_of(r)];
    }
    next_of_.assign(t_.phases.size(), nullptr);
    for (std::uint32_t i = 0; i < n_.phases.size(); ++i) {
      if (of_next[i] != none) {
        next_of_[of_next[i]] = &n_.phases[i];
      }
    }
    std::size_t most = analyze_options{}.most_samples;
    const auto numbers = [&] {
      std::size_t sum = 0;
      for (std::size_t p = 0; p < t_.phases.size(); ++p) {
        const std::size_t taken = next_of_[p] != nullptr ? next_of_[p]->samples.step.size() : 0;
        sum += std::min(most, t_.phases[p].samples.step.size() + taken) * (rows[group_of(t_.phases[p])] + 1);
      }
      return sum;
    };
    while (most > 1 && numbers() > most_numbers) {
      most /= 2;
    }
    for (std::size_t p = 0; p < t_.phases.size(); ++p) {
      const phase_row& next = next_of_[p] != nullptr ? *next_of_[p] : nothing_;
      plans_.emplace_back(t_.phases[p].samples, t_.phases[p].step.count, next.samples, next.step.count, most);
    }
  }

  void add_samples(joined& out) {
    std::map<group_key, std::size_t> phases;
    for (std::size_t p = 0; p < t_.phases.size(); ++p) {
      phases.emplace(group_of(t_.phases[p]), p);
    }
    std::vector<std::uint32_t> next_of(t_.layers.size(), none);
    for (std::uint32_t i = 0; i < out.layers.of_next.size(); ++i) {
      if (out.layers.of_next[i] != none) {
        next_of[out.layers.of_next[i]] = i;
      }
    }
    for (std::size_t i = 0; i < t_.layers.size(); ++i) {
      row& r = t_.layers[i];
      const auto phase = phases.find(group_of(r));
      if (phase == phases.end()) {
        continue;  // in no pass
      }
      std::vector<time_ns> values;
      if (i >= layers_before_) {
        values.swap(r.per_pass);
      } else if (next_of[i] != none) {
        values.swap(n_.layers[next_of[i]].per_pass);
      }
      plans_[phase->second].apply(r.per_pass, values, time_ns{0}, time_ns{0});
      if (r.path.empty()) {
        add_idle_passes(r, phase->second, i, next_of[i]);
      }
    }
    for (std::size_t p = 0; p < t_.phases.size(); ++p) {
      add_phase_samples(p);
    }
  }

  /// The calls of what is in no layer are passes, also those of a window in which all was in layers.
  void add_idle_passes(row& r, std::size_t p, std::size_t i, std::uint32_t next) {
    distribution idle;
    if (i >= layers_before_) {
      idle.count = t_.phases[p].total.calls;
    } else if (next == none && next_of_[p] != nullptr) {
      idle.count = next_of_[p]->total.calls;
    }
    if (idle.count > 0) {
      add_to(r.inclusive.calls, idle.count);
      add_to(r.exclusive.calls, idle.count);
      if (!r.per_call.histogram.empty()) {
        idle.histogram = {{0, idle.count}};
      }
      add_window(r.per_call, idle, lost_);
    }
  }

  void add_phase_samples(std::size_t p) {
    phase_row& to = t_.phases[p];
    const phase_row& next = next_of_[p] != nullptr ? *next_of_[p] : nothing_;
    const sample_plan& plan = plans_[p];
    add_gauges(to.gauges, {static_cast<double>(to.wall), static_cast<double>(to.step.count)}, next.gauges,
               {static_cast<double>(next.wall), static_cast<double>(next.step.count)}, plan);
    to.samples.stride = plan.stride;
    plan.apply(to.samples.step, next.samples.step, time_ns{0}, time_ns{0});
    plan.apply(to.samples.gpu_time, next.samples.gpu_time, time_ns{0}, time_ns{0});
    if (t_.held_bytes || n_.held_bytes) {
      const std::int64_t held = t_.held_bytes.value_or(0);
      std::vector<std::int64_t> bytes = next.samples.held_bytes;
      for (std::int64_t& b : bytes) {
        add_to(b, held);
      }
      plan.apply(to.samples.held_bytes, bytes, std::int64_t{0}, held);
    }
    add_phase(to, next, lost_);
  }

  /// Phases by kind in order of appearance, then by device; the rows as these, those in no pass last.
  void sort(joined& out) {
    using kind = std::tuple<std::string_view, std::string_view, std::string_view>;
    std::map<kind, std::size_t> kinds;
    std::vector<std::pair<std::size_t, std::uint32_t>> keys;
    for (const phase_row& p : t_.phases) {
      const std::size_t place = kinds.emplace(kind{p.phase, p.model, p.batch}, kinds.size()).first->second;
      keys.emplace_back(place, p.device);
    }
    std::vector<std::uint32_t> order(t_.phases.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
    out.phases.of_total = reorder(t_.phases, order);

    std::map<group_key, std::size_t> ranks;
    for (const phase_row& p : t_.phases) {
      ranks.emplace(group_of(p), ranks.size());
    }
    out.layers.of_total =
        reorder(t_.layers, order_trees(t_.layers, [&](const row& r) {
                  const auto found = ranks.find(group_of(r));
                  return std::pair{found != ranks.end() ? found->second : ranks.size(), r.device};
                }));
    for (row& r : t_.layers) {
      r.parent = r.parent < t_.layers.size() ? out.layers.of_total[r.parent] : none;
    }
    for (new_places* const moved : {&out.phases, &out.layers}) {
      for (std::uint32_t& place : moved->of_next) {
        place = place != none ? moved->of_total[place] : none;
      }
    }
  }

  report& t_;
  report& n_;
  left_out& lost_;
  const phase_row nothing_{};
  std::size_t layers_before_ = 0;
  std::vector<const phase_row*> next_of_;  // by phase of the total
  std::vector<sample_plan> plans_;         // likewise
};

}  // namespace

joined join_trees(report& total, report& next, left_out& lost) {
  return tree_joiner{total, next, lost}.run();
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
