// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/grid.hpp"
#include "formats/table/parts.hpp"
#include "formats/table/select.hpp"
#include "formats/table/sums.hpp"
#include "formats/table/text.hpp"
#include "formats/table/units.hpp"

#include <algorithm>
#include <cmath>

namespace varve::table {

namespace {

constexpr std::size_t longest_phase = 60;

double value_of(const phase_row& p, sort_key key) {
  switch (key) {
    case sort_key::calls:
      return static_cast<double>(p.passes);
    case sort_key::average:
      return std::isnan(p.step.mean) ? 0 : p.step.mean;
    case sort_key::maximum:
      return static_cast<double>(p.step.max);
    case sort_key::gpu_time:
    case sort_key::self_gpu_time:
      return static_cast<double>(p.total.gpu_time);
    case sort_key::launches:
      return static_cast<double>(p.total.launches);
    case sort_key::launch_time:
      return static_cast<double>(p.total.launch_time);
    case sort_key::starved:
      return starved_sum(p.partition.starved);
    case sort_key::cpu_time:
    case sort_key::self_cpu_time:
      return static_cast<double>(p.step.total);
    case sort_key::order:
      break;
  }
  return 0;
}

std::vector<std::string> cells_of(const phase_row& p) {
  const double tokens = token_sum(p);
  const auto wall = static_cast<double>(p.wall);
  const wall_partition& parts = p.partition;
  const double busy = busy_sum(parts);
  const auto share = [&](double part) { return part != 0 ? percent(part, wall) : ""; };
  return {
      count(p.passes),
      duration(p.wall),
      p.step.count > 0 ? duration(p.step.mean) : "",
      p.step.count > 0 ? duration(p.step.p50) : "",
      p.step.count > 0 ? duration(p.step.p95) : "",
      tokens > 0 && wall > 0 ? number(tokens / wall * 1e9) : "",
      tokens > 0 ? duration(wall / tokens) : "",
      busy > 0 ? number(wall / busy) : "",
      share(static_cast<double>(parts.compute)),
      share(static_cast<double>(parts.exposed_communication)),
      share(static_cast<double>(parts.exposed_copy)),
      share(starved_sum(parts.starved)),
      share(static_cast<double>(parts.device_gap)),
      share(static_cast<double>(parts.unrecorded)),
      p.total.launches > 0 ? count(p.total.launches) : "",
      p.total.launches > 0 ? duration(p.total.launch_time) : "",
  };
}

std::vector<column> columns_of_phases() {
  return {{"passes", 90},    {"wall", 85},         {"step", 100},    {"p50", 60},
          {"p95", 65},       {"tokens/s", 95},     {"a token", 50},  {"wall ÷ busy", 80},
          {"compute %", 75}, {"comm %", 55},       {"copy %", 54},   {"starved %", 74},
          {"gap %", 56},     {"unrecorded %", 70}, {"launches", 40}, {"launch (CPU)", 45}};
}

std::string time_or_nothing(time_ns t) { return t >= 0 ? duration(t) : ""; }

std::string requests(const report& r, const table_options& options, const style& s) {
  if (r.requests.empty()) {
    return {};
  }
  grid g{"request", {{"passes", 60}, {"waited", 80}, {"first token", 100}, {"a token", 90}, {"total", 70}}};
  std::vector<grid_row> rows;
  for (const request_row& q : r.requests) {
    if (options.top != 0 && rows.size() == options.top) {
      break;
    }
    rows.push_back({"",
                    printable(q.label + (q.index != no_index ? ' ' + std::to_string(q.index) : "")),
                    {count(q.passes), time_or_nothing(q.queue_wait), time_or_nothing(q.time_to_first_token),
                     time_or_nothing(q.time_per_output_token), time_or_nothing(q.total)},
                    false});
  }
  std::string out = g.table(rows, s, longest_phase);
  if (rows.size() < r.requests.size()) {
    out += s.dim("… " + counted(static_cast<std::int64_t>(r.requests.size() - rows.size()), "more request")) +
           '\n';
  }
  return out + '\n';
}

/// From the first pass's begin to the last one's end, where that is more than the passes of one kind.
std::string whole_trace(const report& r, const style& s) {
  std::string out;
  for (const device_row& d : r.devices) {
    if (d.partition.no_pass != 0 || r.phases.size() > r.devices.size()) {
      out += heading("from the first pass to the last" +
                         (r.devices.size() > 1 ? " on device " + std::to_string(d.device.id) : ""),
                     s) +
             '\n' + partition(d.partition, s) + '\n';
    }
  }
  return out;
}

}  // namespace

std::string phases(const report& r, const table_options& options, const style& s) {
  std::vector<const phase_row*> order;
  for (const phase_row& p : r.phases) {
    if (options.filter.empty() || holds(p.phase, options.filter)) {
      order.push_back(&p);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](const phase_row* a, const phase_row* b) {
    return value_of(*a, options.sort) > value_of(*b, options.sort);
  });
  std::stable_partition(order.begin(), order.end(), [&](const phase_row* p) { return !is_ramp(r, *p); });
  if (order.empty()) {
    return "  (no phases)\n\n" + requests(r, options, s);
  }
  const std::size_t all = order.size();
  if (options.top != 0 && order.size() > options.top) {
    order.resize(options.top);
  }
  grid g{"phase", columns_of_phases()};
  std::vector<grid_row> rows;
  rows.reserve(order.size());
  for (const phase_row* p : order) {
    rows.push_back({"", key_name(r, p->phase, p->model, p->device, p->batch), cells_of(*p), false});
  }
  std::string out = g.table(rows, s, longest_phase);
  if (order.size() < all) {
    out += s.dim("… " + counted(static_cast<std::int64_t>(all - order.size()), "more row")) + '\n';
  }
  out += '\n';
  if (options.header) {
    for (const phase_row* p : order) {
      out += is_ramp(r, *p) ? "" : phase_head(r, *p, s) + '\n';
    }
    out += whole_trace(r, s);
  }
  return out + requests(r, options, s);
}

}  // namespace varve::table
