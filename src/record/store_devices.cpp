// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Activities that come from a source of devices, in batches.
#include "record/store.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace varve::record {

namespace {

/// Kernels are called as in their source.
std::string demangled(std::string_view name) {
  std::string text{name};
  if (text.compare(0, 2, "_Z") != 0) {
    return text;
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain{
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free};
  return plain != nullptr ? plain.get() : text;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

// A row that there is no memory for is `none` here, and what needs it is not kept.
void store::take_over(trace& batch) noexcept {
  for (std::size_t i = 0; i < batch.activities.size(); ++i) {
    try {
      add_device_activity(batch, i);
    } catch (...) {
      starve();
      ++over_memory_[lost_activities];
    }
  }
  batch.activities.resize(0);  // keeps its memory
  for (const memory_event& m : batch.memory_events) {
    try {
      if (keep(lost_details, sizeof m)) {
        t_.memory_events.push_back(m);
      }
    } catch (...) {
      starve();
      ++over_memory_[lost_details];
    }
  }
  batch.memory_events.clear();
}

std::uint16_t store::stream_of(const stream_info& stream) {
  return t_.streams.size() < other_streams && has_room(bytes_of_stream) ? t_.intern_stream(stream)
                                                                        : other_streams;
}

// Rows of the tables come with the first activity that needs them.
void store::add_device_activity(const trace& batch, std::size_t i) {
  activity_columns& to = device_activities_;
  const activity_columns& from = batch.activities;
  while (device_streams_.size() <= from.stream[i] && device_streams_.size() < batch.streams.size()) {
    device_streams_.push_back(stream_of(batch.streams[device_streams_.size()]));
  }
  while (device_names_.size() <= from.name[i]) {
    const std::string_view text = batch.strings[static_cast<std::uint32_t>(device_names_.size())];
    device_names_.push_back(has_room(bytes_of_text + 3 * text.size()) ? t_.strings.intern(demangled(text))
                                                                      : none);
  }
  const bool kernel = from.kind[i] == activity_kind::kernel;
  if (from.detail[i] != none) {
    while (kernel && device_shapes_.size() <= from.detail[i]) {
      const launch_shape& shape = batch.shapes[device_shapes_.size()];
      device_shapes_.push_back(has_room(bytes_of_shape) ? t_.intern_shape(shape) : none);
    }
    while (!kernel && device_bytes_.size() <= from.detail[i]) {
      const std::int64_t bytes = batch.bytes[device_bytes_.size()];
      device_bytes_.push_back(has_room(bytes_of_shape) ? t_.intern_bytes(bytes) : none);
    }
  }
  if (!keep(lost_activities, bytes_of_activity)) {
    return;
  }
  // May read on in the logs, and find no memory there: before the row is begun.
  const std::uint32_t node =
      from.node[i] != none ? node_of(batch.graph_nodes[from.node[i]].id, from.correlation[i]) : none;
  to.begin.push_back(from.begin[i]);
  to.end.push_back(from.end[i]);
  to.correlation.push_back(from.correlation[i]);
  to.name.push_back(device_names_[from.name[i]]);
  to.node.push_back(node);
  to.detail.push_back(from.detail[i] == none ? none
                      : kernel               ? device_shapes_[from.detail[i]]
                                             : device_bytes_[from.detail[i]]);
  const std::uint16_t stream =
      from.stream[i] < device_streams_.size() ? device_streams_[from.stream[i]] : other_streams;
  streamless_ += stream == other_streams ? 1U : 0U;
  to.stream.push_back(stream);
  to.kind.push_back(from.kind[i]);
}

// Between a drain and this a pass may have begun and ended: what tells of it waits until that is read.
template <class Told, class Add>
void store::take_told(const std::vector<Told>& told, std::uint64_t Told::*token, std::vector<Told>& early,
                      const Add& add) noexcept {
  const std::vector<Told> waited = std::exchange(early, {});
  for (const std::vector<Told>* const some : {&waited, &told}) {
    for (const Told& one : *some) {
      try {
        if (!reach(one.*token)) {
          early.push_back(one);
        } else if (const std::uint32_t range = range_of(one.*token); range != none) {
          add(one, range);
        }
      } catch (...) {
        starve();
        ++over_memory_[lost_details];
      }
    }
  }
}

void store::take_over(const std::vector<device_span>& spans) noexcept {
  take_told(spans, &device_span::pass, early_spans_, [this](const device_span& s, std::uint32_t pass) {
    if (keep(lost_details, sizeof(kept_span))) {
      spans_.push_back({s.ticks, {s.begin, s.end, pass, t_.intern_stream(s.stream)}});
    }
  });
}

void store::take_over(const std::vector<counted_range>& counts) noexcept {
  take_told(counts, &counted_range::token, early_counts_,
            [this](const counted_range& c, std::uint32_t range) {
              if (keep(lost_details, sizeof(range_count))) {
                t_.counts.push_back(c.count);
                t_.counts.back().range = range;
              }
            });
}

void store::resolve_aliases(std::vector<std::uint32_t>& correlations, std::size_t first) const {
  if (aliases_.bytes() != 0) {
    std::for_each(correlations.begin() + static_cast<std::ptrdiff_t>(first), correlations.end(),
                  [&](std::uint32_t& id) { id = aliases_.outer_of(id); });
  }
}

void store::retire() noexcept {
  resolve_aliases(device_activities_.correlation, unresolved_);
  const std::size_t before = aliases_.bytes();
  aliases_.retire();
  used_ -= before - aliases_.bytes();
  ++retired_;
}

void store::add_spans(trace& t, const clock_mapping& clock) const {
  for (const kept_span& s : spans_) {
    const time_ns moment = clock(s.ticks);
    t.event_spans.push_back({moment + s.span.begin, moment + s.span.end, s.span.range, s.span.stream});
  }
}

void store::add_devices(trace& t, const clock_mapping& clock) const {
  activity_columns& to = t.activities;
  const std::size_t first = to.size();
  const activity_columns& from = device_activities_;
  append(to.begin, from.begin);
  append(to.end, from.end);
  append(to.correlation, from.correlation);
  append(to.name, from.name);
  append(to.node, from.node);
  append(to.detail, from.detail);
  append(to.stream, from.stream);
  append(to.kind, from.kind);
  resolve_aliases(to.correlation, first + unresolved_);
  if (clock.has_steps()) {
    settle(t, clock, first);
  }
  if (taken_until_) {  // what came late is of this window
    for (memory_event& m : t.memory_events) {
      m.at = std::max(m.at, t.begin);
    }
  }
  remove_outside(t, first);
  std::stable_sort(t.memory_events.begin(), t.memory_events.end(),
                   [](const memory_event& a, const memory_event& b) { return a.at < b.at; });
}

// By how much the device clock had been set when it showed `at`, where no call tells when that was.
time_ns store::steps_at(time_ns at, const trace& t, const clock_mapping& clock) noexcept {
  return clock.steps_until(at, std::max(t.begin, std::min(at, t.end)));
}

// Where the device clock was set, times of after it go on from those of before, as the host's do. When work
// ran is told by its call.
void store::settle(trace& t, const clock_mapping& clock, std::size_t first) {
  std::unordered_map<std::uint32_t, time_ns> called;
  for (std::size_t c = 0; c < t.calls.size(); ++c) {
    called.emplace(t.calls.correlation[c], t.calls.begin[c]);
  }
  activity_columns& all = t.activities;
  for (std::size_t i = first; i < all.size(); ++i) {
    if (all.begin[i] == 0 || all.end[i] == 0) {
      continue;  // no time
    }
    const auto call = called.find(all.correlation[i]);
    const time_ns steps = call != called.end() ? clock.steps_until(all.begin[i], call->second)
                                               : steps_at(all.begin[i], t, clock);
    all.begin[i] -= steps;
    all.end[i] -= steps;
  }
  for (memory_event& m : t.memory_events) {
    m.at -= steps_at(m.at, t, clock);
  }
}

// Of before or after the session is what ended before its window or began after it, and was launched by none
// of its calls. Work that lacks its times is of the session where it may be.
void store::remove_outside(trace& t, std::size_t first) {
  activity_columns& all = t.activities;
  std::vector<bool> out(all.size(), false);
  bool any = false;
  for (std::size_t i = first; i < all.size(); ++i) {
    const bool timed = all.end[i] != 0 && all.end[i] >= all.begin[i];
    out[i] = timed && (all.end[i] <= t.begin || all.begin[i] >= t.end);
    any = any || out[i];
  }
  if (any) {
    const std::unordered_set<std::uint32_t> launched{t.calls.correlation.begin(), t.calls.correlation.end()};
    for (std::size_t i = first; i < all.size(); ++i) {
      out[i] = out[i] && (all.correlation[i] == 0 || launched.count(all.correlation[i]) == 0);
    }
    const auto compact = [&](auto& column) {
      std::size_t kept = first;
      for (std::size_t i = first; i < column.size(); ++i) {
        if (!out[i]) {
          column[kept++] = column[i];
        }
      }
      column.resize(kept);
    };
    compact(all.begin);
    compact(all.end);
    compact(all.correlation);
    compact(all.name);
    compact(all.node);
    compact(all.detail);
    compact(all.stream);
    compact(all.kind);
  }
  const auto outside = [&](const memory_event& m) { return m.at < t.begin || m.at > t.end; };
  t.memory_events.erase(std::remove_if(t.memory_events.begin(), t.memory_events.end(), outside),
                        t.memory_events.end());
}

}  // namespace varve::record
