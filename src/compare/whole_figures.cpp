// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/figure_lines.hpp"

#include <numeric>
#include <utility>

namespace varve {
inline namespace v0 {
namespace budgets {

namespace {

using unit = figure_unit;

template <time_ns request_row::*Member>
distribution of_requests(const subject& s) {
  std::vector<time_ns> values;
  for (const request_row& r : s.whole->requests) {
    if (r.*Member >= 0) {
      values.push_back(r.*Member);
    }
  }
  return distribution_of(std::move(values));
}

figure_value of_activities(const subject& s, double value) {
  return s.whole->quality.activities > 0 ? known(value) : unknown("nothing ran on a device");
}

figure_value attributed(const subject& s) { return of_activities(s, s.whole->quality.attributed); }
figure_value work_known(const subject& s) {
  const auto& shares = s.whole->quality.work_known;
  return of_activities(s, std::accumulate(shares.begin(), shares.end(), 0.0));
}
figure_value unmatched(const subject& s) {
  const report_quality& q = s.whole->quality;
  return of_activities(s, static_cast<double>(q.unmatched) / static_cast<double>(q.activities));
}
figure_value losses(const subject& s) {
  double lost = 0;
  for (const loss& l : s.whole->quality.losses) {
    lost += static_cast<double>(l.count);
  }
  return known(lost);
}
figure_value inflation(const subject& s) {
  const double stretched = s.whole->inflation();
  return stretched > 0 ? known(stretched) : unknown("the wall of an unprofiled run is not given");
}

definition request_line(std::string_view name, distribution (*gathered)(const subject&),
                        std::string_view what) {
  definition d;
  d.info = {name, unit::time, figure_shape::spread, "request", what};
  d.gathered = gathered;
  return d;
}

}  // namespace

std::vector<definition> collective_lines() {
  const auto line = [](std::string_view name, unit in, double (*sum)(const subject&), std::string_view what) {
    definition d = part_line(name, sum, what);
    d.info.unit = in;
    d.info.per = "call";
    return d;
  };
  return {line(
              "gpu_time", unit::time,
              [](const subject& s) { return static_cast<double>(s.collective->gpu_time); },
              "time in which it ran, waiting for other ranks too"),
          line(
              "exposed_time", unit::time,
              [](const subject& s) { return static_cast<double>(s.collective->exposed_time); },
              "of this, while no compute ran"),
          line(
              "message_bytes", unit::bytes,
              [](const subject& s) { return static_cast<double>(s.collective->bytes); },
              "bytes of its messages, as far as known"),
          value_line(
              "calls", unit::count, rests_on::device,
              [](const subject& s) { return known(static_cast<double>(s.collective->calls)); }, "calls"),
          value_line(
              "algorithm_bandwidth", unit::byte_rate, rests_on::device,
              [](const subject& s) {
                return s.collective->algorithm_bandwidth > 0 ? known(s.collective->algorithm_bandwidth)
                                                             : unknown("its messages' sizes are not known");
              },
              "bytes ÷ time (algbw)"),
          value_line(
              "bus_bandwidth", unit::byte_rate, rests_on::device,
              [](const subject& s) {
                return s.collective->bus_bandwidth > 0 ? known(s.collective->bus_bandwidth)
                                                       : unknown("its messages' sizes are not known");
              },
              "what each link carries (busbw)")};
}

std::vector<definition> report_lines() {
  return {
      value_line("attributed", unit::share, rests_on::markers, attributed,
                 "share of kernel, copy and set time that belongs to a layer"),
      value_line("work_known", unit::share, rests_on::markers, work_known,
                 "share of that time for which work is known"),
      value_line("unmatched_share", unit::share, rests_on::markers, unmatched,
                 "activities whose launch is not in the trace ÷ all"),
      value_line("losses", unit::count, rests_on::markers, losses, "records that were dropped or repaired"),
      value_line(
          "duration", unit::time, rests_on::markers,
          [](const subject& s) {
            return known(static_cast<double>(s.whole->end) - static_cast<double>(s.whole->begin));
          },
          "begin to end of what was recorded"),
      value_line("inflation", unit::ratio, rests_on::markers, inflation,
                 "wall ÷ that of an unprofiled run, where given"),
      value_line(
          "requests", unit::count, rests_on::markers,
          [](const subject& s) { return known(static_cast<double>(s.whole->requests.size())); }, "requests"),
      request_line("request_time", of_requests<&request_row::total>, "begin to end"),
      request_line("queue_wait", of_requests<&request_row::queue_wait>, "begin to the first pass's begin"),
      request_line("time_to_first_token", of_requests<&request_row::time_to_first_token>,
                   "begin to the first pass's end"),
      request_line("time_per_output_token", of_requests<&request_row::time_per_output_token>,
                   "first to last pass's end ÷ (passes − 1)")};
}

}  // namespace budgets
}  // namespace v0
}  // namespace varve
