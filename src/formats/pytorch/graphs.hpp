// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Label paths for the activities of replayed graphs, which no annotation or module surrounds.
#ifndef VARVE_FORMATS_PYTORCH_GRAPHS_HPP
#define VARVE_FORMATS_PYTORCH_GRAPHS_HPP

#include "formats/pytorch/captures.hpp"

#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// Gives each activity of a graph launch a node of `t.graph_nodes` whose label, below the path of the range
/// that the launch was made in, is
///   - the module of the matching node of a capture in `captured`; else
///   - "graph 1 (315 nodes) / inferred layer 3 / gemm 4", the layer where blocks of kernels repeat and there
///     are as many as `layers` or, if that is 0, as modules of some class; else
///   - "graph 1 (315 nodes) / gemm 46".
/// Nodes of one graph in all its launches share an id. Replaces what `t.graph_nodes` held: `graph_of_node`
/// has the ids of their graphs, or 0. `t.calls.range` is set. Counts in `t.losses` what stays unknown, with
/// `where`. Returns a sentence on each inference, for people.
[[nodiscard]] std::string label_graphs(trace& t, const std::vector<std::uint64_t>& graph_of_node,
                                       const captures& captured, std::size_t layers,
                                       const std::string& where);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_GRAPHS_HPP
