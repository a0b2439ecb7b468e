// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "trace/launching_ranges.hpp"

#include <algorithm>

namespace varve {
inline namespace v0 {

launching_ranges::launching_ranges(const trace& t) : t_{t} {
  for (std::size_t c = 0; c < t.calls.size(); ++c) {
    if (t.calls.correlation[c] != 0 && t.calls.range[c] < t.ranges.size()) {
      by_correlation_.emplace_back(t.calls.correlation[c], t.calls.range[c]);
    }
  }
  std::sort(by_correlation_.begin(), by_correlation_.end());
}

std::uint32_t launching_ranges::of(std::size_t activity) const noexcept {
  const std::uint32_t correlation = t_.activities.correlation[activity];
  const auto found = std::lower_bound(by_correlation_.begin(), by_correlation_.end(),
                                      std::pair{correlation, std::uint32_t{0}});
  if (found != by_correlation_.end() && found->first == correlation) {
    return found->second;
  }
  return activity < t_.range_of_activity.size() ? t_.range_of_activity[activity] : none;
}

}  // namespace v0
}  // namespace varve
