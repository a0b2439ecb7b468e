// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What events tell beside ranges and calls: attributes, work, activities and their graph nodes, requests.
#include "record/graph_labels.hpp"
#include "record/store.hpp"

#include <algorithm>

namespace varve::record {

namespace {

/// Engines may hand over any number.
math_pipe pipe_of(std::uint64_t number) noexcept {
  return number < math_pipes ? static_cast<math_pipe>(number) : math_pipe::unknown;
}

}  // namespace

void store::attribute(const slot* e) {
  const std::uint32_t r = range_of(e->payload);
  if (r == none || !keep(lost_details, 16)) {
    return;
  }
  switch (const std::uint64_t key = rest_of(*e); key) {
    case key_model:
      if (const std::uint32_t name = name_of(wide_name(e[1])); name != none) {
        t_.models.push_back({r, name});
      } else {
        ++over_memory_[lost_details];
      }
      break;
    case key_sequence:
      t_.sequences.push_back({r, e[1].payload != 0, static_cast<std::uint32_t>(e[1].head >> 32U),
                              static_cast<std::uint32_t>(e[1].head)});
      break;
    case key_serves:
      if (const auto found = requests_.find(e[1].head);
          found != requests_.end() && found->second.range != none) {
        t_.requests.push_back({found->second.range, r});
      } else if (keep(lost_details, bytes_of_request)) {
        early_links_.emplace(e[1].head, r);
      }
      break;
    case key_ended:
      if (keep(lost_details, bytes_of_request) && ends_elsewhere_.try_emplace(r, e[1].head).second) {
        ended_open_ -= t_.ranges[r].clipped_end ? 1U : 0U;  // its thread has ended
      }
      break;
    default:
      t_.attributes.push_back({r, static_cast<varve_attribute>(key), static_cast<std::int64_t>(e[1].head)});
  }
}

void store::add_work(const slot* e) {
  const std::uint32_t r = range_of(e->payload);
  if (r == none) {
    return;
  }
  const std::size_t more = r < last_works_.size() ? 0 : t_.ranges.size() - last_works_.size();
  if (keep(lost_details, sizeof(range_work) + (1 + more) * sizeof(std::uint32_t))) {
    last_works_.resize(last_works_.size() + more, none);
    works_before_.push_back(last_works_[r]);
    t_.works.push_back({r,
                        {static_cast<std::int64_t>(e[1].head), static_cast<std::int64_t>(e[1].payload),
                         static_cast<std::int64_t>(e[2].head), static_cast<std::int64_t>(e[2].payload),
                         pipe_of(rest_of(*e) & ~work_by_shapes)},
                        (rest_of(*e) & work_by_shapes) != 0 ? work_source::shapes : work_source::engine});
    last_works_[r] = static_cast<std::uint32_t>(t_.works.size() - 1);
  }
}

void store::add_activity(const slot* e) {
  const std::uint32_t name = name_of(reinterpret_cast<const char*>(e->payload));
  if (!keep(lost_activities, bytes_of_activity)) {
    return;
  }
  const std::uint64_t where = rest_of(*e);  // device and stream
  auto stream = streams_.find(where);
  if (stream == streams_.end() && streams_.size() < other_streams) {
    const std::uint16_t row = stream_of({static_cast<std::uint32_t>(where >> 32U), 0, where & 0xFFFF'FFFFU});
    stream = streams_.emplace(where, row).first;
  }
  activity a;
  a.begin = static_cast<time_ns>(e[1].head);
  a.end = static_cast<time_ns>(e[1].payload);
  a.correlation = static_cast<std::uint32_t>(e[2].head >> 32U);
  a.kind = static_cast<activity_kind>(e[2].head & 0xFFU);
  a.name = name;
  a.node = e[2].payload != 0 ? node_of(e[2].payload, a.correlation) : none;
  a.stream = stream != streams_.end() ? stream->second : other_streams;
  streamless_ += a.stream == other_streams ? 1U : 0U;
  if (a.kind == activity_kind::copy || a.kind == activity_kind::set) {
    a.detail = t_.intern_bytes(static_cast<std::int64_t>(e[3].head));
  }
  t_.add_activity(a);
}

// Work may be to come of a range that is open. Of closed ones the nodes are taken to be as many.
bool store::carry_the_same(const capture& a, const capture& b) const noexcept {
  const auto is_open = [&](const capture& c) { return c.range != none && t_.ranges[c.range].end == 0; };
  if (is_open(a) || is_open(b)) {
    return false;
  }
  const auto last_of = [&](const capture& c) {
    return c.range < last_works_.size() ? last_works_[c.range] : none;
  };
  std::uint32_t of_a = last_of(a);
  std::uint32_t of_b = last_of(b);
  bool same = a.part == b.part;
  std::uint32_t parts_of_a = 0;
  std::uint32_t parts_of_b = 0;
  while (of_a != none || of_b != none) {
    same = same && of_a != none && of_b != none && t_.works[of_a].declared == t_.works[of_b].declared;
    const auto step = [&](std::uint32_t& w, std::uint32_t& parts) {
      parts += w != none ? 1 : 0;
      w = w != none ? works_before_[w] : none;
    };
    step(of_a, parts_of_a);
    step(of_b, parts_of_b);
  }
  return same || (a.part >= parts_of_a && b.part >= parts_of_b);
}

// Of the node's latest rows one that tells the same, or none.
std::uint32_t store::row_like(const graph_node& n, const capture& c) const {
  constexpr int most = 16;
  std::uint32_t row = c.older;
  for (int i = 0; row != none && i < most; ++i, row = captures_[row].older) {
    const graph_node& known = t_.graph_nodes[row];
    if (known.label == n.label && known.stale == n.stale && known.declared == n.declared &&
        carry_the_same(captures_[row], c)) {
      return row;
    }
  }
  return none;
}

// The nodes that were captured in a range, in the order in which they are met, carry its declarations.
bool store::find_part(std::vector<std::uint64_t>& nodes, std::uint64_t origin, std::uint32_t& part) {
  constexpr std::size_t most = 64;  // more than a range has operators by far
  const auto found = std::find(nodes.begin(), nodes.end(), origin);
  part = static_cast<std::uint32_t>(found - nodes.begin());
  if (found == nodes.end() && nodes.size() < most) {
    if (!keep(lost_details, sizeof origin)) {
      return false;
    }
    nodes.push_back(origin);
  }
  return true;
}

// A node that was captured before the session has its labels, and no range to take work from.
bool store::place_in_capture(std::uint64_t token, std::uint64_t origin, capture& c, graph_node& n) {
  if (token == 0 || token_log(token) > logs_.size()) {
    return true;
  }
  c.range = find_range(token).value_or(none);
  if (c.range != none) {
    auto range = carriers_.find(c.range);
    if (range == carriers_.end()) {
      if (!keep(lost_details, bytes_of_request)) {
        return false;
      }
      range = carriers_.try_emplace(c.range).first;
    }
    return find_part(range->second, origin, c.part);
  }
  const auto gone = taken_captures_.find(token);
  if (gone == taken_captures_.end()) {
    return true;
  }
  const bool placed = find_part(gone->second.nodes, origin, c.part);
  if (placed && c.part < gone->second.declared.size()) {
    n.declared = gone->second.declared[c.part];
    n.told_by = gone->second.by;
  }
  return placed;
}

// An engine may update a graph before each pass: what differs in nothing that is told has one row.
std::uint32_t store::node_of(std::uint64_t id, std::uint32_t correlation) {
  const std::uint64_t version = labels_of_graphs().version(id, correlation);
  if (const auto known = nodes_.find(id); known != nodes_.end() && known->second.version == version) {
    return known->second.row;
  }
  if (!keep(lost_details, 0)) {
    return none;
  }
  graph_node n;
  n.id = id;
  const graph_labels::origin from = labels_of_graphs().resolve(id, version, t_, n);
  capture c{none, 0, none};
  if (!place_in_capture(from.range, from.node, c, n)) {
    return none;
  }
  const auto known = nodes_.find(id);
  c.older = known != nodes_.end() ? known->second.newest : none;
  std::uint32_t row = row_like(n, c);
  std::uint32_t newest = c.older;
  if (row == none) {
    if (!keep(lost_details, bytes_of_node)) {
      return none;
    }
    captures_.push_back(c);
    t_.graph_nodes.push_back(n);
    row = static_cast<std::uint32_t>(t_.graph_nodes.size() - 1);
    newest = row;
  }
  nodes_.insert_or_assign(id, node_rows{version, row, newest});
  return row;
}

// A request may begin on one thread, be served by another and end on a third, whose logs are read in any
// order.
void store::add_request(const slot* e, std::uint64_t ticks) {
  const std::uint64_t id = e->payload;
  if (e[1].head == 0) {
    end_request(id, ticks);
    return;
  }
  const std::uint32_t name = name_of(wide_name(e[1]));
  if (full_ || used_ + sizeof(range) + sizeof(std::uint32_t) + bytes_of_label + bytes_of_request > memory_) {
    full_ = true;
    ++over_memory_[lost_ranges];
    return;
  }
  used_ += bytes_of_label + bytes_of_request;
  const auto [link, end] = early_links_.equal_range(id);
  if (link != end) {
    t_.requests.reserve(t_.requests.size() + static_cast<std::size_t>(std::distance(link, end)));
  }
  request_state& made = requests_.try_emplace(id, request_state{none, false}).first->second;
  range r;
  r.begin = static_cast<time_ns>(ticks);
  r.kind = range_kind::request;
  r.label = t_.labels.intern({none, name, wide_index(e[1]), range_kind::request});
  const std::uint32_t added = add_range(r);
  made = {added, true};
  for (auto l = link; l != end; ++l) {
    t_.requests.push_back({added, l->second});
  }
  early_links_.erase(link, end);
  if (const auto early = early_ends_.find(id); early != early_ends_.end()) {
    end_request(id, early->second);
    early_ends_.erase(early);
  }
}

void store::end_request(std::uint64_t id, std::uint64_t ticks) {
  const auto found = requests_.find(id);
  if (found != requests_.end()) {
    if (found->second.open) {
      t_.ranges[found->second.range].end = static_cast<time_ns>(ticks);
      found->second.open = false;
    }
  } else if (used_ + bytes_of_request <= memory_) {
    used_ += bytes_of_request;
    early_ends_.emplace(id, ticks);
  } else {
    ++unknown_requests_;
  }
}

}  // namespace varve::record
