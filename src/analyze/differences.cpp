// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Work that two sources tell of the same ranges, and what they make of it.
#include "analyze/assemble.hpp"
#include "analyze/sentence.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

/// Differences up to this share of the FLOPs that count are those of conventions.
constexpr double tolerated_difference = 0.05;

struct flops_told {
  double counted = 0;
  double other = 0;

  [[nodiscard]] double difference() const noexcept {
    return counted > 0 ? apart() / counted : other > 0 ? 1.0 : 0.0;
  }
  [[nodiscard]] double apart() const noexcept { return std::fabs(other - counted); }
};

using sources = std::pair<work_source, work_source>;

}  // namespace

// One finding for each kind of pass and pair of sources: about the layer in which they are most FLOPs apart.
void add_differences(const results& from, const tree_order& order, report& to) {
  if (from.marks.works.differences.empty()) {
    return;
  }
  std::vector<std::uint32_t> layer_of(order.row.size(), none);  // by position
  for (std::uint32_t k = 0, layer = 0; k < order.row.size(); ++k) {
    layer_of[k] = from.rows.rows[order.row[k]].path != whole_pass ? layer++ : none;
  }
  std::map<std::pair<sources, std::uint32_t>, flops_told> rows;  // by report::layers
  for (const work_difference& d : from.marks.works.differences) {
    if (d.other == work_source::description && d.other_flops == 0) {
      continue;  // an engine may count what goes element by element, a description does not
    }
    const std::uint32_t own = from.marks.path_of(from.source, d.range);
    const std::uint32_t path = own == whole_pass ? outside : own;
    const std::uint32_t key = from.marks.key_of(from.marks.ranges[d.range].pass);
    const std::uint32_t row = from.rows.known_row(path, key, from.devices.lowest(d.range));
    if (row != none) {
      flops_told& sum = rows[{{d.counted, d.other}, layer_of[order.position[row]]}];
      sum.counted += d.flops;
      sum.other += d.other_flops;
    }
  }
  struct summary {
    std::int64_t rows = 0;
    std::int64_t differ = 0;
    std::uint32_t worst = none;
    flops_told told;
  };
  std::map<std::pair<std::uint32_t, sources>, summary> phases;
  for (const auto& [key, told] : rows) {
    const auto& [pair, layer] = key;
    const varve::row& r = to.layers[layer];
    const auto phase = std::find_if(to.phases.begin(), to.phases.end(), [&](const phase_row& p) {
      return std::tie(p.phase, p.model, p.batch, p.device) == std::tie(r.phase, r.model, r.batch, r.device);
    });
    const auto index =
        phase != to.phases.end() ? static_cast<std::uint32_t>(phase - to.phases.begin()) : none;
    summary& s = phases[{index, pair}];
    ++s.rows;
    if (told.difference() <= tolerated_difference) {
      continue;
    }
    ++s.differ;
    if (s.worst == none || told.apart() > s.told.apart()) {
      s.worst = layer;
      s.told = told;
    }
  }
  for (const auto& [key, s] : phases) {
    if (s.differ == 0) {
      continue;
    }
    const auto& [counted, other] = key.second;
    finding& f = to.findings.emplace_back();
    f.what = finding::kind::work_difference;
    f.phase = key.first;
    f.layer = s.worst;
    f.value = s.told.difference();
    f.threshold = tolerated_difference;
    const std::string& path = to.layers[s.worst].path;
    f.text = name_of(other) + " and " + name_of(counted) + " differ by more than " +
             percent_of(tolerated_difference, 1) + " in the FLOPs of " + std::to_string(s.differ) + " of " +
             std::to_string(s.rows) + " rows, most in " + (path.empty() ? "what is in no layer" : path) +
             ": " + rate_of(s.told.other, "FLOP") + " and " + rate_of(s.told.counted, "FLOP") +
             ", of which " + name_of(counted) + " count";
  }
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
