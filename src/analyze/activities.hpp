// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Activities in order of time on each device, each with the call that launched it and the call of a row
// that it belongs to.
#ifndef VARVE_ANALYZE_ACTIVITIES_HPP
#define VARVE_ANALYZE_ACTIVITIES_HPP

#include "analyze/calls.hpp"
#include "analyze/graph_launches.hpp"
#include "analyze/numbers.hpp"
#include "analyze/range_devices.hpp"
#include "analyze/rows.hpp"
#include "analyze/structure.hpp"

#include <varve/report.hpp>
#include <varve/trace.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Devices beyond these (by id) are not analysed: their activities are counted as a loss.
inline constexpr std::size_t max_devices = 256;

struct stream_sums {
  std::int64_t activities = 0;
  std::int64_t kernels = 0;
  time_ns kernel_time = 0;
  union_length kernel_union;
  time_ns end = -far;  ///< of what ran so far
};

struct device_activities {
  std::uint32_t id = 0;
  std::size_t first = 0;  ///< positions [first, last) in activity_table
  std::size_t last = 0;
  time_ns kernel_union = 0;
  bool submitted_in_order = true;
};

/// Columns by position: devices one after another, each in order of effective begin.
struct activity_table {
  std::vector<std::uint32_t> record;  ///< in trace::activities; empty: positions are the records' own
  std::vector<std::uint32_t> call;    ///< that launched it, or none
  std::vector<std::uint32_t> slot;    ///< in row_table::slots
  std::size_t size = 0;
  std::vector<device_activities> devices;
  std::vector<stream_sums> streams;          ///< by stream; the last stands for unknown ones
  std::vector<std::uint32_t> first_of_call;  ///< by call: position of its first activity
  std::vector<graph_launch> graph_launches;  ///< outermost, not captured
  time_ns in_no_layer = 0;  ///< duration of those of which only their place in a graph of no layer is known
  std::uint64_t unknown_streams = 0;
  std::uint64_t unknown_nodes = 0;
  std::uint64_t on_more_devices = 0;

  [[nodiscard]] std::uint32_t record_at(std::size_t position) const noexcept {
    return record.empty() ? static_cast<std::uint32_t>(position) : record[position];
  }
};

/// Finds the devices and streams that ran anything, and puts the activities of each device in order of begin.
void order_by_device(const trace& t, const call_index& calls, report_quality& quality, activity_table& table);

/// Sorts and attributes all activities, fills in the ends of passes and the devices of ranges, and counts
/// what it meets. Lets `rows` know the ceilings of the devices.
/// Ends the use of `calls` for matching.
[[nodiscard]] activity_table attribute_activities(const trace& t, const analyze_options& options,
                                                  structure& s, call_index& calls, row_table& rows,
                                                  range_devices& devices, report_quality& quality);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_ACTIVITIES_HPP
