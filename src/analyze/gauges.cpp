// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/gauges.hpp"

#include "analyze/assemble.hpp"
#include "analyze/numbers.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

constexpr std::array<std::string_view, clock_limits> limit_names{"idle",
                                                                 "application clocks",
                                                                 "power cap",
                                                                 "hardware slowdown",
                                                                 "sync boost",
                                                                 "thermal",
                                                                 "hardware thermal",
                                                                 "power brake",
                                                                 "display"};

/// Readings of one gauge, by time. Of a level each holds until the next, and the first also before it; what
/// grows does so evenly from one to the next.
class series {
 public:
  series(gauge_kind what, std::string_view limit) : what_{what}, limit_{limit} {}

  void add(time_ns at, double value) {
    if (!at_.empty() && !grows(what_)) {
      integral_.push_back(integral_.back() + value_.back() * static_cast<double>(at - at_.back()));
    } else if (at_.empty()) {
      integral_.push_back(0);
    }
    at_.push_back(at);
    value_.push_back(value);
  }

  /// Of a level the value times the length, of what grows its growth, from any one moment to `t`.
  [[nodiscard]] double sum_until(time_ns t) const noexcept {
    const std::size_t i = last_until(t);
    if (!grows(what_)) {
      return integral_[i] + value_[i] * static_cast<double>(t - at_[i]);
    }
    if (t <= at_[i] || i + 1 == at_.size()) {
      return value_[i];
    }
    return value_[i] + (value_[i + 1] - value_[i]) * static_cast<double>(t - at_[i]) /
                           static_cast<double>(at_[i + 1] - at_[i]);
  }
  /// Mean of a level, or growth, in one pass.
  [[nodiscard]] double in(const interval& pass) const noexcept {
    if (!grows(what_) && pass.end <= pass.begin) {
      return value_[last_until(pass.begin)];
    }
    const double sum = sum_until(pass.end) - sum_until(pass.begin);
    return grows(what_) ? sum : sum / static_cast<double>(pass.end - pass.begin);
  }

  /// `passes` are all of a kind, `walls` their union.
  [[nodiscard]] gauge_row row(const std::vector<interval>& passes, const std::vector<interval>& walls) const {
    gauge_row out = grows(what_) ? row_of_growth(passes, walls) : row_of_level(passes, walls);
    for (const interval& wall : walls) {
      out.samples += first_from(wall.end) - first_from(wall.begin);
    }
    return out;
  }
  /// From first to last reading.
  [[nodiscard]] gauge_row whole() const {
    std::vector<interval> all{{at_.front(), at_.back()}};
    const std::vector<interval> passes = all;
    unite(all);
    gauge_row out = row_of_level(passes, all);
    out.max = *std::max_element(value_.begin(), value_.end());
    out.min = *std::min_element(value_.begin(), value_.end());
    out.samples = static_cast<std::int64_t>(at_.size());
    return out;
  }

  [[nodiscard]] gauge_kind what() const noexcept { return what_; }

 private:
  /// Index of the last reading at or before `t`; the first where there is none.
  [[nodiscard]] std::size_t last_until(time_ns t) const noexcept {
    const auto after = std::upper_bound(at_.begin(), at_.end(), t) - at_.begin();
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - 1, 0));
  }
  [[nodiscard]] std::ptrdiff_t first_from(time_ns t) const noexcept {
    return std::lower_bound(at_.begin(), at_.end(), t) - at_.begin();
  }
  [[nodiscard]] gauge_row named() const {
    gauge_row out;
    out.what = what_;
    out.limit = limit_;
    return out;
  }

  [[nodiscard]] gauge_row row_of_level(const std::vector<interval>& passes,
                                       const std::vector<interval>& walls) const {
    gauge_row out = named();
    out.mean = out.min = out.max = in(passes.front());
    if (walls.empty()) {
      return out;  // passes without length
    }
    out.min = out.max = value_[last_until(walls.front().begin)];
    double sum = 0;
    double length = 0;
    for (const interval& wall : walls) {
      sum += sum_until(wall.end) - sum_until(wall.begin);
      length += static_cast<double>(wall.end - wall.begin);
      for (std::size_t i = last_until(wall.begin); i < at_.size() && at_[i] < wall.end; ++i) {
        out.min = std::min(out.min, value_[i]);
        out.max = std::max(out.max, value_[i]);
      }
    }
    out.mean = sum / length;
    return out;
  }

  [[nodiscard]] gauge_row row_of_growth(const std::vector<interval>& passes,
                                        const std::vector<interval>& walls) const {
    gauge_row out = named();
    out.min = out.max = in(passes.front());
    for (const interval& pass : passes) {
      const double growth = in(pass);
      out.mean += growth;
      out.min = std::min(out.min, growth);
      out.max = std::max(out.max, growth);
    }
    out.mean /= static_cast<double>(passes.size());
    for (const interval& wall : walls) {
      out.total += in(wall);
    }
    return out;
  }

  gauge_kind what_;
  std::string_view limit_;
  std::vector<time_ns> at_;
  std::vector<double> value_;
  std::vector<double> integral_;  // of levels, from the first reading on
};

/// By device, the process last; gauges in their order.
using all_series = std::map<std::uint32_t, std::vector<series>>;

void add_series(std::uint32_t device, gauge_kind what, const std::vector<gauge_sample>& samples,
                all_series& to) {
  if (what != gauge_kind::clock_limits) {
    series& added = to[device].emplace_back(what, "");
    for (const gauge_sample& s : samples) {
      added.add(s.at, static_cast<double>(s.value));
    }
    return;
  }
  for (std::size_t limit = 0; limit < clock_limits; ++limit) {
    const auto is_on = [&](const gauge_sample& s) { return (s.value >> limit & 1) != 0; };
    if (std::none_of(samples.begin(), samples.end(), is_on)) {
      continue;
    }
    series& added = to[device].emplace_back(what, limit_names[limit]);
    for (const gauge_sample& s : samples) {
      added.add(s.at, is_on(s) ? 1 : 0);
    }
  }
}

/// Of the process, and of the devices that the report has.
all_series read_series(const results& from) {
  std::map<std::pair<std::uint32_t, gauge_kind>, std::vector<gauge_sample>> apart;
  for (const gauge_sample& s : from.source.gauges) {
    const auto& devices = from.activities.devices;
    const bool known =
        s.device == none
            ? grows(s.what)
            : !grows(s.what) && std::any_of(devices.begin(), devices.end(),
                                            [&](const device_activities& d) { return d.id == s.device; });
    if (known && static_cast<std::size_t>(s.what) < gauge_kinds) {
      apart[{s.device, s.what}].push_back({clamp_time(s.at), s.value, s.device, s.what});
    }
  }
  all_series out;
  for (auto& [key, samples] : apart) {
    std::stable_sort(samples.begin(), samples.end(),
                     [](const gauge_sample& a, const gauge_sample& b) { return a.at < b.at; });
    add_series(key.first, key.second, samples, out);
  }
  return out;
}

interval wall_of(const pass& p) noexcept { return {p.begin, std::max(p.begin, p.end)}; }

/// By group.
std::vector<std::vector<interval>> passes_of_groups(const results& from) {
  std::vector<std::vector<interval>> out(from.rows.groups.size());
  for (const pass& p : from.marks.passes) {
    from.devices.each_of(p, [&](std::uint32_t device) {
      if (const std::uint32_t g = from.rows.known_group(p.key, device); g != none) {
        out[g].push_back(wall_of(p));
      }
    });
  }
  return out;
}

}  // namespace

void add_gauges(const results& from, report& to) {
  const all_series all = read_series(from);
  if (all.empty()) {
    return;
  }
  for (device_row& device : to.devices) {
    if (const auto found = all.find(device.device.id); found != all.end()) {
      for (const series& s : found->second) {
        device.gauges.push_back(s.whole());
      }
    }
  }
  const auto key = [](const auto& r) { return std::tie(r.phase, r.model, r.device, r.batch); };
  std::map<decltype(key(to.phases[0])), phase_row*> phases;
  for (phase_row& p : to.phases) {
    phases[key(p)] = &p;
  }
  const std::vector<std::vector<interval>> passes = passes_of_groups(from);
  for (std::uint32_t g = 0; g < passes.size(); ++g) {
    row names;
    name_group(from, g, names);
    const auto phase = phases.find(key(names));
    if (phase == phases.end() || passes[g].empty()) {
      continue;
    }
    std::vector<interval> walls = passes[g];
    unite(walls);
    const auto add = [&](std::uint32_t device) {
      const auto found = all.find(device);
      if (found == all.end()) {
        return;
      }
      for (const series& s : found->second) {
        gauge_row row = s.row(passes[g], walls);
        if (s.what() == gauge_kind::clock_limits && row.max == 0) {
          continue;  // not while these passes were open
        }
        for (const std::uint32_t p : from.passes.passes(g)) {
          row.per_pass.push_back(s.in(wall_of(from.marks.passes[p])));
        }
        phase->second->gauges.push_back(std::move(row));
      }
    };
    add(names.device);
    add(none);
  }
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
