// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "virtual_truth.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "virtual_measures.hpp"

namespace virtual_device {

namespace {

using varve::activity_kind;
using varve::call_kind;
using varve::measures;
using varve::row;

class counting : measuring {
 public:
  explicit counting(const recording& r) : measuring{r}, tree_{tree()} {}

  truth count() {
    count_phases();
    count_layers();
    count_labels();
    count_names([&](const work_fact& w) { return activity(w).name; }, true, out_.kernels);
    count_names([&](const work_fact& w) { return activity(w).category; }, false, out_.categories);
    count_devices();
    count_requests();
    count_quality();
    return {std::move(out_), ambiguous};
  }

 private:
  void count_phases();
  struct tree_row {
    std::vector<step> path;
    std::set<std::uint32_t> devices;
  };
  [[nodiscard]] std::map<std::pair<group, std::string>, tree_row> tree() const;
  [[nodiscard]] time_ns own_time(ref range) const;
  [[nodiscard]] time_ns host_time(const instance_fact& i) const;
  [[nodiscard]] bool has_work(const instance_fact& i) const;
  void count_layers();
  void count_layer(const group& g, const std::string& text, const std::vector<step>& path,
                   std::uint32_t device);
  void count_labels();
  void count_label(const group& g, const std::string& name, std::uint32_t device);
  void count_shapes(std::uint32_t device, const selection& chosen, row& r) const;
  void count_names(const std::function<std::string(const work_fact&)>& name_of, bool shapes,
                   std::vector<row>& rows);
  void count_devices();
  void count_requests();
  void count_quality();

  /// Whether the row that an instance is a call of is on a device.
  [[nodiscard]] bool is_on(const instance_fact& i, std::uint32_t device) const {
    return i.range == none ? i.device == device : tree_.at({i.key, i.path}).devices.count(device) != 0;
  }

  std::map<std::pair<group, std::string>, tree_row> tree_;
  varve::report out_;
};

// --- views -----------------------------------------------------------------------------------------------

std::string sharer_by_path(const work_fact& w) { return w.key.phase + '\1' + w.key.model + '\1' + w.path; }

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
  // What ran nothing is where the rest of its row is, or where passes of its kind run.
  const auto add_idle = [&](const group& g, const std::vector<step>& path) {
    if (rows.count({g, path_text(path)}) == 0) {
      add(g, path, f.lowest_device(g));
    }
  };
  for (const instance_fact& i : f.instances) {
    add_idle(i.key, i.where.path);
  }
  for (const call_fact& c : f.calls) {
    if (is_measured(f, c)) {
      add_idle(c.key, c.where.path);
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
    if (f.passes[p].key == g) {
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

// --- phases and devices ----------------------------------------------------------------------------------

void counting::count_phases() {
  std::map<group, std::set<std::uint32_t>> rows;
  for (const pass_fact& p : f.passes) {
    rows[p.key].insert(f.lowest_device(p.key));
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
        if (!(p.key == g)) {
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
          declaring.insert(i.where.pass);
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
          device, [&](const pass_fact& p) { return p.key == g; }, r.partition);
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
    ++(f.source.calls[a.call].recorded ? q.matched : q.unmatched);
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

}  // namespace

truth truth_of(const recording& r) { return counting{r}.count(); }

}  // namespace virtual_device
