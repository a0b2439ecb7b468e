// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/measured_clock.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

constexpr std::size_t fewest = 3;  ///< of which one may be off

struct reading {
  time_ns at = 0;
  double hertz = 0;
  std::int64_t kernels = 0;  ///< how many more ran than at the one before
};

/// By device, in order of time.
std::map<std::uint32_t, std::vector<reading>> readings_of(const trace& t, std::uint32_t device) {
  std::map<std::uint32_t, std::vector<reading>> out;
  for (const gauge_sample& g : t.gauges) {
    if (g.what == gauge_kind::sm_clock && g.value > 0 && g.device != none &&
        (device == none || g.device == device)) {
      out[g.device].push_back({g.at, static_cast<double>(g.value)});
    }
  }
  for (auto& [id, readings] : out) {
    std::sort(readings.begin(), readings.end(),
              [](const reading& a, const reading& b) { return a.at < b.at; });
  }
  return out;
}

void count_kernel(std::vector<reading>& readings, time_ns begin, time_ns end) {
  const auto first = std::lower_bound(readings.begin(), readings.end(), begin,
                                      [](const reading& r, time_ns t) { return r.at < t; });
  const auto after =
      std::upper_bound(first, readings.end(), end, [](time_ns t, const reading& r) { return t < r.at; });
  if (first != after) {
    ++first->kernels;
    if (after != readings.end()) {
      --after->kernels;
    }
  }
}

}  // namespace

measured_clock measure_clock(const trace& t, std::uint32_t device) {
  std::map<std::uint32_t, std::vector<reading>> devices = readings_of(t, device);
  if (devices.empty()) {
    return {};
  }
  std::vector<std::vector<reading>*> by_stream;
  for (const stream_info& s : t.streams) {
    const auto found = devices.find(s.device);
    by_stream.push_back(found != devices.end() ? &found->second : nullptr);
  }
  const activity_columns& a = t.activities;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a.kind[i] == activity_kind::kernel && a.stream[i] < by_stream.size() &&
        by_stream[a.stream[i]] != nullptr && a.end[i] >= a.begin[i]) {
      count_kernel(*by_stream[a.stream[i]], a.begin[i], a.end[i]);
    }
  }
  std::vector<double> clocks;
  for (const auto& [id, readings] : devices) {
    std::int64_t running = 0;
    for (const reading& r : readings) {
      running += r.kernels;
      if (running > 0) {
        clocks.push_back(r.hertz);
      }
    }
  }
  if (clocks.size() < fewest) {
    return {};
  }
  std::sort(clocks.begin(), clocks.end());
  return {(clocks[(clocks.size() - 1) / 2] + clocks[clocks.size() / 2]) / 2, clocks.size()};
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
