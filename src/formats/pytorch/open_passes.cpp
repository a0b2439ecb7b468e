// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/open_passes.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

open_passes::open_passes(const trace& t) {
  struct boundary {
    time_ns at;
    std::uint32_t range;
    bool opens;
  };
  std::map<std::uint32_t, std::vector<boundary>> by_process;
  for (std::uint32_t r = 0; r < t.ranges.size(); ++r) {
    const range& pass = t.ranges[r];
    if (pass.kind == range_kind::phase && pass.thread < t.threads.size() &&
        pass.end < std::numeric_limits<time_ns>::max()) {
      auto& all = by_process[t.threads[pass.thread].process];
      all.push_back({pass.begin, r, true});
      all.push_back({pass.end + 1, r, false});
    }
  }
  for (auto& [process, boundaries] : by_process) {
    std::stable_sort(boundaries.begin(), boundaries.end(),
                     [](const boundary& a, const boundary& b) { return a.at < b.at; });
    std::map<std::uint16_t, std::set<std::pair<time_ns, std::uint32_t>>> open;  // by thread
    auto& stretches = processes_[process];
    for (const boundary& b : boundaries) {
      const range& pass = t.ranges[b.range];
      auto& of_thread = open[pass.thread];
      if (b.opens) {
        of_thread.insert({pass.begin, b.range});
      } else {
        of_thread.erase({pass.begin, b.range});
      }
      if (of_thread.empty()) {
        open.erase(pass.thread);
      }
      stretches.push_back({b.at, open.size() == 1 ? open.begin()->second.rbegin()->second : none});
    }
  }
}

std::uint32_t open_passes::at(std::uint32_t process, time_ns when) const {
  const auto found = processes_.find(process);
  if (found == processes_.end()) {
    return none;
  }
  const auto& stretches = found->second;
  const auto next = std::upper_bound(stretches.begin(), stretches.end(), when,
                                     [](time_ns t, const stretch& s) { return t < s.begin; });
  return next == stretches.begin() ? none : std::prev(next)->pass;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
