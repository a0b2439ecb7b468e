// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "virtual_truth.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "virtual_counting.hpp"

namespace virtual_device {

using varve::activity_kind;
using varve::call_kind;
using varve::measures;

// --- phases and devices ----------------------------------------------------------------------------------

void counting::count_phases() {
  std::map<group, std::set<std::uint32_t>> rows;
  for (const pass_fact& p : f.passes) {
    if (p.range != none) {
      rows[p.key].insert(p.devices.begin(), p.devices.end());
    } else {
      rows[p.key].insert(f.lowest_device(p.key));
    }
  }
  for (const work_fact& w : f.works) {
    if (w.where.pass != none) {
      rows[w.key].insert(w.device);
    }
  }
  for (const call_fact& c : f.calls) {
    if (c.where.pass != none && c.ran) {
      rows[c.key].insert(c.device);
    }
  }
  for (auto& entry : rows) {
    const group& g = entry.first;
    std::set<std::uint32_t>& devices = entry.second;
    for (const std::uint32_t device : devices) {
      varve::phase_row r;
      r.phase = g.phase;
      r.model = g.model;
      r.device = device;
      std::vector<time_ns> steps;
      for (const pass_fact& p : f.passes) {
        if (!(p.key == g) || p.devices.count(device) == 0) {
          continue;
        }
        ++r.passes;
        steps.push_back(p.end - p.begin);
        r.total.host_time += p.host_end - p.begin;
        if (p.range == none) {
          continue;
        }
        std::map<varve_attribute, std::int64_t> values(f.source.ranges[p.range].attributes.begin(),
                                                       f.source.ranges[p.range].attributes.end());
        r.prefill_tokens += values[VARVE_PREFILL_TOKENS];
        r.decode_tokens += values[VARVE_DECODE_TOKENS];
        r.sequences += values[VARVE_PREFILL_SEQUENCES] + values[VARVE_DECODE_SEQUENCES];
        r.emitted_tokens += values[VARVE_EMITTED_TOKENS];
      }
      r.step = distribution_of(std::move(steps));
      const time_ns host_time = r.total.host_time;
      std::set<ref> declaring;
      varve::work declared;
      for (const instance_fact& i : f.instances) {
        if (i.where.pass != none && i.key == g && !i.declared.empty()) {
          declared += is_on(i, device) ? i.declared : varve::work{};
          if (f.passes[i.where.pass].devices.count(device) != 0) {
            declaring.insert(i.where.pass);
          }
        }
      }
      const selection chosen{[&](const work_fact& w) { return w.where.pass != none && w.key == g; },
                             [&](const call_fact& c) { return c.where.pass != none && c.key == g; },
                             sharer_by_path};
      r.total = measure(device, chosen);
      r.total.host_time = host_time;
      r.total.declared = declared;
      r.total.calls_with_work = static_cast<std::int64_t>(declaring.size());
      r.total.calls = r.passes;
      r.gpu_span = r.total.span;
      delays(device, chosen, r.launch_latency, r.queue_delay);
      partition_of(
          device, [&](const pass_fact& p) { return p.key == g && p.devices.count(device) != 0; },
          r.partition);
      r.wall = r.partition.wall();
      out_.phases.push_back(std::move(r));
    }
  }
}

void counting::count_devices() {
  for (const std::uint32_t device : f.devices) {
    varve::device_row r;
    r.device.id = device;
    partition_of(
        device, [](const pass_fact&) { return true; }, r.partition);
    if (!f.passes.empty()) {
      time_ns first = f.passes.front().begin;
      time_ns last = f.passes.front().end;
      for (const pass_fact& p : f.passes) {
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
    r.kernel_union = kernel_union([&](const work_fact& w) { return w.device == device; });
    r.gpu_span = m.span;
    r.kernels = m.kernels;
    for (ref s = 0; s < f.source.streams.size(); ++s) {
      const stream_record& stream = f.source.streams[s];
      if (stream.device != device) {
        continue;
      }
      varve::device_row::stream out{{stream.device, 1, stream.id}, 0, 0, 0};
      bool ran = false;
      for (const work_fact& w : f.works) {
        if (activity(w).stream == s) {
          ran = true;
          out.kernels += kernel(w) ? 1 : 0;
          out.kernel_time += kernel(w) ? w.end - w.begin : 0;
        }
      }
      out.kernel_union = kernel_union([&](const work_fact& w) { return activity(w).stream == s; });
      if (ran) {
        r.streams.push_back(out);
      }
    }
    out_.devices.push_back(std::move(r));
  }
}

// --- requests and quality --------------------------------------------------------------------------------

void counting::count_requests() {
  for (ref i = 0; i < f.source.ranges.size(); ++i) {
    const range_record& request = f.source.ranges[i];
    if (request.label.kind != varve::range_kind::request || !request.recorded) {
      continue;
    }
    varve::request_row r;
    r.label = request.label.name;
    r.index = request.label.index;
    if (!request.clipped) {
      r.total = request.end - request.begin;
    }
    std::vector<const pass_fact*> serving;
    for (const pass_fact& p : f.passes) {
      if (p.range != none) {
        const std::vector<ref>& serves = f.source.ranges[p.range].serves;
        if (std::find(serves.begin(), serves.end(), i) != serves.end()) {
          serving.push_back(&p);
        }
      }
    }
    r.passes = static_cast<std::int64_t>(serving.size());
    const auto by_begin = [](const pass_fact* a, const pass_fact* b) {
      return a->begin != b->begin ? a->begin < b->begin : a->end < b->end;
    };
    const auto by_end = [](const pass_fact* a, const pass_fact* b) { return a->end < b->end; };
    if (!serving.empty()) {
      const pass_fact& first = **std::min_element(serving.begin(), serving.end(), by_begin);
      const pass_fact& last = **std::max_element(serving.begin(), serving.end(), by_end);
      if (!request.clipped) {
        r.queue_wait = std::max<time_ns>(0, first.begin - request.begin);
        r.time_to_first_token = std::max<time_ns>(0, first.end - request.begin);
      }
      if (serving.size() > 1) {
        r.time_per_output_token = (last.end - first.end) / (r.passes - 1);
      }
    }
    out_.requests.push_back(r);
  }
}

void counting::count_quality() {
  varve::report_quality& q = out_.quality;
  time_ns all = 0;
  time_ns placed = 0;
  std::map<std::uint32_t, std::set<ref>> launches;  // by correlation, nested calls standing for the outermost
  for (ref i = 0; i < f.source.calls.size(); ++i) {
    const call_record& c = f.source.calls[i];
    if (c.recorded && !c.captured &&
        (c.kind == call_kind::launch || c.kind == call_kind::graph_launch || c.kind == call_kind::copy ||
         c.kind == call_kind::set)) {
      launches[c.correlation].insert(c.outer == none ? i : c.outer);
    }
  }
  for (const auto& entry : launches) {
    q.duplicate_correlations += static_cast<std::int64_t>(entry.second.size()) - 1;
  }
  for (const activity_record& a : f.source.activities) {
    if (!a.recorded) {
      continue;
    }
    ++q.activities;
    const bool matched = f.source.calls[a.call].recorded;
    ++(matched ? q.matched : q.unmatched);
    q.unmatched_kernels += !matched && a.kind == varve::activity_kind::kernel ? 1 : 0;
    q.untimed += a.untimed ? 1 : 0;
    if (!a.untimed && a.node != none) {
      q.unlabelled_nodes +=
          f.source.nodes[a.node].label_known && !f.source.nodes[a.node].path.empty() ? 0 : 1;
      q.stale_nodes += f.source.nodes[a.node].stale ? 1 : 0;
    }
  }
  for (const work_fact& w : f.works) {
    all += w.end - w.begin;
    placed += w.path.empty() ? 0 : w.end - w.begin;
    q.negative_delays += w.call != none && w.begin < f.source.calls[w.call].begin ? 1 : 0;
  }
  q.attributed = all > 0 ? static_cast<double>(placed) / static_cast<double>(all) : 0;
  for (const short_launch& l : missing) {
    ++(l.empty ? q.graph_launches_without_kernels : q.graph_launches_short);
  }
  for (const range_record& r : f.source.ranges) {
    q.clipped_ranges += r.recorded && r.clipped ? 1 : 0;
  }
  q.implicit_pass = f.implicit_pass;
}

truth truth_of(const recording& r) { return counting{r}.count(); }

}  // namespace virtual_device
