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
  using measuring::measuring;

  truth count() {
    count_phases();
    count_layers();
    count_labels();
    count_names();
    count_devices();
    count_requests();
    count_quality();
    return {std::move(out_), ambiguous};
  }

 private:
  void count_phases();
  void count_layers();
  void count_labels();
  void count_names();
  void count_devices();
  void count_requests();
  void count_quality();

  varve::report out_;
};

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
  for (const work_fact& w : f.works) {
    add(w.key, w.where.path);
  }
  for (const call_fact& c : f.calls) {
    add(c.key, c.where.path);
  }
  for (const instance_fact& i : f.instances) {
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
    for (const work_fact& w : f.works) {
      if (inclusive.work(w)) {
        devices.insert(w.device);
      }
    }
    for (const call_fact& c : f.calls) {
      if (inclusive.call(c)) {
        devices.insert(c.device);
      }
    }
    if (devices.empty()) {
      devices.insert(f.lowest_device());
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
      for (const instance_fact& i : f.instances) {
        if (!(i.key == g) || i.path != text) {
          continue;
        }
        times.push_back(union_of(device, [&](const work_fact& w) { return f.holds(i, w); }));
        if (i.range != none) {
          const range_record& range = f.source.ranges[i.range];
          r.inclusive.host_time += range.end - range.begin;
        }
        bool declares = false;
        for (const instance_fact& inner : f.instances) {
          if (f.inside(inner, i)) {
            declares = declares || !inner.declared.empty();
          }
        }
        r.inclusive.calls_with_work += declares ? 1 : 0;
        r.exclusive.calls_with_work += i.declared.empty() ? 0 : 1;
        r.exclusive.declared += i.declared;
      }
      for (const instance_fact& i : f.instances) {
        if (i.key == g && below(i.path, text)) {
          r.inclusive.declared += i.declared;
        }
      }
      r.inclusive.calls = r.exclusive.calls = static_cast<std::int64_t>(times.size());
      r.exclusive.host_time = r.inclusive.host_time;
      r.per_call = distribution_of(std::move(times));
      delays(device, inclusive, r.launch_latency, r.queue_delay);
      out_.layers.push_back(std::move(r));
    }
  }
}

void counting::count_labels() {
  std::set<std::tuple<group, std::string, std::uint32_t>> rows;
  for (const work_fact& w : f.works) {
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
    out_.labels.push_back(std::move(r));
  }
}

void counting::count_names() {
  const auto view = [&](const std::function<std::string(const work_fact&)>& name_of, std::vector<row>& rows) {
    std::set<std::tuple<group, std::string, std::uint32_t>> keys;
    for (const work_fact& w : f.works) {
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
      for (const work_fact& w : f.works) {
        if (w.device == device && chosen.work(w)) {
          durations.push_back(w.end - w.begin);
        }
      }
      r.inclusive.calls = static_cast<std::int64_t>(durations.size());
      r.per_call = distribution_of(std::move(durations));
      rows.push_back(std::move(r));
    }
  };
  view([&](const work_fact& w) { return activity(w).name; }, out_.kernels);
  view([&](const work_fact& w) { return activity(w).category; }, out_.categories);
}

// --- phases and devices ----------------------------------------------------------------------------------

void counting::count_phases() {
  std::map<group, std::set<std::uint32_t>> rows;
  for (const pass_fact& p : f.passes) {
    rows[p.key];
  }
  for (const work_fact& w : f.works) {
    if (w.where.pass != none) {
      rows[w.key].insert(w.device);
    }
  }
  for (const call_fact& c : f.calls) {
    if (c.where.pass != none) {
      rows[c.key].insert(c.device);
    }
  }
  for (auto& [g, devices] : rows) {
    if (devices.empty()) {
      devices.insert(f.lowest_device());
    }
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
          declared += i.declared;
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
          device, [key = g](const pass_fact& p) { return p.key == key; }, r.partition);
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
    r.kernel_union = union_of(device, kernel);
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
      out.kernel_union =
          union_of(device, [&](const work_fact& w) { return activity(w).stream == s && kernel(w); });
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
    r.total = request.end - request.begin;
    std::vector<const pass_fact*> serving;
    for (const pass_fact& p : f.passes) {
      if (p.range != none) {
        const std::vector<ref>& serves = f.source.ranges[p.range].serves;
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
    out_.requests.push_back(r);
  }
}

void counting::count_quality() {
  varve::report_quality& q = out_.quality;
  time_ns all = 0;
  time_ns placed = 0;
  std::set<std::uint32_t> correlations;
  for (const call_fact& c : f.calls) {
    const call_record& call = f.source.calls[c.call];
    const bool launches = call.kind == call_kind::launch || call.kind == call_kind::graph_launch ||
                          call.kind == call_kind::copy || call.kind == call_kind::set;
    q.duplicate_correlations += launches && !correlations.insert(call.correlation).second ? 1 : 0;
  }
  for (const activity_record& a : f.source.activities) {
    if (!a.recorded) {
      continue;
    }
    ++q.activities;
    ++(f.source.calls[a.call].recorded ? q.matched : q.unmatched);
    q.untimed += a.untimed ? 1 : 0;
    if (!a.untimed && a.node != none) {
      q.unlabelled_nodes += f.source.nodes[a.node].label_known ? 0 : 1;
      q.stale_nodes += f.source.nodes[a.node].stale ? 1 : 0;
    }
  }
  for (const work_fact& w : f.works) {
    const activity_kind kind = activity(w).kind;
    if (kind == activity_kind::kernel || kind == activity_kind::copy || kind == activity_kind::set) {
      all += w.end - w.begin;
      placed += w.path.empty() ? 0 : w.end - w.begin;
    }
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
