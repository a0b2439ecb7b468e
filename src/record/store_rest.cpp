// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What is remembered of passes that are taken for what stays: requests that they served, graphs that they
// captured, and ranges that threads still speak of.
#include "record/store_rest.hpp"

#include "record/cut.hpp"
#include "record/graph_labels.hpp"
#include "record/row_copy.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace varve::record {

// Of a request that goes on, passes that go have served: when the first and the last of them ended, and how
// many they are, is remembered.
void store::keep_services(remainder& rest, const row_copy& copy, const cut& c, const trace& all) const {
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
  for (std::size_t a = 0; a < all.activities.size(); ++a) {
    const std::uint32_t call = c.call_of(all.activities.correlation[a]);
    std::uint32_t r = call != none ? all.calls.range[call] : none;
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
    captured_work& work = rest.taken_captures[token] = works.at(range);
    if (const auto met = carriers_.find(range); met != carriers_.end()) {
      work.nodes = met->second;
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

void store::keep_logs(remainder& rest, row_copy& copy, const cut& c) const {
  rest.last_works.assign(rest.t.ranges.size(), none);
  for (std::uint32_t w = 0; w < rest.t.works.size(); ++w) {
    std::uint32_t& last = rest.last_works[rest.t.works[w].range];
    rest.works_before.push_back(std::exchange(last, w));
  }
  rest.logs = logs_;
  for (log_state& s : rest.logs) {
    s.thread = copy.thread(s.thread);
    std::vector<std::pair<std::uint64_t, std::uint32_t>> old;
    const auto keep_old = [&](std::uint64_t serial, std::uint32_t now) {
      if (now != none && now != taken) {
        old.emplace_back(serial, now);
      }
    };
    for (const auto& [serial, was] : s.old) {
      keep_old(serial, copy.range(was));
    }
    // What stays of before the cut, as captures under way, is looked for one by one; what came since by
    // serial, unless there was no memory for some.
    const bool complete = s.first_serial + s.ranges.size() == s.next_serial;
    std::size_t first = s.ranges.size();
    for (std::size_t k = s.ranges.size(); k-- > 0;) {
      const std::uint32_t was = s.ranges[k];
      const std::uint32_t now = copy.range(was);
      s.ranges[k] = now != none ? now : was < c.ranges().size() ? taken : was;
      if (complete && now != none && static_cast<std::uint64_t>(t_.ranges[was].begin) >= rest.begin) {
        first = k;
      }
    }
    for (std::size_t k = 0; k < first; ++k) {
      keep_old(s.first_serial + k, s.ranges[k]);
    }
    s.old = std::move(old);
    s.ranges.erase(s.ranges.begin(), s.ranges.begin() + static_cast<std::ptrdiff_t>(first));
    s.first_serial = complete ? s.first_serial + first : s.next_serial;
    s.stack.reserve(s.current ? thread_log::max_depth : 0);  // as enter_epoch() has it
    for (open_entry& entry : s.stack) {
      entry.range = copy.range(entry.range);
      entry.label = copy.label(entry.label);
    }
    for (auto& [correlation, call] : s.calls) {
      call = copy.call(call);
    }
    s.calls.erase(
        std::remove_if(s.calls.begin(), s.calls.end(), [](const auto& open) { return open.second == none; }),
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

}  // namespace varve::record
