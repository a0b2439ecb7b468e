// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// How the clock of the built-in source of devices runs beside the markers' ticks, while a session records.
#ifndef VARVE_RECORD_DEVICE_CLOCK_HPP
#define VARVE_RECORD_DEVICE_CLOCK_HPP

#include "record/clock.hpp"

#include <varve/trace.hpp>

#include <vector>

namespace varve::record {

/// Not thread safe: the recording's lock guards it.
class device_clock {
 public:
  void start();
  void stop() noexcept { anchors_.clear(); }
  [[nodiscard]] bool running() const noexcept { return !anchors_.empty(); }

  /// Reads both clocks: at once, or when the last reading is old enough. Every second, and for days less
  /// often. Not where there is no memory for it.
  void read(bool at_once) noexcept;
  /// Nothing before that is to be mapped any more.
  void forget_until(std::uint64_t ticks) noexcept;
  /// Of ticks to the device's times. Only while it runs.
  [[nodiscard]] clock_mapping mapping() const { return clock_mapping{anchors_}; }
  /// The bound of error, and what the clock did beside running.
  void tell(trace& t) const;

 private:
  std::vector<clock_anchor> anchors_;
  time_ns interval_ = 0;
};

}  // namespace varve::record

#endif  // VARVE_RECORD_DEVICE_CLOCK_HPP
