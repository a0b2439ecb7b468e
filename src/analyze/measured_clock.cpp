// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/measured_clock.hpp"

#include "analyze/numbers.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

/// Readings of one device's clock, each of which holds until the next, the first also before it, and for how
/// much of its kernels' time.
class clock_readings {
 public:
  void add(time_ns at, std::int64_t hertz) { all_.push_back({at, hertz}); }

  void sort() {
    std::stable_sort(all_.begin(), all_.end(),
                     [](const reading& a, const reading& b) { return a.at < b.at; });
    for (std::size_t i = 0; i + 1 < all_.size(); ++i) {
      all_[i].holds = static_cast<double>(all_[i + 1].at - all_[i].at);
    }
  }

  void add_kernel(time_ns begin, time_ns end) {
    const std::size_t first = at(begin);
    const std::size_t last = at(end);
    if (first == last) {
      all_[first].time += static_cast<double>(end - begin);
      return;
    }
    all_[first].time += static_cast<double>(all_[first + 1].at - begin);
    all_[last].time += static_cast<double>(end - all_[last].at);
    ++all_[first + 1].whole;
    --all_[last].whole;
  }

  /// Adds the time of each clock.
  void add_to(std::map<std::int64_t, double>& times) const {
    std::int64_t whole = 0;
    for (const reading& r : all_) {
      whole += r.whole;
      times[r.hertz] += r.time + static_cast<double>(whole) * r.holds;
    }
  }

 private:
  struct reading {
    time_ns at = 0;
    std::int64_t hertz = 0;
    double holds = 0;        ///< until the next
    double time = 0;         ///< of kernels that ran for a part of that
    std::int64_t whole = 0;  ///< by how many more kernels than at the one before ran for all of it
  };

  [[nodiscard]] std::size_t at(time_ns t) const noexcept {
    const auto after =
        std::upper_bound(all_.begin(), all_.end(), t, [](time_ns a, const reading& r) { return a < r.at; });
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - all_.begin() - 1, 0));
  }

  std::vector<reading> all_;
};

}  // namespace

double measured_clock(const trace& t, std::uint32_t device) {
  std::map<std::uint32_t, clock_readings> devices;
  for (const gauge_sample& g : t.gauges) {
    if (g.what == gauge_kind::sm_clock && g.value > 0 && g.device != none &&
        (device == none || g.device == device)) {
      devices[g.device].add(clamp_time(g.at), g.value);
    }
  }
  if (devices.empty()) {
    return 0;
  }
  for (auto& [id, readings] : devices) {
    readings.sort();
  }
  std::vector<clock_readings*> by_stream;
  for (const stream_info& s : t.streams) {
    const auto found = devices.find(s.device);
    by_stream.push_back(found != devices.end() ? &found->second : nullptr);
  }
  const activity_columns& a = t.activities;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const time_ns begin = clamp_time(a.begin[i]);
    const time_ns end = clamp_time(a.end[i]);
    if (a.kind[i] == activity_kind::kernel && a.stream[i] < by_stream.size() &&
        by_stream[a.stream[i]] != nullptr && end > begin) {
      by_stream[a.stream[i]]->add_kernel(begin, end);
    }
  }
  std::map<std::int64_t, double> times;  // by clock
  for (const auto& [id, readings] : devices) {
    readings.add_to(times);
  }
  double all = 0;
  for (const auto& [hertz, time] : times) {
    all += time;
  }
  double up_to = 0;
  for (const auto& [hertz, time] : times) {
    up_to += time;
    if (time > 0 && 2 * up_to >= all) {
      return static_cast<double>(hertz);
    }
  }
  return 0;
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
