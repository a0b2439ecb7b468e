// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Traces of graph captures: launching calls in the order of a graph's nodes, inside the modules that made
// them, and no kernels. vLLM writes capture_traces/, SGLang graph_capture_profile/.
#ifndef VARVE_FORMATS_PYTORCH_CAPTURES_HPP
#define VARVE_FORMATS_PYTORCH_CAPTURES_HPP

#include <varve/io.hpp>
#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// What the size of a capture counts.
enum class capture_unit : std::uint8_t { unknown, tokens, sequences };

/// What a capture was made for: "capture_64_FULL" is 64 tokens, mode "FULL".
struct capture_size {
  std::int64_t size = 0;
  capture_unit unit = capture_unit::unknown;
  std::string mode;
};
/// Of an annotation around a capture; unit unknown where it is none.
[[nodiscard]] capture_size read_capture_mark(std::string_view text);
/// Of a file: "DecodeRunner_bs_8_rank0.json.gz" is 8 sequences.
[[nodiscard]] capture_size read_capture_name(std::string_view file);

/// What the builder notes of captures while it reads a trace.
struct capture_notes {
  struct bound {
    std::uint32_t call = none;
    bool begins = false;
  };
  struct mark {
    time_ns begin = 0;
    time_ns end = 0;
    std::uint16_t thread = narrow_none;
    capture_size size;
  };
  std::vector<bound> bounds;                                     ///< calls that begin and end a capture
  std::vector<mark> marks;                                       ///< annotations around captures
  std::vector<std::pair<std::uint32_t, std::uint32_t>> kernels;  ///< launching call, name of its kernel
};

/// Sets `captured` of calls that only recorded a node: made between a begin and an end of a capture on their
/// thread, and nothing ran for them.
void mark_captured(trace& t, const std::vector<capture_notes::bound>& bounds);

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

/// For each class of modules of which there are three or more: how many.
[[nodiscard]] std::vector<std::size_t> count_modules(const label_table& labels);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_CAPTURES_HPP
