// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Why a device is idle: what was submitted when, what the host did meanwhile, what the trace lacks.
#ifndef VARVE_ANALYZE_IDLE_HPP
#define VARVE_ANALYZE_IDLE_HPP

#include "analyze/activities.hpp"
#include "analyze/calls.hpp"
#include "analyze/range_devices.hpp"
#include "analyze/wall.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// When the activities of one device were submitted: of each and all that start after it, the earliest.
class submissions {
 public:
  submissions(const trace& t, const activity_table& activities, const call_index& calls, std::size_t device);

  /// For positions in ascending order, of activities whose launch `call` is known.
  time_ns earliest_from(std::size_t position, std::uint32_t call, time_ns begin) noexcept {
    while (!earlier_.empty() && earlier_.back().first < position) {
      earlier_.pop_back();
    }
    return !earlier_.empty() && earlier_.back().first == position ? earlier_.back().second
                                                                  : std::min(calls_.end(call), begin);
  }

 private:
  const call_index& calls_;
  std::vector<std::pair<std::size_t, time_ns>> earlier_;  // where one that starts later was submitted earlier
};

/// When the records of graph launches are known to be missing, by device: disjoint and in order of time.
[[nodiscard]] std::vector<std::vector<interval>> missing_records(const structure& s, const call_index& calls,
                                                                 const activity_table& activities,
                                                                 const range_devices& devices,
                                                                 const row_table& rows);

/// Divides gaps, which come in order of time, into stretches: `emit(begin, end, instant)`.
class gap_divider {
 public:
  gap_divider(const call_index& calls, const std::vector<interval>& missing)
      : calls_{calls}, missing_{missing}, next_call_(calls.threads(), 0) {}

  /// [begin, end) is idle; what ends it, or something after, was submitted at `submitted`; `thread` launches.
  template <class Emit>
  void divide(time_ns begin, time_ns end, time_ns submitted, std::uint16_t thread, const Emit& emit) {
    while (next_missing_ < missing_.size() && missing_[next_missing_].end <= begin) {
      ++next_missing_;
    }
    for (std::size_t m = next_missing_; m < missing_.size() && missing_[m].begin < end; ++m) {
      const time_ns from = std::max(begin, missing_[m].begin);
      const time_ns to = std::min(end, missing_[m].end);
      divide_known(begin, from, submitted, thread, emit);
      emit(from, to, instant::unrecorded);
      begin = to;
    }
    divide_known(begin, end, submitted, thread, emit);
  }

 private:
  static instant doing(call_kind kind, bool captured) noexcept {
    switch (kind) {
      case call_kind::launch:
      case call_kind::graph_launch:
      case call_kind::copy:
      case call_kind::set:
        return captured ? instant::graph_building : instant::launching;
      case call_kind::graph_build:
        return instant::graph_building;
      case call_kind::synchronise:
        return instant::synchronising;
      case call_kind::allocate:
        return instant::allocating;
      default:
        return instant::other;
    }
  }

  template <class Emit>
  void divide_known(time_ns begin, time_ns end, time_ns submitted, std::uint16_t thread, const Emit& emit) {
    if (begin >= end) {
      return;
    }
    const time_ns starved_end = std::min(end, std::max(begin, submitted));
    if (thread < next_call_.size()) {
      const std::span<const std::uint32_t> made = calls_.thread_calls(thread);
      std::size_t& next = next_call_[thread];
      while (next < made.size() && calls_.end(made[next]) <= begin) {
        ++next;
      }
      for (std::size_t k = next; k < made.size() && calls_.begin(made[k]) < starved_end; ++k) {
        const time_ns from = std::max(begin, calls_.begin(made[k]));
        const time_ns to = std::min(starved_end, calls_.end(made[k]));
        if (from >= to) {
          continue;
        }
        if (begin < from) {
          emit(begin, from, instant::other);
        }
        emit(from, to, doing(calls_.kind(made[k]), calls_.captured(made[k])));
        begin = to;
      }
    }
    if (begin < starved_end) {
      emit(begin, starved_end, instant::other);
    }
    if (starved_end < end) {
      emit(starved_end, end, instant::device_gap);
    }
  }

  const call_index& calls_;
  const std::vector<interval>& missing_;
  std::size_t next_missing_ = 0;
  std::vector<std::size_t> next_call_;  // by thread
};

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_IDLE_HPP
