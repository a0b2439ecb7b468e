// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "virtual_measures.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

namespace virtual_device {

using varve::activity_kind;
using varve::call_kind;
using varve::measures;

bool is_measured(const facts& f, const call_fact& c) {
  const call_kind kind = f.source.calls[c.call].kind;
  return kind == call_kind::launch || kind == call_kind::graph_launch || kind == call_kind::synchronise ||
         kind == call_kind::allocate || kind == call_kind::graph_build;
}

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

measuring::measuring(const recording& r) : f{r}, missing{short_launches(f)} {
  for (const std::uint32_t device : f.devices) {
    slices_[device] = slices_of(f, device, missing, ambiguous);
  }
}

time_ns measuring::union_of(std::uint32_t device, const std::function<bool(const work_fact&)>& chosen) const {
  if (slices_.count(device) == 0) {
    return 0;
  }
  time_ns total = 0;
  const std::vector<slice>& slices = slices_.at(device);
  for (std::size_t k = 0; k < slices.size(); ++k) {
    if (std::any_of(slices[k].running.begin(), slices[k].running.end(),
                    [&](std::size_t w) { return chosen(f.works[w]); })) {
      total += f.length(k);
    }
  }
  return total;
}

time_ns measuring::kernel_union(const std::function<bool(const work_fact&)>& chosen) const {
  time_ns total = 0;
  for (std::size_t k = 0; k < f.slices(); ++k) {
    if (std::any_of(f.works.begin(), f.works.end(), [&](const work_fact& w) {
          return activity(w).kind == activity_kind::kernel && chosen(w) && f.in(k, w.begin, w.end);
        })) {
      total += f.length(k);
    }
  }
  return total;
}

bool measuring::in_wall(std::size_t k, const group& key, std::uint32_t device) const {
  return std::any_of(f.passes.begin(), f.passes.end(), [&](const pass_fact& p) {
    return p.key == key && p.devices.count(device) != 0 && f.in(k, p.begin, p.end);
  });
}

void measuring::measure_works(std::uint32_t device, const selection& chosen, measures& m) const {
  time_ns first = 0;
  time_ns last = 0;
  bool any = false;
  for (const work_fact& w : f.works) {
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
  std::vector<std::string> sharers;
  std::vector<bool> is_mine;
  for (const work_fact& w : f.works) {
    sharers.push_back(chosen.sharer(w));
    is_mine.push_back(chosen.work(w));
  }
  const std::vector<slice>& slices = slices_.at(device);
  for (std::size_t k = 0; k < slices.size(); ++k) {
    std::set<std::string_view> all;
    std::set<std::string_view> mine;
    for (const std::size_t i : slices[k].running) {
      all.insert(sharers[i]);
      if (is_mine[i]) {
        mine.insert(sharers[i]);
      }
    }
    if (!mine.empty()) {
      m.gpu_time += f.length(k);
      m.shared_time += static_cast<double>(f.length(k)) * static_cast<double>(mine.size()) /
                       static_cast<double>(all.size());
      m.alone_time += mine.size() == all.size() ? f.length(k) : 0;
    }
    if (slices[k].ended_by != SIZE_MAX) {
      const work_fact& w = f.works[slices[k].ended_by];
      if (is_mine[slices[k].ended_by] && w.where.pass != none && in_wall(k, w.key, device)) {
        if (slices[k].state == device_state::starved) {
          add_starved(f, k, f.source.calls[w.call].thread, m.starved);
        } else if (slices[k].state == device_state::device_gap) {
          m.device_gap += f.length(k);
        }
      }
    }
  }
}

void measuring::measure_calls(std::uint32_t device, const selection& chosen, measures& m) const {
  for (const call_fact& c : f.calls) {
    if (c.device != device || !chosen.call(c)) {
      continue;
    }
    const time_ns length = f.source.calls[c.call].end - f.source.calls[c.call].begin;
    switch (f.source.calls[c.call].kind) {
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

/// That launched the device's last work.
ref measuring::last_thread(std::uint32_t device) const {
  ref thread = none;
  time_ns last = 0;
  for (const work_fact& w : f.works) {
    if (w.device == device && (thread == none || w.clipped >= last)) {
      last = w.clipped;
      thread = w.call == none ? none : f.source.calls[w.call].thread;
    }
  }
  return thread;
}

measures measuring::measure(std::uint32_t device, const selection& chosen) const {
  measures m;
  measure_works(device, chosen, m);
  measure_calls(device, chosen, m);
  return m;
}

void measuring::delays(std::uint32_t device, const selection& chosen, varve::distribution& latency,
                       varve::distribution& queue) const {
  std::vector<time_ns> latencies;
  std::vector<time_ns> waits;
  for (const call_fact& fact : f.calls) {
    const call_record& c = f.source.calls[fact.call];
    if ((c.kind != call_kind::launch && c.kind != call_kind::graph_launch) || !fact.ran ||
        fact.device != device || !chosen.call(fact)) {
      continue;
    }
    const auto first =
        std::find_if(f.works.begin(), f.works.end(), [&](const work_fact& w) { return w.call == fact.call; });
    if (first->begin >= c.begin) {
      latencies.push_back(first->begin - c.begin);
    }
    if (first->begin > c.end) {
      waits.push_back(first->begin - c.end);
    }
  }
  latency = distribution_of(std::move(latencies));
  queue = distribution_of(std::move(waits));
}

void measuring::partition_of(std::uint32_t device, const std::function<bool(const pass_fact&)>& counts,
                             varve::wall_partition& p) {
  for (std::size_t k = 0; k < f.slices(); ++k) {
    std::set<ref> threads;  // of passes on the device
    bool open = false;
    for (const pass_fact& pass : f.passes) {
      if (counts(pass) && f.in(k, pass.begin, pass.end)) {
        open = true;
      }
      if (pass.devices.count(device) != 0 && f.in(k, pass.begin, pass.end)) {
        threads.insert(pass.thread);
      }
    }
    if (!open) {
      continue;
    }
    const slice idle;
    const slice& s = slices_.count(device) == 0 ? idle : slices_.at(device)[k];
    const bool tail = s.ended_by == SIZE_MAX;
    if (tail && (f.implicit_pass || threads.empty())) {
      threads = {last_thread(device)};
    }
    switch (s.state) {
      case device_state::compute:
        p.compute += f.length(k);
        break;
      case device_state::communication:
        p.exposed_communication += f.length(k);
        break;
      case device_state::copy:
        p.exposed_copy += f.length(k);
        break;
      case device_state::starved:
        add_starved(f, k, tail ? *threads.begin() : f.source.calls[f.works[s.ended_by].call].thread,
                    p.starved);
        ambiguous = ambiguous || (tail && threads.size() > 1);
        break;
      case device_state::device_gap:
        p.device_gap += f.length(k);
        break;
      case device_state::unrecorded:
        p.unrecorded += f.length(k);
        break;
    }
  }
}

}  // namespace virtual_device
