// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What is finished leaves the store, as a trace of its own; the store goes on with the rest.
#include "record/cut.hpp"
#include "record/graph_labels.hpp"
#include "record/row_copy.hpp"
#include "record/store.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace varve::record {

/// What stays, in new tables.
struct store::remainder {
  trace t;
  std::uint64_t begin = 0;
  std::deque<log_state> logs;
  std::unordered_map<std::uint64_t, std::uint16_t> streams;
  std::unordered_map<std::uint64_t, node_rows> nodes;
  std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> carriers;
  std::unordered_map<std::uint64_t, captured_work> taken_captures;
  std::vector<std::uint32_t> last_works;
  std::vector<std::uint32_t> works_before;
  activity_columns device_activities;
  std::size_t unresolved = 0;
  std::vector<kept_span> spans;
  std::vector<capture> captures;
  std::unordered_map<std::uint64_t, request_state> requests;
  std::unordered_multimap<std::uint64_t, std::uint32_t> early_links;
  std::unordered_map<std::uint32_t, std::uint64_t> ends_elsewhere;
  std::uint64_t late = 0;
};

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

trace store::take_finished(const clock_mapping& clock, std::uint64_t end,
                           const std::vector<std::uint64_t>& awaited) {
  trace all = copy(clock, end);
  const cut c{all, held(awaited), used_ > memory_ / 4};
  trace out;
  out.begin = all.begin;
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
  become(rest_of_cut(c, all));
  taken_until_ = out.end;
  least_ = c.overlaps() ? 0 : out.end;
  return out;
}

// Times of what stays are ticks again, or of the devices' clock: by index it is the same as in `all`.
store::remainder store::rest_of_cut(const cut& c, const trace& all) const {
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
    stays[i] = !c.takes(call, device_activities_.begin[i]);
    rest.unresolved += stays[i] && i < unresolved_ ? 1U : 0U;
    const time_ns ended = device_activities_.end[i];
    rest.late += !stays[i] && !c.knows(call) && ended != 0 && ended <= all.begin ? 1U : 0U;
  }
  copy.activities(device_activities_, stays, rest.device_activities);
  for (const memory_event& m : t_.memory_events) {
    if (m.at >= c.at()) {
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
    rest.streams.emplace(where, copy.stream(row));
  }
  keep_services(rest, copy, all);
  keep_captures(rest, copy, c);
  keep_logs(rest, copy);
  return rest;
}

// Of a request that goes on, passes that go have served: when the first and the last of them ended, and how
// many they are, is remembered.
void store::keep_services(remainder& rest, const row_copy& copy, const trace& all) const {
  std::unordered_map<std::uint32_t, time_ns> ends;  // of those passes, with their work on devices
  const auto is_split = [&](const request_link& l) {
    return copy.range(l.request) != none && copy.range(l.pass) == none;
  };
  for (const request_link& l : all.requests) {
    if (is_split(l)) {
      ends.emplace(l.pass, all.ranges[l.pass].end);
    }
  }
  if (ends.empty()) {
    return;
  }
  std::unordered_map<std::uint32_t, std::uint32_t> range_of;  // by correlation
  for (std::size_t c = 0; c < all.calls.size(); ++c) {
    range_of.emplace(all.calls.correlation[c], all.calls.range[c]);
  }
  for (std::size_t a = 0; a < all.activities.size(); ++a) {
    const auto call = range_of.find(all.activities.correlation[a]);
    std::uint32_t r = call != range_of.end() ? call->second : none;
    while (r < all.ranges.size() && ends.find(r) == ends.end()) {
      r = all.ranges[r].parent;
    }
    if (const auto pass = ends.find(r); pass != ends.end()) {
      pass->second = std::max(pass->second, all.activities.end[a]);
    }
  }
  std::vector<earlier_service>& known = rest.t.earlier_services;
  std::unordered_map<std::uint32_t, std::size_t> rows;
  for (std::size_t k = 0; k < known.size(); ++k) {
    rows.emplace(known[k].request, k);
  }
  std::set<std::pair<std::uint32_t, std::uint32_t>> counted;
  for (const request_link& l : all.requests) {
    if (!is_split(l) || !counted.emplace(l.request, l.pass).second) {
      continue;
    }
    const std::uint32_t request = copy.range(l.request);
    const time_ns begin = all.ranges[l.pass].begin;
    const time_ns end = ends.at(l.pass);
    const auto [row, is_new] = rows.emplace(request, known.size());
    if (is_new) {
      known.push_back({request, 0, begin, end, end});
    }
    earlier_service& s = known[row->second];
    ++s.passes;
    if (begin < s.first_begin) {
      s.first_begin = begin;
      s.first_end = end;
    }
    s.last_end = std::max(s.last_end, end);
  }
}

// Nodes carry work of the ranges that they were captured in. Of those that go, it is settled now, also for
// nodes that nothing has been heard of so far.
void store::keep_captures(remainder& rest, row_copy& copy, const cut& c) const {
  std::unordered_map<std::uint32_t, std::size_t> counts;
  for (const auto& [range, nodes] : carriers_) {
    counts.emplace(range, nodes.size());
    if (copy.range(range) != none) {
      rest.carriers.emplace(copy.range(range), nodes);
    }
  }
  const auto captures = labels_of_graphs().captures();
  std::vector<std::pair<std::uint64_t, std::uint32_t>> gone;
  for (const auto& [token, nodes] : captures) {
    const std::uint32_t range = known_range(token).value_or(none);
    if (range < c.ranges().size() && c.ranges()[range]) {
      counts[range] = std::max(counts[range], nodes);
      gone.emplace_back(token, range);
    } else if (const auto before = taken_captures_.find(token); before != taken_captures_.end()) {
      rest.taken_captures.insert(*before);
    }
  }
  const auto works = captured_work_of(t_, counts);
  for (const auto& [token, range] : gone) {
    if (works.at(range).declared.empty()) {
      continue;
    }
    captured_work& taken = rest.taken_captures[token] = works.at(range);
    if (const auto met = carriers_.find(range); met != carriers_.end()) {
      taken.nodes = met->second;
    }
  }
  // Others are asked for anew if they come again.
  std::vector<bool> ran(t_.graph_nodes.size() + 1, false);
  for (const activity_columns* const a : {&t_.activities, &device_activities_}) {
    for (const std::uint32_t n : a->node) {
      ran[std::min<std::size_t>(n, t_.graph_nodes.size())] = true;
    }
  }
  for (const auto& [id, rows] : nodes_) {
    if (ran[rows.row] && labels_of_graphs().knows(id)) {
      rest.nodes.emplace(id, node_rows{rows.version, copy.node(rows.row), copy.node(rows.newest)});
    }
  }
  rest.captures.resize(rest.t.graph_nodes.size());
  for (std::uint32_t row = 0; row < captures_.size(); ++row) {
    const std::uint32_t n = copy.copied_node(row);
    if (n == none) {
      continue;
    }
    const capture& was = captures_[row];
    rest.captures[n] = {copy.range(was.range), was.part, copy.copied_node(was.older)};
    const auto work = copy.range(was.range) == none ? works.find(was.range) : works.end();
    if (work != works.end() && was.part < work->second.declared.size()) {
      rest.t.graph_nodes[n].declared = work->second.declared[was.part];
      rest.t.graph_nodes[n].told_by = work->second.by;
    }
  }
}

void store::keep_logs(remainder& rest, row_copy& copy) const {
  rest.last_works.assign(rest.t.ranges.size(), none);
  for (std::uint32_t w = 0; w < rest.t.works.size(); ++w) {
    std::uint32_t& last = rest.last_works[rest.t.works[w].range];
    rest.works_before.push_back(std::exchange(last, w));
  }
  rest.logs = logs_;
  for (log_state& s : rest.logs) {
    s.thread = copy.thread(s.thread);
    // What stays of before the cut, as captures under way, is looked for one by one; what came since by
    // serial.
    std::size_t first = s.ranges.size();
    for (std::size_t k = s.ranges.size(); k-- > 0;) {
      const std::uint32_t was = s.ranges[k];
      s.ranges[k] = copy.range(was);
      if (s.ranges[k] != none && static_cast<std::uint64_t>(t_.ranges[was].begin) >= rest.begin) {
        first = k;
      }
    }
    const auto begin = s.ranges.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<std::pair<std::uint64_t, std::uint32_t>> old;
    for (const auto& [serial, was] : s.old) {
      if (copy.range(was) != none) {
        old.emplace_back(serial, copy.range(was));
      }
    }
    for (std::size_t k = 0; k < first; ++k) {
      if (s.ranges[k] != none) {
        old.emplace_back(s.first_serial + k, s.ranges[k]);
      }
    }
    s.old = std::move(old);
    s.ranges.erase(s.ranges.begin(), begin);
    s.first_serial += first;
    for (open_entry& entry : s.stack) {
      entry.range = copy.range(entry.range);
      entry.label = copy.label(entry.label);
    }
    for (auto& [correlation, call] : s.calls) {
      call = copy.call(call);
    }
    s.calls.erase(
        std::remove_if(s.calls.begin(), s.calls.end(), [](const auto& c) { return c.second == none; }),
        s.calls.end());
  }
  for (const auto& [id, request] : requests_) {
    if (copy.range(request.range) != none) {
      rest.requests.emplace(id, request_state{copy.range(request.range), request.open});
    }
  }
  for (const auto& [id, pass] : early_links_) {
    if (copy.range(pass) != none) {
      rest.early_links.emplace(id, copy.range(pass));
    }
  }
  for (const auto& [range, ticks] : ends_elsewhere_) {
    if (copy.range(range) != none) {
      rest.ends_elsewhere.emplace(copy.range(range), ticks);
    }
  }
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
  for (const auto& [token, taken] : taken_captures_) {
    used_ += bytes_of_request + taken.declared.size() * sizeof(work) + taken.nodes.size() * sizeof(token);
  }
  full_ = used_ > memory_;
}

}  // namespace varve::record
