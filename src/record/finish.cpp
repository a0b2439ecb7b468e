// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// From a store to a trace: what is open is closed, ticks become nanoseconds, counters become losses.
#include "record/graph_labels.hpp"
#include "record/host.hpp"
#include "record/store.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace varve::record {

trace store::copy(const clock_mapping& clock, std::uint64_t end) const {
  trace t = t_;
  finish(t, clock, end);
  return t;
}

trace store::take(const clock_mapping& clock, std::uint64_t end) {
  finish(t_, clock, end);
  return std::move(t_);
}

void store::finish(trace& t, const clock_mapping& clock, std::uint64_t end) const {
  end = std::max(end, until_);  // by no more than two cores' clocks differ
  close(t, end);
  convert(t, clock);
  add_spans(t, clock);
  t.begin = begin_of_rest(clock);
  t.end = std::max(t.begin, clock(end));
  add_devices(t, clock);
  share_captured_work(t);
  for (const loss& l : losses()) {
    t.lose(l.what, l.where, l.count);
  }
  t.devices = host_devices();
  t.live_cpu = t.activities.size() != 0 && host_devices_share_cores();
}

// Open ranges and calls have no end yet.
void store::close(trace& t, std::uint64_t end) const {
  for (const log_state& s : logs_) {
    for (const open_entry& entry : s.stack) {
      if (!entry.adopted && entry.range != none) {
        t.ranges[entry.range].end = static_cast<time_ns>(end);
        t.ranges[entry.range].clipped_end = true;
      }
    }
    for (const auto& [correlation, call] : s.calls) {
      t.calls.end[call] = static_cast<time_ns>(end);
    }
  }
  for (const auto& [r, ticks] : ends_elsewhere_) {
    range& ended = t.ranges[r];
    ended.end = std::max(ended.begin, static_cast<time_ns>(std::min(ticks, end)));
    ended.clipped_end = ticks > end;
  }
  for (const auto& [id, request] : requests_) {
    if (request.open) {
      t.ranges[request.range].end = static_cast<time_ns>(end);
      t.ranges[request.range].clipped_end = true;
    }
  }
}

void store::convert(trace& t, const clock_mapping& clock) const {
  const auto to_ns = [&](time_ns& ticks) { ticks = clock(static_cast<std::uint64_t>(ticks)); };
  // What was recorded in the moment before the window began is of its beginning.
  const auto within = [&](time_ns& ticks) {
    ticks = std::max(ticks, static_cast<time_ns>(begin_));
    to_ns(ticks);
    ticks = std::max(ticks, least_);
  };
  for (range& r : t.ranges) {
    if (r.kind == range_kind::request) {  // it may have begun long before this window
      r.begin = std::max(r.begin, static_cast<time_ns>(session_begin_));
      to_ns(r.begin);
    } else {
      within(r.begin);
    }
    within(r.end);
  }
  for (auto* column : {&t.calls.begin, &t.calls.end}) {
    std::for_each(column->begin(), column->end(), within);
  }
  for (auto* column : {&t.activities.begin, &t.activities.end}) {
    std::for_each(column->begin(), column->end(), [&](time_ns& ticks) {
      to_ns(ticks);
      ticks = std::max(ticks, least_);
    });
  }
}

namespace {

/// As few as there are nodes: what runs on one pipe adds up first.
void fit(std::vector<work>& declared, std::size_t nodes) {
  for (std::size_t k = declared.size(); k-- > 1 && declared.size() > nodes;) {
    const auto like =
        std::find_if(declared.begin(), declared.begin() + static_cast<std::ptrdiff_t>(k), [&](const work& w) {
          return common_pipe(w, declared[k]) != math_pipe::mixed || w.pipe == math_pipe::mixed;
        });
    if (like != declared.begin() + static_cast<std::ptrdiff_t>(k)) {
      *like += declared[k];
      declared.erase(declared.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  for (; declared.size() > nodes && nodes > 0; declared.pop_back()) {
    declared[nodes - 1] += declared.back();
  }
}

}  // namespace

// Where several tell of a range, the most trusted counts; calls' shapes do not inside of a range that the
// engine has told of.
std::unordered_map<std::uint32_t, store::captured_work> store::captured_work_of(
    const trace& t, const std::unordered_map<std::uint32_t, std::size_t>& nodes) const {
  std::unordered_map<std::uint32_t, captured_work> by_range;
  for (const auto& [range, count] : nodes) {
    by_range.try_emplace(range);
  }
  for (const range_work& w : t.works) {
    if (const auto found = by_range.find(w.range); found != by_range.end() && w.source <= found->second.by) {
      if (w.source < found->second.by) {
        found->second = {w.source, {}};
      }
      found->second.declared.push_back(w.declared);
    }
  }
  const auto engine_around = [&](std::uint32_t range) {
    for (std::uint32_t up = t.ranges[range].parent; up < range; range = up, up = t.ranges[up].parent) {
      const auto found = by_range.find(up);
      if (found != by_range.end() && t.ranges[up].kind != range_kind::phase &&
          found->second.by == work_source::engine && !found->second.declared.empty()) {
        return true;
      }
    }
    return false;
  };
  std::vector<std::uint32_t> told_around;
  for (auto& [range, work] : by_range) {
    if (work.by == work_source::shapes && engine_around(range)) {
      told_around.push_back(range);
    }
    fit(work.declared, nodes.at(range));
  }
  for (const std::uint32_t range : told_around) {
    by_range[range].declared.clear();
  }
  return by_range;
}

// Work declared for a captured range belongs to all of its nodes. Each declaration is one operator's: a node
// carries it, as far as there are some, in each executable that has a clone of that. So sums are right, and
// roofs, which are sums over operators.
void store::share_captured_work(trace& t) const {
  std::unordered_map<std::uint32_t, std::size_t> counts;
  for (const auto& [range, nodes] : carriers_) {
    counts.emplace(range, nodes.size());
  }
  const auto by_range = captured_work_of(t, counts);
  for (std::size_t n = 0; n < captures_.size(); ++n) {
    const auto found = by_range.find(captures_[n].range);
    if (found != by_range.end() && captures_[n].part < found->second.declared.size()) {
      t.graph_nodes[n].declared = found->second.declared[captures_[n].part];
      t.graph_nodes[n].told_by = found->second.by;
    }
  }
}

std::vector<loss> store::losses() const {
  log_counts sum;
  for (std::uint32_t number = 1; number <= logs_.size(); ++number) {
    thread_log* const log = registry.find(number);
    if (log == nullptr) {
      continue;
    }
    const log_counts now = read_counts(*log);
    const log_counts& before = logs_[number - 1].before;
    sum.dropped_ranges += now.dropped_ranges - before.dropped_ranges;
    sum.deep_ranges += now.deep_ranges - before.deep_ranges;
    sum.dropped_events += now.dropped_events - before.dropped_events;
    sum.dropped_aliases += now.dropped_aliases - before.dropped_aliases;
    sum.foreign_ends += now.foreign_ends - before.foreign_ends;
    sum.failed_work += now.failed_work - before.failed_work;
  }
  const std::pair<std::uint64_t, const char*> all[] = {
      {sum.dropped_ranges, "ranges dropped: marker memory full (raise session_options::marker_memory)"},
      {sum.deep_ranges, "ranges dropped: nested deeper than 512"},
      {sum.dropped_events, "attributes, calls or activities dropped: marker memory full"},
      {sum.dropped_aliases, "ids of calls inside calls dropped: marker memory full"},
      {sum.foreign_ends, "range ends ignored: not on the thread that began the range"},
      {sum.failed_work,
       "work declarations that threw an exception, or calls of cuBLAS with types that are not known"},
      {over_memory_[lost_ranges], "ranges not kept: trace memory full (raise session_options::trace_memory)"},
      {over_memory_[lost_calls], "calls not kept: trace memory full (raise session_options::trace_memory)"},
      {over_memory_[lost_activities],
       "activities not kept: trace memory full (raise session_options::trace_memory)"},
      {over_memory_[lost_details],
       "attributes, work, graph nodes or calls' ids not kept: trace memory full (raise "
       "session_options::trace_memory)"},
      {unknown_ranges_, "attributes or handed-over work of a range that was not recorded"},
      {unknown_requests_ + (last_ ? early_ends_.size() : 0),  // else their begin may be to come
       "ends of requests that began before the session or were not kept"},
      {last_ ? early_links_.size() : 0,
       "passes that served requests that began before the session or were not kept"},
      {ended_open_, "ranges still open when their thread ended"},
      {late_, "activities whose records came after their pass had been taken"},
      {labels_of_graphs().without_path(),
       "graph nodes captured without their label: there are more label paths than are kept (varve::disarm() "
       "and varve::arm() forget those of graphs before)"},
      {refused_threads_, "threads without a log: too many at once, or no memory"},
  };
  std::vector<loss> out;
  for (const auto& [count, what] : all) {
    if (count != 0) {
      out.push_back({what, "markers", count});
    }
  }
  return out;
}

}  // namespace varve::record
