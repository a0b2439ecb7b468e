// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/parts.hpp"
#include "formats/table/text.hpp"
#include "formats/table/units.hpp"

#include <algorithm>
#include <string_view>

namespace varve::table {

namespace {

constexpr double steady = 0.95;  ///< of its highest a clock that says nothing
constexpr double noticeable = 0.01;
constexpr double many_faults = 10;  ///< a pass
constexpr double many_switches = 1;

std::string gigahertz(double hertz) { return number(hertz / 1e9); }

const gauge_row* find(const phase_row& p, gauge_kind what) {
  const auto found =
      std::find_if(p.gauges.begin(), p.gauges.end(), [&](const gauge_row& g) { return g.what == what; });
  return found != p.gauges.end() ? &*found : nullptr;
}

/// "power cap 12.3 % of the time". A device that idles, or runs at a clock that somebody set, is not held
/// back.
std::vector<std::string> limits(const phase_row& p) {
  std::vector<std::string> pieces;
  for (const gauge_row& g : p.gauges) {
    const bool wanted = g.limit == "idle" || g.limit == "application clocks";
    if (g.what == gauge_kind::clock_limits && !wanted && g.mean >= noticeable) {
      pieces.push_back(printable(g.limit) + ' ' + percent(g.mean, 1) + " % of the time");
    }
  }
  return pieces;
}

void clocks(const phase_row& p, std::vector<std::string>& pieces) {
  const std::vector<std::string> held_down_by = limits(p);
  const gauge_row* const clock = find(p, gauge_kind::sm_clock);
  const bool dropped = clock != nullptr && clock->min < steady * clock->max;
  if (held_down_by.empty() && !dropped) {
    return;
  }
  if (clock != nullptr) {
    pieces.push_back(dropped ? "SM clock " + gigahertz(clock->min) + " to " + gigahertz(clock->max) +
                                   " GHz, mean " + gigahertz(clock->mean)
                             : "SM clock " + gigahertz(clock->mean) + " GHz");
  }
  pieces.insert(pieces.end(), held_down_by.begin(), held_down_by.end());
  if (const gauge_row* const g = find(p, gauge_kind::temperature); g != nullptr) {
    pieces.push_back("up to " + number(g->max) + " °C");
  }
  if (const gauge_row* const g = find(p, gauge_kind::power); g != nullptr) {
    pieces.push_back(number(g->mean / 1e3) + " W");
  }
}

}  // namespace

std::vector<std::string> gauges(const phase_row& p) {
  std::vector<std::string> pieces;
  clocks(p, pieces);
  if (const gauge_row* const g = find(p, gauge_kind::major_faults); g != nullptr && g->total >= 1) {
    pieces.push_back(number(g->total) + " major page faults");
  }
  if (const gauge_row* const g = find(p, gauge_kind::minor_faults); g != nullptr && g->mean >= many_faults) {
    pieces.push_back(number(g->mean) + " page faults a pass");
  }
  if (const gauge_row* const g = find(p, gauge_kind::involuntary_switches);
      g != nullptr && g->mean >= many_switches) {
    pieces.push_back(number(g->mean) + " involuntary context switches a pass");
  }
  return pieces;
}

}  // namespace varve::table
