// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The verdicts of a report's rows, by the sums that are in them.
#include "analyze/verdict.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

class row_judge {
 public:
  explicit row_judge(report& r) : r_{r}, predicted_{is_prediction(r.quality.collectors)} {
    any_work_ = std::any_of(r.layers.begin(), r.layers.end(),
                            [](const row& one) { return !one.exclusive.declared.empty(); }) ||
                std::any_of(r.kernels.begin(), r.kernels.end(),
                            [](const row& one) { return one.inclusive.calls_with_work > 0; });
    for (const device_row& d : r.devices) {
      if (d.ceilings) {
        devices_.emplace(d.device.id, &*d.ceilings);
      }
    }
    find_attributed();
  }

  void run() {
    for (phase_row& p : r_.phases) {
      judge_phase(p);
    }
    for (row& one : r_.layers) {
      judge_row(one);
    }
    for (row& one : r_.labels) {
      judge_row(one);
    }
    // Kernels and categories are judged for themselves: when they were launched is not their matter.
    for (std::vector<row>* const rows : {&r_.kernels, &r_.categories}) {
      for (row& one : *rows) {
        facts f = facts_of(one.inclusive, one.device);
        f.calls = one.inclusive.calls_with_work;
        f.occupied = one.occupied ? &*one.occupied : nullptr;
        one.verdict = judge(f);
      }
    }
  }

 private:
  using key = std::tuple<std::string_view, std::string_view, std::string_view, std::uint32_t>;
  /// A kind of pass on a device, or what is in none.
  struct group {
    double time = 0;
    double inside = 0;  ///< layers
    double attributed = 1;
    double launches = 0;  ///< a pass, graphs not counted
  };

  template <class Row>
  group& group_of(const Row& one) {
    return groups_[key{one.phase, one.model, one.batch, one.device}];
  }

  void find_attributed() {
    double all = 0;
    double inside = 0;
    for (const row& one : r_.layers) {
      const auto time = static_cast<double>(one.exclusive.activity_time);
      const double in_layer = one.path.empty() ? 0 : time;
      group& g = group_of(one);
      g.time += time;
      g.inside += in_layer;
      all += time;
      inside += in_layer;
    }
    // Time that is known to be in no layer, though not whose.
    const bool less = all > 0 && r_.quality.attributed < inside / all - 1e-9;
    for (auto& [name, g] : groups_) {
      g.attributed = g.time > 0 ? g.inside / g.time : 1;
      g.attributed = less ? std::min(g.attributed, r_.quality.attributed) : g.attributed;
    }
  }

  [[nodiscard]] facts facts_of(const measures& m, std::uint32_t device) const {
    facts f;
    f.gpu_time = m.gpu_time;
    f.declared = m.declared;
    f.roof = m.roof;
    f.pipe = main_pipe(m.roof);
    const auto known = devices_.find(device);
    f.device = known != devices_.end() ? known->second : nullptr;
    f.any_work = any_work_;
    f.predicted = predicted_;
    f.time = static_cast<double>(m.activity_time);
    f.unknown_work =
        static_cast<double>(m.unknown_work_time) - static_cast<double>(m.unknown_collective_time);
    f.communication = static_cast<double>(m.collective_time);
    f.copying = static_cast<double>(m.copy_time);
    f.collective_bytes = static_cast<double>(m.collective_bytes);
    f.copy_bytes = static_cast<double>(m.copy_bytes);
    return f;
  }

  void judge_phase(phase_row& p) {
    group& g = group_of(p);
    facts f = facts_of(p.total, p.device);
    f.attributed = g.attributed;
    f.wall = &p.partition;
    if (p.passes > 0) {
      g.launches = (static_cast<double>(p.total.launches) - static_cast<double>(p.total.graph_launches)) /
                   static_cast<double>(p.passes);
    }
    f.launches = g.launches;
    p.verdict = judge(f);
  }

  /// As its phase, of which it may hold few launches.
  void judge_row(row& one) {
    const group& g = group_of(one);
    facts f = facts_of(one.inclusive, one.device);
    f.attributed = g.attributed;
    f.calls = one.inclusive.calls_with_work;
    f.starved = one.inclusive.starved;
    f.device_gap = one.inclusive.device_gap;
    f.launches = g.launches;
    one.verdict = judge(f);
  }

  report& r_;
  bool any_work_ = false;
  bool predicted_ = false;
  std::map<std::uint32_t, const ceilings*> devices_;
  std::map<key, group> groups_;
};

}  // namespace

void judge_rows(report& r) { row_judge{r}.run(); }

}  // namespace analysis
}  // namespace v0
}  // namespace varve
