// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cupti/graphs.hpp"

#include "cupti/calls.hpp"

#include "record/graph_labels.hpp"
#include "record/log.hpp"
#include "record/registry.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace varve::cupti {

using record::labels_of_graphs;

void graph_book::happened(resource_event what, const graph_data& d) noexcept {
  try {
    switch (what) {
      case resource_event::graph_node_created:
        created(d);
        break;
      case resource_event::graph_node_cloned:
        cloned(d);
        break;
      case resource_event::graph_exec_create_starting: {
        const std::lock_guard lock{mutex_};
        making_[std::this_thread::get_id()].clear();
        break;
      }
      case resource_event::graph_exec_created:
        exec_created(d);
        break;
      case resource_event::graph_node_destroy_starting:
        node_gone(d);
        break;
      case resource_event::graph_destroy_starting:
        owner_gone(graphs_, id_of(d.graph), false);
        break;
      case resource_event::graph_exec_destroy_starting:
        owner_gone(execs_, d.graph_exec, true);
        break;
      default:
        break;
    }
  } catch (const std::bad_alloc&) {
    // its nodes stay without labels, which reports count
  }
}

void graph_book::created(const graph_data& d) {
  const std::uint64_t id = id_of(d.node);
  if (id == 0) {
    return;
  }
  {
    const std::lock_guard lock{mutex_};
    if (making_.find(std::this_thread::get_id()) != making_.end()) {
      return;  // a clone in an executable that is being made: what it is a clone of is told next
    }
  }
  const std::uint32_t graph = id_of(d.graph);
  if (record::this_log != nullptr && record::this_log->depth() != 0) {
    labels_of_graphs().capture(id, *record::this_log);
  }
  const std::lock_guard lock{mutex_};
  ++counted_.nodes;
  add_to_graph(graph, id, d.node_type);
}

void graph_book::cloned(const graph_data& d) {
  const std::uint64_t id = id_of(d.node);
  const std::uint64_t from = id_of(d.original_node);
  if (id == 0) {
    return;
  }
  labels_of_graphs().copy(from, id);
  {
    const std::lock_guard lock{mutex_};
    if (const auto exec = making_.find(std::this_thread::get_id()); exec != making_.end()) {
      const auto origin = graph_nodes_.find(from);
      node n = origin != graph_nodes_.end() ? origin->second : node{};
      n.id = id;
      n.type = d.node_type;
      exec->second.push_back(n);
      return;
    }
  }
  const std::uint32_t graph = id_of(d.graph);
  const std::lock_guard lock{mutex_};
  add_to_graph(graph, id, d.node_type);
}

void graph_book::add_to_graph(std::uint32_t graph, std::uint64_t id, graph_node_type type) {
  nodes_by_order& all = graphs_[graph];
  const node n{id, graph, all.empty() ? 0 : all.rbegin()->first + 1, type};
  all.emplace_hint(all.end(), n.order, n);
  graph_nodes_[id] = n;
}

void graph_book::exec_created(const graph_data& d) {
  owner_gone(execs_, d.graph_exec, true);  // the handle may be one of before, whose end was not told
  const std::lock_guard lock{mutex_};
  const auto found = making_.find(std::this_thread::get_id());
  if (found == making_.end()) {
    return;
  }
  nodes all = std::move(found->second);
  making_.erase(found);
  if (d.graph_exec != nullptr) {
    std::stable_sort(all.begin(), all.end(), [](const node& a, const node& b) { return a.order < b.order; });
    execs_[d.graph_exec] = std::move(all);
  }
}

void graph_book::instantiated() noexcept {
  const std::lock_guard lock{mutex_};
  making_.erase(std::this_thread::get_id());
}

// Nodes of bodies and of child graphs may go with the graph around them: so its own graph is asked for.
void graph_book::node_gone(const graph_data& d) {
  const std::uint64_t id = id_of(d.node);
  bool replayed = true;
  {
    const std::lock_guard lock{mutex_};
    if (const auto found = graph_nodes_.find(id); found != graph_nodes_.end()) {
      replayed = false;
      if (const auto owner = graphs_.find(found->second.source); owner != graphs_.end()) {
        nodes_by_order& all = owner->second;
        const auto place = all.find(found->second.order);
        if (place != all.end() && place->second.id == id) {
          all.erase(place);
        }
        if (all.empty()) {
          graphs_.erase(owner);
        }
      }
      graph_nodes_.erase(found);
    }
  }
  labels_of_graphs().destroy(id, replayed);
}

template <class Owner, class Nodes>
void graph_book::owner_gone(std::unordered_map<Owner, Nodes>& owners, Owner owner, bool replayed) {
  struct id {
    static std::uint64_t of(const node& n) noexcept { return n.id; }
    static std::uint64_t of(const nodes_by_order::value_type& n) noexcept { return n.second.id; }
  };
  Nodes gone;
  {
    const std::lock_guard lock{mutex_};
    const auto found = owners.find(owner);
    if (found == owners.end()) {
      return;
    }
    gone = std::move(found->second);
    owners.erase(found);
    for (const auto& n : gone) {
      graph_nodes_.erase(id::of(n));
    }
  }
  for (const auto& n : gone) {
    labels_of_graphs().destroy(id::of(n), replayed);
  }
}

// Node by node in the order of making, all of one graph and of the same types: else nothing says which is
// which.
bool graph_book::matches(const nodes& exec, const nodes_by_order& graph) noexcept {
  return exec.size() == graph.size() &&
         std::equal(exec.begin(), exec.end(), graph.begin(), [&](const node& a, const auto& b) {
           return a.type == b.second.type && a.source == exec.front().source && a.source != 0;
         });
}

void graph_book::updated(graph_exec_handle exec, graph_handle graph, std::uint32_t correlation) noexcept {
  const std::uint32_t since = std::max(correlation, 1U);
  const std::uint32_t from = id_of(graph);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> same;
  std::vector<std::uint64_t> stale;
  try {
    const std::lock_guard lock{mutex_};
    ++counted_.updates;
    const auto e = execs_.find(exec);
    const auto g = graphs_.find(from);
    if (e == execs_.end()) {
      return;  // older than arming: its nodes have no labels
    }
    const bool known = g != graphs_.end() && matches(e->second, g->second);
    counted_.stale_updates += known ? 0U : 1U;
    auto source = known ? g->second.begin() : nodes_by_order::iterator{};
    for (const node& n : e->second) {
      if (known) {
        same.emplace_back((source++)->second.id, n.id);
      } else {
        stale.push_back(n.id);
      }
    }
  } catch (const std::bad_alloc&) {
    return;
  }
  for (const auto& [source, target] : same) {
    labels_of_graphs().copy(source, target, since);
  }
  for (const std::uint64_t n : stale) {
    labels_of_graphs().mark_stale(n, since);
  }
}

void graph_book::clear() noexcept {
  const std::lock_guard lock{mutex_};
  graphs_.clear();
  execs_.clear();
  making_.clear();
  graph_nodes_.clear();
}

void graph_book::reset_counts() noexcept {
  const std::lock_guard lock{mutex_};
  counted_ = {};
}

graph_book::counts graph_book::counted() const noexcept {
  const std::lock_guard lock{mutex_};
  return counted_;
}

std::size_t graph_book::size() const noexcept {
  const std::lock_guard lock{mutex_};
  std::size_t all = graph_nodes_.size();
  for (const auto& [id, exec] : execs_) {
    all += exec.size();
  }
  return all;
}

std::uint64_t graph_book::id_of(graph_node_handle n) const noexcept {
  std::uint64_t id = 0;
  return n != nullptr && lib_.call.get_graph_node_id != nullptr &&
                 lib_.call.get_graph_node_id(n, &id) == result::success
             ? id
             : 0;
}

std::uint32_t graph_book::id_of(graph_handle g) const noexcept {
  std::uint32_t id = 0;
  return g != nullptr && lib_.call.get_graph_id != nullptr &&
                 lib_.call.get_graph_id(g, &id) == result::success
             ? id
             : 0;
}

}  // namespace varve::cupti
