// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_FORMATS_PYTORCH_UNLAUNCHED_HPP
#define VARVE_FORMATS_PYTORCH_UNLAUNCHED_HPP

#include <varve/trace.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// Of the activities that are no node of a graph those whose launching call is not in the trace, in order.
[[nodiscard]] std::vector<std::uint32_t> find_unlaunched(const trace& t);

/// Where an activity was launched, as far as that is known without its call.
struct launch_point {
  std::uint32_t activity = none;
  std::uint16_t thread = narrow_none;
  time_ns at = 0;
};

/// Gives each of `activities` the range around its operator; else, where it has one of `points`, sorted by
/// activity, the range around that, and the operator. Once calls and operators have their ranges. Counts in
/// t.elsewhere.
void place_unlaunched(trace& t, const std::vector<std::uint32_t>& activities,
                      const std::vector<launch_point>& points);

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_UNLAUNCHED_HPP
