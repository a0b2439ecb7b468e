// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What is finished leaves the store, as a trace of its own; the store goes on with the rest.
#include "record/cut.hpp"
#include "record/row_copy.hpp"
#include "record/store_rest.hpp"

#include <algorithm>
#include <utility>

namespace varve::record {

// What has been adopted, or will be told more of.
std::vector<std::uint32_t> store::held(const std::vector<std::uint64_t>& awaited) const {
  std::vector<std::uint32_t> out;
  for (const std::uint64_t pass : awaited) {
    out.push_back(known_range(pass).value_or(none));
  }
  for (const log_state& s : logs_) {
    for (const open_entry& entry : s.stack) {
      if (entry.adopted) {
        out.push_back(entry.range);
      }
    }
  }
  return out;
}

void store::renew_tables() noexcept {
  device_names_.clear();
  device_shapes_.clear();
  device_bytes_.clear();
  device_streams_.clear();
}

/// Whether there may be anything to take: else nothing needs to be copied.
bool store::anything_over() const noexcept {
  const auto is_over = [](const range& r) {
    return r.parent == none && r.kind != range_kind::request && r.end != 0;
  };
  return std::any_of(t_.ranges.begin(), t_.ranges.end(), is_over) ||
         std::any_of(t_.calls.range.begin(), t_.calls.range.end(),
                     [](std::uint32_t range) { return range == none; }) ||
         t_.ranges.empty();
}

/// Who marks the loop around passes learns why nothing comes.
void store::note_holder(const clock_mapping& clock, std::uint64_t end) {
  const auto has_been_open = [&](const range& r) {
    return r.kind != range_kind::request && r.kind != range_kind::phase && r.parent == none && r.end == 0 &&
           clock(end) - clock(static_cast<std::uint64_t>(r.begin)) > cut::patience_with_overlap;
  };
  if (std::none_of(t_.ranges.begin(), t_.ranges.end(), has_been_open)) {
    return;
  }
  for (const range& inner : t_.ranges) {
    if (inner.kind != range_kind::phase || inner.parent == none) {
      continue;
    }
    std::uint32_t outermost = inner.parent;
    while (t_.ranges[outermost].parent != none) {
      outermost = t_.ranges[outermost].parent;
    }
    if (has_been_open(t_.ranges[outermost])) {
      ++held_up_;
      holder_ = label_text(t_, t_.ranges[outermost].label);
      return;
    }
  }
}

trace store::take_finished(const clock_mapping& clock, std::uint64_t end,
                           const std::vector<std::uint64_t>& awaited, time_ns settling) {
  trace out;
  out.begin = out.end = begin_of_rest(clock);
  note_holder(clock, end);
  if (!anything_over()) {
    out.losses = losses();
    return out;
  }
  trace all = copy(clock, end);
  const cut c{all, {held(awaited), static_cast<double>(used_) / static_cast<double>(memory_), settling}};
  out.end = c.at();
  out.losses = std::move(all.losses);
  out.devices = std::move(all.devices);
  out.live_cpu = all.live_cpu;
  if (c.at() == all.begin) {
    return out;
  }
  row_copy copy{all, out};
  copy.ranges(c.ranges());
  copy.calls(c.calls());
  const activity_columns& a = all.activities;
  std::vector<bool> goes(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    goes[i] = c.takes(a.correlation[i], a.begin[i]);
  }
  copy.activities(a, goes, out.activities);
  for (const memory_event& m : all.memory_events) {
    if (m.at < c.at()) {
      out.memory_events.push_back(m);
    }
  }
  become(rest_of_cut(c, all, clock));
  taken_until_ = out.end;
  least_ = c.overlaps() ? 0 : out.end;
  return out;
}

// Times of what stays are ticks again, or of the devices' clock, which may have been set since: by index it
// is the same as in `all`.
store::remainder store::rest_of_cut(const cut& c, const trace& all, const clock_mapping& clock) const {
  const auto settled = [&](time_ns at) {
    return clock.has_steps() && at != 0 ? at - steps_at(at, all, clock) : at;
  };
  remainder rest;
  row_copy copy{t_, rest.t};
  std::vector<bool> stays = c.ranges();
  stays.flip();
  copy.ranges(stays);
  rest.begin = std::max(until_, begin_);
  for (std::size_t r = 0; r < stays.size(); ++r) {
    if (stays[r] && t_.ranges[r].parent >= r && t_.ranges[r].kind != range_kind::request) {
      rest.begin = std::min(rest.begin, std::max(begin_, static_cast<std::uint64_t>(t_.ranges[r].begin)));
    }
  }
  stays = c.calls();
  stays.flip();
  copy.calls(stays);
  for (std::size_t i = 0; i < stays.size(); ++i) {
    if (stays[i] && t_.calls.range[i] == none && all.calls.begin[i] >= c.at()) {
      rest.begin = std::min(rest.begin, static_cast<std::uint64_t>(t_.calls.begin[i]));
    }
  }
  stays.assign(t_.activities.size(), true);
  for (std::size_t i = 0; i < stays.size(); ++i) {
    stays[i] = !c.takes(all.activities.correlation[i], all.activities.begin[i]);
  }
  copy.activities(t_.activities, stays, rest.t.activities);
  stays.assign(device_activities_.size(), true);
  for (std::size_t i = 0; i < stays.size(); ++i) {
    const std::uint32_t id = device_activities_.correlation[i];
    const std::uint32_t call = i < unresolved_ ? id : aliases_.outer_of(id);
    stays[i] = !c.takes(call, settled(device_activities_.begin[i]));
    rest.unresolved += stays[i] && i < unresolved_ ? 1U : 0U;
    const time_ns ended = settled(device_activities_.end[i]);
    rest.late +=
        taken_until_ && !stays[i] && c.call_of(call) == none && ended != 0 && ended <= all.begin ? 1U : 0U;
  }
  copy.activities(device_activities_, stays, rest.device_activities);
  for (const memory_event& m : t_.memory_events) {
    if (settled(m.at) >= c.at()) {
      rest.t.memory_events.push_back(m);
    }
  }
  for (kept_span s : spans_) {
    s.span.range = copy.range(s.span.range);
    if (s.span.range != none) {
      s.span.stream = copy.stream(s.span.stream);
      rest.spans.push_back(s);
    }
  }
  for (const auto& [where, row] : streams_) {
    if (copy.copied_stream(row) != narrow_none) {
      rest.streams.emplace(where, copy.copied_stream(row));
    }
  }
  keep_services(rest, copy, c, all);
  keep_captures(rest, copy, c);
  keep_logs(rest, copy, c);
  return rest;
}

void store::become(remainder&& rest) noexcept {
  t_ = std::move(rest.t);
  begin_ = rest.begin;
  logs_ = std::move(rest.logs);
  names_.clear();
  streams_ = std::move(rest.streams);
  nodes_ = std::move(rest.nodes);
  carriers_ = std::move(rest.carriers);
  taken_captures_ = std::move(rest.taken_captures);
  last_works_ = std::move(rest.last_works);
  works_before_ = std::move(rest.works_before);
  device_activities_ = std::move(rest.device_activities);
  unresolved_ = rest.unresolved;
  spans_ = std::move(rest.spans);
  captures_ = std::move(rest.captures);
  requests_ = std::move(rest.requests);
  early_links_ = std::move(rest.early_links);
  ends_elsewhere_ = std::move(rest.ends_elsewhere);
  late_ += rest.late;
  // As keep() counts them, texts of any kind as those of devices.
  used_ = aliases_.bytes() + t_.ranges.size() * (sizeof(range) + 2 * sizeof(std::uint32_t)) +
          t_.labels.size() * bytes_of_label + t_.strings.size() * bytes_of_text +
          t_.calls.size() * bytes_of_call +
          (t_.activities.size() + device_activities_.size()) * bytes_of_activity +
          (t_.shapes.size() + t_.bytes.size()) * bytes_of_shape + t_.streams.size() * bytes_of_stream +
          t_.graph_nodes.size() * bytes_of_node +
          (t_.attributes.size() + t_.models.size() + t_.sequences.size()) * 16 +
          t_.works.size() * (sizeof(range_work) + sizeof(std::uint32_t)) +
          (requests_.size() + early_ends_.size() + early_links_.size() + ends_elsewhere_.size() +
           carriers_.size() + t_.requests.size() + t_.earlier_services.size()) *
              bytes_of_request +
          spans_.size() * sizeof(kept_span) + t_.counts.size() * sizeof(range_count) +
          t_.memory_events.size() * sizeof(memory_event);
  for (const auto& [token, work] : taken_captures_) {
    used_ +=
        bytes_of_request + work.declared.size() * sizeof(varve::work) + work.nodes.size() * sizeof(token);
  }
  full_ = used_ > memory_;
}

}  // namespace varve::record
