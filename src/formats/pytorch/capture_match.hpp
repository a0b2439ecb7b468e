// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which capture each launch of a graph replays.
#ifndef VARVE_FORMATS_PYTORCH_CAPTURE_MATCH_HPP
#define VARVE_FORMATS_PYTORCH_CAPTURE_MATCH_HPP

#include "formats/pytorch/captures.hpp"
#include "formats/pytorch/graph_launches.hpp"

#include <varve/trace.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

struct capture_matches {
  struct match {
    std::uint32_t graph = none;  ///< in captures::graphs, or none
    bool work_is_known = true;   ///< false: others that fit would lend other work
  };
  std::vector<match> of_replay;
  std::uint64_t unmatched = 0;  ///< activities of launches that no capture fits
  std::uint64_t ambiguous = 0;  ///< … that several fit which would lend different layers
  std::uint64_t branching = 0;  ///< … on several streams, whose order says nothing
};

/// A capture fits when it put the same kinds of work in the same order, with the same kernels' names where it
/// has them; when it is the n-th of as many captured pieces as its pass launched graphs, or the only one;
/// and, where both its size and its pass's are known, when it is the smallest of its mode that the pass fits
/// in.
[[nodiscard]] capture_matches match_captures(const trace& t, const graph_launches& launches,
                                             const captures& captured);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_CAPTURE_MATCH_HPP
