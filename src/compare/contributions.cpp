// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What made a phase's time change. Of each side: wall = own times of layers + other work + idle time.
#include "compare/parts.hpp"

namespace varve {
inline namespace v0 {
namespace comparing {

namespace {

using kind = contribution::kind;

/// Means over the runs of a side.
struct parts {
  std::vector<double> rows;
  double other = 0;
  double starved = 0;
  double device_gap = 0;
  double unrecorded = 0;
  bool host_only = false;
};

parts parts_of(const side& s, std::uint32_t phase, const std::vector<aligned>& rows,
               std::vector<std::uint32_t> aligned::*owned) {
  parts out;
  out.rows.resize(rows.size());
  const std::vector<std::uint32_t> phases = s.phases(phase);
  double runs = 0;
  for (std::size_t i = 0; i < s.runs.size(); ++i) {
    runs += phases[i] != none ? 1 : 0;
  }
  for (std::size_t i = 0; i < s.runs.size(); ++i) {
    if (phases[i] == none) {
      continue;
    }
    const run& r = s.runs[i];
    const std::uint32_t at = phases[i];
    const phase_row& p = r.of().phases[at];
    const auto a_pass = [&](time_ns t) { return amount(t) / r.passes(at) / runs; };
    out.host_only = r.host_only();
    double rest = a_pass(p.wall);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      for (const std::uint32_t of_first : rows[k].*owned) {
        const std::uint32_t layer = r.find(at, s.runs[0].of().layers[of_first].path);
        const double own = layer == none ? 0 : r.own_time(at, layer) / runs;
        out.rows[k] += own;
        rest -= own;
      }
    }
    if (!r.host_only()) {
      const wall_partition& w = p.partition;
      const double starved = a_pass(w.starved.launching) + a_pass(w.starved.graph_building) +
                             a_pass(w.starved.synchronising) + a_pass(w.starved.allocating) +
                             a_pass(w.starved.other);
      out.starved += starved;
      out.device_gap += a_pass(w.device_gap);
      out.unrecorded += a_pass(w.unrecorded);
      rest -= starved + a_pass(w.device_gap) + a_pass(w.unrecorded);
    }
    out.other += rest;
  }
  return out;
}

}  // namespace

std::vector<contribution> contributions_of(const sides& s, phase_pair phase, const std::vector<aligned>& rows,
                                           std::uint32_t first_row) {
  const parts base = parts_of(s.base, phase.base, rows, &aligned::base_owned);
  const parts fresh = parts_of(s.fresh, phase.fresh, rows, &aligned::fresh_owned);
  std::vector<contribution> out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out.push_back({kind::layer, first_row + static_cast<std::uint32_t>(i), base.rows[i], fresh.rows[i]});
  }
  const bool host_only = phase.base != none ? base.host_only : fresh.host_only;
  out.push_back({host_only ? kind::outside_layer : kind::other_work, none, base.other, fresh.other});
  out.push_back({kind::starved, none, base.starved, fresh.starved});
  out.push_back({kind::device_gap, none, base.device_gap, fresh.device_gap});
  out.push_back({kind::unrecorded, none, base.unrecorded, fresh.unrecorded});
  return out;
}

}  // namespace comparing
}  // namespace v0
}  // namespace varve
