// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Calls on the host: which are outermost on their thread, and which launched an activity.
#ifndef VARVE_ANALYZE_CALLS_HPP
#define VARVE_ANALYZE_CALLS_HPP

#include "analyze/flat_map.hpp"
#include "analyze/numbers.hpp"
#include "trace/call_kinds.hpp"

#include <varve/trace.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Calls whose time is measured. The others hide nothing that is made inside them and cost "other" time.
constexpr bool is_measured(call_kind kind) noexcept {
  return launches_work(kind) || kind == call_kind::synchronise || kind == call_kind::allocate ||
         kind == call_kind::graph_build;
}

class call_index {
 public:
  explicit call_index(const trace& t);

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] time_ns begin(std::uint32_t c) const noexcept { return calls_.begin[c]; }
  [[nodiscard]] time_ns end(std::uint32_t c) const noexcept { return calls_.end[c]; }
  [[nodiscard]] call_kind kind(std::uint32_t c) const noexcept { return calls_.kind[c]; }
  [[nodiscard]] bool captured(std::uint32_t c) const noexcept { return calls_.captured[c] != 0; }
  [[nodiscard]] std::uint32_t range(std::uint32_t c) const noexcept { return calls_.range[c]; }

  /// Ends the use of find(), and gives its memory.
  std::vector<std::uint32_t> finish_matching();

  void find_outermost();
  /// After find_outermost(): the outermost measured calls, by thread, then in order of time. On one thread
  /// they don't contain one another; on an unknown thread (the last group) all count as outermost.
  [[nodiscard]] const std::vector<std::uint32_t>& outermost() const noexcept { return outermost_; }
  /// Those of one thread; none of an unknown thread.
  [[nodiscard]] std::span<const std::uint32_t> thread_calls(std::uint16_t thread) const noexcept {
    return thread < threads() ? std::span{outermost_}.subspan(
                                    thread_begin_[thread], thread_begin_[thread + 1U] - thread_begin_[thread])
                              : std::span<const std::uint32_t>{};
  }
  [[nodiscard]] std::uint16_t thread(std::uint32_t c) const noexcept { return calls_.thread[c]; }
  [[nodiscard]] std::size_t threads() const noexcept { return thread_begin_.size() - 2; }

  /// The call that launched an activity: the outermost launching call with its correlation; of several that
  /// lie apart the latest that begins before `at`. `none` when there is none.
  [[nodiscard]] std::uint32_t find(std::uint32_t correlation, time_ns at) const noexcept {
    const std::uint32_t found = dense_.empty()                         ? sparse_.find(correlation)
                                : correlation - first_ < dense_.size() ? dense_[correlation - first_]
                                                                       : none;
    return found < several || found == none ? found : choose(found - several, at);
  }

  /// False for a launching call that is made inside a measured one of another kind.
  [[nodiscard]] bool is_counted(std::uint32_t c) const noexcept {
    return hidden_.empty() || !std::binary_search(hidden_.begin(), hidden_.end(), c);
  }
  /// The outermost graph launches, not captured ones.
  [[nodiscard]] const std::vector<std::uint32_t>& graph_launches() const noexcept { return graph_launches_; }

  /// Launching calls that carry the correlation of another one that lies apart.
  [[nodiscard]] std::int64_t duplicates() const noexcept { return duplicates_; }
  /// Calls made in a range that is not in the trace.
  [[nodiscard]] std::uint64_t unknown_ranges() const noexcept { return unknown_ranges_; }

 private:
  static constexpr std::uint32_t several = 0x80000000U;  ///< set: an index into groups_, not a call
  /// The calls of one thread while they are walked in order of begin, the longer first.
  struct thread_state {
    time_ns begin = -far;  // of the last measured call
    time_ns end = far;
    time_ns outer_end = -far;
    time_ns launch_end = -far;
    std::uint32_t launch = none;  // outermost launching call that is open
    std::uint32_t outermost = 0;  // how many
  };
  struct claim {
    std::uint32_t correlation;
    std::uint32_t call;
  };

  [[nodiscard]] std::uint32_t choose(std::uint32_t group, time_ns at) const noexcept;
  [[nodiscard]] std::vector<std::uint32_t> in_order_of_begin() const;
  void prepare_index();
  std::uint32_t& entry(std::uint32_t correlation);
  bool walk();
  std::uint32_t enter(std::uint32_t c, thread_state& now);
  void settle();

  const call_columns& calls_;
  std::size_t ranges_ = 0;
  std::uint32_t size_ = 0;
  std::vector<bool> is_outermost_;
  std::vector<std::uint32_t> order_;  ///< of begin; empty: that of the records
  std::vector<std::uint32_t> outermost_;
  std::vector<std::size_t> thread_begin_;
  std::vector<thread_state> threads_;
  std::vector<std::uint32_t> graph_launches_;
  std::vector<std::uint32_t> hidden_;

  std::uint32_t first_ = 0;
  std::vector<std::uint32_t> dense_;  ///< by correlation − first_; empty when they lie too far apart
  flat_map sparse_;
  std::vector<claim> disputed_;
  std::vector<std::vector<std::uint32_t>> groups_;  ///< calls of one correlation, in order of begin
  std::int64_t duplicates_ = 0;
  std::uint64_t unknown_ranges_ = 0;
};

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_CALLS_HPP
