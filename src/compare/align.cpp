// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/align.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>

namespace varve {
inline namespace v0 {
namespace comparing {

namespace {

/// Layers of one side as a tree of their own.
struct tree {
  struct node {
    const row* of = nullptr;
    std::uint32_t layer = none;
    std::uint32_t parent = none;  ///< in nodes
    std::uint32_t position = 0;   ///< among its siblings
    std::uint32_t match = none;   ///< in the other tree
    bool renamed = false;
  };
  std::vector<node> nodes;
  double passes = 1;

  tree(const run& r, std::uint32_t phase) {
    if (phase == none) {
      return;
    }
    passes = r.passes(phase);
    std::map<std::uint32_t, std::uint32_t> of_layer;
    std::map<std::uint32_t, std::uint32_t> children;
    for (const std::uint32_t i : r.layers(phase)) {
      const row& one = r.of().layers[i];
      const auto parent = of_layer.find(one.parent);
      node n{&one, i, parent == of_layer.end() ? none : parent->second};
      n.position = children[n.parent]++;
      of_layer.emplace(i, static_cast<std::uint32_t>(nodes.size()));
      nodes.push_back(n);
    }
  }
  /// Of each row the nearest one above that `keeps`, or none.
  template <class Keeps>
  [[nodiscard]] std::vector<std::uint32_t> nearest(Keeps keeps) const {
    std::vector<std::uint32_t> out(nodes.size(), none);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      const std::uint32_t up = nodes[i].parent;
      out[i] = up == none || keeps(up) ? up : out[up];
    }
    return out;
  }
  /// How many rows without a counterpart are right below each row (none: the phase).
  [[nodiscard]] std::map<std::uint32_t, int> open_children() const {
    std::map<std::uint32_t, int> out;
    for (const node& n : nodes) {
      out[n.parent] += n.match == none ? 1 : 0;
    }
    return out;
  }
  /// Rows without a counterpart by the matched one above them (none: the phase), in their order. What alone
  /// is open among its siblings and has open rows inside wraps them and is left out.
  using places = std::map<std::uint32_t, std::vector<std::uint32_t>>;
  [[nodiscard]] places open_places() const {
    std::map<std::uint32_t, int> open = open_children();
    places out;
    std::vector<bool> wraps(nodes.size(), false);
    const std::vector<std::uint32_t> above = anchors();
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      const std::uint32_t up = nodes[i].parent;
      if (nodes[i].match == none && (up == above[i] || wraps[up])) {
        wraps[i] = open[up] == 1 && open[i] > 0;
        if (!wraps[i]) {
          out[above[i]].push_back(i);
        }
      }
    }
    return out;
  }
  [[nodiscard]] std::vector<std::uint32_t> anchors() const {
    return nearest([&](std::uint32_t i) { return nodes[i].match != none; });
  }
};

using name = std::pair<std::string_view, std::int32_t>;
name name_of(const row& one) { return {one.label, one.index}; }

/// Whether two rows do the same: as much work, or as many kernels in a like time, of which more is granted to
/// the same main kernel.
bool alike(const tree::node& a, double a_passes, const tree::node& b, double b_passes) {
  const measures& x = a.of->inclusive;
  const measures& y = b.of->inclusive;
  const auto near = [&](std::int64_t of_x, std::int64_t of_y, double within) {
    const double p = amount(of_x) / a_passes;
    const double q = amount(of_y) / b_passes;
    return p > 0 && q > 0 && p <= within * q && q <= within * p;
  };
  constexpr double equal = 1.001;
  constexpr double like = 1.5;
  constexpr double like_of_one_kernel = 4;
  if (x.calls_with_work > 0 && y.calls_with_work > 0 && !x.declared.empty() && !y.declared.empty()) {
    const bool same_flops =
        x.declared.flops == y.declared.flops || near(x.declared.flops, y.declared.flops, equal);
    return same_flops &&
           (near(x.declared.bytes(), y.declared.bytes(), equal) || x.declared.bytes() == y.declared.bytes());
  }
  const bool one_kernel = !a.of->main_kernel.empty() && a.of->main_kernel == b.of->main_kernel;
  return near(x.kernels, y.kernels, equal) &&
         near(x.gpu_time, y.gpu_time, one_kernel ? like_of_one_kernel : like);
}

class aligner {
 public:
  aligner(tree& base, tree& fresh) : base_{base}, fresh_{fresh} {}

  void align() {
    constexpr int most_rounds = 16;  // each but the last finds something, mostly all of it
    for (int i = 0; i < most_rounds; ++i) {
      if (!by_parent() && !by_anchor() && !by_position() && !by_place()) {
        break;
      }
    }
  }

 private:
  void match(std::uint32_t b, std::uint32_t f, bool renamed) {
    base_.nodes[b].match = f;
    fresh_.nodes[f].match = b;
    base_.nodes[b].renamed = renamed;
    found_ = true;
  }
  /// Counterpart of a base row; none stands for the phase itself.
  [[nodiscard]] std::uint32_t other(std::uint32_t b) const { return b == none ? none : base_.nodes[b].match; }
  static bool below_match(const tree& t, const tree::node& n) {
    return n.match == none && (n.parent == none || t.nodes[n.parent].match != none);
  }

  /// Of one name below rows that match.
  bool by_parent() {
    found_ = false;
    std::map<std::pair<std::uint32_t, name>, std::uint32_t> open;
    for (std::uint32_t f = 0; f < fresh_.nodes.size(); ++f) {
      if (fresh_.nodes[f].match == none) {
        open.try_emplace({fresh_.nodes[f].parent, name_of(*fresh_.nodes[f].of)}, f);
      }
    }
    for (std::uint32_t b = 0; b < base_.nodes.size(); ++b) {
      if (below_match(base_, base_.nodes[b])) {
        const auto at = open.find({other(base_.nodes[b].parent), name_of(*base_.nodes[b].of)});
        if (at != open.end() && fresh_.nodes[at->second].match == none) {
          match(b, at->second, false);
        }
      }
    }
    return found_;
  }

  /// The only ones of one name, however deep, below rows that match.
  bool by_anchor() {
    found_ = false;
    struct both {
      std::uint32_t base = none;
      std::uint32_t fresh = none;
      int of_base = 0;
      int of_fresh = 0;
    };
    std::map<std::pair<std::uint32_t, name>, both> open;  // by the fresh anchor
    const std::vector<std::uint32_t> base_anchors = base_.anchors();
    const std::vector<std::uint32_t> fresh_anchors = fresh_.anchors();
    for (std::uint32_t b = 0; b < base_.nodes.size(); ++b) {
      if (base_.nodes[b].match == none) {
        both& at = open[{other(base_anchors[b]), name_of(*base_.nodes[b].of)}];
        at.base = b;
        at.of_base = std::min(2, at.of_base + 1);
      }
    }
    for (std::uint32_t f = 0; f < fresh_.nodes.size(); ++f) {
      if (fresh_.nodes[f].match == none) {
        both& at = open[{fresh_anchors[f], name_of(*fresh_.nodes[f].of)}];
        at.fresh = f;
        at.of_fresh = std::min(2, at.of_fresh + 1);
      }
    }
    for (const auto& [key, at] : open) {
      if (at.of_base == 1 && at.of_fresh == 1) {
        match(at.base, at.fresh, false);
      }
    }
    return found_;
  }

  /// At the same place below rows that match, where as many are left on both sides, and doing the same: of
  /// three layers and the one that they were fused into, none is it.
  bool by_position() {
    found_ = false;
    const std::map<std::uint32_t, int> of_base = base_.open_children();
    const std::map<std::uint32_t, int> of_fresh = fresh_.open_children();
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> open;
    for (std::uint32_t f = 0; f < fresh_.nodes.size(); ++f) {
      if (below_match(fresh_, fresh_.nodes[f])) {
        open.emplace(std::pair{fresh_.nodes[f].parent, fresh_.nodes[f].position}, f);
      }
    }
    for (std::uint32_t b = 0; b < base_.nodes.size(); ++b) {
      const tree::node& n = base_.nodes[b];
      if (below_match(base_, n)) {
        const auto at = open.find({other(n.parent), n.position});
        if (at != open.end() && of_base.at(n.parent) == of_fresh.at(other(n.parent)) &&
            fresh_.nodes[at->second].match == none &&
            alike(n, base_.passes, fresh_.nodes[at->second], fresh_.passes)) {
          match(b, at->second, true);
        }
      }
    }
    return found_;
  }

  /// Likewise, where what wraps all that has no counterpart is looked through and as many rows are left on
  /// both sides.
  bool by_place() {
    found_ = false;
    const tree::places of_base = base_.open_places();
    const tree::places of_fresh = fresh_.open_places();
    for (const auto& [anchor, rows] : of_base) {
      const auto at = of_fresh.find(other(anchor));
      if (at == of_fresh.end() || at->second.size() != rows.size()) {
        continue;
      }
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (alike(base_.nodes[rows[i]], base_.passes, fresh_.nodes[at->second[i]], fresh_.passes)) {
          match(rows[i], at->second[i], true);
        }
      }
    }
    return found_;
  }

  tree& base_;
  tree& fresh_;
  bool found_ = false;
};

/// One tree as far as rows are concerned.
struct side_rows {
  const tree& of;
  std::vector<bool> wraps;           ///< has no counterpart itself, but something inside it does
  std::vector<std::uint32_t> above;  ///< nearest row above that does not wrap, or none
  std::vector<std::uint32_t> row;    ///< in the alignment, or none

  explicit side_rows(const tree& t) : of{t}, wraps(t.nodes.size(), false), row(t.nodes.size(), none) {
    for (std::size_t i = t.nodes.size(); i-- > 0;) {
      const tree::node& n = t.nodes[i];
      if (n.parent != none && t.nodes[n.parent].match == none && (n.match != none || wraps[i])) {
        wraps[n.parent] = true;
      }
    }
    above = t.nearest([&](std::uint32_t i) { return !wraps[i]; });
  }
  [[nodiscard]] std::uint32_t row_above(std::uint32_t i) const {
    return above[i] == none ? none : row[above[i]];
  }
  /// Has no counterpart, and neither has anything inside; what is above it has one.
  [[nodiscard]] bool is_open(std::uint32_t i) const {
    return of.nodes[i].match == none && !wraps[i] && (above[i] == none || of.nodes[above[i]].match != none);
  }
};

/// Turns matched trees into rows.
class rows {
 public:
  rows(const tree& base, const tree& fresh) : base_{base}, fresh_{fresh} {}

  std::vector<aligned> take() {
    using kind = row_change::kind;
    const counts base_open = count_open(base_);
    const counts fresh_open = count_open(fresh_);
    // Whether both sides have rows of their own below a matched one: what is inside has other names, and the
    // lowest row that both have is the one to compare.
    const auto is_mixed = [&](std::uint32_t base_above, std::uint32_t fresh_above) {
      return base_above != none && base_open.count(base_above) != 0 && fresh_open.count(fresh_above) != 0;
    };
    for (std::uint32_t b = 0; b < base_.of.nodes.size(); ++b) {
      const tree::node& n = base_.of.nodes[b];
      const std::uint32_t parent = base_.row_above(b);
      if (n.match != none) {
        base_.row[b] =
            add(n.renamed ? kind::renamed : kind::matched, n.layer, fresh_.of.nodes[n.match].layer, parent);
        fresh_.row[n.match] = base_.row[b];
      } else if (base_.is_open(b) &&
                 !is_mixed(base_.above[b],
                           base_.above[b] == none ? none : base_.of.nodes[base_.above[b]].match)) {
        base_.row[b] = add(kind::removed, n.layer, none, parent);
      } else if (parent != none) {  // else the time of what wraps all is told as other work
        base_.row[b] = parent;
        out_[parent].base_owned.push_back(n.layer);
      }
    }
    for (std::uint32_t f = 0; f < fresh_.of.nodes.size(); ++f) {
      const tree::node& n = fresh_.of.nodes[f];
      const std::uint32_t parent = fresh_.row_above(f);
      if (n.match != none) {
        continue;
      }
      if (fresh_.is_open(f) &&
          !is_mixed(fresh_.above[f] == none ? none : fresh_.of.nodes[fresh_.above[f]].match,
                    fresh_.above[f])) {
        fresh_.row[f] = add(kind::added, none, n.layer, parent);
      } else if (parent != none) {
        fresh_.row[f] = parent;
        out_[parent].fresh_owned.push_back(n.layer);
      }
    }
    return std::move(out_);
  }

 private:
  using counts = std::map<std::uint32_t, int>;
  static counts count_open(const side_rows& side) {
    counts out;
    for (std::uint32_t i = 0; i < side.of.nodes.size(); ++i) {
      if (side.above[i] != none && side.is_open(i)) {
        ++out[side.above[i]];
      }
    }
    return out;
  }
  std::uint32_t add(row_change::kind what, std::uint32_t base, std::uint32_t fresh, std::uint32_t parent) {
    aligned& one = out_.emplace_back();
    one.what = what;
    one.base = base;
    one.fresh = fresh;
    one.parent = parent;
    if (base != none) {
      one.base_owned.push_back(base);
    }
    if (fresh != none) {
      one.fresh_owned.push_back(fresh);
    }
    return static_cast<std::uint32_t>(out_.size() - 1);
  }

  side_rows base_;
  side_rows fresh_;
  std::vector<aligned> out_;
};

}  // namespace

std::vector<std::pair<std::uint32_t, std::uint32_t>> align_phases(const run& base, const run& fresh) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
  std::vector<std::uint32_t> matched(base.keys().size(), none);
  std::vector<bool> taken(fresh.keys().size(), false);
  for (std::uint32_t b = 0; b < matched.size(); ++b) {
    const std::uint32_t f = fresh.find(base.keys()[b]);
    if (f != none && !taken[f]) {
      matched[b] = f;
      taken[f] = true;
    }
  }
  // What is left may have another name of the model, which not every source knows.
  using without_model = std::tuple<std::string_view, std::string_view, std::uint32_t>;
  std::map<without_model, std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> open;
  const auto key_of = [](const phase_key& k) { return without_model{k.phase, k.batch, k.device}; };
  for (std::uint32_t b = 0; b < matched.size(); ++b) {
    if (matched[b] == none) {
      open[key_of(base.keys()[b])].first.push_back(b);
    }
  }
  for (std::uint32_t f = 0; f < taken.size(); ++f) {
    if (!taken[f]) {
      open[key_of(fresh.keys()[f])].second.push_back(f);
    }
  }
  for (const auto& [key, left] : open) {
    if (left.first.size() == 1 && left.second.size() == 1) {
      matched[left.first[0]] = left.second[0];
      taken[left.second[0]] = true;
    }
  }
  for (std::uint32_t b = 0; b < matched.size(); ++b) {
    out.emplace_back(b, matched[b]);
  }
  for (std::uint32_t f = 0; f < taken.size(); ++f) {
    if (!taken[f]) {
      out.emplace_back(none, f);
    }
  }
  return out;
}

std::vector<aligned> align_layers(const run& base, std::uint32_t base_phase, const run& fresh,
                                  std::uint32_t fresh_phase) {
  tree of_base{base, base_phase};
  tree of_fresh{fresh, fresh_phase};
  aligner{of_base, of_fresh}.align();
  return rows{of_base, of_fresh}.take();
}

}  // namespace comparing
}  // namespace v0
}  // namespace varve
