// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_FORMATS_PYTORCH_GRAPH_PATHS_HPP
#define VARVE_FORMATS_PYTORCH_GRAPH_PATHS_HPP

#include "formats/pytorch/captures.hpp"

#include <varve/trace.hpp>

#include <cstdint>
#include <unordered_map>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// Label paths of what replayed graphs run. What it is made with must outlive it.
class graph_paths {
 public:
  graph_paths(trace& t, const captures& captured) : trace_{t}, captured_{captured} {}

  /// A label's path without its pass and what is around that: the same in each pass.
  std::uint32_t below_pass(std::uint32_t label);
  /// A capture's path `label` below the range around the launch, `context`. Modules that both have, at its
  /// end and at the capture's beginning, stand there once.
  std::uint32_t lent(std::uint32_t context, std::uint32_t label);
  /// "gemm_kernel" of "void cutlass::gemm_kernel<float>(float*)", both in trace::strings; at most 64 bytes.
  std::uint32_t short_name(std::uint32_t name);

 private:
  trace& trace_;
  const captures& captured_;
  std::unordered_map<std::uint32_t, std::uint32_t> below_pass_;
  std::unordered_map<std::uint64_t, std::uint32_t> lent_;  // by context and label of a capture
  std::unordered_map<std::uint32_t, std::uint32_t> short_names_;
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_GRAPH_PATHS_HPP
