// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/idle.hpp"

#include <algorithm>
#include <tuple>

namespace varve {
inline namespace v0 {
namespace analysis {

submissions::submissions(const trace& t, const activity_table& activities, const call_index& calls,
                         std::size_t device)
    : calls_{calls} {
  const device_activities& d = activities.devices[device];
  if (d.submitted_in_order) {
    return;
  }
  time_ns earliest = far;
  for (std::size_t pos = d.last; pos-- > d.first;) {
    const std::uint32_t c = activities.call[pos];
    if (c == none) {
      continue;
    }
    const time_ns submitted = std::min(calls.end(c), t.activities.begin[activities.record_at(pos)]);
    if (earliest < submitted) {
      earlier_.emplace_back(pos, earliest);
    }
    earliest = std::min(earliest, submitted);
  }
}

namespace {

struct synchronisation {
  std::uint16_t thread;
  time_ns begin;
  time_ns end;
};

std::vector<synchronisation> list_synchronisations(const call_index& calls) {
  std::vector<synchronisation> out;
  for (std::uint32_t c = 0; c < calls.size(); ++c) {
    if (calls.kind(c) == call_kind::synchronise && !calls.captured(c)) {
      out.push_back({calls.thread(c), calls.begin(c), calls.end(c)});
    }
  }
  std::sort(out.begin(), out.end(), [](const synchronisation& a, const synchronisation& b) {
    return std::tuple{a.thread, a.begin, a.end} < std::tuple{b.thread, b.begin, b.end};
  });
  return out;
}

}  // namespace

std::vector<std::vector<interval>> missing_records(const structure& s, const call_index& calls,
                                                   const activity_table& activities,
                                                   const range_devices& devices, const row_table& rows) {
  std::vector<std::vector<interval>> missing(activities.devices.size());
  if (missing.empty() || std::none_of(activities.graph_launches.begin(), activities.graph_launches.end(),
                                      [](const graph_launch& l) { return !l.recorded || l.is_short; })) {
    return missing;
  }
  // A launch without any records ran on the lowest device on which its pass counts.
  std::vector<std::uint32_t> device_of_key(s.keys.size(), none);
  for (const row_group& g : rows.groups) {
    device_of_key[g.key] = std::min(device_of_key[g.key], g.device);
  }
  const std::vector<synchronisation> synchronisations = list_synchronisations(calls);
  for (const graph_launch& l : activities.graph_launches) {
    if (l.recorded && !l.is_short) {
      continue;
    }
    const std::uint32_t range = calls.range(l.call);
    const std::uint32_t pass = range < s.ranges.size() ? s.ranges[range].pass : s.default_pass();
    const bool in_pass = pass != none && s.passes[pass].range != none;
    std::uint32_t device = in_pass ? devices.lowest(s.passes[pass].range) : device_of_key[s.key_of(pass)];
    if (const std::uint32_t first = activities.first_of_call[l.call]; first != none) {
      device = rows.groups[rows.rows[rows.slots[activities.slot[first]].row].group].device;
    }
    interval window{calls.begin(l.call), pass != none ? s.passes[pass].end : s.window.end};
    const auto next =
        std::lower_bound(synchronisations.begin(), synchronisations.end(), calls.end(l.call),
                         [&](const synchronisation& a, time_ns at) {
                           return std::tuple{a.thread, a.begin} < std::tuple{calls.thread(l.call), at};
                         });
    if (next != synchronisations.end() && next->thread == calls.thread(l.call)) {
      window.end = std::min(window.end, next->end);
    }
    missing[device == none ? 0 : device].push_back(window);
  }
  for (std::vector<interval>& intervals : missing) {
    unite(intervals);
  }
  return missing;
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
