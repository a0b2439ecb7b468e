// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What add_report() adds up: the sums of a window's report to those of the windows before.
#ifndef VARVE_ANALYZE_ADD_SUMS_HPP
#define VARVE_ANALYZE_ADD_SUMS_HPP

#include <varve/report.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

void add_window(wall_partition& to, const wall_partition& next);
void add_window(measures& to, const measures& next);
/// Of lengths from a first start on; 0 and 0: nothing.
void add_span(time_ns& first, time_ns& span, time_ns next_first, time_ns next_span);
void add_window(std::optional<counted_work>& to, const std::optional<counted_work>& next);

/// Which of the passes' samples stay when windows add up: of all passes every `stride`-th again.
struct sample_plan {
  std::size_t before = 0;  ///< samples that there are
  std::size_t kept = 0;    ///< of these, every step-th
  std::size_t step = 1;
  std::vector<std::size_t> taken;  ///< of the next window's
  std::int64_t stride = 0;         ///< 0: there are none

  /// At most `most`, of `passes` and `next_passes` passes.
  sample_plan(const pass_samples& samples, std::int64_t passes, const pass_samples& next,
              std::int64_t next_passes, std::size_t most);

  /// `missing` and `next_missing` stand for what a side lacks.
  template <class T>
  void apply(std::vector<T>& values, const std::vector<T>& next, T missing, T next_missing) const {
    values.resize(before, missing);
    for (std::size_t k = 0; k < kept; ++k) {
      values[k] = values[k * step];
    }
    values.resize(kept);
    for (const std::size_t k : taken) {
      values.push_back(k < next.size() ? next[k] : next_missing);
    }
  }
};

/// Passes of a kind, before and in the next window: what the means of their gauges are over.
struct gauge_weights {
  double time = 0;
  double passes = 0;
};
void add_gauges(std::vector<gauge_row>& to, const gauge_weights& here, const std::vector<gauge_row>& next,
                const gauge_weights& there, const sample_plan& plan);
/// Of a device: means are weighted by the number of readings.
void add_gauges(std::vector<gauge_row>& to, const std::vector<gauge_row>& next);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_ADD_SUMS_HPP
