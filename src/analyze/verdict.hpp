// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What keeps work from being faster, by its sums and the ceilings of its device.
#ifndef VARVE_ANALYZE_VERDICT_HPP
#define VARVE_ANALYZE_VERDICT_HPP

#include "analyze/roofs.hpp"

#include <varve/report.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// A side is what binds from this utilisation on.
inline constexpr double bound_from = 0.6;
/// Work is known and attributed well enough from this share of the time on.
inline constexpr double known_from = 0.95;
/// From so many launches a pass on, graphs not counted, one that starves is launch-bound.
inline constexpr double many_launches = 10;
/// More than this is no measuring error.
inline constexpr double most_utilised = 1.05;

/// All that a verdict rests on. Times in nanoseconds.
struct facts {
  time_ns gpu_time = 0;
  work declared;
  std::int64_t calls = 0;  ///< whose work that is; 0 where what a call touches says nothing
  roof_times roof;
  math_pipe pipe = math_pipe::unknown;  ///< that takes most of the compute time
  const ceilings* device = nullptr;     ///< or not known
  bool any_work = true;                 ///< the trace tells some, here or elsewhere
  bool predicted = false;               ///< nothing ran: times are the roof's, with the expected bytes

  double time = 0;          ///< sum of the durations of activities
  double unknown_work = 0;  ///< of those whose work is not known, but for collectives
  double communication = 0;
  double copying = 0;
  double collective_bytes = 0;
  double copy_bytes = 0;

  double attributed = 1;                 ///< of the phase's time of activities, to its layers
  const wall_partition* wall = nullptr;  ///< of a phase
  starved_time starved;                  ///< of what is no phase: of the gaps that it ended
  time_ns device_gap = 0;
  double launches = 0;                  ///< a pass, graphs not counted
  const occupancy* occupied = nullptr;  ///< of a kernel, if known
};

[[nodiscard]] verdict judge(const facts& f);

/// The verdicts of phases and of all rows of a report, by their sums and by the ceilings of its devices.
void judge_rows(report& r);

/// Whether nothing ran (roof_trace()).
[[nodiscard]] bool is_prediction(const std::vector<collector_status>& collectors) noexcept;

/// Whether that is more than `device` can do: shares of a verdict on it that nothing may rest on.
[[nodiscard]] bool beats_roof(const verdict& v, const ceilings& device) noexcept;

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_VERDICT_HPP
