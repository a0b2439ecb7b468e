// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Capture, executables and replays: the graphs of virtual_simulation.hpp.
#include <stdexcept>

#include "virtual_simulation.hpp"

namespace virtual_device {

using varve::call_kind;

std::vector<step> simulation::path_of(ref range) const {
  std::vector<step> path;
  for (; range != none; range = out_.ranges[range].parent) {
    path.insert(path.begin(), out_.ranges[range].label);
  }
  return path;
}

void simulation::add_node(capture_state& capture, const job& j, ref stream, ref range) {
  graph_state& g = graphs_[capture.graph];
  // The first node of a range carries its work.
  const bool carries = range != none && !out_.ranges[range].declared.empty() && carried_.insert(range).second;
  g.nodes.push_back(
      {j, capture.last, stream, path_of(range), carries ? out_.ranges[range].declared : varve::work{}});
  capture.last = {static_cast<ref>(g.nodes.size() - 1)};
}

void simulation::begin_capture(stream s, graph g) {
  graphs_[g.id].origin = s.id;
  captures_[s.id] = {g.id, {}};
}

void simulation::end_capture(stream s) {
  const ref graph = captures_.at(s.id).graph;
  std::erase_if(captures_, [&](const auto& c) { return c.second.graph == graph; });
  std::erase_if(events_, [&](const auto& e) { return e.second.captured.graph == graph; });
}

void simulation::add_child(stream s, graph child, ref range, time_ns cost) {
  add_call(call_kind::graph_build, range, cost);
  capture_state& capture = captures_.at(s.id);
  std::vector<node>& nodes = graphs_[capture.graph].nodes;
  const ref offset = static_cast<ref>(nodes.size());
  std::vector<bool> last(graphs_[child.id].nodes.size(), true);
  for (node n : graphs_[child.id].nodes) {
    for (ref& before : n.after) {
      last[before] = false;
      before += offset;
    }
    if (n.after.empty()) {
      n.after = capture.last;
    }
    if (n.stream == graphs_[child.id].origin) {
      n.stream = s.id;
    }
    nodes.push_back(std::move(n));
  }
  capture.last.clear();
  for (std::size_t n = 0; n < last.size(); ++n) {
    if (last[n]) {
      capture.last.push_back(offset + static_cast<ref>(n));
    }
  }
}

void simulation::instantiate(executable e, graph g, ref range, time_ns cost) {
  add_call(call_kind::graph_build, range, cost);
  executable_state& state = executables_[e.id];
  state.graph = graphs_.at(g.id);
  for (const node& n : state.graph.nodes) {
    state.records.push_back(static_cast<ref>(out_.nodes.size()));
    out_.nodes.push_back({1000 + out_.nodes.size(), n.path, n.declared, clock()});
    if (n.stream != state.graph.origin && state.streams.count(n.stream) == 0) {
      state.streams[n.stream] = static_cast<ref>(out_.streams.size());
      out_.streams.push_back({out_.streams[n.stream].device, 1000 + out_.streams.size()});
      last_.push_back(none);
    }
  }
}

void simulation::update(executable e, graph g, bool stale, ref range, time_ns cost) {
  add_call(call_kind::graph_build, range, cost);
  executable_state& state = executables_.at(e.id);
  const graph_state& from = graphs_.at(g.id);
  if (from.nodes.size() != state.graph.nodes.size()) {
    throw std::logic_error("an update needs as many nodes as the executable has");
  }
  for (std::size_t n = 0; n < from.nodes.size(); ++n) {
    state.graph.nodes[n].work = from.nodes[n].work;
    state.graph.nodes[n].path = from.nodes[n].path;
    state.graph.nodes[n].declared = from.nodes[n].declared;
    const std::uint64_t id = out_.nodes[state.records[n]].id;
    state.records[n] = static_cast<ref>(out_.nodes.size());
    out_.nodes.push_back({id, from.nodes[n].path, from.nodes[n].declared, clock(), true, stale});
  }
}

void simulation::launch_graph(stream s, executable e, ref range, time_ns cost, time_ns submit_after) {
  const ref call = add_call(call_kind::graph_launch, range, cost);
  out_.calls[call].stream = s.id;
  const executable_state& state = executables_.at(e.id);
  item entry;
  entry.ready = out_.calls[call].begin + submit_after;
  const ref first = in_stream_order(entry, s);
  std::vector<ref> all;
  for (std::size_t n = 0; n < state.graph.nodes.size(); ++n) {
    const node& what = state.graph.nodes[n];
    const ref on = what.stream == state.graph.origin ? s.id : state.streams.at(what.stream);
    item i = item_of(what.work, add_activity(what.work, on, call, state.records[n]));
    if (what.after.size() == 1 && what.work.what.early >= 0) {
      all.push_back(new_item(std::move(i), {}, all[what.after[0]], what.work.what.early));
    } else {
      std::vector<ref> after{first};
      for (const ref before : what.after) {
        after.push_back(all[before]);
      }
      all.push_back(new_item(std::move(i), after));
    }
  }
  in_stream_order(item{}, s, all);
}

}  // namespace virtual_device
