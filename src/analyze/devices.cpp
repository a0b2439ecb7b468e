// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Devices as a whole, and requests.
#include "analyze/assemble.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace varve {
inline namespace v0 {
namespace analysis {

void add_devices(const results& from, report& to) {
  const trace& t = from.source;
  for (std::size_t d = 0; d < from.activities.devices.size(); ++d) {
    const device_activities& ran = from.activities.devices[d];
    const device_result& swept = from.sweep.devices[d];
    device_row& device = to.devices.emplace_back();
    device.device.id = ran.id;
    const auto known = std::find_if(t.devices.begin(), t.devices.end(),
                                    [&](const device_info& info) { return info.id == ran.id; });
    if (known != t.devices.end()) {
      device.device = *known;
    }
    if (const ceilings* const at_most = from.rows.roofs.device(static_cast<std::uint32_t>(d));
        at_most != nullptr) {
      device.ceilings = *at_most;
    }
    device.partition = to_partition(swept.any_parts);
    device.partition.no_pass = from.walls[d].end - from.walls[d].begin - device.partition.wall();
    device.busy = swept.busy;
    device.kernel_union = ran.kernel_union;
    device.gpu_span = swept.extent.length();
    device.first_start = swept.extent.last >= swept.extent.first ? swept.extent.first : 0;
    device.passes_begin = from.walls[d].begin;
    device.passes_end = from.walls[d].end;
    device.kernels = swept.kernels;
    device.kernel_time = swept.kernel_time;
    for (std::size_t s = 0; s < t.streams.size(); ++s) {
      const stream_sums& sums = from.activities.streams[s];
      if (sums.activities != 0 && t.streams[s].device == ran.id) {
        device.streams.push_back({t.streams[s], sums.kernels, sums.kernel_time, sums.kernel_union.total()});
      }
    }
  }
}

void add_requests(const results& from, report& to) {
  const trace& t = from.source;
  struct service {
    std::uint32_t request;
    std::uint32_t pass;
  };
  std::vector<service> services;
  std::uint64_t broken = 0;
  for (const request_link& link : t.requests) {
    if (link.request < t.ranges.size() && t.ranges[link.request].kind == range_kind::request &&
        link.pass < t.ranges.size() && t.ranges[link.pass].kind == range_kind::phase) {
      services.push_back({link.request, from.marks.ranges[link.pass].pass});
    } else {
      ++broken;
    }
  }
  const auto pass = [&](const service& s) -> const analysis::pass& { return from.marks.passes[s.pass]; };
  std::sort(services.begin(), services.end(), [&](const service& a, const service& b) {
    return a.request != b.request           ? a.request < b.request
           : pass(a).begin != pass(b).begin ? pass(a).begin < pass(b).begin
           : pass(a).end != pass(b).end     ? pass(a).end < pass(b).end
                                            : a.pass < b.pass;
  });
  services.erase(std::unique(services.begin(), services.end(),
                             [](const service& a, const service& b) {
                               return a.request == b.request && a.pass == b.pass;
                             }),
                 services.end());

  std::unordered_map<std::uint32_t, earlier_service> earlier;
  for (const earlier_service& s : t.earlier_services) {
    earlier.emplace(s.request, s);
  }
  auto first = services.begin();
  for (std::uint32_t r = 0; r < t.ranges.size(); ++r) {
    const range& record = t.ranges[r];
    if (record.kind != range_kind::request) {
      continue;
    }
    const auto last = std::find_if(first, services.end(), [&](const service& s) { return s.request != r; });
    request_row& row = to.requests.emplace_back();
    if (record.label < t.labels.size()) {
      row.label = t.strings[t.labels[record.label].name];
      row.index = t.labels[record.label].index;
    }
    std::optional<earlier_service> served;
    if (const auto found = earlier.find(r); found != earlier.end()) {
      served = found->second;
    }
    for (auto s = first; s != last; ++s) {
      const analysis::pass& p = pass(*s);
      if (!served) {
        served = earlier_service{r, 0, p.begin, p.end, p.end};
      }
      ++served->passes;
      served->last_end = std::max(served->last_end, p.end);
    }
    first = last;
    const interval here = extent(record);
    if (!record.clipped_begin && !record.clipped_end) {
      row.total = here.end - here.begin;
    }
    if (!served) {
      continue;
    }
    row.passes = served->passes;
    if (!record.clipped_begin) {
      row.queue_wait = std::max<time_ns>(0, served->first_begin - here.begin);
      row.time_to_first_token = std::max<time_ns>(0, served->first_end - here.begin);
    }
    if (row.passes > 1) {
      row.time_per_output_token = (served->last_end - served->first_end) / (row.passes - 1);
    }
  }
  if (broken != 0) {
    to.quality.losses.push_back({"links of requests to what is no pass", "analysis", broken});
  }
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
