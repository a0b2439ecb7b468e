// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Traces of graph captures: launching calls in the order of a graph's nodes, inside the modules that made
// them, and no kernels. vLLM writes capture_traces/, SGLang graph_capture_profile/.
#ifndef VARVE_FORMATS_PYTORCH_CAPTURES_HPP
#define VARVE_FORMATS_PYTORCH_CAPTURES_HPP

#include "formats/pytorch/captured_calls.hpp"

#include <varve/io.hpp>
#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

struct captured_node {
  activity_kind kind = activity_kind::kernel;
  std::uint32_t name = none;   ///< of the kernel in captures::strings, where the trace has it
  std::uint32_t label = none;  ///< path below its pass in captures::labels
  std::uint32_t work = none;   ///< of all operators of its path in its graph, in captures::works; or none
};

/// One graph that a capture made: of several (pieces) in the order of their capture.
struct captured_graph {
  capture_size size;
  std::size_t first = 0;  ///< its nodes: [first, last) in captures::nodes
  std::size_t last = 0;
  std::uint32_t piece = 0;
  std::uint32_t pieces = 1;
  std::uint64_t content = 0;  ///< equal where another one lends the same paths
  std::uint64_t worth = 0;    ///< … and the same work
};

struct captures {
  string_table strings;
  label_table labels;
  std::vector<captured_node> nodes;
  std::vector<work> works;
  std::vector<captured_graph> graphs;
  std::vector<std::size_t> layer_counts;  ///< how many modules there are of each class
  std::vector<loss> losses;               ///< of the files
  bool given = false;
};

/// Reads options.captures. Throws varve::error, which names the file.
[[nodiscard]] captures read_captures(const read_options& options);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_CAPTURES_HPP
