// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_ANALYZE_GRAPH_LAUNCHES_HPP
#define VARVE_ANALYZE_GRAPH_LAUNCHES_HPP

#include "analyze/calls.hpp"
#include "analyze/flat_map.hpp"

#include <varve/trace.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// A launch of a graph, and what is known to have come of it.
struct graph_launch {
  std::uint32_t call = none;
  std::uint32_t nodes = 0;    ///< different nodes among its activities
  std::uint32_t same = none;  ///< another launch of the same graph, towards the first
  bool recorded = false;      ///< has activities
  bool whole = false;         ///< one record stands for all of it
  bool by_look = false;       ///< its graph is told by what ran, not by ids
  bool is_short = false;      ///< fewer nodes than another launch of the same graph
};

/// Compares the launches of each graph. Two launches are of one graph when they ran a node in common: its id
/// belongs to one executable graph.
class graph_launch_counter {
 public:
  graph_launch_counter(const call_index& calls, const std::vector<graph_node>& nodes);

  /// An activity of graph launch `call`; `node` may be none.
  void note(std::uint32_t call, std::uint32_t node, activity_kind kind);
  /// All launches, in the order of call_index::graph_launches().
  [[nodiscard]] std::vector<graph_launch> finish();

 private:
  std::uint32_t graph_of(std::uint32_t launch) noexcept;

  const std::vector<graph_node>& nodes_;
  std::vector<graph_launch> launches_;
  flat_map ids_;                            // call → launches_
  std::vector<std::uint32_t> same_node_;    // the first record with the same id: an update adds records
  std::vector<std::uint32_t> node_launch_;  // the last launch that each node ran in
  std::uint32_t last_call_ = none;
  std::uint32_t last_launch_ = none;
};

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_GRAPH_LAUNCHES_HPP
