// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Roofs, summed up as the work that they are of, and what is judged by them.
#include "analyze/assemble.hpp"
#include "analyze/verdict.hpp"

#include <algorithm>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

/// What verdicts need besides a row's measures.
struct tallies {
  roof_sums roof;
  double time = 0;
  double communication = 0;
  double unknown_communication = 0;
  double copying = 0;

  void add(const activity_sums& a) noexcept {
    time += static_cast<double>(a.time);
    communication += static_cast<double>(a.communication);
    unknown_communication += static_cast<double>(a.unknown_communication);
    copying += static_cast<double>(a.copying);
  }
  void add(const tallies& other) noexcept {
    roof.add(other.roof);
    time += other.time;
    communication += other.communication;
    unknown_communication += other.unknown_communication;
    copying += other.copying;
  }
};

class verdict_builder {
 public:
  verdict_builder(const results& from, const tree_order& order, report& to)
      : from_{from}, order_{order}, to_{to} {
    any_work_ = std::any_of(to.phases.begin(), to.phases.end(),
                            [](const phase_row& p) { return !p.total.declared.empty(); }) ||
                !from.kernel_works.empty();
    predicted_ = is_prediction(to.quality.collectors);
  }

  void build() {
    find_attributed();
    launches_.resize(from_.rows.groups.size(), -1);
    add_up();
    std::uint32_t phase = 0;
    std::uint32_t layer = 0;
    for (std::uint32_t k = 0; k < order_.row.size(); ++k) {
      const layer_row& source = from_.rows.rows[order_.row[k]];
      if (source.path == whole_pass) {
        judge_phase(to_.phases[phase++], source, inclusive_[k]);
      } else {
        to_.layers[layer].exclusive.roof = own(k).roof.times;
        judge_row(to_.layers[layer++], source.group, inclusive_[k]);
      }
    }
    for (std::size_t l = 0; l < to_.labels.size(); ++l) {
      to_.labels[l].exclusive.roof = own_of_labels_[l].times;
      judge_row(to_.labels[l], from_.rows.labels[l].group, labels_[l]);
    }
    judge_kernels();
  }

 private:
  /// Of position `k`; work of a pass itself is that of no layer.
  [[nodiscard]] tallies own(std::uint32_t k) const {
    const layer_row& source = from_.rows.rows[order_.row[k]];
    tallies out;
    out.add(source.own);
    const auto add_roof = [&](std::uint32_t row) {
      if (const roof_sums* const roof = from_.rows.roofs.own(row); roof != nullptr) {
        out.roof.add(*roof);
      }
    };
    if (source.path != whole_pass) {
      add_roof(order_.row[k]);
    }
    if (source.path == outside) {
      add_roof(source.parent);
    }
    return out;
  }

  void find_attributed() {
    const std::size_t groups = from_.rows.groups.size();
    std::vector<double> all(groups);
    std::vector<double> inside(groups);
    for (const layer_row& r : from_.rows.rows) {
      all[r.group] += static_cast<double>(r.own.time);
      inside[r.group] += r.path == outside ? 0.0 : static_cast<double>(r.own.time);
    }
    for (std::size_t g = 0; g < groups; ++g) {
      const double share = all[g] > 0 ? inside[g] / all[g] : 1.0;
      attributed_.push_back(from_.activities.in_no_layer > 0 ? std::min(share, to_.quality.attributed)
                                                             : share);
    }
  }

  void add_up() {
    inclusive_.resize(order_.row.size());
    labels_.resize(to_.labels.size());
    own_of_labels_.resize(to_.labels.size());
    for (auto k = static_cast<std::uint32_t>(order_.row.size()); k-- > 0;) {
      const layer_row& source = from_.rows.rows[order_.row[k]];
      const tallies one = own(k);
      inclusive_[k].add(one);
      if (source.parent != none) {
        inclusive_[order_.position[source.parent]].add(inclusive_[k]);
      }
      for (std::uint32_t n = 0; n < source.label_count; ++n) {
        labels_[from_.rows.label_lists[source.first_label + n]].add(one);
      }
      if (source.last_label != none) {
        own_of_labels_[source.last_label].add(one.roof);
      }
    }
  }

  [[nodiscard]] facts facts_of(const measures& m, std::uint32_t group, const tallies& sums) const {
    facts f;
    f.gpu_time = m.gpu_time;
    f.declared = m.declared;
    f.roof = sums.roof.times;
    f.pipe = sums.roof.main_pipe();
    f.device = from_.rows.roofs.device(from_.rows.groups[group].device);
    f.any_work = any_work_;
    f.predicted = predicted_;
    f.time = sums.time;
    f.unknown_work = static_cast<double>(m.unknown_work_time) - sums.unknown_communication;
    f.communication = sums.communication;
    f.copying = sums.copying;
    f.collective_bytes = static_cast<double>(m.collective_bytes);
    f.copy_bytes = static_cast<double>(m.copy_bytes);
    return f;
  }

  static double launches_of(const measures& m) noexcept {
    return static_cast<double>(m.launches - m.graph_launches);
  }

  void judge_phase(phase_row& p, const layer_row& source, const tallies& sums) {
    p.total.roof = sums.roof.times;
    facts f = facts_of(p.total, source.group, sums);
    f.attributed = attributed_[source.group];
    f.wall = &p.partition;
    f.launches = launches_[source.group] =
        p.passes > 0 ? launches_of(p.total) / static_cast<double>(p.passes) : 0;
    p.verdict = judge(f);
  }

  void judge_row(row& r, std::uint32_t group, const tallies& sums) const {
    r.inclusive.roof = sums.roof.times;
    facts f = facts_of(r.inclusive, group, sums);
    f.attributed = attributed_[group];
    f.calls = r.inclusive.calls_with_work;
    f.starved = r.inclusive.starved;
    f.device_gap = r.inclusive.device_gap;
    // As its phase, of which it may hold few. Outside of passes it stands for itself.
    f.launches = launches_[group] >= 0 ? launches_[group] : launches_of(r.inclusive);
    r.verdict = judge(f);
  }

  /// Kernels and categories are judged for themselves: when they were launched is not their matter.
  void judge_kernels() {
    std::vector<tallies> sums(to_.categories.size());
    const auto judge_flat = [&](row& r, std::uint32_t group, const tallies& all) {
      r.inclusive.roof = r.exclusive.roof = all.roof.times;
      facts f = facts_of(r.inclusive, group, all);
      f.calls = r.inclusive.calls_with_work;
      f.occupied = r.occupied ? &*r.occupied : nullptr;
      r.verdict = judge(f);
    };
    for (std::size_t k = 0; k < to_.kernels.size(); ++k) {
      const kernel_row& source = from_.rows.kernels[k];
      tallies one;
      one.add(source.own);
      if (!from_.kernel_works.empty()) {
        one.roof = from_.kernel_works[k].roof;
      }
      sums[source.category].add(one);
      judge_flat(to_.kernels[k], source.group, one);
    }
    for (std::size_t c = 0; c < to_.categories.size(); ++c) {
      judge_flat(to_.categories[c], from_.rows.categories[c].group, sums[c]);
    }
  }

  const results& from_;
  const tree_order& order_;
  report& to_;
  bool any_work_ = false;
  bool predicted_ = false;
  std::vector<double> attributed_;  // by group
  std::vector<double> launches_;    // likewise, a pass; −1 outside of them
  std::vector<tallies> inclusive_;  // by position
  std::vector<tallies> labels_;
  std::vector<roof_sums> own_of_labels_;
};

}  // namespace

void add_verdicts(const results& from, const tree_order& order, report& to) {
  verdict_builder{from, order, to}.build();
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
