// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/graph_launches.hpp"

#include <algorithm>

namespace varve {
inline namespace v0 {
namespace analysis {

graph_launch_counter::graph_launch_counter(const call_index& calls, const std::vector<graph_node>& nodes)
    : nodes_{nodes} {
  for (const std::uint32_t c : calls.graph_launches()) {
    const auto id = static_cast<std::uint32_t>(launches_.size());
    ids_[c] = id;
    launches_.push_back({c, 0, id});
  }
  if (launches_.empty()) {
    return;
  }
  node_launch_.assign(nodes.size(), none);
  flat_map first;
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    std::uint32_t& known = first[nodes[n].id];
    known = known == none ? n : known;
    same_node_.push_back(known);
  }
}

void graph_launch_counter::note(std::uint32_t call, std::uint32_t node, activity_kind kind) {
  if (call != last_call_) {
    last_call_ = call;
    last_launch_ = ids_.find(call);
  }
  if (last_launch_ == none) {
    return;
  }
  graph_launch& launch = launches_[last_launch_];
  launch.recorded = true;
  launch.whole = launch.whole || kind == activity_kind::graph;
  launch.by_look = launch.by_look || (node != none && nodes_[node].told_by_look);
  node = node != none ? same_node_[node] : none;
  if (node != none && node_launch_[node] != last_launch_) {
    ++launch.nodes;
    if (node_launch_[node] != none) {
      const std::uint32_t a = graph_of(node_launch_[node]);
      const std::uint32_t b = graph_of(last_launch_);
      launches_[std::max(a, b)].same = std::min(a, b);
    }
    node_launch_[node] = last_launch_;
  }
}

// Follows the links to the first launch of the graph, halving the way.
std::uint32_t graph_launch_counter::graph_of(std::uint32_t launch) noexcept {
  while (launches_[launch].same != launch) {
    launches_[launch].same = launches_[launches_[launch].same].same;
    launch = launches_[launch].same;
  }
  return launch;
}

std::vector<graph_launch> graph_launch_counter::finish() {
  std::vector<std::uint32_t> most(launches_.size(), 0);
  for (std::uint32_t l = 0; l < most.size(); ++l) {
    std::uint32_t& m = most[graph_of(l)];
    m = std::max(m, launches_[l].nodes);
  }
  for (std::uint32_t l = 0; l < most.size(); ++l) {
    graph_launch& launch = launches_[l];
    launch.is_short = launch.recorded && !launch.whole && launch.nodes < most[graph_of(l)];
  }
  return std::move(launches_);
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
