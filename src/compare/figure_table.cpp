// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The table of figures. docs/budgets.md lists the same lines; a test compares them.
#include "compare/figures.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

namespace varve {
inline namespace v0 {
namespace compare {

namespace {

using unit = figure_unit;
using shape = figure_shape;

figure_value known(double value) { return {value, {}}; }
figure_value unknown(const char* why) { return {std::nullopt, why}; }

template <auto Member>
double of(const measures& m) {
  return static_cast<double>(m.*Member);
}
template <auto Member>
double declared(const measures& m) {
  return static_cast<double>(m.declared.*Member);
}
template <auto Member>
double part(const subject& s) {
  return static_cast<double>(s.phase->partition.*Member);
}
template <auto Member>
double starved_part(const subject& s) {
  return static_cast<double>(s.phase->partition.starved.*Member);
}

const measures& sums(const subject& s) { return s.one != nullptr ? s.one->inclusive : s.phase->total; }
const verdict& judged(const subject& s) { return s.one != nullptr ? s.one->verdict : s.phase->verdict; }

// --- work and roofs, of rows and phases ---

double bytes_of(const measures& m) {
  const work& w = m.declared;
  return static_cast<double>(w.weight_bytes) + static_cast<double>(w.kv_bytes) +
         static_cast<double>(w.activation_bytes);
}

figure_value rate(const subject& s, double amount) {
  const auto time = static_cast<double>(sums(s).gpu_time);
  return time > 0 ? known(amount / time * 1e9) : unknown("it took no GPU time");
}

figure_value intensity(const subject& s) {
  const double bytes = bytes_of(sums(s));
  return bytes > 0 ? known(declared<&work::flops>(sums(s)) / bytes) : unknown("no bytes are declared");
}

template <double verdict::*Share>
figure_value utilisation(const subject& s) {
  const verdict& v = judged(s);
  if (v.by != bound::unknown && v.roof_share > 0) {
    return known(v.*Share);
  }
  return {std::nullopt, v.why.empty() || v.by != bound::unknown
                            ? "its work, or what the device can do at most, is not known"
                            : v.why};
}

// --- rows ---

const distribution* calls_of(const subject& s) { return &s.one->per_call; }
const distribution* latency(const subject& s) {
  return s.one != nullptr ? &s.one->launch_latency : &s.phase->launch_latency;
}
const distribution* queue(const subject& s) {
  return s.one != nullptr ? &s.one->queue_delay : &s.phase->queue_delay;
}

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

// --- phases ---

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

/// Percentiles by the nearest rank, as everywhere in a report.
distribution distribution_of(std::vector<time_ns> values) {
  distribution d;
  if (values.empty()) {
    return d;
  }
  std::sort(values.begin(), values.end());
  const auto rank = [&](std::size_t percent) { return values[(values.size() * percent + 99) / 100 - 1]; };
  d.count = static_cast<std::int64_t>(values.size());
  d.min = values.front();
  d.max = values.back();
  d.p50 = rank(50);
  d.p95 = rank(95);
  d.p99 = rank(99);
  const auto n = static_cast<double>(values.size());
  d.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const time_ns v : values) {
    squares += (static_cast<double>(v) - d.mean) * (static_cast<double>(v) - d.mean);
  }
  d.deviation = std::sqrt(squares / n);
  return d;
}

distribution pass_times(const subject& s) { return distribution_of(s.phase->samples.gpu_time); }

// --- the report ---

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

// --- the lines ---

definition sum_line(std::string_view name, unit in, rests_on on, double (*sum)(const measures&),
                    std::string_view what) {
  definition d;
  d.info = {name, in, shape::sum, {}, what};
  d.on = on;
  d.sum = sum;
  return d;
}
definition part_line(std::string_view name, double (*sum)(const subject&), std::string_view what) {
  definition d;
  d.info = {name, unit::time, shape::sum, "pass", what};
  d.on = rests_on::device;
  d.sum_of = sum;
  return d;
}
definition spread_line(std::string_view name, std::string_view per, rests_on on,
                       const distribution* (*spread)(const subject&), std::string_view what) {
  definition d;
  d.info = {name, unit::time, shape::spread, per, what};
  d.on = on;
  d.spread = spread;
  return d;
}
definition request_line(std::string_view name, distribution (*gathered)(const subject&),
                        std::string_view what) {
  definition d;
  d.info = {name, unit::time, shape::spread, "request", what};
  d.gathered = gathered;
  return d;
}
definition value_line(std::string_view name, unit in, rests_on on, figure_value (*value)(const subject&),
                      std::string_view what) {
  definition d;
  d.info = {name, in, shape::value, "run", what};
  d.on = on;
  d.value = value;
  return d;
}

/// What rows and phases both have, by their measures.
std::vector<definition> measured(std::string_view per) {
  using m = measures;
  std::vector<definition> out{
      sum_line("kernel_time", unit::time, rests_on::device, of<&m::kernel_time>,
               "sum of kernels' durations; overlap counts as often as it occurs"),
      sum_line("shared_time", unit::time, rests_on::device, of<&m::shared_time>,
               "GPU time, each instant divided among the rows active in it"),
      sum_line("alone_time", unit::time, rests_on::device, of<&m::alone_time>,
               "GPU time in which no other row was active"),
      sum_line("host_time", unit::time, rests_on::markers, of<&m::host_time>,
               "length of the ranges on the host"),
      sum_line("launch_time", unit::time, rests_on::calls, of<&m::launch_time>,
               "host time inside launching calls"),
      sum_line("graph_build_time", unit::time, rests_on::calls, of<&m::graph_build_time>,
               "host time in building and updating graphs"),
      sum_line("synchronise_time", unit::time, rests_on::calls, of<&m::synchronise_time>,
               "host time in waiting for the device"),
      sum_line("allocate_time", unit::time, rests_on::calls, of<&m::allocate_time>,
               "host time in allocating and freeing device memory"),
      sum_line("launches", unit::count, rests_on::calls, of<&m::launches>,
               "launching calls, a graph launch counting one"),
      sum_line("graph_launches", unit::count, rests_on::calls, of<&m::graph_launches>, "of these, of graphs"),
      sum_line("synchronisations", unit::count, rests_on::calls, of<&m::synchronisations>,
               "calls that wait for the device"),
      sum_line("allocations", unit::count, rests_on::calls, of<&m::allocations>,
               "calls that allocate or free device memory"),
      sum_line("kernels", unit::count, rests_on::device, of<&m::kernels>, "kernels that ran"),
      sum_line("copies", unit::count, rests_on::device, of<&m::copies>, "copies that ran"),
      sum_line("sets", unit::count, rests_on::device, of<&m::sets>, "memory sets that ran"),
      sum_line("copy_bytes", unit::bytes, rests_on::device, of<&m::copy_bytes>, "bytes of copies"),
      sum_line("collective_bytes", unit::bytes, rests_on::device, of<&m::collective_bytes>,
               "bytes of collectives' messages, as far as known"),
      sum_line("flops", unit::flops, rests_on::work, declared<&work::flops>, "FLOPs of the work"),
      sum_line("bytes", unit::bytes, rests_on::work, bytes_of, "bytes of the work"),
      sum_line("weight_bytes", unit::bytes, rests_on::work, declared<&work::weight_bytes>,
               "of these, of weights"),
      sum_line("kv_bytes", unit::bytes, rests_on::work, declared<&work::kv_bytes>,
               "of these, of the KV cache"),
      spread_line("launch_latency", "launch", rests_on::device, latency,
                  "a launching call's begin to its kernel's begin"),
      spread_line("queue_delay", "launch", rests_on::device, queue,
                  "a launching call's end to its kernel's begin, where positive"),
      value_line(
          "flop_rate", unit::flop_rate, rests_on::work,
          [](const subject& s) { return rate(s, declared<&work::flops>(sums(s))); }, "FLOPs ÷ GPU time"),
      value_line(
          "byte_rate", unit::byte_rate, rests_on::work,
          [](const subject& s) { return rate(s, bytes_of(sums(s))); }, "bytes of the work ÷ GPU time"),
      value_line("intensity", unit::intensity, rests_on::work, intensity, "FLOPs ÷ bytes of the work"),
      value_line("efficiency", unit::share, rests_on::device, utilisation<&verdict::roof_share>,
                 "roof time ÷ GPU time, where a verdict is not withheld"),
      value_line("compute_utilisation", unit::share, rests_on::device, utilisation<&verdict::compute_share>,
                 "likewise, time that its FLOPs take at least ÷ GPU time"),
      value_line("memory_utilisation", unit::share, rests_on::device, utilisation<&verdict::memory_share>,
                 "likewise, time that its bytes take at least ÷ GPU time")};
  for (definition& d : out) {
    d.info.per = d.info.per.empty() ? per : d.info.per;
  }
  return out;
}

definition gpu_time_line(std::string_view per, std::string_view what) {
  definition d = sum_line("gpu_time", unit::time, rests_on::device, of<&measures::gpu_time>, what);
  d.info.shape = shape::time;
  d.info.per = per;
  return d;
}

std::vector<definition> row_lines() {
  definition time = gpu_time_line("call", "time in which any of its work ran on the device");
  time.spread = calls_of;
  std::vector<definition> out{time};
  for (const definition& d : measured("call")) {
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

std::vector<definition> phase_lines() {
  using p = wall_partition;
  definition time = gpu_time_line("pass", "time in which any of a pass's work ran on the device");
  time.gathered = pass_times;
  std::vector<definition> out{
      spread_line(
          "step", "pass", rests_on::markers, [](const subject& s) { return &s.phase->step; },
          "host begin to the later of host end and last activity's end"),
      time};
  for (const definition& d : measured("pass")) {
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

/// Says of which figures more is better.
std::vector<definition> directed(std::vector<definition> lines) {
  for (definition& d : lines) {
    const figure_info& i = d.info;
    d.info.more_is_better =
        i.unit == unit::byte_rate || i.unit == unit::flop_rate || i.unit == unit::token_rate ||
        i.name == "efficiency" || i.name == "compute_utilisation" || i.name == "memory_utilisation" ||
        i.name == "busy_share" || i.name == "occupancy" || i.name == "attributed" || i.name == "work_known";
  }
  return lines;
}

}  // namespace

const std::vector<definition>& definitions(budget_of of) {
  static const std::vector<definition> rows = directed(row_lines());
  static const std::vector<definition> phases = directed(phase_lines());
  static const std::vector<definition> collectives = directed(collective_lines());
  static const std::vector<definition> whole = directed(report_lines());
  switch (of) {
    case budget_of::phase:
      return phases;
    case budget_of::collective:
      return collectives;
    case budget_of::report:
      return whole;
    default:
      return rows;
  }
}

}  // namespace compare
}  // namespace v0
}  // namespace varve
