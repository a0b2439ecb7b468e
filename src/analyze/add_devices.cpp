// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/add_devices.hpp"

#include "analyze/add_quality.hpp"
#include "analyze/add_rows.hpp"
#include "analyze/add_sums.hpp"
#include "analyze/numbers.hpp"

#include <algorithm>
#include <utility>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

bool has_passes(const device_row& d) noexcept { return d.passes_begin != 0 || d.passes_end != 0; }

/// Of `next` the passes that all devices see; a device that ran nothing had nothing to do in them.
device_row idle_device(const report& next) {
  device_row out;
  const auto with_passes = std::find_if(next.devices.begin(), next.devices.end(), has_passes);
  if (with_passes != next.devices.end()) {
    const wall_partition& wall = with_passes->partition;
    out.partition.no_pass = wall.no_pass;
    const starved_time& s = wall.starved;
    for (const time_ns part :
         {wall.compute, wall.exposed_communication, wall.exposed_copy, s.launching, s.graph_building,
          s.synchronising, s.allocating, s.other, wall.device_gap, wall.unrecorded}) {
      add_to(out.partition.starved.other, part);
    }
    out.passes_begin = with_passes->passes_begin;
    out.passes_end = with_passes->passes_end;
  }
  return out;
}

/// Adds a later window. The time between its first pass and the last one before is in no pass. Where it has
/// passes before that one's end, that time is in no pass for neither: a pass that was handed over late, say,
/// and then nothing, while those before ran.
void add_device(device_row& to, const device_row& next, report_quality& quality) {
  add_window(to.partition, next.partition);
  if (has_passes(to) && has_passes(next)) {
    const time_ns between = std::max(clamp_time(next.passes_begin), clamp_time(to.passes_begin)) -
                            std::min(clamp_time(next.passes_end), clamp_time(to.passes_end));
    add_to(to.partition.no_pass,
           between > 0 ? between : -std::clamp<time_ns>(next.partition.no_pass, 0, -between));
    lose(quality, "windows whose passes overlap those before: their time counts twice", between < 0 ? 1 : 0);
    to.passes_begin = std::min(to.passes_begin, next.passes_begin);
    to.passes_end = std::max(to.passes_end, next.passes_end);
  } else if (has_passes(next)) {
    to.passes_begin = next.passes_begin;
    to.passes_end = next.passes_end;
  }
  add_to(to.busy, next.busy);
  add_to(to.kernel_time, next.kernel_time);
  add_to(to.kernel_union, next.kernel_union);
  add_span(to.first_start, to.gpu_span, next.first_start, next.gpu_span);
  add_to(to.kernels, next.kernels);
  for (const device_row::stream& s : next.streams) {
    const auto same =
        std::find_if(to.streams.begin(), to.streams.end(), [&](const device_row::stream& known) {
          return known.stream.context == s.stream.context && known.stream.stream == s.stream.stream;
        });
    if (same != to.streams.end()) {
      add_to(same->kernels, s.kernels);
      add_to(same->kernel_time, s.kernel_time);
      add_to(same->kernel_union, s.kernel_union);
    } else if (to.streams.size() < most_rows) {
      to.streams.push_back(s);
    } else {
      lose(quality, "streams beyond the 65,536th of a device", 1);
    }
  }
  add_gauges(to.gauges, next.gauges);
  to.device = to.device.name.empty() && !next.device.name.empty() ? next.device : to.device;
  to.ceilings = next.ceilings ? next.ceilings : to.ceilings;
}

}  // namespace

void add_devices(report& total, const report& next) {
  const auto find = [](auto& devices, std::uint32_t id) {
    return std::find_if(devices.begin(), devices.end(),
                        [&](const device_row& d) { return d.device.id == id; });
  };
  const device_row idle_before = idle_device(total);
  const device_row idle_now = idle_device(next);
  for (device_row& d : total.devices) {
    const auto same = find(next.devices, d.device.id);
    add_device(d, same != next.devices.end() ? *same : idle_now, total.quality);
  }
  for (const device_row& d : next.devices) {
    if (find(total.devices, d.device.id) == total.devices.end()) {
      device_row added = idle_before;
      added.device = d.device;
      add_device(added, d, total.quality);
      const auto place = std::find_if(total.devices.begin(), total.devices.end(),
                                      [&](const device_row& known) { return known.device.id > d.device.id; });
      total.devices.insert(place, std::move(added));
    }
  }
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
