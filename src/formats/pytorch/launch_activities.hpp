// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_FORMATS_PYTORCH_LAUNCH_ACTIVITIES_HPP
#define VARVE_FORMATS_PYTORCH_LAUNCH_ACTIVITIES_HPP

#include "formats/pytorch/graph_launches.hpp"

#include <varve/trace.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// The launches of graphs and what ran for each, in an order that is the same for each launch of a graph.
struct launch_activities {
  std::vector<replay> replays;            ///< in order of launch; their graphs not yet known
  std::vector<std::uint32_t> activities;  ///< of each in turn
  std::vector<std::uint32_t> looks;  ///< by entry of `activities`: equal for the same node of two launches
  std::vector<std::uint16_t> ranks;  ///< likewise: of the stream among its launch's
};

[[nodiscard]] launch_activities find_launch_activities(const trace& t);

/// Its bits spread over all of the result.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_LAUNCH_ACTIVITIES_HPP
