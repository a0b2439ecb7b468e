// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The single values behind a report's distributions: GPU times of calls, durations, delays of launches.
#ifndef VARVE_ANALYZE_SAMPLES_HPP
#define VARVE_ANALYZE_SAMPLES_HPP

#include "analyze/distribution.hpp"
#include "analyze/results.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// By position in the tree of layers, or by row of kernels.
enum class sample : std::uint8_t {
  layer_call,
  layer_latency,
  layer_queue,
  kernel_duration,
  kernel_latency,
  kernel_queue
};

class samples {
 public:
  samples(const results& from, const tree_order& order, bool histograms);

  /// Asks for the distribution of the values of all `rows`, and of `zeros` zeros, to be put into `to`, which
  /// stays where it is until deliver() has run.
  void want(sample what, std::span<const std::uint32_t> rows, distribution& to, std::int64_t zeros = 0) {
    orders_.push_back({what, statistics(what).want(rows, zeros), &to});
  }
  [[nodiscard]] std::int64_t count(sample what, std::uint32_t row) const noexcept {
    return statistics_[static_cast<std::size_t>(what)].count(row);
  }
  /// Launches by the kernel that came first of them.
  [[nodiscard]] const call_sums& launches(std::uint32_t kernel) const noexcept { return launches_[kernel]; }

  void deliver();

 private:
  struct order_record {
    sample what;
    std::size_t number;
    distribution* to;
  };

  [[nodiscard]] row_statistics& statistics(sample what) noexcept {
    return statistics_[static_cast<std::size_t>(what)];
  }
  /// Calls `value(sample, row, time)` for each value and `launch(kernel, call)` for each launch.
  template <class Value, class Launch>
  void each(const Value& value, const Launch& launch);

  const results& from_;
  const tree_order& order_;
  std::vector<time_ns> slot_times_;
  std::vector<row_statistics> statistics_;
  std::vector<call_sums> launches_;
  std::vector<order_record> orders_;
};

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_SAMPLES_HPP
