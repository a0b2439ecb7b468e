// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "virtual_recording.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace virtual_device {

namespace {

using indices = std::vector<std::size_t>;

/// 0 … n−1, or any order of them.
indices in_some_order(std::size_t n, random_source* order) {
  indices all(n);
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (std::size_t i = n; order != nullptr && i > 1; --i) {
    std::swap(all[i - 1], all[(*order)() % i]);
  }
  return all;
}

bool chance(double share, random_source& random) {
  return static_cast<double>(random() % 1'000'000) < share * 1e6;
}

bool in_graph(const recording& r, const activity_record& a) {
  return a.call != none && r.calls[a.call].kind == varve::call_kind::graph_launch;
}

std::uint32_t intern_step(varve::trace& t, std::uint32_t parent, const step& s) {
  return t.labels.intern({parent, t.strings.intern(s.name), s.index, s.kind});
}

/// Adds a range and, before it, those that enclose it.
std::uint32_t add_range(const recording& r, ref which, varve::trace& t, std::vector<std::uint32_t>& placed) {
  if (which == none || !r.ranges[which].recorded) {
    return none;
  }
  if (placed[which] != none) {
    return placed[which];
  }
  const range_record& from = r.ranges[which];
  const std::uint32_t parent = add_range(r, from.parent, t, placed);
  const std::uint32_t above = parent == none ? none : t.ranges[parent].label;
  varve::range out;
  out.begin = from.begin;
  out.end = from.end;
  out.label = intern_step(t, above, from.label);
  out.parent = parent;
  out.thread = from.thread != none ? static_cast<std::uint16_t>(from.thread) : varve::narrow_none;
  out.kind = from.label.kind;
  out.clipped_begin = from.clipped;
  t.ranges.push_back(out);
  const auto id = static_cast<std::uint32_t>(t.ranges.size() - 1);
  placed[which] = id;
  for (const auto& [key, value] : from.attributes) {
    t.attributes.push_back({id, key, value});
  }
  if (!from.model.empty()) {
    t.models.push_back({id, t.strings.intern(from.model)});
  }
  if (!from.declared.empty()) {
    t.works.push_back({id, from.declared});
  }
  return id;
}

void add_nodes(const recording& r, varve::trace& t, random_source* order,
               std::vector<std::uint32_t>& placed) {
  placed.assign(r.nodes.size(), none);
  for (const std::size_t i : in_some_order(r.nodes.size(), order)) {
    const node_record& from = r.nodes[i];
    std::uint32_t label = none;
    for (const step& s : from.path) {
      label = from.label_known ? intern_step(t, label, s) : none;
    }
    placed[i] = static_cast<std::uint32_t>(t.graph_nodes.size());
    t.graph_nodes.push_back({from.id, label, from.stale, from.label_known ? from.declared : varve::work{}});
  }
}

}  // namespace

varve::trace to_trace(const recording& r, random_source* order) {
  varve::trace t;
  t.source = "virtual machine";
  t.clock = "virtual";
  for (ref thread = 0; thread < r.threads; ++thread) {
    t.intern_thread(100U + thread);
  }
  for (const std::uint32_t device : r.devices) {
    t.devices.push_back({device, "virtual", 0, 0, 0});
  }
  std::vector<std::uint32_t> ranges(r.ranges.size(), none);
  for (const std::size_t i : in_some_order(r.ranges.size(), order)) {
    add_range(r, static_cast<ref>(i), t, ranges);
  }
  for (std::size_t i = 0; i < r.ranges.size(); ++i) {
    for (const ref request : r.ranges[i].serves) {
      if (ranges[i] != none && ranges[request] != none) {
        t.requests.push_back({ranges[request], ranges[i]});
      }
    }
  }
  std::vector<std::uint32_t> nodes;
  add_nodes(r, t, order, nodes);
  for (const std::size_t i : in_some_order(r.calls.size(), order)) {
    const call_record& c = r.calls[i];
    if (c.recorded) {
      t.add_call({c.begin, c.end, c.correlation, c.range != none ? ranges[c.range] : none,
                  static_cast<std::uint16_t>(c.thread), c.kind, c.captured});
    }
  }
  for (const std::size_t i : in_some_order(r.activities.size(), order)) {
    const activity_record& a = r.activities[i];
    if (!a.recorded) {
      continue;
    }
    varve::activity out;
    out.begin = a.untimed ? 0 : a.begin;
    out.end = a.untimed ? 0 : a.end;
    out.correlation = r.calls[a.call].correlation;
    out.name = t.strings.intern(a.name);
    out.node = a.node != none ? nodes[a.node] : none;
    if (a.kind == varve::activity_kind::kernel) {
      varve::launch_shape shape;
      shape.grid[0] = a.grid;
      out.detail = t.intern_shape(shape);
    } else if (a.kind != varve::activity_kind::graph) {
      out.detail = t.intern_bytes(a.bytes);
    }
    out.stream = t.intern_stream({r.streams[a.stream].device, 1, r.streams[a.stream].id});
    out.kind = a.kind;
    t.add_activity(out);
  }
  return t;
}

void shift_clock(recording& r, time_ns by) {
  const auto move = [by](auto& records) {
    for (auto& x : records) {
      x.begin += by;
      x.end += by;
    }
  };
  move(r.ranges);
  move(r.calls);
  move(r.activities);
}

bool wrap_correlations(recording& r, std::uint32_t ids) {
  const auto wrapped = [ids](const call_record& c) { return (c.correlation - 1) % ids + 1; };
  const auto outermost = [&](ref c) { return r.calls[c].outer == none ? c : r.calls[c].outer; };
  for (const activity_record& a : r.activities) {
    const call_record& launch = r.calls[a.call];
    for (ref c = 0; c < r.calls.size(); ++c) {
      if (outermost(c) != a.call && wrapped(r.calls[c]) == wrapped(launch) &&
          r.calls[c].begin >= launch.begin && r.calls[c].begin <= a.begin) {
        return false;
      }
    }
  }
  for (call_record& c : r.calls) {
    c.correlation = wrapped(c);
  }
  return true;
}

void skew_devices(recording& r, time_ns by) {
  for (activity_record& a : r.activities) {
    a.begin -= by;
    a.end -= by;
  }
}

void drop_graph_records(recording& r, double share, random_source& random) {
  for (activity_record& a : r.activities) {
    if (in_graph(r, a) && chance(share, random)) {
      a.recorded = false;
    }
  }
}

void lose_times(recording& r, double share, random_source& random) {
  for (activity_record& a : r.activities) {
    a.untimed = a.untimed || chance(share, random);
  }
}

void start_window(recording& r, time_ns at) {
  for (range_record& range : r.ranges) {
    if (range.begin < at) {
      range.recorded = range.end > at;
      range.begin = at;
      range.clipped = true;
    }
  }
  for (call_record& c : r.calls) {
    c.recorded = c.recorded && c.begin >= at && (c.outer == none || r.calls[c.outer].begin >= at);
  }
  for (activity_record& a : r.activities) {
    a.recorded = a.recorded && a.begin >= at;
  }
}

void forget_labels(recording& r, time_ns at) {
  for (node_record& n : r.nodes) {
    n.label_known = n.label_known && n.made >= at;
  }
}

void merge_graph_records(recording& r) {
  std::map<ref, activity_record> merged;
  for (const activity_record& a : r.activities) {
    if (in_graph(r, a) && a.recorded) {
      activity_record& m = merged.emplace(a.call, a).first->second;
      m.begin = std::min(m.begin, a.begin);
      m.end = std::max(m.end, a.end);
      m.kind = varve::activity_kind::graph;
      m.name = "CUDA graph";
      m.category = "other";
      m.stream = r.calls[a.call].stream;
      m.node = none;
    }
  }
  std::erase_if(r.activities, [&](const activity_record& a) { return in_graph(r, a); });
  for (auto& [call, a] : merged) {
    r.activities.push_back(a);
  }
}

}  // namespace virtual_device
