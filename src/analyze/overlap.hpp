// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Stretches of time in which activities of one device overlap: unions at every level of the rows, and how
// each instant is shared.
#ifndef VARVE_ANALYZE_OVERLAP_HPP
#define VARVE_ANALYZE_OVERLAP_HPP

#include "analyze/pass_times.hpp"
#include "analyze/rows.hpp"
#include "analyze/wall.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// An activity by its effective interval.
struct running {
  time_ns begin = 0;
  time_ns end = 0;
  std::uint32_t slot = none;
  std::uint32_t kernel = none;
  instant what = instant::compute;

  [[nodiscard]] std::uint64_t length() const noexcept { return static_cast<std::uint64_t>(end - begin); }
};

/// Divides each instant equally among the rows that are active in it.
class share_counter {
 public:
  /// True when `row` has become active.
  bool enter(sharing& row, std::uint32_t id) noexcept {
    if (row.active++ != 0) {
      return false;
    }
    row.since = share_;
    ++rows_;
    ids_ += id;
    return true;
  }
  /// True when `row` is active no more.
  bool leave(sharing& row, std::uint32_t id) noexcept {
    if (--row.active != 0) {
      return false;
    }
    row.shared += share_ - row.since;
    --rows_;
    ids_ -= id;
    return true;
  }
  void pass(time_ns length) noexcept { share_ += static_cast<double>(length) / rows_; }
  [[nodiscard]] std::uint32_t rows() const noexcept { return rows_; }
  /// The row that is active, when one is.
  [[nodiscard]] std::uint32_t only() const noexcept { return static_cast<std::uint32_t>(ids_); }

 private:
  double share_ = 0;
  std::uint32_t rows_ = 0;
  std::uint64_t ids_ = 0;  // the sum of the active rows' ids
};

class overlap_sweep {
 public:
  overlap_sweep(row_table& rows, pass_times& passes) : rows_{rows}, passes_{passes} {}

  /// `what` are activities in order of begin, that together leave no instant between the first's begin and
  /// the last end. Calls `emit(begin, end, instant)` for it, piece by piece.
  template <class Emit>
  void sweep(const std::vector<running>& what, const Emit& emit) {
    unite(what);
    layers_ = kernels_ = categories_ = {};
    kinds_ = {};
    running_.clear();
    time_ns now = what.front().begin;
    for (std::size_t next = 0; next < what.size() || !running_.empty();) {
      const time_ns starts = next < what.size() ? what[next].begin : far;
      const time_ns at = running_.empty() ? starts : std::min(starts, running_.front().first);
      if (at > now) {
        pass(what, at - now);
        emit(now, at, state());
        now = at;
      }
      while (!running_.empty() && running_.front().first <= now) {
        leave(what[running_.front().second]);
        std::pop_heap(running_.begin(), running_.end(), std::greater<>{});
        running_.pop_back();
      }
      for (; next < what.size() && what[next].begin <= now; ++next) {
        if (what[next].end > what[next].begin) {
          enter(what[next]);
          running_.emplace_back(what[next].end, static_cast<std::uint32_t>(next));
          std::push_heap(running_.begin(), running_.end(), std::greater<>{});
        }
      }
    }
  }

 private:
  void unite(const std::vector<running>& what);
  void enter(const running& r);
  void leave(const running& r);
  void pass(const std::vector<running>& what, time_ns length);
  [[nodiscard]] instant state() const noexcept {
    return kinds_[0] != 0 ? instant::compute : kinds_[1] != 0 ? instant::communication : instant::copy;
  }

  row_table& rows_;
  pass_times& passes_;
  share_counter layers_;
  share_counter kernels_;
  share_counter categories_;
  std::array<std::uint32_t, 3> kinds_{};  // running activities: compute, communication, copy
  std::vector<std::pair<time_ns, std::uint32_t>> running_;  // a heap, the first to end in front
};

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_OVERLAP_HPP
