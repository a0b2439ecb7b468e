// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/figure_lines.hpp"

namespace varve {
inline namespace v0 {
namespace budgets {

namespace {

using unit = figure_unit;

template <auto Member>
double part(const subject& s) {
  return static_cast<double>(s.phase->partition.*Member);
}
template <auto Member>
double starved_part(const subject& s) {
  return static_cast<double>(s.phase->partition.starved.*Member);
}

figure_value of_wall(const subject& s, double value) {
  return s.phase->wall > 0 ? known(value / static_cast<double>(s.phase->wall))
                           : unknown("its passes took no time");
}

template <auto Member>
figure_value share_of_wall(const subject& s) {
  return of_wall(s, part<Member>(s));
}

figure_value overhead_ratio(const subject& s) {
  const double ratio = s.phase->overhead_ratio();
  return ratio > 0 ? known(ratio) : unknown("nothing ran on the device");
}

figure_value per_token(const subject& s, double value) {
  return s.phase->tokens() > 0 ? known(value / static_cast<double>(s.phase->tokens()))
                               : unknown("its passes say no number of tokens");
}

figure_value tokens_per_second(const subject& s) {
  return s.phase->tokens() > 0 ? of_wall(s, static_cast<double>(s.phase->tokens()) * 1e9)
                               : unknown("its passes say no number of tokens");
}

figure_value tokens_per_pass(const subject& s) {
  return s.phase->tokens() > 0 && s.phase->passes > 0
             ? known(static_cast<double>(s.phase->tokens()) / static_cast<double>(s.phase->passes))
             : unknown("its passes say no number of tokens");
}

distribution pass_times(const subject& s) { return distribution_of(s.phase->samples.gpu_time); }

}  // namespace

std::vector<definition> phase_lines() {
  using p = wall_partition;
  definition time = gpu_time_line("pass", "time in which any of a pass's work ran on the device");
  time.gathered = pass_times;
  std::vector<definition> out{
      spread_line(
          "step", "pass", rests_on::markers, [](const subject& s) { return &s.phase->step; },
          "host begin to the later of host end and last activity's end"),
      time};
  for (const definition& d : measured_lines("pass")) {
    out.push_back(d);
  }
  const std::vector<definition> more{
      part_line(
          "busy", [](const subject& s) { return static_cast<double>(s.phase->partition.busy()); },
          "wall in which the device ran anything"),
      part_line("compute", part<&p::compute>, "wall in which it ran kernels that are no collectives"),
      part_line("exposed_communication", part<&p::exposed_communication>,
                "wall in which it ran collectives and no compute"),
      part_line("exposed_copy", part<&p::exposed_copy>, "wall in which it ran copies and sets only"),
      part_line(
          "starved", [](const subject& s) { return static_cast<double>(s.phase->partition.starved.total()); },
          "wall in which it was idle with nothing submitted"),
      part_line("starved_launching", starved_part<&starved_time::launching>,
                "of this, while the host was launching"),
      part_line("starved_graph_building", starved_part<&starved_time::graph_building>,
                "of this, while the host built or updated graphs"),
      part_line("starved_synchronising", starved_part<&starved_time::synchronising>,
                "of this, while the host waited for the device"),
      part_line("starved_allocating", starved_part<&starved_time::allocating>,
                "of this, while the host allocated"),
      part_line("starved_other", starved_part<&starved_time::other>, "of this, in the engine's own code"),
      part_line("device_gap", part<&p::device_gap>, "wall in which it was idle although work was submitted"),
      value_line("overhead_ratio", unit::ratio, rests_on::device, overhead_ratio, "wall ÷ busy"),
      value_line(
          "busy_share", unit::share, rests_on::device,
          [](const subject& s) { return of_wall(s, static_cast<double>(s.phase->partition.busy())); },
          "busy ÷ wall"),
      value_line(
          "starved_share", unit::share, rests_on::device,
          [](const subject& s) {
            return of_wall(s, static_cast<double>(s.phase->partition.starved.total()));
          },
          "starved ÷ wall"),
      value_line("exposed_communication_share", unit::share, rests_on::device,
                 share_of_wall<&p::exposed_communication>, "exposed communication ÷ wall"),
      value_line("exposed_copy_share", unit::share, rests_on::device, share_of_wall<&p::exposed_copy>,
                 "exposed copies ÷ wall"),
      value_line("device_gap_share", unit::share, rests_on::device, share_of_wall<&p::device_gap>,
                 "device gap ÷ wall"),
      value_line(
          "passes", unit::count, rests_on::markers,
          [](const subject& s) { return known(static_cast<double>(s.phase->passes)); }, "passes"),
      value_line(
          "wall", unit::time, rests_on::markers,
          [](const subject& s) { return known(static_cast<double>(s.phase->wall)); },
          "time in which a pass was open"),
      value_line(
          "gpu_span", unit::time, rests_on::device,
          [](const subject& s) { return known(static_cast<double>(s.phase->gpu_span)); },
          "first to last device event"),
      value_line("tokens_per_second", unit::token_rate, rests_on::markers, tokens_per_second,
                 "tokens ÷ wall"),
      value_line(
          "time_per_token", unit::time, rests_on::markers,
          [](const subject& s) { return per_token(s, static_cast<double>(s.phase->wall)); }, "wall ÷ tokens"),
      value_line("tokens_per_pass", unit::count, rests_on::markers, tokens_per_pass, "tokens ÷ passes"),
      value_line(
          "launches_per_token", unit::ratio, rests_on::calls,
          [](const subject& s) { return per_token(s, of<&measures::launches>(s.phase->total)); },
          "launches ÷ tokens")};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

}  // namespace budgets
}  // namespace v0
}  // namespace varve
