// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "virtual_truth.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "virtual_facts.hpp"
#include "virtual_slices.hpp"

namespace virtual_device {

namespace {

using varve::activity_kind;
using varve::call_kind;
using varve::measures;
using varve::row;

varve::distribution distribution_of(std::vector<time_ns> values) {
  varve::distribution d;
  std::sort(values.begin(), values.end());
  d.count = static_cast<std::int64_t>(values.size());
  if (values.empty()) {
    return d;
  }
  const auto rank = [&](std::size_t percent) {
    return values[(percent * values.size() + 99) / 100 - 1];  // the smallest with this share at or below it
  };
  d.min = values.front();
  d.max = values.back();
  d.p50 = rank(50);
  d.p95 = rank(95);
  d.p99 = rank(99);
  for (const time_ns v : values) {
    d.total += v;
  }
  d.mean = static_cast<double>(d.total) / static_cast<double>(values.size());
  double squares = 0;
  for (const time_ns v : values) {
    squares += (static_cast<double>(v) - d.mean) * (static_cast<double>(v) - d.mean);
  }
  d.deviation = std::sqrt(squares / static_cast<double>(values.size()));
  return d;
}

/// What decides whether something counts in a row.
struct selection {
  std::function<bool(const work_fact&)> work;
  std::function<bool(const call_fact&)> call;
  /// What shares the device with what.
  std::function<std::string(const work_fact&)> sharer;
};

class counting {
 public:
  explicit counting(const recording& r) : f_{r}, missing_{short_launches(f_)} {
    for (const std::uint32_t device : f_.devices) {
      slices_[device] = slices_of(f_, device, missing_, out_.ambiguous);
    }
  }

  truth count() {
    count_phases();
    count_layers();
    count_labels();
    count_names();
    count_devices();
    count_requests();
    count_quality();
    return std::move(out_);
  }

 private:
  const activity_record& activity(const work_fact& w) const { return f_.source.activities[w.activity]; }
  const call_record& call(const call_fact& c) const { return f_.source.calls[c.call]; }

  /// Length of the union of the intervals of the works that `chosen` takes.
  time_ns union_of(std::uint32_t device, const std::function<bool(const work_fact&)>& chosen) const {
    time_ns total = 0;
    const std::vector<slice>& slices = slices_.at(device);
    for (std::size_t k = 0; k < slices.size(); ++k) {
      if (std::any_of(slices[k].running.begin(), slices[k].running.end(),
                      [&](std::size_t w) { return chosen(f_.works[w]); })) {
        total += f_.length(k);
      }
    }
    return total;
  }

  bool in_wall(std::size_t k, const group& key) const {
    return std::any_of(f_.passes.begin(), f_.passes.end(),
                       [&](const pass_fact& p) { return p.key == key && f_.in(k, p.begin, p.end); });
  }

  measures measure(std::uint32_t device, const selection& chosen) const;
  void measure_works(std::uint32_t device, const selection& chosen, measures& m) const;
  void measure_calls(std::uint32_t device, const selection& chosen, measures& m) const;
  void delays(std::uint32_t device, const selection& chosen, varve::distribution& latency,
              varve::distribution& queue) const;
  void partition_of(std::uint32_t device, const std::function<bool(const pass_fact&)>& counts,
                    varve::wall_partition& p);
  void count_phases();
  void count_layers();
  void count_labels();
  void count_names();
  void count_devices();
  void count_requests();
  void count_quality();

  truth out_;
  facts f_;
  std::vector<short_launch> missing_;
  std::map<std::uint32_t, std::vector<slice>> slices_;
};

// --- measures --------------------------------------------------------------------------------------------

void counting::measure_works(std::uint32_t device, const selection& chosen, measures& m) const {
  time_ns first = 0;
  time_ns last = 0;
  bool any = false;
  for (const work_fact& w : f_.works) {
    if (w.device != device || !chosen.work(w)) {
      continue;
    }
    const activity_record& a = activity(w);
    m.overlap += w.clipped - w.begin;
    if (a.kind == activity_kind::kernel) {
      ++m.kernels;
      m.kernel_time += w.end - w.begin;
    } else if (a.kind == activity_kind::copy) {
      ++m.copies;
      m.copy_bytes += a.bytes;
    } else if (a.kind == activity_kind::set) {
      ++m.sets;
    }
    first = any ? std::min(first, w.begin) : w.begin;
    last = any ? std::max(last, w.end) : w.end;
    any = true;
  }
  m.span = last - first;
  if (slices_.count(device) == 0) {
    return;
  }
  m.gpu_time = union_of(device, chosen.work);
  const std::vector<slice>& slices = slices_.at(device);
  for (std::size_t k = 0; k < slices.size(); ++k) {
    std::set<std::string> all;
    std::set<std::string> mine;
    for (const std::size_t i : slices[k].running) {
      all.insert(chosen.sharer(f_.works[i]));
      if (chosen.work(f_.works[i])) {
        mine.insert(chosen.sharer(f_.works[i]));
      }
    }
    if (!mine.empty()) {
      m.shared_time += static_cast<double>(f_.length(k)) * static_cast<double>(mine.size()) /
                       static_cast<double>(all.size());
      m.alone_time += mine.size() == all.size() ? f_.length(k) : 0;
    }
    if (slices[k].ended_by != SIZE_MAX) {
      const work_fact& w = f_.works[slices[k].ended_by];
      if (chosen.work(w) && w.where.pass != none && in_wall(k, w.key)) {
        if (slices[k].state == device_state::starved) {
          add_starved(f_, k, f_.source.calls[w.call].thread, m.starved);
        } else if (slices[k].state == device_state::device_gap) {
          m.device_gap += f_.length(k);
        }
      }
    }
  }
}

void counting::measure_calls(std::uint32_t device, const selection& chosen, measures& m) const {
  for (const call_fact& c : f_.calls) {
    if (c.device != device || !chosen.call(c)) {
      continue;
    }
    const time_ns length = call(c).end - call(c).begin;
    switch (call(c).kind) {
      case call_kind::graph_launch:
        ++m.graph_launches;
        [[fallthrough]];
      case call_kind::launch:
        ++m.launches;
        m.launch_time += length;
        break;
      case call_kind::graph_build:
        m.graph_build_time += length;
        break;
      case call_kind::synchronise:
        ++m.synchronisations;
        m.synchronise_time += length;
        break;
      case call_kind::allocate:
        ++m.allocations;
        m.allocate_time += length;
        break;
      default:
        break;
    }
  }
}

measures counting::measure(std::uint32_t device, const selection& chosen) const {
  measures m;
  measure_works(device, chosen, m);
  measure_calls(device, chosen, m);
  return m;
}

/// Of the first work of each launch.
void counting::delays(std::uint32_t device, const selection& chosen, varve::distribution& latency,
                      varve::distribution& queue) const {
  std::vector<time_ns> latencies;
  std::vector<time_ns> waits;
  std::set<ref> seen;
  for (const work_fact& w : f_.works) {
    if (w.call == none || !seen.insert(w.call).second || w.device != device || !chosen.work(w)) {
      continue;
    }
    const call_record& c = f_.source.calls[w.call];
    if ((c.kind != call_kind::launch && c.kind != call_kind::graph_launch) || w.begin < c.begin) {
      continue;
    }
    latencies.push_back(w.begin - c.begin);
    if (w.begin > c.end) {
      waits.push_back(w.begin - c.end);
    }
  }
  latency = distribution_of(std::move(latencies));
  queue = distribution_of(std::move(waits));
}

// --- views -----------------------------------------------------------------------------------------------

std::string sharer_by_path(const work_fact& w) { return w.key.phase + '\1' + w.key.model + '\1' + w.path; }

void counting::count_layers() {
  using key = std::tuple<group, std::string>;
  std::map<key, std::vector<step>> rows;
  const auto add = [&](const group& g, std::vector<step> path) {
    do {
      rows[{g, path_text(path)}] = path;
      if (!path.empty()) {
        path.pop_back();
      }
    } while (!path.empty());
  };
  for (const work_fact& w : f_.works) {
    add(w.key, w.where.path);
  }
  for (const call_fact& c : f_.calls) {
    add(c.key, c.where.path);
  }
  for (const instance_fact& i : f_.instances) {
    add(i.key, i.where.path);
  }
  for (const auto& [k, path] : rows) {
    const auto& [g, text] = k;
    const selection inclusive{[&](const work_fact& w) { return w.key == g && below(w.path, text); },
                              [&](const call_fact& c) { return c.key == g && below(c.path, text); },
                              sharer_by_path};
    const selection exclusive{[&](const work_fact& w) { return w.key == g && w.path == text; },
                              [&](const call_fact& c) { return c.key == g && c.path == text; },
                              sharer_by_path};
    std::set<std::uint32_t> devices;
    for (const work_fact& w : f_.works) {
      if (inclusive.work(w)) {
        devices.insert(w.device);
      }
    }
    for (const call_fact& c : f_.calls) {
      if (inclusive.call(c)) {
        devices.insert(c.device);
      }
    }
    if (devices.empty()) {
      devices.insert(f_.lowest_device());
    }
    for (const std::uint32_t device : devices) {
      row r;
      r.path = text;
      r.phase = g.phase;
      r.model = g.model;
      r.device = device;
      r.depth = path.empty() ? 0 : static_cast<std::uint32_t>(path.size() - 1);
      if (!path.empty()) {
        r.label = path.back().name;
        r.index = path.back().index;
        r.kind = path.back().kind;
      }
      r.inclusive = measure(device, inclusive);
      r.exclusive = measure(device, exclusive);
      std::vector<time_ns> times;
      for (const instance_fact& i : f_.instances) {
        if (!(i.key == g) || i.path != text) {
          continue;
        }
        times.push_back(slices_.count(device) == 0 ? 0 : union_of(device, [&](const work_fact& w) {
          return i.range != none
                     ? w.call != none && !w.replayed && f_.within(f_.source.calls[w.call].range, i.range)
                     : w.replayed && activity(w).call == i.call && below(w.path, text);
        }));
        if (i.range != none) {
          const range_record& range = f_.source.ranges[i.range];
          r.inclusive.host_time += range.end - range.begin;
        }
      }
      r.inclusive.calls = r.exclusive.calls = static_cast<std::int64_t>(times.size());
      r.exclusive.host_time = r.inclusive.host_time;
      r.per_call = distribution_of(std::move(times));
      delays(device, inclusive, r.launch_latency, r.queue_delay);
      out_.expected.layers.push_back(std::move(r));
    }
  }
}

void counting::count_labels() {
  std::set<std::tuple<group, std::string, std::uint32_t>> rows;
  for (const work_fact& w : f_.works) {
    for (const step& s : w.where.path) {
      rows.insert({w.key, s.name, w.device});
    }
  }
  for (const auto& [g, name, device] : rows) {
    const auto has = [&, wanted = name](const std::vector<step>& path) {
      return std::any_of(path.begin(), path.end(), [&](const step& s) { return s.name == wanted; });
    };
    const selection chosen{[&](const work_fact& w) { return w.key == g && has(w.where.path); },
                           [&](const call_fact& c) { return c.key == g && has(c.where.path); },
                           sharer_by_path};
    row r;
    r.path = r.label = name;
    r.phase = g.phase;
    r.model = g.model;
    r.device = device;
    r.inclusive = measure(device, chosen);
    out_.expected.labels.push_back(std::move(r));
  }
}

void counting::count_names() {
  const auto view = [&](const std::function<std::string(const work_fact&)>& name_of, std::vector<row>& rows) {
    std::set<std::tuple<group, std::string, std::uint32_t>> keys;
    for (const work_fact& w : f_.works) {
      keys.insert({w.key, name_of(w), w.device});
    }
    for (const auto& [g, name, device] : keys) {
      const auto sharer = [&](const work_fact& w) {
        return w.key.phase + '\1' + w.key.model + '\1' + name_of(w);
      };
      const selection chosen{
          [&, wanted = name](const work_fact& w) { return w.key == g && name_of(w) == wanted; },
          [](const call_fact&) { return false; }, sharer};
      row r;
      r.path = r.label = name;
      r.phase = g.phase;
      r.model = g.model;
      r.device = device;
      r.inclusive = measure(device, chosen);
      std::vector<time_ns> durations;
      for (const work_fact& w : f_.works) {
        if (w.device == device && chosen.work(w)) {
          durations.push_back(w.end - w.begin);
        }
      }
      r.inclusive.calls = static_cast<std::int64_t>(durations.size());
      r.per_call = distribution_of(std::move(durations));
      rows.push_back(std::move(r));
    }
  };
  view([&](const work_fact& w) { return activity(w).name; }, out_.expected.kernels);
  view([&](const work_fact& w) { return activity(w).category; }, out_.expected.categories);
}

// --- phases and devices ----------------------------------------------------------------------------------

/// Of the union of the passes that count.
void counting::partition_of(std::uint32_t device, const std::function<bool(const pass_fact&)>& counts,
                            varve::wall_partition& p) {
  for (std::size_t k = 0; k < f_.slices(); ++k) {
    std::set<ref> threads;
    for (const pass_fact& pass : f_.passes) {
      if (counts(pass) && f_.in(k, pass.begin, pass.end)) {
        threads.insert(pass.thread);
      }
    }
    if (threads.empty()) {
      continue;
    }
    const slice idle;
    const slice& s = slices_.count(device) == 0 ? idle : slices_.at(device)[k];
    const bool tail = s.ended_by == SIZE_MAX;
    switch (s.state) {
      case device_state::compute:
        p.compute += f_.length(k);
        break;
      case device_state::communication:
        p.exposed_communication += f_.length(k);
        break;
      case device_state::copy:
        p.exposed_copy += f_.length(k);
        break;
      case device_state::starved:
        add_starved(f_, k, tail ? *threads.begin() : f_.source.calls[f_.works[s.ended_by].call].thread,
                    p.starved);
        out_.ambiguous = out_.ambiguous || (tail && threads.size() > 1);
        break;
      case device_state::device_gap:
        p.device_gap += f_.length(k);
        break;
      case device_state::unrecorded:
        p.unrecorded += f_.length(k);
        break;
    }
  }
}

void counting::count_phases() {
  std::map<group, std::set<std::uint32_t>> rows;
  for (const pass_fact& p : f_.passes) {
    rows[p.key];
  }
  for (const work_fact& w : f_.works) {
    if (w.where.pass != none) {
      rows[w.key].insert(w.device);
    }
  }
  for (const call_fact& c : f_.calls) {
    if (c.where.pass != none) {
      rows[c.key].insert(c.device);
    }
  }
  for (auto& [g, devices] : rows) {
    if (devices.empty()) {
      devices.insert(f_.lowest_device());
    }
    for (const std::uint32_t device : devices) {
      varve::phase_row r;
      r.phase = g.phase;
      r.model = g.model;
      r.device = device;
      std::vector<time_ns> steps;
      for (const pass_fact& p : f_.passes) {
        if (!(p.key == g)) {
          continue;
        }
        ++r.passes;
        steps.push_back(p.end - p.begin);
        r.total.host_time += p.host_end - p.begin;
        if (p.range == none) {
          continue;
        }
        std::map<varve_attribute, std::int64_t> values(f_.source.ranges[p.range].attributes.begin(),
                                                       f_.source.ranges[p.range].attributes.end());
        r.prefill_tokens += values[VARVE_PREFILL_TOKENS];
        r.decode_tokens += values[VARVE_DECODE_TOKENS];
        r.sequences += values[VARVE_PREFILL_SEQUENCES] + values[VARVE_DECODE_SEQUENCES];
        r.emitted_tokens += values[VARVE_EMITTED_TOKENS];
      }
      r.step = distribution_of(std::move(steps));
      const time_ns host_time = r.total.host_time;
      const selection chosen{[&](const work_fact& w) { return w.where.pass != none && w.key == g; },
                             [&](const call_fact& c) { return c.where.pass != none && c.key == g; },
                             sharer_by_path};
      r.total = measure(device, chosen);
      r.total.host_time = host_time;
      r.total.calls = r.passes;
      r.gpu_span = r.total.span;
      delays(device, chosen, r.launch_latency, r.queue_delay);
      partition_of(
          device, [key = g](const pass_fact& p) { return p.key == key; }, r.partition);
      r.wall = r.partition.wall();
      out_.expected.phases.push_back(std::move(r));
    }
  }
}

void counting::count_devices() {
  for (const std::uint32_t device : f_.devices) {
    varve::device_row r;
    r.device.id = device;
    partition_of(
        device, [](const pass_fact&) { return true; }, r.partition);
    if (!f_.passes.empty()) {
      time_ns first = f_.passes.front().begin;
      time_ns last = f_.passes.front().end;
      for (const pass_fact& p : f_.passes) {
        first = std::min(first, p.begin);
        last = std::max(last, p.end);
      }
      r.partition.no_pass = last - first - r.partition.wall();
    }
    const auto kernel = [&](const work_fact& w) { return activity(w).kind == activity_kind::kernel; };
    const selection all{[](const work_fact&) { return true; }, [](const call_fact&) { return false; },
                        sharer_by_path};
    const measures m = measure(device, all);
    r.busy = m.gpu_time;
    r.kernel_time = m.kernel_time;
    r.kernel_union = union_of(device, kernel);
    r.gpu_span = m.span;
    r.kernels = m.kernels;
    for (ref s = 0; s < f_.source.streams.size(); ++s) {
      const stream_record& stream = f_.source.streams[s];
      if (stream.device != device) {
        continue;
      }
      varve::device_row::stream out{{stream.device, 1, stream.id}, 0, 0, 0};
      bool ran = false;
      for (const work_fact& w : f_.works) {
        if (activity(w).stream == s) {
          ran = true;
          out.kernels += kernel(w) ? 1 : 0;
          out.kernel_time += kernel(w) ? w.end - w.begin : 0;
        }
      }
      out.kernel_union =
          union_of(device, [&](const work_fact& w) { return activity(w).stream == s && kernel(w); });
      if (ran) {
        r.streams.push_back(out);
      }
    }
    out_.expected.devices.push_back(std::move(r));
  }
}

// --- requests and quality --------------------------------------------------------------------------------

void counting::count_requests() {
  for (ref i = 0; i < f_.source.ranges.size(); ++i) {
    const range_record& request = f_.source.ranges[i];
    if (request.label.kind != varve::range_kind::request || !request.recorded) {
      continue;
    }
    varve::request_row r;
    r.label = request.label.name;
    r.index = request.label.index;
    r.total = request.end - request.begin;
    std::vector<const pass_fact*> serving;
    for (const pass_fact& p : f_.passes) {
      if (p.range != none) {
        const std::vector<ref>& serves = f_.source.ranges[p.range].serves;
        if (std::find(serves.begin(), serves.end(), i) != serves.end()) {
          serving.push_back(&p);
        }
      }
    }
    std::sort(serving.begin(), serving.end(),
              [](const pass_fact* a, const pass_fact* b) { return a->begin < b->begin; });
    r.passes = static_cast<std::int64_t>(serving.size());
    if (!serving.empty()) {
      r.queue_wait = serving.front()->begin - request.begin;
      r.time_to_first_token = serving.front()->end - request.begin;
    }
    if (serving.size() > 1) {
      r.time_per_output_token = (serving.back()->end - serving.front()->end) / (r.passes - 1);
    }
    out_.expected.requests.push_back(r);
  }
}

void counting::count_quality() {
  varve::report_quality& q = out_.expected.quality;
  time_ns all = 0;
  time_ns placed = 0;
  std::set<ref> seen;
  for (const activity_record& a : f_.source.activities) {
    if (!a.recorded) {
      continue;
    }
    ++q.activities;
    ++(f_.source.calls[a.call].recorded ? q.matched : q.unmatched);
    q.untimed += a.untimed ? 1 : 0;
    if (a.node != none) {
      q.unlabelled_nodes += f_.source.nodes[a.node].label_known ? 0 : 1;
      q.stale_nodes += f_.source.nodes[a.node].stale ? 1 : 0;
    }
  }
  for (const work_fact& w : f_.works) {
    const activity_kind kind = activity(w).kind;
    if (kind == activity_kind::kernel || kind == activity_kind::copy || kind == activity_kind::set) {
      all += w.end - w.begin;
      placed += w.path.empty() ? 0 : w.end - w.begin;
    }
    if (w.call != none && seen.insert(w.call).second && w.begin < f_.source.calls[w.call].begin) {
      ++q.negative_delays;
    }
  }
  q.attributed = all > 0 ? static_cast<double>(placed) / static_cast<double>(all) : 0;
  for (const short_launch& l : missing_) {
    ++(l.empty ? q.graph_launches_without_kernels : q.graph_launches_short);
  }
  for (const range_record& r : f_.source.ranges) {
    q.clipped_ranges += r.recorded && r.clipped ? 1 : 0;
  }
  q.implicit_pass = f_.implicit_pass;
}

}  // namespace

truth truth_of(const recording& r) { return counting{r}.count(); }

}  // namespace virtual_device
