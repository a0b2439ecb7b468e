// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The launches of graphs in a trace, sorted into graphs: which launches ran the same one, and which of its
// nodes each activity was.
//
// Activities of one launch share its correlation. Within a launch they are ordered by stream (by its id, so
// that the order of branches is that of the streams and not that of a race), then by begin, end and place in
// the file. Where the trace names nodes ("graph node id"), these tell graph and node; what has no id in such
// a launch is the n-th that looks like it. Otherwise two launches are of one graph when they ran the same
// sequence of (kind, name, launch shape or bytes, stream's rank); or the same ones in another order (branches
// that one stream shows); or when the shorter sequence ran once and is the longer one with less than a tenth
// left out.
#ifndef VARVE_FORMATS_PYTORCH_GRAPH_LAUNCHES_HPP
#define VARVE_FORMATS_PYTORCH_GRAPH_LAUNCHES_HPP

#include <varve/trace.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// One node of a graph, as its activities show it.
struct graph_position {
  std::uint32_t name = none;  ///< in trace::strings
  activity_kind kind = activity_kind::kernel;
  std::uint16_t stream_rank = 0;  ///< among the launch's streams
  std::uint64_t id = 0;           ///< for graph_node::id
  time_ns time = 0;               ///< of all its activities
};

struct replayed_graph {
  std::vector<graph_position> positions;
  bool named_nodes = false;  ///< told apart by the ids in the trace
};

struct replay {
  std::uint32_t call = none;  ///< graph launch in trace::calls, or none where it is not in the trace
  std::uint32_t graph = none;
  std::size_t first = 0;  ///< its activities: [first, last) in graph_launches::activities
  std::size_t last = 0;
};

struct graph_launches {
  static constexpr std::uint32_t unsure = 0x80000000U;  ///< set in `positions`: it may as well be another one

  std::vector<replayed_graph> graphs;  ///< in order of their first launch
  std::vector<replay> replays;         ///< in order of launch
  std::vector<std::uint32_t> activities;
  std::vector<std::uint32_t> positions;  ///< by entry of `activities`: in its graph's positions

  std::uint64_t reordered = 0;  ///< launches whose activities came in another order
  std::uint64_t ambiguous =
      0;  ///< launches that may be incomplete ones of several graphs: each its own graph
  std::uint64_t uncompared = 0;  ///< launches not compared for being incomplete: too many differ
};

/// `graph_of_node` by entry of t.graph_nodes: the graph's id in the trace, or 0. Memory and time grow with
/// the activities of graphs, however they are named.
[[nodiscard]] graph_launches find_graph_launches(const trace& t,
                                                 const std::vector<std::uint64_t>& graph_of_node);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_GRAPH_LAUNCHES_HPP
