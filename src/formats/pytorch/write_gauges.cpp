// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Readings of gauges as tracks of counters, for who looks at the file: the header has them, and is read back.
#include "formats/pytorch/write.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

/// By gauge_kind.
constexpr std::array<std::string_view, gauge_kinds> units{
    "Hz", "Hz", "limits", "°C", "mW", "bytes", "faults", "faults", "switches", "switches"};
constexpr std::array<std::string_view, clock_limits> limits{"idle",
                                                            "application clocks",
                                                            "power cap",
                                                            "hardware slowdown",
                                                            "sync boost",
                                                            "thermal",
                                                            "hardware thermal",
                                                            "power brake",
                                                            "display"};

/// One of each limit that the device ever had, 1 while it has it.
void write_limits(json_writer& out, std::int64_t value, std::int64_t ever) {
  for (std::size_t k = 0; k < limits.size(); ++k) {
    if ((ever >> k & 1) != 0) {
      out.member(limits[k], value >> k & 1);
    }
  }
}

}  // namespace

void write_gauges(json_writer& out, const written& w) {
  std::map<std::uint32_t, std::int64_t> limits_of;  // devices
  for (const gauge_sample& g : w.source.gauges) {
    if (g.what == gauge_kind::clock_limits) {
      limits_of[g.device] |= g.value;
    }
  }
  for (const gauge_sample& g : w.source.gauges) {
    out.next().raw("\n{\"ph\":\"C\",\"cat\":\"gauge\"");
    out.key("name").raw(json_string(own::name_of(g.what, own::gauge_names)));
    out.member("pid", g.device == none ? w.request_process : w.process_row(g.device)).member("tid", 0);
    out.raw(",\"ts\":").microseconds(own::clamp(g.at) - w.base).key("args").raw("{");
    if (g.what == gauge_kind::clock_limits) {
      write_limits(out, g.value, limits_of[g.device]);
    } else {
      out.member(own::name_of(g.what, units), g.value);
    }
    out.raw("}}");
    out.pause();
  }
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
