// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "predict/memory_jumps.hpp"

#include "predict/robust.hpp"

#include "formats/table/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <tuple>

namespace varve {
inline namespace v0 {
namespace predict {

namespace {

using table::bytes;

constexpr double least_growth = 1e6;  ///< bytes: less is no news
constexpr double least_jump = 0.05;   ///< of what the median peer's is
constexpr std::size_t most_layers = 10;
constexpr std::size_t most_passes = 256;  ///< pairs grow with the square
constexpr double trend_limit = 3;         ///< standard deviations
constexpr double main_part = 0.5;         ///< of a phase's growth: of one layer, which is named

double growth(const measures& m) {
  return static_cast<double>(m.allocated_bytes) - static_cast<double>(m.freed_bytes);
}

// What is left in use after a call of each.
void find_outliers(const report& r, const std::vector<peers>& groups, std::vector<finding>& found) {
  std::set<std::tuple<const std::string&, const std::string&, const std::string&, const std::string&>> told;
  std::vector<finding> all;
  for (const peers& group : groups) {
    std::vector<double> left;
    for (const std::uint32_t row : group.rows) {
      const measures& m = r.layers[row].inclusive;
      left.push_back(growth(m) / static_cast<double>(m.calls));
    }
    const double middle = median(left);
    const double deviation = median_deviation(left, middle);
    for (std::size_t i = 0; i < left.size(); ++i) {
      const row& layer = r.layers[group.rows[i]];
      if (left[i] - middle >= std::max(least_growth, least_jump * std::abs(middle)) &&
          robust_score(left[i], middle, deviation) > score_limit &&
          told.insert(std::tie(layer.path, layer.phase, layer.model, layer.batch)).second) {
        all.push_back({finding::kind::memory_jump, phase_of(r, layer), group.rows[i], left[i] - middle,
                       least_growth,
                       layer.path + " in " + layer.phase + " leaves " + bytes(left[i]) +
                           " of the device's memory in use after a call, against " + bytes(middle) +
                           " of its " + std::to_string(left.size() - 1) + " peers",
                       "look at what " + layer.path + " allocates and keeps"});
      }
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const finding& a, const finding& b) { return a.value > b.value; });
  all.resize(std::min(all.size(), most_layers));
  std::move(all.begin(), all.end(), std::back_inserter(found));
}

/// By phase: the row that itself leaves most in use, where that is most of it all.
std::vector<std::uint32_t> main_layers(const report& r) {
  const std::vector<std::uint32_t> phases = phases_of(r);
  std::vector<std::uint32_t> out(r.phases.size(), none);
  const auto own = [&](std::uint32_t i) { return growth(r.layers[i].exclusive); };
  for (std::uint32_t i = 0; i < r.layers.size(); ++i) {
    if (phases[i] != none && !r.layers[i].path.empty()) {
      std::uint32_t& most = out[phases[i]];
      most = most == none || own(i) > own(most) ? i : most;
    }
  }
  for (std::size_t p = 0; p < out.size(); ++p) {
    const bool is_main = out[p] != none && own(out[p]) >= main_part * growth(r.phases[p].total);
    out[p] = is_main ? out[p] : none;
  }
  return out;
}

void find_growing(const report& r, std::vector<finding>& found) {
  const std::vector<std::uint32_t> layers = main_layers(r);
  std::set<std::tuple<const std::string&, const std::string&, const std::string&>> told;
  for (std::uint32_t p = 0; p < r.phases.size(); ++p) {
    const phase_row& phase = r.phases[p];
    const std::vector<std::int64_t>& held = phase.samples.held_bytes;
    if (!is_of_interest(phase) || held.size() < fewest_passes || growth(phase.total) < least_growth) {
      continue;
    }
    const std::size_t step = (held.size() + most_passes - 1) / most_passes;
    std::vector<double> at;
    std::vector<double> values;
    for (std::size_t i = 0; i < held.size(); i += step) {
      at.push_back(static_cast<double>(i));
      values.push_back(static_cast<double>(held[i]));
    }
    const trend t = find_trend(at, values);
    const double rise = t.slope * (at.back() - at.front());
    if (t.score < trend_limit || rise < least_growth ||
        !told.insert(std::tie(phase.phase, phase.model, phase.batch)).second) {
      continue;
    }
    const std::uint32_t layer = layers[p];
    const double a_pass = t.slope / static_cast<double>(std::max<std::int64_t>(phase.samples.stride, 1));
    found.push_back({finding::kind::memory_jump, p, layer, rise, least_growth,
                     "memory of the device in use grows pass after pass in " + phase.phase + ": by " +
                         bytes(a_pass) + " a pass, " + bytes(rise) + " in all" +
                         (layer != none ? ", most of it in " + r.layers[layer].path : std::string{}),
                     "a KV cache grows so; anything else is kept that should be given back"});
  }
}

}  // namespace

void find_memory_jumps(const report& r, const std::vector<peers>& groups, std::vector<finding>& found) {
  find_outliers(r, groups, found);
  find_growing(r, found);
}

}  // namespace predict
}  // namespace v0
}  // namespace varve
