// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "work/label_tree.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace varve {
inline namespace v0 {
namespace model_work {

namespace {

using numbers = std::vector<std::uint32_t>;

/// Nodes that stand for the same operators; deeper ones divide these.
struct scope {
  numbers nodes;      ///< the first gets the work
  numbers operators;  ///< ascending
  std::int32_t layer = no_index;
  const parsed_rule* rule = nullptr;
};

/// Labels of one path side by side, which stand for something in the scope around.
struct candidate {
  numbers nodes;
  std::uint32_t rule = 0;
  const std::vector<label_part>* parts = nullptr;
  std::int32_t layer = no_index;
  bool lost = false;  ///< of what it stands for another label does too
};

class placer {
 public:
  placer(const std::vector<operator_work>& pass, const label_tree& tree, const string_table& strings,
         label_rules& rules, label_misfits& misfits)
      : pass_{pass}, tree_{tree}, strings_{strings}, rules_{rules}, misfits_{misfits}, taken_(pass.size()) {}

  numbers run() {
    numbers owner(pass_.size(), 0);
    for (const operator_work& o : pass_) {
      layers_ = std::max(layers_, o.layer + 1);
    }
    scope whole;
    whole.nodes = {0};
    for (std::uint32_t o = 0; o < pass_.size(); ++o) {
      whole.operators.push_back(o);
    }
    waiting_.push_back(std::move(whole));
    while (!waiting_.empty()) {
      const scope s = std::move(waiting_.back());
      waiting_.pop_back();
      for (const std::uint32_t o : s.operators) {
        owner[o] = s.nodes.front();
      }
      divide(s);
    }
    count_unnamed(owner);
    return owner;
  }

 private:
  void divide(const scope& s);
  void find_candidates(const scope& s);
  bool fit(const scope& s, std::uint32_t node, std::uint32_t rule);
  [[nodiscard]] bool holds(const std::vector<label_part>& parts, std::uint32_t o) const noexcept;
  [[nodiscard]] numbers held(const scope& s, const candidate& c) const;
  void number_layers();
  void claim(const scope& s, bool named, bool layers);
  void claim_one_each(const scope& s);
  void hand_out(const numbers& operators, const numbers& which);
  void open(const candidate& c, numbers operators);
  void count_unnamed(const numbers& owner);

  const std::vector<operator_work>& pass_;
  const label_tree& tree_;
  const string_table& strings_;
  label_rules& rules_;
  label_misfits& misfits_;
  std::int32_t layers_ = 0;
  std::vector<scope> waiting_;
  // Of the scope at hand:
  std::vector<candidate> candidates_;
  std::vector<bool> taken_;  // by operator
  std::map<std::tuple<std::uint32_t, std::int32_t, std::uint32_t>, std::size_t> known_;
};

bool placer::holds(const std::vector<label_part>& parts, std::uint32_t o) const noexcept {
  return std::any_of(parts.begin(), parts.end(), [&](const label_part& p) { return p.holds(pass_[o]); });
}

/// What `c` stands for of a scope, whoever else does.
numbers placer::held(const scope& s, const candidate& c) const {
  const bool is_layer = rules_[c.rule].is_layer;
  numbers out;
  for (const std::uint32_t o : s.operators) {
    if (pass_[o].layer == (s.layer != no_index ? s.layer : c.layer) && (is_layer || holds(*c.parts, o))) {
      out.push_back(o);
    }
  }
  return out;
}

/// Whether a node stands for something by this rule; adds it if so.
bool placer::fit(const scope& s, std::uint32_t node, std::uint32_t rule) {
  const parsed_rule& r = rules_[rule];
  const std::int32_t index = tree_.nodes[node].index;
  candidate c;
  c.rule = rule;
  const bool again = s.rule != nullptr && !r.nested.empty() && r.stands_for_block_of(*s.rule);
  c.parts = again ? &r.nested : &r.parts;
  if (r.is_layer && s.layer != no_index) {
    return false;
  }
  if (!r.is_layer) {
    c.layer = no_index;
    if (held(s, c).empty()) {
      // "attention 3", with no layer around
      if (s.layer != no_index || index < 0 || r.one_each) {
        return false;
      }
      c.layer = index;
    }
  } else {
    c.layer = index;
  }
  if (c.layer >= layers_) {
    ++misfits_.no_such_layer;
    return true;
  }
  if (c.layer != no_index && held(s, c).empty()) {
    return false;
  }
  const std::uint32_t same = r.one_each || (r.is_layer && index < 0) ? node : none;
  const auto [known, added] = known_.try_emplace({tree_.nodes[node].name, index, same}, candidates_.size());
  if (added) {
    candidates_.push_back(std::move(c));
  }
  candidates_[known->second].nodes.push_back(node);
  return true;
}

/// Labels in the scope that stand for something; those that do not are looked into.
void placer::find_candidates(const scope& s) {
  candidates_.clear();
  known_.clear();
  numbers open;  // the next of each level
  for (const std::uint32_t n : s.nodes) {
    open.push_back(tree_.nodes[n].first);
    while (!open.empty()) {
      const std::uint32_t node = open.back();
      if (node == none) {
        open.pop_back();
        continue;
      }
      open.back() = tree_.nodes[node].next;
      bool done = false;
      for (const std::uint32_t rule : rules_.fitting(strings_, tree_.nodes[node].name)) {
        done = rules_[rule].parts.empty() || fit(s, node, rule);
        if (done) {
          break;
        }
      }
      if (!done) {
        open.push_back(tree_.nodes[node].first);
      }
    }
  }
}

/// Layers without an index are told by their order, where there are as many as the model has.
void placer::number_layers() {
  std::int32_t count = 0;
  bool all = true;
  for (const candidate& c : candidates_) {
    count += rules_[c.rule].is_layer ? 1 : 0;
    all = all && (!rules_[c.rule].is_layer || c.layer < 0);
  }
  std::int32_t number = 0;
  for (candidate& c : candidates_) {
    if (rules_[c.rule].is_layer && c.layer < 0) {
      c.lost = !all || count != layers_;
      misfits_.not_as_many += c.lost ? 1 : 0;
      c.layer = c.lost ? no_index : number++;
    }
  }
}

void placer::open(const candidate& c, numbers operators) {
  for (const std::uint32_t o : operators) {
    taken_[o] = true;
  }
  scope inner;
  inner.nodes = c.nodes;
  inner.layer = pass_[operators.front()].layer;
  inner.rule = &rules_[c.rule];
  inner.operators = std::move(operators);
  waiting_.push_back(std::move(inner));
}

/// Hands each candidate of a sort what it stands for and nobody else of the sort does.
void placer::claim(const scope& s, bool named, bool layers) {
  std::vector<std::pair<std::size_t, numbers>> claims;
  std::map<std::uint32_t, std::uint32_t> claimants;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const candidate& c = candidates_[i];
    const parsed_rule& r = rules_[c.rule];
    if (c.lost || r.one_each || r.is_layer != layers || (!layers && r.is_named() != named)) {
      continue;
    }
    numbers own;
    for (const std::uint32_t o : held(s, c)) {
      if (!taken_[o]) {
        own.push_back(o);
        ++claimants[o];
      }
    }
    claims.emplace_back(i, std::move(own));
  }
  for (auto& [i, own] : claims) {
    const std::size_t before = own.size();
    own.erase(std::remove_if(own.begin(), own.end(), [&](std::uint32_t o) { return claimants[o] > 1; }),
              own.end());
    if (!own.empty()) {
      open(candidates_[i], std::move(own));
    } else {
      misfits_.not_as_many += before != 0 ? 1 : 0;
    }
  }
}

/// The operators one after the other to as many candidates; else those that follow within one kernel
/// together.
void placer::hand_out(const numbers& operators, const numbers& which) {
  numbers heads;
  for (std::size_t k = 0; k < operators.size(); ++k) {
    const bool follows = k > 0 && operators[k - 1] + 1 == operators[k] && pass_[operators[k]].with_previous;
    if (!follows || which.size() == operators.size()) {
      heads.push_back(static_cast<std::uint32_t>(k));
    }
  }
  if (heads.size() != which.size()) {
    misfits_.not_as_many += which.size();
    return;
  }
  for (std::size_t k = 0; k < heads.size(); ++k) {
    const auto first = operators.begin() + heads[k];
    const auto last = k + 1 < heads.size() ? operators.begin() + heads[k + 1] : operators.end();
    open(candidates_[which[k]], numbers(first, last));
  }
}

void placer::claim_one_each(const scope& s) {
  std::vector<std::pair<numbers, numbers>> rows;  // operators, candidates
  for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
    const candidate& c = candidates_[i];
    if (!rules_[c.rule].one_each) {
      continue;
    }
    numbers own;
    for (const std::uint32_t o : held(s, c)) {
      if (!taken_[o]) {
        own.push_back(o);
      }
    }
    // Norms inside of attention are not those of its layer.
    const auto inner = [&](std::uint32_t o) { return is_inner_norm(pass_[o]); };
    if (!std::all_of(own.begin(), own.end(), inner)) {
      own.erase(std::remove_if(own.begin(), own.end(), inner), own.end());
    }
    const auto same =
        std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.first == own; });
    if (own.empty()) {
      continue;
    }
    if (same != rows.end()) {
      same->second.push_back(i);
    } else {
      rows.emplace_back(std::move(own), numbers{i});
    }
  }
  for (const auto& [operators, which] : rows) {
    hand_out(operators, which);
  }
}

void placer::divide(const scope& s) {
  find_candidates(s);
  if (candidates_.empty()) {
    return;
  }
  for (const std::uint32_t o : s.operators) {
    taken_[o] = false;
  }
  number_layers();
  claim(s, false, true);
  claim(s, true, false);
  claim(s, false, false);
  claim_one_each(s);
}

void placer::count_unnamed(const numbers& owner) {
  std::vector<bool> named(static_cast<std::size_t>(layers_));
  bool any = false;
  for (std::size_t o = 0; o < owner.size(); ++o) {
    any = any || owner[o] != 0;
    if (owner[o] != 0 && pass_[o].layer >= 0) {
      named[static_cast<std::size_t>(pass_[o].layer)] = true;
    }
  }
  const auto count = static_cast<std::uint64_t>(std::count(named.begin(), named.end(), true));
  misfits_.unnamed_layers += any ? named.size() - count : 0;
  misfits_.nothing_named += any ? 0 : 1;
}

}  // namespace

label_misfits& label_misfits::operator+=(const label_misfits& other) noexcept {
  no_such_layer += other.no_such_layer;
  unnamed_layers += other.unnamed_layers;
  not_as_many += other.not_as_many;
  nothing_named += other.nothing_named;
  return *this;
}

std::uint32_t label_tree::add(std::uint32_t parent, std::uint32_t name, std::int32_t index) {
  const auto id = static_cast<std::uint32_t>(nodes.size());
  nodes.push_back({name, index, none, none, none});
  node& up = nodes[parent];
  (up.last != none ? nodes[up.last].next : up.first) = id;
  up.last = id;
  return id;
}

numbers place_operators(const std::vector<operator_work>& pass, const label_tree& tree,
                        const string_table& strings, label_rules& rules, label_misfits& misfits) {
  return placer{pass, tree, strings, rules, misfits}.run();
}

}  // namespace model_work
}  // namespace v0
}  // namespace varve
