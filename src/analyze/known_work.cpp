// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/known_work.hpp"

#include "analyze/numbers.hpp"
#include "analyze/product_kernels.hpp"
#include "analyze/verdict.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

constexpr std::uint8_t nobody = work_choice::nobody;

/// Whose word tells the work of a graph's node.
work_source source_of(const graph_node& node) noexcept {
  return node.source == label_source::captured ? node.told_by : work_source::shapes;
}

const graph_node* node_of(const trace& t, std::uint32_t activity) noexcept {
  const std::uint32_t node = t.activities.node[activity];
  return node < t.graph_nodes.size() ? &t.graph_nodes[node] : nullptr;
}

/// Whose word counts for each slot's own work.
std::vector<std::uint8_t> sources_of_slots(const trace& t, const structure& s,
                                           const activity_table& activities, const row_table& rows) {
  std::vector<std::uint8_t> out(rows.slots.size(), nobody);
  for (std::size_t k = 0; k < out.size() && !s.works.source.empty(); ++k) {
    const call_slot& slot = rows.slots[k];
    out[k] = slot.is_range() ? s.works.source[slot.range] : nobody;
  }
  for (std::size_t pos = 0; pos < activities.size && !t.graph_nodes.empty(); ++pos) {
    const graph_node* const node = node_of(t, activities.record_at(pos));
    std::uint8_t& source = out[activities.slot[pos]];
    if (node != nullptr && source == nobody && declares_work(node->declared)) {
      source = static_cast<std::uint8_t>(source_of(*node));
    }
  }
  for (const row_table::described_slot& d : rows.described()) {
    out[d.slot] = std::min(out[d.slot], static_cast<std::uint8_t>(work_source::description));
  }
  return out;
}

bool tells_any(const trace& t, const std::vector<bool>& known) {
  return !t.works.empty() || !t.path_works.empty() || !known.empty() ||
         std::any_of(t.graph_nodes.begin(), t.graph_nodes.end(),
                     [](const graph_node& n) { return declares_work(n.declared); });
}

}  // namespace

// What operators' shapes tell is the work of these operators, not of all that ran in the range around them.
// Collectives do none of the work that a roof is of.
void count_known_work(const trace& t, const structure& s, const std::vector<bool>& known,
                      const activity_table& activities, row_table& rows, report_quality& quality) {
  if (!tells_any(t, known)) {
    return;
  }
  constexpr auto shapes = static_cast<std::uint8_t>(work_source::shapes);
  const std::vector<std::uint8_t> told = sources_of_slots(t, s, activities, rows);
  std::vector<std::uint8_t> source = told;
  product_kernels products{t};
  for (std::size_t k = 0; k < source.size(); ++k) {
    source[k] = source[k] == shapes ? nobody : source[k];
    if (source[k] == nobody && rows.slots[k].parent != none) {
      source[k] = source[rows.slots[k].parent];
    }
  }
  std::array<double, work_sources> time{};
  double all = 0;
  for (std::size_t pos = 0; pos < activities.size; ++pos) {
    const std::uint32_t i = activities.record_at(pos);
    const std::uint32_t op = i < t.operator_of_activity.size() ? t.operator_of_activity[i] : none;
    const time_ns length = t.activities.end[i] - t.activities.begin[i];
    std::uint8_t from = source[activities.slot[pos]];
    if ((op < known.size() && known[op]) || (told[activities.slot[pos]] == shapes && products.holds(i))) {
      from = std::min(from, shapes);
    }
    const bool sends =
        t.activities.kind[i] == activity_kind::kernel && rows.is_collective(t.activities.name[i]);
    all += sends ? 0 : static_cast<double>(length);
    if (from == nobody) {
      activity_sums& own = rows.rows[rows.slots[activities.slot[pos]].row].own;
      add_to(own.unknown_work, length);
      add_to(own.unknown_communication, sends ? length : 0);
    } else if (!sends) {
      time[from] += static_cast<double>(length);
    }
  }
  for (std::size_t k = 0; k < time.size() && all > 0; ++k) {
    quality.work_known[k] = time[k] / all;
  }
}

namespace {

class kernel_finder {
 public:
  kernel_finder(const trace& t, const structure& s, const activity_table& activities,
                const std::vector<std::uint32_t>& kernel, const row_table& rows)
      : t_{t}, s_{s}, activities_{activities}, kernel_{kernel}, rows_{rows} {}

  std::vector<kernel_work> run() {
    source_ = sources_of_slots(t_, s_, activities_, rows_);
    find_lone_kernels();
    if (is_prediction(t_.collectors)) {
      place_in_order();
    }
    place_slots(work_source::engine);  // or more trusted
    place_operators();
    place_slots(work_source::description);
    return std::move(out_);
  }

 private:
  static constexpr std::uint32_t several = none - 1;

  static void meet(std::uint32_t& lone, std::uint32_t position) noexcept {
    lone = lone == none ? position : several;
  }

  [[nodiscard]] bool is_kernel(std::size_t pos) const noexcept {
    return t_.activities.kind[activities_.record_at(pos)] == activity_kind::kernel;
  }

  /// The only kernel in each slot and what is inside, and of each operator of known work.
  void find_lone_kernels() {
    lone_.assign(rows_.slots.size(), none);
    find_telling_operators();
    for (std::size_t pos = 0; pos < activities_.size; ++pos) {
      if (!is_kernel(pos)) {
        continue;
      }
      meet(lone_[activities_.slot[pos]], static_cast<std::uint32_t>(pos));
      if (const std::uint32_t op = operator_at(pos); op != none) {
        meet(lone_of_operator_[op], static_cast<std::uint32_t>(pos));
      }
    }
    for (std::size_t k = lone_.size(); k-- > 0;) {
      const std::uint32_t parent = rows_.slots[k].parent;
      if (parent != none && lone_[k] != none) {
        meet(lone_[parent], lone_[k]);
      }
    }
  }

  /// The outermost operator around each whose work is known.
  void find_telling_operators() {
    const operator_columns& o = t_.operators;
    if (t_.operator_of_activity.empty() || o.kind.size() != o.size() || o.parent.size() != o.size()) {
      return;
    }
    telling_.assign(o.size(), none);
    for (std::uint32_t i = 0; i < telling_.size(); ++i) {
      const bool tells =
          o.kind[i] < t_.operator_kinds.size() && declares_work(t_.operator_kinds[o.kind[i]].declared);
      const std::uint32_t outer = o.parent[i] < i ? telling_[o.parent[i]] : none;
      telling_[i] = outer != none ? outer : tells ? i : none;
    }
    lone_of_operator_.assign(telling_.size(), none);
  }

  [[nodiscard]] std::uint32_t operator_at(std::size_t pos) const noexcept {
    const std::uint32_t i = activities_.record_at(pos);
    const std::uint32_t op = i < t_.operator_of_activity.size() ? t_.operator_of_activity[i] : none;
    return op < telling_.size() ? telling_[op] : none;
  }

  [[nodiscard]] bool told_by_ranges(const call_slot& slot) const noexcept {
    return slot.is_range() && !s_.works.source.empty() && s_.works.source[slot.range] != nobody;
  }

  /// Work of slots whose source is trusted as much as `least` or more, as far as no other is known.
  void place_slots(work_source least) {
    const auto trusted = [&](std::uint32_t slot) {
      return lone_[slot] < several && source_[slot] <= static_cast<std::uint8_t>(least) &&
             !is_known(lone_[slot]);
    };
    std::vector<std::uint32_t> done;
    for (const range_work& w : t_.works) {
      const std::uint32_t owner = s_.works.owner_of(w, s_.ranges);
      for (std::uint32_t slot = owner != none ? rows_.first_slot(owner) : none; slot != none;
           slot = rows_.slots[slot].next) {
        if (trusted(slot)) {
          add(lone_[slot], w.declared);
          done.push_back(lone_[slot]);
        }
      }
    }
    for (std::uint32_t pos = 0; pos < activities_.size && !t_.graph_nodes.empty(); ++pos) {
      const graph_node* const node = node_of(t_, activities_.record_at(pos));
      const std::uint32_t slot = activities_.slot[pos];
      if (node != nullptr && declares_work(node->declared) && lone_[slot] == pos && trusted(slot) &&
          !told_by_ranges(rows_.slots[slot])) {
        add(pos, node->declared);
        done.push_back(pos);
      }
    }
    for (const row_table::described_slot& d : rows_.described()) {
      if (d.list != none && trusted(d.slot) && !told_by_ranges(rows_.slots[d.slot])) {
        for (const work& w : s_.described[d.list]) {
          add(lone_[d.slot], w);
        }
        done.push_back(lone_[d.slot]);
      }
    }
    for (const std::uint32_t pos : done) {
      count(pos);
    }
  }

  /// A prediction tells the work of a range kernel by kernel, in the order in which they run.
  void place_in_order() {
    using place = std::pair<std::uint32_t, std::uint32_t>;  // a slot, and what is in it
    std::vector<place> kernels;
    std::vector<place> entries;
    for (std::uint32_t pos = 0; pos < activities_.size; ++pos) {
      if (is_kernel(pos)) {
        kernels.emplace_back(activities_.slot[pos], pos);
      }
    }
    for (std::uint32_t w = 0; w < t_.works.size(); ++w) {
      const std::uint32_t owner = s_.works.owner_of(t_.works[w], s_.ranges);
      if (owner != none && rows_.first_slot(owner) != none) {
        entries.emplace_back(rows_.first_slot(owner), w);
      }
    }
    std::sort(kernels.begin(), kernels.end());
    std::sort(entries.begin(), entries.end());
    for (auto first = entries.begin(); first != entries.end();) {
      const auto of_others = [slot = first->first](const place& p) { return p.first != slot; };
      const auto last = std::find_if(first, entries.end(), of_others);
      auto kernel = std::lower_bound(kernels.begin(), kernels.end(), place{first->first, 0});
      const bool one_each = std::find_if(kernel, kernels.end(), of_others) - kernel == last - first;
      for (; one_each && first != last; ++first, ++kernel) {
        add(kernel->second, t_.works[first->second].declared);
        count(kernel->second);
      }
      first = last;
    }
  }

  void place_operators() {
    for (std::uint32_t op = 0; op < lone_of_operator_.size(); ++op) {
      const std::uint32_t pos = lone_of_operator_[op];
      if (pos < several && !is_known(pos)) {
        add(pos, t_.operator_kinds[t_.operators.kind[op]].declared);
        count(pos);
      }
    }
  }

  [[nodiscard]] bool is_known(std::uint32_t pos) const noexcept { return !known_.empty() && known_[pos]; }

  void add(std::uint32_t pos, const work& w) {
    out_.resize(rows_.kernels.size());
    kernel_work& k = out_[kernel_[pos]];
    add_to(k.declared, w);
    const std::uint32_t group = rows_.kernels[kernel_[pos]].group;
    if (const ceilings* const device = rows_.roofs.device(rows_.groups[group].device); device != nullptr) {
      k.roof.add(w, *device);
    }
  }

  /// Once for each kernel, whatever number of entries tell its work.
  void count(std::uint32_t pos) {
    known_.resize(activities_.size);
    if (known_[pos]) {
      return;
    }
    known_[pos] = true;
    const std::uint32_t i = activities_.record_at(pos);
    add_to(out_[kernel_[pos]].time, t_.activities.end[i] - t_.activities.begin[i]);
    ++out_[kernel_[pos]].kernels;
  }

  const trace& t_;
  const structure& s_;
  const activity_table& activities_;
  const std::vector<std::uint32_t>& kernel_;
  const row_table& rows_;
  std::vector<std::uint8_t> source_;    // by slot
  std::vector<std::uint32_t> lone_;     // by slot: position of its only kernel, none or several
  std::vector<std::uint32_t> telling_;  // by operator: the outermost around it of known work
  std::vector<std::uint32_t> lone_of_operator_;
  std::vector<bool> known_;  // by position
  std::vector<kernel_work> out_;
};

}  // namespace

std::vector<kernel_work> find_kernel_work(const trace& t, const structure& s,
                                          const activity_table& activities,
                                          const std::vector<std::uint32_t>& kernel, const row_table& rows) {
  return tells_any(t, std::vector<bool>(t.operators.size() != 0 ? 1 : 0))
             ? kernel_finder{t, s, activities, kernel, rows}.run()
             : std::vector<kernel_work>{};
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
