// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/graph_launches.hpp"

#include "formats/pytorch/launch_activities.hpp"
#include "formats/pytorch/launch_sequences.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::uint64_t synthetic = std::uint64_t{1} << 63U;  // ids that no profiler gives

class finder {
 public:
  finder(const trace& t, const std::vector<std::uint64_t>& graph_of_node)
      : trace_{t}, columns_{t.activities}, graph_of_node_{graph_of_node} {}

  graph_launches run() {
    launch_activities found = find_launch_activities(trace_);
    out_.replays = std::move(found.replays);
    out_.activities = std::move(found.activities);
    looks_ = std::move(found.looks);
    ranks_ = std::move(found.ranks);
    launch_sequences sequences{trace_, looks_, ranks_, out_};
    for (std::uint32_t r = 0; r < out_.replays.size(); ++r) {
      if (!by_nodes(r)) {
        sequences.add(r);
      }
    }
    place_nodes();
    sequences.join();
    number();
    add_times();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::size_t size(std::uint32_t r) const noexcept {
    return out_.replays[r].last - out_.replays[r].first;
  }

  bool by_nodes(std::uint32_t r);
  void place_nodes();
  void number();
  void add_times();

  const trace& trace_;
  const activity_columns& columns_;
  const std::vector<std::uint64_t>& graph_of_node_;
  graph_launches out_;

  std::vector<std::uint32_t> looks_;  // by entry of out_.activities
  std::vector<std::uint16_t> ranks_;  // likewise: of the stream in its launch

  std::vector<std::uint32_t> graph_with_node_;  // by graph node
  std::unordered_map<std::uint64_t, std::uint32_t> graph_with_id_;
  std::vector<std::uint32_t> fullest_;  // by graph of named nodes: the launch with most activities
};

// Where activities name their nodes, those tell the graph.
bool finder::by_nodes(std::uint32_t r) {
  const replay& at = out_.replays[r];
  graph_with_node_.resize(trace_.graph_nodes.size(), none);
  std::uint32_t graph = none;
  bool named = false;
  for (std::size_t k = at.first; k < at.last && graph == none; ++k) {
    const std::uint32_t node = columns_.node[out_.activities[k]];
    if (node >= trace_.graph_nodes.size()) {
      continue;
    }
    named = true;
    graph = graph_with_node_[node];
    if (const std::uint64_t id = graph_of_node_[node]; graph == none && id != 0) {
      const auto found = graph_with_id_.find(id);
      graph = found != graph_with_id_.end() ? found->second : none;
    }
  }
  if (!named) {
    return false;
  }
  if (graph == none) {
    graph = static_cast<std::uint32_t>(out_.graphs.size());
    out_.graphs.emplace_back().named_nodes = true;
    fullest_.push_back(r);
  }
  for (std::size_t k = at.first; k < at.last; ++k) {
    const std::uint32_t node = columns_.node[out_.activities[k]];
    if (node < trace_.graph_nodes.size() && graph_with_node_[node] == none) {
      graph_with_node_[node] = graph;
      if (graph_of_node_[node] != 0) {
        graph_with_id_.try_emplace(graph_of_node_[node], graph);
      }
    }
  }
  out_.replays[r].graph = graph;
  fullest_[graph] = size(r) > size(fullest_[graph]) ? r : fullest_[graph];
  return true;
}

// Nodes in the order of the launch with most of them, then those that it lacks. What has no id is the n-th
// that looks like it.
void finder::place_nodes() {
  out_.positions.resize(out_.activities.size());
  std::unordered_map<std::uint64_t, std::uint32_t> position_of_node;             // graph and node
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> positions_like;  // graph and look
  std::unordered_map<std::uint32_t, std::size_t> alike;                          // in this launch
  const auto place = [&](std::uint32_t r) {
    const replay& at = out_.replays[r];
    std::vector<graph_position>& positions = out_.graphs[at.graph].positions;
    alike.clear();
    for (std::size_t k = at.first; k < at.last; ++k) {
      const std::uint32_t i = out_.activities[k];
      const std::uint32_t node = columns_.node[i];
      const bool named = node < trace_.graph_nodes.size();
      std::uint32_t* known = nullptr;
      if (named) {
        known = &position_of_node.try_emplace(std::uint64_t{at.graph} << 32U | node, none).first->second;
      } else {
        std::vector<std::uint32_t>& all = positions_like[std::uint64_t{at.graph} << 32U | looks_[k]];
        const std::size_t n = alike[looks_[k]]++;
        all.resize(std::max(all.size(), n + 1), none);
        known = &all[n];
      }
      if (*known == none) {
        *known = static_cast<std::uint32_t>(positions.size());
        positions.push_back(
            {columns_.name[i], columns_.kind[i], ranks_[k], named ? trace_.graph_nodes[node].id : 0, 0});
      }
      out_.positions[k] = *known;
    }
  };
  for (const std::uint32_t r : fullest_) {
    place(r);
  }
  for (std::uint32_t r = 0; r < out_.replays.size(); ++r) {
    if (out_.replays[r].graph != none) {
      place(r);
    }
  }
}

// Graphs in order of first launch, and ids for nodes that have none.
void finder::number() {
  std::vector<std::uint32_t> renamed(out_.graphs.size(), none);
  std::vector<replayed_graph> graphs;
  for (replay& r : out_.replays) {
    if (renamed[r.graph] == none) {
      renamed[r.graph] = static_cast<std::uint32_t>(graphs.size());
      graphs.push_back(std::move(out_.graphs[r.graph]));
    }
    r.graph = renamed[r.graph];
  }
  out_.graphs = std::move(graphs);
  std::uint64_t next = synthetic;
  for (replayed_graph& g : out_.graphs) {
    for (graph_position& p : g.positions) {
      p.id = p.id != 0 ? p.id : next++;
    }
  }
}

void finder::add_times() {
  for (const replay& r : out_.replays) {
    for (std::size_t k = r.first; k < r.last; ++k) {
      const std::uint32_t i = out_.activities[k];
      // The importer bounds the sum of all durations.
      out_.graphs[r.graph].positions[out_.positions[k] & ~graph_launches::unsure].time +=
          columns_.end[i] - columns_.begin[i];
    }
  }
}

}  // namespace

graph_launches find_graph_launches(const trace& t, const std::vector<std::uint64_t>& graph_of_node) {
  return finder{t, graph_of_node}.run();
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
