// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/select.hpp"

#include "formats/table/blocks.hpp"
#include "formats/table/kernel_name.hpp"
#include "formats/table/parts.hpp"
#include "formats/table/rounding.hpp"
#include "formats/table/text.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <queue>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace varve::table {

namespace {

/// Siblings that together exceed this share are not all folded: a model of 128 equal layers of 0.8 % each
/// would be one line that says nothing.
constexpr double most_folded = 0.2;
constexpr std::size_t always_shown = 10;
/// Where blocks and their parts would take more lines, parts are shown of as many blocks.
constexpr std::size_t most_lines_of_blocks = 200;
constexpr std::size_t deepest = 24;

using key = std::tuple<std::string_view, std::string_view, std::uint32_t, std::string_view>;

template <class Row>
key key_of(const Row& r) {
  return {r.phase, r.model, r.device, r.batch};
}

const std::vector<row>& rows_of(const report& r, view by) noexcept {
  switch (by) {
    case view::label:
      return r.labels;
    case view::kernel:
      return r.kernels;
    case view::category:
      return r.categories;
    case view::layer:
    case view::phase:
    case view::operators:
      break;
  }
  return r.layers;
}

struct node {
  const row* source = nullptr;
  double value = 0;                   ///< that the table is sorted by
  std::size_t parent = 0;             ///< position in the tree; the root is its own
  std::vector<std::size_t> children;  ///< in the order of the table
  std::size_t group = 0;              ///< of a block and what is below it: see tree::group_of
  bool folded = false;
  bool bare = false;  ///< left out below a block that is shown without its parts
  bool shown = false;
};

/// The rows of one section as a tree whose node 0 is the pass itself.
class tree {
 public:
  /// Counts in `s` what lies deeper than its levels.
  tree(const std::vector<row>& rows, const std::vector<std::size_t>& members, const blocks& found,
       const row_test& wanted, const table_options& options, bool predicted, section& s)
      : options_{options} {
    struct place {
      std::size_t node = 0;  ///< of the row, or of its nearest ancestor here
      std::size_t level = 0;
    };
    nodes_.resize(1);
    std::unordered_map<std::size_t, place> places;
    for (const std::size_t i : members) {
      const row& r = rows[i];
      // A parent that does not come earlier is none.
      const auto above = options.by == view::layer && r.parent < i ? places.find(r.parent) : places.end();
      const place parent = above != places.end() ? above->second : place{};
      if (!wanted(r)) {
        places.emplace(i, parent);
        continue;
      }
      const std::size_t level = parent.level + 1;
      if (s.levels != 0 && level > s.levels) {
        places.emplace(i, place{parent.node, level});
        ++s.deeper;
        s.deepest = std::max(s.deepest, level);
        continue;
      }
      places.emplace(i, place{nodes_.size(), level});
      nodes_[parent.node].children.push_back(nodes_.size());
      nodes_.push_back({&r,
                        sort_value(r, options.sort),
                        parent.node,
                        {},
                        group_of(i, parent.node, r.label, found),
                        false,
                        false,
                        false});
    }
    if (predicted) {
      even_out();
    }
    for (node& n : nodes_) {
      std::stable_sort(n.children.begin(), n.children.end(),
                       [&](std::size_t a, std::size_t b) { return before(a, b); });
    }
  }

  void fill(section& s, const std::vector<row>& rows) {
    if (!chosen(options_) && options_.fold_below > 0 && s.gpu_time > 0) {
      fold(s.gpu_time);
    }
    s.folded = static_cast<std::size_t>(
        std::count_if(nodes_.begin(), nodes_.end(), [](const node& n) { return n.folded; }));
    if (s.folded == 1) {  // the line that counts it would be as long
      std::for_each(nodes_.begin(), nodes_.end(), [](node& n) { n.folded = false; });
      s.folded = 0;
    }
    if (!chosen(options_) && options_.fold_below > 0) {
      bare_blocks(s);
    }
    choose();
    const auto hidden = static_cast<std::size_t>(
        std::count_if(nodes_.begin() + 1, nodes_.end(), [](const node& n) { return !n.shown; }));
    s.cut = hidden > s.folded + s.bare ? hidden : 0;
    double outside = 0;
    double inside = 0;
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
      const node& n = nodes_[i];
      if (!n.shown && (n.folded || s.cut != 0) && (n.parent == 0 || nodes_[n.parent].shown)) {
        (n.parent == 0 ? outside : inside) += gpu_time(i);
      }
    }
    s.left_out = s.gpu_time > 0 ? (outside + inside) / s.gpu_time : 0;
    s.in_shown = s.gpu_time > 0 ? inside / s.gpu_time : 0;
    print(s, rows);
  }

 private:
  [[nodiscard]] double gpu_time(std::size_t i) const {
    return static_cast<double>(nodes_[i].source->inclusive.gpu_time);
  }

  [[nodiscard]] bool before(std::size_t a, std::size_t b) const { return nodes_[a].value > nodes_[b].value; }

  /// Rows whose values differ by rounding have one value, and so stay in the order of the trace.
  void even_out() {
    std::vector<node*> order;
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
      order.push_back(&nodes_[i]);
    }
    std::sort(order.begin(), order.end(), [](const node* a, const node* b) { return a->value > b->value; });
    for (std::size_t i = 1; i < order.size(); ++i) {
      const double largest = order[i - 1]->value;
      order[i]->value = order[i]->value >= (1 - rounded) * largest ? largest : order[i]->value;
    }
  }

  /// 0 outside blocks, 1 for blocks; rows below them have one number where the labels from their block down
  /// are the same.
  std::size_t group_of(std::size_t place, std::size_t parent, std::string_view label, const blocks& found) {
    if (std::binary_search(found.rows.begin(), found.rows.end(), place)) {
      return 1;
    }
    const std::size_t above = nodes_[parent].group;
    return above == 0 ? 0 : groups_.try_emplace({above, label}, groups_.size() + 2).first->second;
  }

  /// Folds what is small in GPU time and, where the table is sorted by another sum, small in that too. What
  /// is below blocks is small if it is in all of them together: of 80 blocks even attention has few percent.
  void fold(double whole) {
    const bool sum = options_.sort == sort_key::launches || options_.sort == sort_key::launch_time ||
                     options_.sort == sort_key::starved;
    double sorted_whole = 0;
    for (const std::size_t i : nodes_[0].children) {
      sorted_whole += sort_value(*nodes_[i].source, options_.sort);
    }
    struct amount {
      double time = 0;
      double sorted = 0;
    };
    std::vector<amount> together_by_group(groups_.size() + 2);
    const auto amount_of = [&](std::size_t i) {
      return amount{gpu_time(i), sort_value(*nodes_[i].source, options_.sort)};
    };
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
      const amount own = amount_of(i);
      together_by_group[nodes_[i].group].time += own.time;
      together_by_group[nodes_[i].group].sorted += own.sorted;
    }
    const auto small = [&](std::size_t i) {
      const amount a = nodes_[i].group > 1 ? together_by_group[nodes_[i].group] : amount_of(i);
      return a.time < options_.fold_below * whole && (!sum || a.sorted <= options_.fold_below * sorted_whole);
    };
    for (std::size_t i = 0; i < nodes_.size(); ++i) {  // parents come first
      if (nodes_[i].folded) {
        for (const std::size_t child : nodes_[i].children) {
          nodes_[child].folded = true;
        }
        continue;
      }
      std::vector<std::size_t> few;
      double together = 0;
      for (const std::size_t child : nodes_[i].children) {
        if (small(child)) {
          few.push_back(child);
          together += gpu_time(child);
        }
      }
      const bool all = i == 0 && few.size() == nodes_[0].children.size();
      for (std::size_t n = all || together > most_folded * whole ? always_shown : 0; n < few.size(); ++n) {
        nodes_[few[n]].folded = true;
      }
    }
  }

  /// Where blocks and their parts take too many lines, leaves the largest ones their parts.
  void bare_blocks(section& s) {
    std::vector<std::size_t> blocks;
    std::size_t lines = 0;
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
      lines += nodes_[i].group != 0 && !nodes_[i].folded ? 1U : 0U;
      if (nodes_[i].group == 1 && !nodes_[i].folded) {
        blocks.push_back(i);
      }
    }
    if (lines <= most_lines_of_blocks || blocks.size() <= always_shown) {
      return;
    }
    std::stable_sort(blocks.begin(), blocks.end(),
                     [&](std::size_t a, std::size_t b) { return before(a, b); });
    blocks.erase(blocks.begin(), blocks.begin() + always_shown);
    std::sort(blocks.begin(), blocks.end());
    s.bare_blocks = blocks.size();
    for (std::size_t i = 1; i < nodes_.size(); ++i) {  // parents come first
      node& n = nodes_[i];
      n.bare =
          !n.folded && (nodes_[n.parent].bare || std::binary_search(blocks.begin(), blocks.end(), n.parent));
      s.bare += n.bare ? 1U : 0U;
    }
  }

  /// Shows what is not folded: all of it, or the `top` first ones whose parents are shown.
  void choose() {
    const auto later = [&](std::size_t a, std::size_t b) { return before(b, a) || (!before(a, b) && a > b); };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> open{later};
    const auto offer = [&](std::size_t i) {
      for (const std::size_t child : nodes_[i].children) {
        if (!nodes_[child].folded && !nodes_[child].bare) {
          open.push(child);
        }
      }
    };
    offer(0);
    for (std::size_t n = 0; !open.empty() && (options_.top == 0 || n < options_.top); ++n) {
      const std::size_t next = open.top();
      open.pop();
      nodes_[next].shown = true;
      offer(next);
    }
  }

  [[nodiscard]] std::string name(const node& n, const std::vector<row>& rows) const {
    const row& r = *n.source;
    if (options_.by == view::kernel && r.inclusive.kernels > 0) {
      return printable(kernel_name(r.path));
    }
    if (options_.by != view::layer) {
      return printable(r.path.empty() ? "(no name)" : r.path);
    }
    if (r.path.empty()) {
      return "(outside layers)";
    }
    // Ancestors that the filter left out are spelled out; of those that are not among the layers asked for
    // the nearest, which tells where the row stands.
    const bool nearest = chosen_by_name(options_);
    std::string text = step_name(r);
    const row* child = &r;
    for (std::size_t steps = 0; child->parent < static_cast<std::size_t>(child - rows.data()); ++steps) {
      child = &rows[child->parent];
      if (child == nodes_[n.parent].source || (nearest && steps != 0)) {
        break;
      }
      if (steps == deepest) {
        text.insert(0, "… / ");
        break;
      }
      text.insert(0, step_name(*child) + " / ");
    }
    return printable(text);
  }

  void print(section& s, const std::vector<row>& rows) const {
    struct level {
      std::vector<std::size_t> shown;
      std::size_t next = 0;
      double running = 0;
      std::string trunk;
    };
    const auto enter = [&](std::size_t parent, std::string trunk) {
      level l{{}, 0, 0, std::move(trunk)};
      std::copy_if(nodes_[parent].children.begin(), nodes_[parent].children.end(),
                   std::back_inserter(l.shown), [&](std::size_t i) { return nodes_[i].shown; });
      return l;
    };
    std::vector<level> path;
    path.push_back(enter(0, ""));
    while (!path.empty()) {
      level& l = path.back();
      if (l.next == l.shown.size()) {
        path.pop_back();
        continue;
      }
      const std::size_t i = l.shown[l.next++];
      const bool last = l.next == l.shown.size();
      const bool root = path.size() == 1;
      const double share = s.gpu_time > 0 ? gpu_time(i) / s.gpu_time : 0;
      l.running += share;
      s.lines.push_back({nodes_[i].source, name(nodes_[i], rows),
                         root ? "" : l.trunk + (last ? "└─ " : "├─ "), share, l.running});
      // Beyond the deepest level the branches stop growing, not the rows.
      const bool grow = !root && path.size() <= deepest;
      path.push_back(enter(i, grow ? l.trunk + (last ? "   " : "│  ") : l.trunk));
    }
  }

  const table_options& options_;
  std::vector<node> nodes_;
  std::map<std::pair<std::size_t, std::string_view>, std::size_t> groups_;  ///< by the group above and label
};

}  // namespace

std::vector<section> select(const report& r, const table_options& options) {
  const std::vector<row>& rows = rows_of(r, options.by);
  std::vector<section> sections;
  std::vector<std::vector<std::size_t>> members;
  std::map<key, std::size_t> places;
  const auto place = [&](const key& k) {
    const auto [entry, added] = places.emplace(k, sections.size());
    if (added) {
      sections.emplace_back();
      members.emplace_back();
    }
    return entry->second;
  };
  for (const phase_row& p : r.phases) {
    section& s = sections[place(key_of(p))];
    s.phase = &p;
    s.gpu_time = static_cast<double>(p.total.gpu_time);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    members[place(key_of(rows[i]))].push_back(i);
  }
  // What is in no pass has no total: shares are of its outermost rows, in each view.
  for (const row& l : r.layers) {
    section& s = sections[place(key_of(l))];
    s.gpu_time += s.phase == nullptr && l.parent == none ? static_cast<double>(l.inclusive.gpu_time) : 0;
  }
  const row_test wanted = wanted_rows(options);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    section& s = sections[i];
    blocks found;
    if (options.by == view::layer && !chosen(options)) {
      found = find_blocks(rows, members[i]);
      s.levels = found.level != 0 ? found.level + 1 : 0;  // down to their parts, or all
    }
    s.levels = options.by == view::layer && options.depth ? *options.depth : s.levels;
    tree t{rows, members[i], found, wanted, options, is_prediction(r), s};
    s.first = members[i].empty() ? nullptr : &rows[members[i].front()];
    t.fill(s, rows);
  }
  return sections;
}

}  // namespace varve::table
