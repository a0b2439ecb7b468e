// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// How much memory was handed out, less what was taken back, between two times.
#ifndef VARVE_ANALYZE_MEMORY_INDEX_HPP
#define VARVE_ANALYZE_MEMORY_INDEX_HPP

#include "analyze/numbers.hpp"

#include <varve/trace.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

class memory_index {
 public:
  using bytes = std::array<std::int64_t, 2>;  // of the host, of devices

  explicit memory_index(const std::vector<memory_event>& events)
      : events_{events}, sums_(events.empty() ? 0 : events.size() + 1), covers_(sums_.size()) {
    const auto before = [](const memory_event& a, const memory_event& b) { return a.at < b.at; };
    if (!std::is_sorted(events_.begin(), events_.end(), before)) {
      std::stable_sort(events_.begin(), events_.end(), before);
    }
    for (std::size_t i = 0; i < events_.size(); ++i) {
      sums_[i + 1] = sums_[i];
      add(sums_[i + 1][events_[i].on_device ? 1 : 0], events_[i].bytes);
    }
  }

  /// Both ends count. The events are assigned to whatever lasted so long.
  bytes between(time_ns begin, time_ns end) {
    if (events_.empty()) {
      return {};
    }
    const auto from = std::lower_bound(events_.begin(), events_.end(), begin,
                                       [](const memory_event& m, time_ns t) { return m.at < t; });
    const auto to =
        std::upper_bound(from, events_.end(), end, [](time_ns t, const memory_event& m) { return t < m.at; });
    const auto first = static_cast<std::size_t>(from - events_.begin());
    const auto last = static_cast<std::size_t>(to - events_.begin());
    ++covers_[first];
    --covers_[last];
    // Modulo 2^64: right wherever the result itself fits.
    bytes out{};
    for (const std::size_t i : {0U, 1U}) {
      out[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sums_[last][i]) -
                                         static_cast<std::uint64_t>(sums_[first][i]));
    }
    return out;
  }

  /// Those that lie in nothing that between() was asked for.
  [[nodiscard]] std::vector<memory_event> unassigned() const {
    std::vector<memory_event> out;
    std::int64_t covered = 0;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      covered += covers_[i];
      if (covered == 0) {
        out.push_back(events_[i]);
      }
    }
    return out;
  }

 private:
  static void add(std::int64_t& a, std::int64_t b) noexcept {
    a = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }

  std::vector<memory_event> events_;
  std::vector<bytes> sums_;  // of the events before
  std::vector<std::int64_t> covers_;
};

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_MEMORY_INDEX_HPP
