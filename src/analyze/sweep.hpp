// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// One walk along each device's time: what activities add to their rows, what runs alone, what is shared, and
// why the device is idle in between.
#ifndef VARVE_ANALYZE_SWEEP_HPP
#define VARVE_ANALYZE_SWEEP_HPP

#include "analyze/activities.hpp"
#include "analyze/calls.hpp"
#include "analyze/event_spans.hpp"
#include "analyze/pass_times.hpp"
#include "analyze/range_devices.hpp"
#include "analyze/rows.hpp"
#include "analyze/wall.hpp"

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

struct device_result {
  time_ns busy = 0;
  time_extent extent;
  std::int64_t kernels = 0;
  time_ns kernel_time = 0;
  wall_parts any_parts{};  ///< of the instants in any pass
};

struct sweep_result {
  std::vector<device_result> devices;
  std::vector<wall_parts> parts;      ///< by row_group
  std::vector<std::uint32_t> kernel;  ///< by position: row in row_table::kernels
};

[[nodiscard]] sweep_result sweep_devices(const trace& t, const structure& s,
                                         const std::vector<pass_walls>& walls, const call_index& calls,
                                         const activity_table& activities, const range_devices& devices,
                                         const spans_found& spans, row_table& rows, pass_times& passes);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_SWEEP_HPP
