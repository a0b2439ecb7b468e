// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/event_spans.hpp"

#include <algorithm>
#include <tuple>

namespace varve {
inline namespace v0 {
namespace analysis {

bool is_sound(const trace& t, const event_span& s) noexcept {
  return s.range < t.ranges.size() && t.ranges[s.range].kind == range_kind::phase &&
         s.stream < t.streams.size() && s.begin <= s.end;
}

spans_found find_spans(const trace& t, const activity_table& activities, structure& s, row_table& rows,
                       report_quality& quality) {
  struct found {
    std::uint32_t pass;
    std::uint32_t device;
    interval at;
  };
  spans_found out;
  out.by_device.resize(activities.devices.size());
  std::vector<found> all;
  for (const event_span& span : t.event_spans) {
    if (!is_sound(t, span)) {
      ++out.broken;
      continue;
    }
    const auto device =
        std::find_if(activities.devices.begin(), activities.devices.end(),
                     [&](const device_activities& d) { return d.id == t.streams[span.stream].device; });
    if (device == activities.devices.end()) {
      ++out.broken;  // beyond the devices that are analysed
      continue;
    }
    ++quality.event_spans;
    const auto d = static_cast<std::uint32_t>(device - activities.devices.begin());
    const interval at{clamp_time(span.begin), clamp_time(span.end)};
    pass& of = s.passes[s.ranges[span.range].pass];
    of.end = std::max(of.end, at.end);
    all.push_back({s.ranges[span.range].pass, d, at});
    out.by_device[d].push_back(at);
    rows.row(whole_pass, rows.group(of.key, d));
  }
  std::sort(all.begin(), all.end(), [](const found& a, const found& b) {
    return std::tuple{a.pass, a.device, a.at.begin, a.at.end} <
           std::tuple{b.pass, b.device, b.at.begin, b.at.end};
  });
  out.length_by_group.resize(rows.groups.size());
  for (std::size_t k = 0; k < all.size();) {
    const found& first = all[k];
    union_length length;
    for (; k < all.size() && all[k].pass == first.pass && all[k].device == first.device; ++k) {
      length.add(all[k].at.begin, all[k].at.end);
    }
    out.length_by_group[rows.group(s.passes[first.pass].key, first.device)].push_back(length.total());
  }
  for (std::vector<interval>& intervals : out.by_device) {
    unite(intervals);
  }
  return out;
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
