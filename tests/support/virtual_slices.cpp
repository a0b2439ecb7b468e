// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "virtual_slices.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace virtual_device {

using varve::activity_kind;
using varve::call_kind;

namespace {

constexpr time_ns never = std::numeric_limits<time_ns>::max();

time_ns submitted(const facts& f, const work_fact& w) {
  return w.call == none ? never : std::min(f.source.calls[w.call].end, w.begin);
}

device_state busy_state(const facts& f, const std::vector<std::size_t>& running) {
  device_state state = device_state::copy;
  for (const std::size_t w : running) {
    const activity_record& a = f.source.activities[f.works[w].activity];
    const bool moves = a.kind == activity_kind::copy || a.kind == activity_kind::set;
    if (!moves && a.category != "collective") {
      return device_state::compute;
    }
    state = moves ? state : device_state::communication;
  }
  return state;
}

}  // namespace

std::vector<short_launch> short_launches(const facts& f) {
  struct launch {
    ref call;
    std::set<std::uint64_t> nodes;
    std::size_t count = 0;
    bool merged = false;
    std::uint32_t device = 0;
  };
  std::vector<launch> launches;
  for (const call_fact& c : f.calls) {
    if (f.source.calls[c.call].kind != call_kind::graph_launch) {
      continue;
    }
    launch l{c.call, {}, 0, false, 0};
    for (const work_fact& w : f.works) {
      const activity_record& a = f.source.activities[w.activity];
      if (w.call == c.call) {
        ++l.count;
        l.merged = l.merged || a.kind == activity_kind::graph;
        if (a.node != none) {
          l.nodes.insert(f.source.nodes[a.node].id);
        }
      }
    }
    l.device = c.ran                  ? c.device
               : c.where.pass != none ? *f.passes[c.where.pass].devices.begin()
                                      : f.lowest_device(c.key);
    launches.push_back(std::move(l));
  }
  std::vector<short_launch> out;
  for (const launch& l : launches) {
    // Siblings have a node in common, or a sibling in common.
    std::set<std::uint64_t> family = l.nodes;
    std::size_t most = l.count;
    for (std::size_t known = 0; known != family.size();) {
      known = family.size();
      for (const launch& other : launches) {
        if (std::any_of(other.nodes.begin(), other.nodes.end(),
                        [&](std::uint64_t id) { return family.count(id) != 0; })) {
          family.insert(other.nodes.begin(), other.nodes.end());
          most = std::max(most, other.count);
        }
      }
    }
    if (l.merged || (l.count > 0 && l.count == most)) {
      continue;
    }
    const call_record& c = f.source.calls[l.call];
    const place p = f.place_of(c.range);
    short_launch s{l.call, l.count == 0, l.device, c.begin, p.pass == none ? never : f.passes[p.pass].end};
    for (const call_record& sync : f.source.calls) {
      if (sync.recorded && sync.kind == call_kind::synchronise && sync.thread == c.thread &&
          sync.begin >= c.begin) {
        s.end = std::min(s.end, sync.end);
      }
    }
    out.push_back(s);
  }
  return out;
}

std::vector<slice> slices_of(const facts& f, std::uint32_t device, const std::vector<short_launch>& missing,
                             bool& ambiguous) {
  std::vector<slice> out(f.slices());
  for (std::size_t k = 0; k < out.size(); ++k) {
    slice& s = out[k];
    time_ns first = never;         // begin of what ends the gap
    time_ns submitted_at = never;  // the earliest submission of all that is to come
    bool busy = false;
    bool tie = false;
    for (std::size_t i = 0; i < f.works.size(); ++i) {
      const work_fact& w = f.works[i];
      if (w.device != device) {
        continue;
      }
      busy = busy || f.in(k, w.begin, w.end);
      if (f.in(k, w.clipped, w.end)) {
        s.running.push_back(i);
      }
      if (w.begin >= f.cuts[k + 1]) {
        if (w.begin < first) {
          first = w.begin;
          s.ended_by = i;
          tie = false;
        } else if (w.begin == first) {
          tie = true;
        }
        submitted_at = std::min(submitted_at, submitted(f, w));
      }
    }
    if (busy) {
      s.state = busy_state(f, s.running);
      s.ended_by = SIZE_MAX;
      continue;
    }
    ambiguous = ambiguous || tie;
    const bool lost = std::any_of(missing.begin(), missing.end(), [&](const short_launch& l) {
      return l.device == device && f.in(k, l.begin, l.end);
    });
    if (lost || (s.ended_by != SIZE_MAX && f.works[s.ended_by].call == none)) {
      s.state = device_state::unrecorded;
    } else {
      s.state = f.cuts[k] >= submitted_at ? device_state::device_gap : device_state::starved;
    }
  }
  return out;
}

void add_starved(const facts& f, std::size_t k, ref thread, varve::starved_time& to) {
  time_ns* part = &to.other;
  for (const call_record& c : f.source.calls) {
    if (!c.recorded || c.outer != none || c.thread != thread || !f.in(k, c.begin, c.end)) {
      continue;
    }
    switch (c.kind) {
      case call_kind::launch:
      case call_kind::graph_launch:
      case call_kind::copy:
      case call_kind::set:
        part = c.captured ? &to.graph_building : &to.launching;
        break;
      case call_kind::graph_build:
        part = &to.graph_building;
        break;
      case call_kind::synchronise:
        part = &to.synchronising;
        break;
      case call_kind::allocate:
        part = &to.allocating;
        break;
      default:
        break;
    }
  }
  *part += f.length(k);
}

}  // namespace virtual_device
