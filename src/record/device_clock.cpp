// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/device_clock.hpp"

#include "record/device_source.hpp"

#include <algorithm>
#include <new>
#include <string>

namespace varve::record {

namespace {

constexpr time_ns first_interval = 1'000'000'000;
constexpr std::size_t most_anchors = 4096;

time_ns device_time() noexcept { return built_in_source().now(); }

}  // namespace

void device_clock::start() {
  interval_ = first_interval;
  anchors_.assign(1, read_anchor(device_time));
}

void device_clock::read(bool at_once) noexcept {
  if (!running() || (!at_once && monotonic() - anchors_.back().monotonic < interval_)) {
    return;
  }
  try {
    anchors_.push_back(read_anchor(device_time));
  } catch (const std::bad_alloc&) {
    return;
  }
  if (anchors_.size() == most_anchors) {
    for (std::size_t i = 1; 2 * i < anchors_.size(); ++i) {
      anchors_[i] = anchors_[2 * i];
    }
    anchors_.resize(anchors_.size() / 2);
    interval_ *= 2;
  }
}

// What the clock was set by before goes on to count.
void device_clock::forget_until(std::uint64_t ticks) noexcept {
  if (course_of(anchors_).steps != 0) {
    return;  // there are not many: they thin out
  }
  const auto after =
      std::find_if(anchors_.begin(), anchors_.end(), [&](const clock_anchor& a) { return a.ticks > ticks; });
  if (after - anchors_.begin() > 1) {
    anchors_.erase(anchors_.begin(), after - 1);
    interval_ = first_interval;
  }
}

void device_clock::tell(trace& t) const {
  const clock_course course = course_of(anchors_);
  t.clock_error = course.error;
  if (course.steps != 0) {
    t.lose("steps of the system's clock, the largest of " + std::to_string(course.furthest / 1000) +
               " us: times on host and device may be off by that for up to a second before",
           "clock", course.steps);
  }
}

}  // namespace varve::record
