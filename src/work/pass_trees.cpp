// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "work/pass_trees.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

namespace varve {
inline namespace v0 {
namespace model_work {

namespace {

/// "layer 3", "layers.3", "LlamaDecoderLayer_3": what is before the number, which comes to `index`; else
/// nothing.
std::string_view before_index(std::string_view name, std::int32_t& index) noexcept {
  const std::size_t at = name.find_last_not_of("0123456789");
  if (at == std::string_view::npos || at == 0 || at + 1 == name.size() ||
      std::string_view{" -_."}.find(name[at]) == std::string_view::npos) {
    return {};
  }
  const auto [end, fault] = std::from_chars(name.data() + at + 1, name.data() + name.size(), index);
  return fault == std::errc{} ? name.substr(0, at) : std::string_view{};
}

}  // namespace

pass_trees::pass_trees(trace& t, label_rules& rules) : t_{t} {
  read_steps(rules);
  list_ranges();
  labels_ = replayed_labels{t_, pass_of_};
}

/// Importers keep an annotation's text whole: where it fits no rule, it may with the number at its end as
/// index, and without the modules before its last.
void pass_trees::read_steps(label_rules& rules) {
  for (std::uint32_t l = 0; l < t_.labels.size(); ++l) {
    const label_node& label = t_.labels[l];
    step s{label.name, label.index};
    std::int32_t index = no_index;
    std::string name{label.index == no_index && rules.fitting(t_.strings, label.name).empty()
                         ? before_index(t_.strings[label.name], index)
                         : std::string_view{}};
    for (bool more = !name.empty(); more;) {
      const std::uint32_t id = t_.strings.intern(name);
      const std::size_t dot = name.rfind('.');
      more = rules.fitting(t_.strings, id).empty() && dot != std::string::npos;
      if (!rules.fitting(t_.strings, id).empty()) {
        s = {id, index};
      }
      name.erase(0, more ? dot + 1 : 0);
    }
    steps_.push_back(s);
  }
}

void pass_trees::list_ranges() {
  const std::size_t n = t_.ranges.size();
  pass_of_.assign(n, none);
  node_of_range_.assign(n, none);
  told_.assign(n, false);
  holds_passes_.assign(n, false);
  first_.assign(n + 1, 0);
  for (std::uint32_t r = 0; r < n; ++r) {
    const range& here = t_.ranges[r];
    pass_of_[r] = here.kind == range_kind::phase ? r : here.parent < r ? pass_of_[here.parent] : none;
    if (here.kind == range_kind::phase && here.parent < r && pass_of_[here.parent] != none) {
      holds_passes_[pass_of_[here.parent]] = true;
    }
    if (pass_of_[r] != none) {
      ++first_[pass_of_[r] + std::size_t{1}];
    }
  }
  for (std::size_t r = 0; r < n; ++r) {
    first_[r + 1] += first_[r];
  }
  inside_.resize(first_[n]);
  std::vector<std::uint32_t> next{first_};
  for (std::uint32_t r = 0; r < n; ++r) {
    if (pass_of_[r] != none) {
      inside_[next[pass_of_[r]]++] = r;
    }
  }
  for (const range_work& w : t_.works) {
    if (w.range < n && w.source < work_source::shapes && w.declared != work{}) {
      told_[w.range] = true;
    }
  }
}

void pass_trees::build(std::uint32_t pass) {
  tree_.nodes.assign(1, {});
  origins_.assign(1, {none, pass});
  for (std::uint32_t k = first_[pass]; k < first_[pass + std::size_t{1}]; ++k) {
    const std::uint32_t r = inside_[k];
    const range& here = t_.ranges[r];
    const std::uint32_t parent = r == pass ? 0 : node_of_range_[here.parent];
    if (r == pass || here.kind == range_kind::request || here.label >= t_.labels.size()) {
      node_of_range_[r] = parent;  // no step of a path
      continue;
    }
    const step& s = steps_[here.label];
    node_of_range_[r] = tree_.add(parent, s.name, s.index);
    origins_.push_back({parent, r, here.label});
  }
  add_replays(pass);
}

/// Labels of replays become nodes below the labels and ranges that have the paths around them.
void pass_trees::add_replays(std::uint32_t pass) {
  const std::vector<replayed_label> replayed = labels_.of(pass);
  if (replayed.empty()) {
    return;
  }
  std::map<std::uint32_t, std::uint32_t> node_of_path{{replayed_labels::whole, 0}};
  for (std::uint32_t n = 1; n < origins_.size(); ++n) {
    node_of_path.try_emplace(labels_.path_of(origins_[n].label), n);
  }
  std::vector<std::uint32_t> missing;
  for (const replayed_label& one : replayed) {
    missing.clear();
    std::uint32_t path = labels_.path_of(one.label);
    while (node_of_path.count(path) == 0) {
      missing.push_back(path);
      path = labels_.parent_of(path);
    }
    std::uint32_t node = node_of_path[path];
    while (!missing.empty()) {
      const std::uint32_t label = labels_.label_of(missing.back());
      const std::uint32_t parent = node;
      node = tree_.add(parent, steps_[label].name, steps_[label].index);
      origins_.push_back({parent, none, label});
      node_of_path[missing.back()] = node;
      missing.pop_back();
    }
    told_of_nodes& told = origins_[node].told;
    told.declared += one.told.declared;
    told.shapes = std::max(told.shapes, one.told.shapes);
    told.calls += one.told.calls;
  }
}

/// What is told with more trust in it, or around it, leaves no room for what the description tells of
/// replays: as choose_works() does for ranges. Shapes leave it what is inside, and where they tell less than
/// half as much (of an operator beside) their own label too; so do calls wherever it tells anything.
void pass_trees::find_trusted(const std::vector<double>& amounts) {
  for (std::size_t n = origins_.size(); n-- > 1;) {
    origin& o = origins_[n];
    o.inside += o.told.declared + (2 * o.told.shapes >= amounts[n] ? o.told.shapes : 0) +
                (amounts[n] == 0 ? o.told.calls : 0);
    origins_[o.parent].inside += o.inside;
  }
  for (std::size_t n = 1; n < origins_.size(); ++n) {
    origin& o = origins_[n];
    o.overruled = origins_[o.parent].overruled || o.told.declared > 0 || (o.range != none && told_[o.range]);
  }
}

bool pass_trees::leave_room(std::uint32_t node, double amount) const noexcept {
  const origin& o = origins_[node];
  const bool holds_as_much = o.inside > 0 && 2 * o.inside >= amount;
  return node == 0 || !(holds_as_much || (o.range == none && o.overruled));
}

}  // namespace model_work
}  // namespace v0
}  // namespace varve
