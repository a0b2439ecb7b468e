// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "virtual_facts.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace virtual_device {

using varve::range_kind;

std::string path_text(const std::vector<step>& path) {
  std::string out;
  for (const step& s : path) {
    out += (out.empty() ? "" : " / ") + s.name;
    out += s.index == varve::no_index ? "" : " " + std::to_string(s.index);
  }
  return out;
}

bool below(const std::string& path, const std::string& top) {
  return path == top || (!top.empty() && path.rfind(top + " / ", 0) == 0);
}

facts::facts(const recording& r) : source{r} {
  std::set<std::uint32_t> seen;
  for (const activity_record& a : r.activities) {
    if (a.recorded && !a.untimed) {
      seen.insert(r.streams[a.stream].device);
    }
  }
  // Where nothing ran, what the host did counts for the lowest device that the trace names.
  for (const activity_record& a : r.activities) {
    if (seen.empty() && a.recorded) {
      seen.insert(r.streams[a.stream].device);
    }
  }
  if (seen.empty() && !r.devices.empty()) {
    seen.insert(*std::min_element(r.devices.begin(), r.devices.end()));
  }
  devices.assign(seen.begin(), seen.end());
  find_passes();
  find_works();
  find_launched();
  for (pass_fact& p : passes) {
    p.devices = p.range != none ? places_of(p.range) : std::set(devices.begin(), devices.end());
  }
  find_calls();
  find_instances();
  cut();
}

place facts::place_of(ref range) const {
  place p;
  while (range != none && source.ranges[range].recorded &&
         source.ranges[range].label.kind != range_kind::phase) {
    p.path.insert(p.path.begin(), source.ranges[range].label);
    range = source.ranges[range].parent;
  }
  for (ref i = 0; i < passes.size(); ++i) {
    if (implicit_pass || (range != none && passes[i].range == range)) {
      p.pass = i;
    }
  }
  return p;
}

bool facts::within(ref range, ref outer) const {
  while (range != none && range != outer && source.ranges[range].recorded) {
    range = source.ranges[range].parent;
  }
  return range == outer;
}

void facts::find_passes() {
  for (ref i = 0; i < source.ranges.size(); ++i) {
    const range_record& r = source.ranges[i];
    if (r.recorded && r.label.kind == range_kind::phase) {
      passes.push_back({{r.label.name, r.model}, i, r.thread, r.end, r.begin, r.end, {}});
    }
  }
  if (!passes.empty()) {
    return;
  }
  implicit_pass = true;
  pass_fact all{{"(trace)", ""}, none, none, 0, std::numeric_limits<time_ns>::max(), 0, {}};
  const auto widen = [&](const auto& records) {
    for (const auto& x : records) {
      if (x.recorded) {
        all.begin = std::min(all.begin, x.begin);
        all.end = all.host_end = std::max(all.end, x.end);
      }
    }
  };
  widen(source.ranges);
  widen(source.calls);
  std::vector<activity_record> timed = source.activities;
  std::erase_if(timed, [](const activity_record& a) { return a.untimed; });
  widen(timed);
  if (all.begin <= all.end) {
    passes.push_back(all);
  }
}

void facts::find_works() {
  for (ref i = 0; i < source.activities.size(); ++i) {
    const activity_record& a = source.activities[i];
    if (!a.recorded || a.untimed) {
      continue;
    }
    work_fact w;
    w.activity = i;
    w.device = source.streams[a.stream].device;
    w.begin = w.clipped = a.begin;
    w.end = a.end;
    if (source.calls[a.call].recorded) {
      w.call = a.call;
    }
    w.where = place_of(w.call == none ? none : source.calls[w.call].range);
    if (a.node != none && source.nodes[a.node].label_known) {
      std::vector<step> path = source.nodes[a.node].path;
      const auto phase =
          std::find_if(path.rbegin(), path.rend(), [](const step& s) { return s.kind == range_kind::phase; });
      path.erase(path.begin(), phase.base());
      if (!path.empty()) {
        w.where.path = path;
        w.replayed = true;
      }
    }
    w.key = key_of(w.where.pass);
    w.path = path_text(w.where.path);
    if (w.where.pass != none) {
      passes[w.where.pass].end = std::max(passes[w.where.pass].end, w.end);
    }
    works.push_back(std::move(w));
  }
  std::stable_sort(works.begin(), works.end(), [](const work_fact& a, const work_fact& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  for (std::size_t i = 0; i < works.size(); ++i) {
    for (std::size_t before = 0; before < i; ++before) {
      if (source.activities[works[before].activity].stream == source.activities[works[i].activity].stream) {
        works[i].clipped = std::min(std::max(works[i].clipped, works[before].end), works[i].end);
      }
    }
  }
}

void facts::find_calls() {
  for (ref i = 0; i < source.calls.size(); ++i) {
    const call_record& c = source.calls[i];
    if (!c.recorded || c.captured || c.outer != none) {
      continue;
    }
    call_fact f;
    f.call = i;
    const auto first =
        std::find_if(works.begin(), works.end(), [&](const work_fact& w) { return w.call == i; });
    if (first != works.end()) {
      f.ran = true;
      f.device = first->device;
    }
    f.where = place_of(c.range);
    f.key = key_of(f.where.pass);
    f.path = path_text(f.where.path);
    calls.push_back(std::move(f));
  }
  for (call_fact& f : calls) {
    const ref range = source.calls[f.call].range;
    if (!f.ran && range != none && source.ranges[range].recorded) {
      f.device = *places_of(range).begin();
    } else if (!f.ran) {
      const std::set<std::uint32_t> known = devices_of(f.key, f.path);
      f.device = known.empty() ? lowest_device(f.key) : *known.begin();
    }
  }
}

void facts::find_launched() {
  launched_.resize(source.ranges.size());
  for (const work_fact& w : works) {
    for (ref r = 0; w.call != none && r < source.ranges.size(); ++r) {
      if (source.ranges[r].recorded && within(source.calls[w.call].range, r)) {
        launched_[r].insert(w.device);
      }
    }
  }
}

std::set<std::uint32_t> facts::places_of(ref range) const {
  if (!launched_[range].empty()) {
    return launched_[range];
  }
  std::set<std::uint32_t> around;
  for (ref r = range; r != none && source.ranges[r].recorded && around.empty(); r = source.ranges[r].parent) {
    around = launched_[r];
  }
  const place here = place_of(range);
  const group key = key_of(here.pass);
  const std::string path = path_text(here.path);
  std::set<std::uint32_t> row;
  std::set<std::uint32_t> kind;
  const auto add = [&](const group& g, const std::string& p, std::uint32_t device) {
    if (g == key) {
      kind.insert(device);
      if (path.empty() || below(p, path)) {
        row.insert(device);
      }
    }
  };
  for (const work_fact& w : works) {
    add(w.key, w.path, w.device);
  }
  for (ref r = 0; r < source.ranges.size(); ++r) {
    for (const std::uint32_t device : launched_[r]) {
      const place p = place_of(r);
      add(key_of(p.pass), path_text(p.path), device);
    }
  }
  for (const std::uint32_t device : around) {
    if (row.count(device) != 0) {
      return {device};
    }
  }
  return {!around.empty() ? *around.begin()
          : !row.empty()  ? *row.begin()
          : !kind.empty() ? *kind.begin()
                          : lowest_device()};
}

std::set<std::uint32_t> facts::devices_of(const group& key, const std::string& path) const {
  std::set<std::uint32_t> out;
  for (const work_fact& w : works) {
    if (w.key == key && below(w.path, path)) {
      out.insert(w.device);
    }
  }
  for (const call_fact& c : calls) {
    if (c.ran && c.key == key && below(c.path, path)) {
      out.insert(c.device);
    }
  }
  return out;
}

std::uint32_t facts::lowest_device(const group& key) const {
  std::set<std::uint32_t> out;
  for (const work_fact& w : works) {
    if (w.key == key) {
      out.insert(w.device);
    }
  }
  for (const call_fact& c : calls) {
    if (c.ran && c.key == key) {
      out.insert(c.device);
    }
  }
  return out.empty() ? lowest_device() : *out.begin();
}

void facts::find_instances() {
  for (ref i = 0; i < source.ranges.size(); ++i) {
    const range_record& r = source.ranges[i];
    if (r.recorded && (r.label.kind == range_kind::layer || r.label.kind == range_kind::op)) {
      const place p = place_of(i);
      instances.push_back({p, key_of(p.pass), path_text(p.path), i, none, 0, r.declared});
    }
  }
  for (const work_fact& w : works) {
    // Each path that the launch replays, and each above it, once; but a range around the launch with the
    // same path is the call.
    for (place p = w.where; w.replayed && w.call != none && !p.path.empty(); p.path.pop_back()) {
      const std::string text = path_text(p.path);
      if (std::none_of(instances.begin(), instances.end(), [&](const instance_fact& f) {
            return f.path == text && ((f.call == w.call && f.device == w.device) || around(w, f));
          })) {
        instances.push_back({p, w.key, text, none, w.call, w.device, {}});
      }
    }
  }
  for (instance_fact& i : instances) {
    if (!i.declared.empty()) {
      continue;
    }
    for (const work_fact& w : works) {
      const activity_record& a = source.activities[w.activity];
      if (w.replayed && w.path == i.path && holds(i, w)) {
        i.declared += source.nodes[a.node].declared;
      }
    }
  }
}

bool facts::around(const work_fact& w, const instance_fact& i) const {
  return i.range != none && w.call != none && i.where.pass == w.where.pass &&
         within(source.calls[w.call].range, i.range);
}

bool facts::holds(const instance_fact& i, const work_fact& w) const {
  return w.replayed ? below(w.path, i.path) &&
                          (around(w, i) || (w.call != none && w.call == i.call && w.device == i.device))
                    : around(w, i);
}

bool facts::inside(const instance_fact& inner, const instance_fact& outer) const {
  if (inner.range != none) {
    return outer.range != none && inner.where.pass == outer.where.pass && within(inner.range, outer.range);
  }
  return below(inner.path, outer.path) && ((inner.call == outer.call && inner.device == outer.device) ||
                                           (outer.range != none && inner.where.pass == outer.where.pass &&
                                            within(source.calls[inner.call].range, outer.range)));
}

void facts::cut() {
  std::set<time_ns> all;
  const auto both = [&](const auto& x) {
    all.insert(x.begin);
    all.insert(x.end);
  };
  std::for_each(source.ranges.begin(), source.ranges.end(), both);
  std::for_each(source.calls.begin(), source.calls.end(), both);
  std::for_each(passes.begin(), passes.end(), both);
  for (const work_fact& w : works) {
    both(w);
    all.insert(w.clipped);
  }
  cuts.assign(all.begin(), all.end());
}

}  // namespace virtual_device
