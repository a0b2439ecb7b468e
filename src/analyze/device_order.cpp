// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/activities.hpp"
#include "analyze/event_spans.hpp"
#include "analyze/time_order.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

constexpr std::uint16_t no_device = 0xFFFF;

class device_order {
 public:
  device_order(const trace& t, const call_index& calls, report_quality& quality, activity_table& table)
      : t_{t}, a_{t.activities}, calls_{calls}, quality_{quality}, table_{table} {}

  void run();

 private:
  void find_devices();
  [[nodiscard]] bool is_timed(std::size_t i) const noexcept {
    return a_.end[i] >= a_.begin[i] && (a_.begin[i] != 0 || a_.end[i] != 0);
  }
  [[nodiscard]] std::size_t stream_of(std::size_t i) const noexcept {
    return std::min<std::size_t>(a_.stream[i], t_.streams.size());
  }

  const trace& t_;
  const activity_columns& a_;
  const call_index& calls_;
  report_quality& quality_;
  activity_table& table_;
  std::vector<std::uint16_t> stream_device_;
};

// The devices on which something ran; where nothing did, the one that is likeliest to be meant.
void device_order::find_devices() {
  std::vector<std::uint32_t> ids;
  for (std::size_t s = 0; s < t_.streams.size() && s < table_.streams.size(); ++s) {
    if (table_.streams[s].activities != 0) {
      ids.push_back(t_.streams[s].device);
    }
  }
  for (const event_span& s : t_.event_spans) {
    if (is_sound(t_, s)) {
      ids.push_back(t_.streams[s.stream].device);
    }
  }
  if (ids.empty() && (!t_.ranges.empty() || calls_.size() != 0 || table_.unknown_streams != 0)) {
    std::uint32_t lowest = none;
    for (const range_count& c : t_.counts) {
      lowest = std::min(lowest, c.device);
    }
    for (const stream_info& s : t_.streams) {
      lowest = std::min(lowest, s.device);
    }
    for (std::size_t k = 0; k < t_.devices.size() && t_.streams.empty() && t_.counts.empty(); ++k) {
      lowest = std::min(lowest, t_.devices[k].id);
    }
    ids.push_back(lowest == none ? 0 : lowest);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  ids.resize(std::min(ids.size(), max_devices));
  for (const std::uint32_t id : ids) {
    table_.devices.emplace_back().id = id;
  }
  stream_device_.assign(t_.streams.size() + 1, 0);
  for (std::size_t s = 0; s < t_.streams.size(); ++s) {
    const auto found = std::lower_bound(ids.begin(), ids.end(), t_.streams[s].device);
    stream_device_[s] = found != ids.end() && *found == t_.streams[s].device
                            ? static_cast<std::uint16_t>(found - ids.begin())
                            : no_device;
  }
}

void device_order::run() {
  const std::size_t n = a_.size();
  quality_.activities = static_cast<std::int64_t>(n);
  table_.streams.resize(t_.streams.size() + 1);
  run_merger runs;
  for (std::size_t i = 0; i < n; ++i) {
    if (is_timed(i)) {
      ++table_.streams[stream_of(i)].activities;
      runs.add(a_.begin[i]);
    } else {
      ++quality_.untimed;
      const bool matched = calls_.find(a_.correlation[i], far) != none;
      ++(matched ? quality_.matched : quality_.unmatched);
      quality_.unmatched_kernels += !matched && a_.kind[i] == activity_kind::kernel ? 1 : 0;
    }
  }
  table_.unknown_streams = static_cast<std::uint64_t>(table_.streams.back().activities);
  find_devices();

  std::vector<std::size_t> next(table_.devices.size() + 1, 0);
  for (std::size_t s = 0; s < table_.streams.size(); ++s) {
    const auto count = static_cast<std::size_t>(table_.streams[s].activities);
    if (stream_device_[s] == no_device) {
      table_.on_more_devices += count;
    } else if (count != 0) {
      next[stream_device_[s] + std::size_t{1}] += count;
    }
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  table_.size = next.back();
  for (std::size_t d = 0; d < table_.devices.size(); ++d) {
    table_.devices[d].first = next[d];
    table_.devices[d].last = next[d + 1];
  }
  const auto begin = [&](std::uint32_t i) { return a_.begin[i]; };
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const auto all = [&](std::uint32_t i) {
      return std::tuple{a_.begin[i],  a_.end[i],  a_.correlation[i], a_.node[i],
                        a_.stream[i], a_.name[i], a_.kind[i],        a_.detail[i]};
    };
    return all(a) < all(b);
  };
  if (table_.size == n && table_.devices.size() == 1 &&
      runs.merge([&](std::size_t i) { return a_.begin[i]; })) {
    if (runs.was_sorted() && !runs.any_tie()) {
      return;
    }
    table_.record.reserve(n);
    runs.for_each([&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        table_.record.push_back(static_cast<std::uint32_t>(i));
      }
    });
    if (runs.any_tie()) {
      sort_ties(std::span{table_.record}, begin, before);
    }
    return;
  }
  table_.record.resize(table_.size);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint16_t d = is_timed(i) ? stream_device_[stream_of(i)] : no_device;
    if (d != no_device) {
      table_.record[next[d]++] = static_cast<std::uint32_t>(i);
    }
  }
  for (const device_activities& d : table_.devices) {
    sort_by_time(std::span{table_.record}.subspan(d.first, d.last - d.first), begin, before);
  }
}

}  // namespace

void order_by_device(const trace& t, const call_index& calls, report_quality& quality,
                     activity_table& table) {
  device_order{t, calls, quality, table}.run();
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
