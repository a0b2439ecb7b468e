// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/figure_lines.hpp"

namespace varve {
inline namespace v0 {
namespace budgets {

namespace {

using unit = figure_unit;

const distribution* calls_of(const subject& s) { return &s.one->per_call; }
double gap_sum(const measures& m) {
  return static_cast<double>(m.starved.total()) + static_cast<double>(m.device_gap);
}

figure_value share(const subject& s) {
  if (s.phase == nullptr) {
    return unknown("it ran outside of any pass");
  }
  const auto whole = static_cast<double>(s.phase->total.gpu_time);
  return whole > 0 ? known(static_cast<double>(s.one->inclusive.gpu_time) / whole)
                   : unknown("its phase took no GPU time");
}

figure_value calls_per_pass(const subject& s) {
  return s.phase != nullptr && s.phase->passes > 0
             ? known(static_cast<double>(s.one->inclusive.calls) / static_cast<double>(s.phase->passes))
             : unknown("it ran outside of any pass");
}

figure_value row_starved(const subject& s) {
  const measures& m = s.one->inclusive;
  const double whole = gap_sum(m) + static_cast<double>(m.gpu_time);
  return whole > 0 ? known(static_cast<double>(m.starved.total()) / whole) : unknown("it took no GPU time");
}

template <double occupancy::*Member>
figure_value occupied(const subject& s) {
  return s.one->occupied ? known((*s.one->occupied).*Member)
                         : unknown("it is known only of kernels on a device whose limits are known");
}

}  // namespace

std::vector<definition> row_lines() {
  definition time = gpu_time_line("call", "time in which any of its work ran on the device");
  time.spread = calls_of;
  std::vector<definition> out{time};
  for (const definition& d : measured_lines("call")) {
    out.push_back(d);
  }
  const std::vector<definition> more{
      sum_line(
          "starved", unit::time, rests_on::device,
          [](const measures& m) { return static_cast<double>(m.starved.total()); },
          "device idle with nothing submitted, until its work began"),
      sum_line("device_gap", unit::time, rests_on::device, of<&measures::device_gap>,
               "device idle although work was submitted, until its work began"),
      value_line("starved_share", unit::share, rests_on::device, row_starved,
                 "starved ÷ (GPU time + starved + device gap)"),
      value_line("share", unit::share, rests_on::device, share, "GPU time ÷ that of its phase"),
      value_line(
          "calls", unit::count, rests_on::markers,
          [](const subject& s) { return known(of<&measures::calls>(s.one->inclusive)); },
          "ranges and replays; of kernels how often they ran"),
      value_line("calls_per_pass", unit::count, rests_on::markers, calls_per_pass,
                 "calls ÷ passes of its phase"),
      value_line("occupancy", unit::share, rests_on::device, occupied<&occupancy::theoretical>,
                 "of kernels: resident warps ÷ the most that fit, by their commonest shape"),
      value_line("waves", unit::ratio, rests_on::device, occupied<&occupancy::waves>,
                 "of kernels: blocks ÷ those that fit on the device at once")};
  out.insert(out.end(), more.begin(), more.end());
  for (definition& d : out) {
    d.info.per = d.info.per.empty() ? "call" : d.info.per;
  }
  return out;
}

}  // namespace budgets
}  // namespace v0
}  // namespace varve
