// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The rows of layers, labels, kernels and categories.
#include <algorithm>
#include <tuple>

#include "virtual_counting.hpp"

namespace virtual_device {

using varve::activity_kind;
using varve::row;

/// Without what the ranges directly inside took on the same thread.
time_ns counting::own_time(ref range) const {
  const range_record& outer = f.source.ranges[range];
  time_ns time = outer.end - outer.begin;
  for (const range_record& r : f.source.ranges) {
    if (r.recorded && r.parent == range && r.thread == outer.thread) {
      time -= r.end - r.begin;
    }
  }
  return time;
}

time_ns counting::host_time(const instance_fact& i) const {
  return i.range == none ? 0 : f.source.ranges[i.range].end - f.source.ranges[i.range].begin;
}

/// Whether work was declared for this call or one inside.
bool counting::has_work(const instance_fact& i) const {
  return std::any_of(f.instances.begin(), f.instances.end(), [&](const instance_fact& inner) {
    return f.inside(inner, i) && !inner.declared.empty();
  });
}

/// The rows of the tree, and the devices that each is on.
std::map<std::pair<group, std::string>, counting::tree_row> counting::tree() const {
  std::map<std::pair<group, std::string>, tree_row> rows;
  const auto add = [&](const group& g, std::vector<step> path, std::uint32_t device) {
    do {
      tree_row& r = rows[{g, path_text(path)}];
      r.path = path;
      r.devices.insert(device);
      if (!path.empty()) {
        path.pop_back();
      }
    } while (!path.empty());
  };
  for (const work_fact& w : f.works) {
    add(w.key, w.where.path, w.device);
  }
  for (const call_fact& c : f.calls) {
    if (c.ran && is_measured(f, c)) {
      add(c.key, c.where.path, c.device);
    }
  }
  for (const instance_fact& x : f.instances) {
    for (const std::uint32_t device : x.range != none ? f.places_of(x.range) : std::set{x.device}) {
      add(x.key, x.where.path, device);
    }
  }
  for (const call_fact& c : f.calls) {
    if (is_measured(f, c)) {
      add(c.key, c.where.path, c.device);
    }
  }
  return rows;
}

void counting::count_layers() {
  for (const auto& entry : tree_) {
    for (const std::uint32_t device : entry.second.devices) {
      count_layer(entry.first.first, entry.first.second, entry.second.path, device);
    }
  }
}

void counting::count_layer(const group& g, const std::string& text, const std::vector<step>& path,
                           std::uint32_t device) {
  const selection inclusive{[&](const work_fact& w) { return w.key == g && below(w.path, text); },
                            [&](const call_fact& c) { return c.key == g && below(c.path, text); },
                            sharer_by_path};
  const selection exclusive{[&](const work_fact& w) { return w.key == g && w.path == text; },
                            [&](const call_fact& c) { return c.key == g && c.path == text; }, sharer_by_path};
  row r;
  r.path = text;
  r.phase = g.phase;
  r.model = g.model;
  r.device = device;
  r.inclusive = measure(device, inclusive);
  r.exclusive = measure(device, exclusive);
  if (!path.empty()) {
    r.depth = static_cast<std::uint32_t>(path.size() - 1);
    r.label = path.back().name;
    r.index = path.back().index;
    r.kind = path.back().kind;
  }
  std::vector<time_ns> times;
  for (const instance_fact& i : f.instances) {
    if (!(i.key == g) || !below(i.path, text) || !is_on(i, device)) {
      continue;
    }
    r.inclusive.declared += i.declared;
    if (i.path != text) {
      continue;
    }
    times.push_back(union_of(device, [&](const work_fact& w) { return f.holds(i, w); }));
    r.inclusive.host_time += host_time(i);
    r.exclusive.host_time += i.range == none ? 0 : own_time(i.range);
    r.exclusive.declared += i.declared;
    r.exclusive.calls_with_work += i.declared.empty() ? 0 : 1;
    r.inclusive.calls_with_work += has_work(i) ? 1 : 0;
  }
  for (ref p = 0; path.empty() && p < f.passes.size(); ++p) {  // the calls of what is outside all layers
    if (f.passes[p].key == g && f.passes[p].devices.count(device) != 0) {
      times.push_back(
          union_of(device, [&](const work_fact& w) { return w.where.pass == p && w.path.empty(); }));
      r.inclusive.host_time += f.passes[p].range == none ? 0 : own_time(f.passes[p].range);
    }
  }
  if (path.empty()) {
    r.kind = varve::range_kind::phase;
    r.exclusive.host_time = r.inclusive.host_time;
  }
  r.inclusive.calls = r.exclusive.calls = static_cast<std::int64_t>(times.size());
  r.per_call = distribution_of(std::move(times));
  delays(device, inclusive, r.launch_latency, r.queue_delay);
  out_.layers.push_back(std::move(r));
}

void counting::count_labels() {
  std::set<std::tuple<group, std::string, std::uint32_t>> labels;
  for (const auto& entry : tree_) {
    for (const step& s : entry.second.path) {
      for (const std::uint32_t device : entry.second.devices) {
        labels.insert({entry.first.first, s.name, device});
      }
    }
  }
  for (const auto& key : labels) {
    count_label(std::get<0>(key), std::get<1>(key), std::get<2>(key));
  }
}

void counting::count_label(const group& g, const std::string& name, std::uint32_t device) {
  const auto named = [&](const step& s) { return s.name == name; };
  const auto has = [&](const std::vector<step>& path) {
    return std::any_of(path.begin(), path.end(), named);
  };
  const auto ends_in = [&](const std::vector<step>& path) { return !path.empty() && named(path.back()); };
  row r;
  r.path = r.label = name;
  r.phase = g.phase;
  r.model = g.model;
  r.device = device;
  const selection inclusive{[&](const work_fact& w) { return w.key == g && has(w.where.path); },
                            [&](const call_fact& c) { return c.key == g && has(c.where.path); },
                            sharer_by_path};
  r.inclusive = measure(device, inclusive);
  r.exclusive = measure(
      device, {[&](const work_fact& w) { return w.key == g && ends_in(w.where.path); },
               [&](const call_fact& c) { return c.key == g && ends_in(c.where.path); }, sharer_by_path});
  for (const auto& entry : tree_) {
    if (entry.first.first == g && ends_in(entry.second.path) && entry.second.devices.count(device) != 0) {
      r.kind = entry.second.path.back().kind;
    }
  }
  std::vector<time_ns> times;
  for (const instance_fact& i : f.instances) {
    if (!(i.key == g) || !is_on(i, device)) {
      continue;
    }
    r.inclusive.declared += has(i.where.path) ? i.declared : varve::work{};
    if (!ends_in(i.where.path)) {
      continue;
    }
    r.exclusive.declared += i.declared;
    r.exclusive.calls_with_work += i.declared.empty() ? 0 : 1;
    r.exclusive.host_time += i.range == none ? 0 : own_time(i.range);
    if (std::any_of(i.where.path.begin(), i.where.path.end() - 1, named)) {
      continue;  // a call inside one of the same name is part of that
    }
    times.push_back(union_of(device, [&](const work_fact& w) { return f.holds(i, w); }));
    r.inclusive.host_time += host_time(i);
    r.inclusive.calls_with_work += has_work(i) ? 1 : 0;
  }
  r.inclusive.calls = r.exclusive.calls = static_cast<std::int64_t>(times.size());
  r.per_call = distribution_of(std::move(times));
  delays(device, inclusive, r.launch_latency, r.queue_delay);
  out_.labels.push_back(std::move(r));
}

/// The commonest grid, of equally common ones the smallest.
void counting::count_shapes(std::uint32_t device, const selection& chosen, row& r) const {
  std::map<std::uint32_t, std::int64_t> grids;
  for (const work_fact& w : f.works) {
    if (w.device == device && chosen.work(w) && activity(w).kind == activity_kind::kernel) {
      ++grids[activity(w).grid];
    }
  }
  std::int64_t most = 0;
  for (const auto& [grid, count] : grids) {
    if (count > most) {
      most = count;
      r.shape.grid[0] = grid;
    }
  }
  r.shapes = static_cast<std::int64_t>(grids.size());
}

void counting::count_names(const std::function<std::string(const work_fact&)>& name_of, bool shapes,
                           std::vector<row>& rows) {
  std::set<std::tuple<group, std::string, std::uint32_t>> keys;
  for (const work_fact& w : f.works) {
    keys.insert({w.key, name_of(w), w.device});
  }
  for (const auto& key : keys) {
    const group& g = std::get<0>(key);
    const std::string& name = std::get<1>(key);
    const std::uint32_t device = std::get<2>(key);
    selection chosen;
    chosen.work = [&](const work_fact& w) { return w.key == g && name_of(w) == name; };
    chosen.call = [&](const call_fact& c) {  // whose first work is of this name
      const auto first =
          std::find_if(f.works.begin(), f.works.end(), [&](const work_fact& w) { return w.call == c.call; });
      return first != f.works.end() && chosen.work(*first);
    };
    chosen.sharer = [&](const work_fact& w) { return w.key.phase + '\1' + w.key.model + '\1' + name_of(w); };
    row r;
    r.path = r.label = name;
    r.phase = g.phase;
    r.model = g.model;
    r.device = device;
    r.inclusive = measure(device, chosen);
    std::vector<time_ns> durations;
    for (const work_fact& w : f.works) {
      if (w.device == device && chosen.work(w)) {
        durations.push_back(w.end - w.begin);
      }
    }
    r.inclusive.calls = static_cast<std::int64_t>(durations.size());
    r.exclusive = r.inclusive;
    r.per_call = distribution_of(std::move(durations));
    delays(device, chosen, r.launch_latency, r.queue_delay);
    if (shapes) {
      count_shapes(device, chosen, r);
    }
    rows.push_back(std::move(r));
  }
}

}  // namespace virtual_device
