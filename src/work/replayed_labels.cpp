// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "work/replayed_labels.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <unordered_map>

namespace varve {
inline namespace v0 {
namespace model_work {

namespace {

/// Launches of graphs by what ties them to activities; an id that comes again is that of the latest before.
class graph_launches {
 public:
  graph_launches(const trace& t, const std::vector<std::uint32_t>& pass_of) {
    const call_columns& c = t.calls;
    for (std::size_t i = 0; i < c.size(); ++i) {
      if (i < c.kind.size() && c.kind[i] == call_kind::graph_launch && i < c.correlation.size() &&
          c.correlation[i] != 0 && i < c.range.size() && c.range[i] < pass_of.size()) {
        launches_.push_back({c.correlation[i], c.begin[i], pass_of[c.range[i]]});
      }
    }
    std::sort(launches_.begin(), launches_.end(), before);
  }

  /// The pass of the launch, or none.
  [[nodiscard]] std::uint32_t pass(std::uint32_t correlation, time_ns begin) const noexcept {
    auto found =
        std::upper_bound(launches_.begin(), launches_.end(), launch{correlation, begin, none}, before);
    if (found != launches_.begin() && std::prev(found)->correlation == correlation) {
      return std::prev(found)->pass;
    }
    return found != launches_.end() && found->correlation == correlation ? found->pass : none;
  }

 private:
  struct launch {
    std::uint32_t correlation;
    time_ns begin;
    std::uint32_t pass;
  };
  static bool before(const launch& a, const launch& b) noexcept {
    return std::tie(a.correlation, a.begin) < std::tie(b.correlation, b.begin);
  }

  std::vector<launch> launches_;
};

}  // namespace

void replayed_labels::read_paths(const trace& t) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>, std::uint32_t> known;
  paths_.push_back({});
  path_of_label_.assign(t.labels.size(), whole);
  for (std::uint32_t l = 0; l < t.labels.size(); ++l) {
    const label_node& node = t.labels[l];
    const std::uint32_t parent = node.parent < l ? path_of_label_[node.parent] : whole;
    if (node.kind == range_kind::phase || node.kind == range_kind::request) {
      path_of_label_[l] = node.kind == range_kind::phase ? whole : parent;
      continue;
    }
    const auto [found, added] =
        known.try_emplace({parent, node.name, node.index}, static_cast<std::uint32_t>(paths_.size()));
    if (added) {
      paths_.push_back({parent, l});
    }
    path_of_label_[l] = found->second;
  }
}

replayed_labels::replayed_labels(const trace& t, const std::vector<std::uint32_t>& pass_of) {
  if (t.graph_nodes.empty()) {
    return;
  }
  read_paths(t);
  const graph_launches launches{t, pass_of};
  const activity_columns& a = t.activities;
  std::unordered_map<std::uint64_t, told_of_nodes> found;
  for (std::size_t i = 0; i < a.node.size() && i < a.correlation.size() && i < a.begin.size(); ++i) {
    if (a.node[i] >= t.graph_nodes.size()) {
      continue;
    }
    const graph_node& node = t.graph_nodes[a.node[i]];
    if (node.label >= t.labels.size() || path_of(node.label) == whole) {
      continue;
    }
    if (const std::uint32_t pass = launches.pass(a.correlation[i], a.begin[i]); pass != none) {
      told_of_nodes& told = found[std::uint64_t{pass} << 32U | node.label];
      const double work =
          static_cast<double>(node.declared.flops) + static_cast<double>(node.declared.bytes());
      if (node.source != label_source::captured) {
        told.shapes = std::max(told.shapes, work);  // each has that of all nodes of the label
      } else {
        (node.told_by == work_source::shapes ? told.calls : told.declared) += work;
      }
    }
  }
  for (const auto& [key, told] : found) {
    labels_.push_back({static_cast<std::uint32_t>(key >> 32U), static_cast<std::uint32_t>(key), told});
  }
  std::sort(labels_.begin(), labels_.end(), [](const replayed_label& x, const replayed_label& y) {
    return std::tie(x.pass, x.label) < std::tie(y.pass, y.label);
  });
}

std::vector<replayed_label> replayed_labels::of(std::uint32_t pass) const {
  const auto before = [](const replayed_label& x, std::uint32_t p) { return x.pass < p; };
  const auto first = std::lower_bound(labels_.begin(), labels_.end(), pass, before);
  return {first, std::lower_bound(first, labels_.end(), pass + std::size_t{1},
                                  [](const replayed_label& x, std::size_t p) { return x.pass < p; })};
}

}  // namespace model_work
}  // namespace v0
}  // namespace varve
