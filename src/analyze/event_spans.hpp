// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Spans between CUDA events around passes, where no activities could be recorded.
#ifndef VARVE_ANALYZE_EVENT_SPANS_HPP
#define VARVE_ANALYZE_EVENT_SPANS_HPP

#include "analyze/activities.hpp"
#include "analyze/numbers.hpp"
#include "analyze/rows.hpp"
#include "analyze/structure.hpp"

#include <varve/report.hpp>
#include <varve/trace.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

struct spans_found {
  std::vector<std::vector<interval>> by_device;       ///< united and in order of time
  std::vector<std::vector<time_ns>> length_by_group;  ///< by row_group: of each pass that has one
  std::uint64_t broken = 0;
};

/// Whether the span is of a pass, on a stream that is there, and does not end before it begins.
[[nodiscard]] bool is_sound(const trace& t, const event_span& s) noexcept;

/// Lengthens the passes to the end of their spans, and makes a row for each kind of pass on each device.
[[nodiscard]] spans_found find_spans(const trace& t, const activity_table& activities, structure& s,
                                     row_table& rows, report_quality& quality);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_EVENT_SPANS_HPP
