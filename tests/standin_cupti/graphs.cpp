// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cupti/graphs.hpp"

#include "standin_cupti/callbacks.hpp"
#include "standin_cupti/entry.hpp"
#include "standin_cupti/streams.hpp"

namespace standin {
namespace {

template <class Handle>
Handle take_handle(graph_state& all) {
  return reinterpret_cast<Handle>(all.handles.take());
}

void register_node(graph_state& all, graph_object& in, graph_node& node) {
  node.handle = take_handle<cupti::graph_node_handle>(all);
  node.id = (std::uint64_t{in.id} << 32U) | ++in.nodes_made;
  all.nodes[node.handle] = node.id;
}

void emit_graph(cupti::resource_event what, cupti::graph_data data, std::uint32_t device) {
  const cupti::resource_data resource{context_handle_of(device), nullptr, &data};
  emit(what, &resource);
}

template <class Map, class Handle>
auto find_in(Map& map, Handle handle, const char* what) {
  const auto found = map.find(handle);
  if (found == map.end()) {
    misuse(std::string{"the simulated program uses "} + what + " that is not there");
    return typename Map::mapped_type{};
  }
  return found->second;
}

}  // namespace

std::uintptr_t handle_source::take() {
  if (settings().recycle_handles && !free_.empty()) {
    const std::uintptr_t handle = free_.back();
    free_.pop_back();
    return handle;
  }
  return next_ += 0x40;
}

void handle_source::give_back(std::uintptr_t handle) { free_.push_back(handle); }

graph_state& graphs() {
  static auto& all = *new graph_state;
  return all;
}

std::shared_ptr<graph_object> make_graph(graph_state& all) {
  auto made = std::make_shared<graph_object>();
  made->handle = take_handle<cupti::graph_handle>(all);
  made->id = ++all.last_id;
  all.graphs[made->handle] = made;
  return made;
}

graph_node& make_node(graph_state& all, graph_object& in, const operation& op) {
  graph_node& node = in.nodes.emplace_back();
  node.op = op;
  register_node(all, in, node);
  return node;
}

std::shared_ptr<graph_object> find(graph_state& all, cupti::graph_handle g) {
  return find_in(all.graphs, g, "a graph");
}

std::shared_ptr<exec_object> find(graph_state& all, cupti::graph_exec_handle e) {
  return find_in(all.execs, e, "an executable");
}

void clone_nodes(graph_state& all, const graph_object& from, graph_object& to, const cupti::graph_data& told,
                 std::vector<graph_event>& events) {
  for (const graph_node& source : from.nodes) {
    graph_node copy = source;
    register_node(all, to, copy);
    copy.original = source.handle;
    cupti::graph_data data = told;
    data.node = copy.handle;
    data.original_node = source.handle;
    data.node_type = source.op.node;
    events.push_back({cupti::resource_event::graph_node_cloned, data});
    if (source.inner != nullptr) {
      copy.inner = make_graph(all);
      cupti::graph_data inside = told;
      inside.graph = copy.inner->handle;
      inside.original_graph = source.inner->handle;
      clone_nodes(all, *source.inner, *copy.inner, inside, events);
    }
    to.nodes.push_back(std::move(copy));
  }
}

void forget_nodes(graph_state& all, const graph_object& in) {
  for (const graph_node& node : in.nodes) {
    if (node.inner != nullptr) {
      forget_nodes(all, *node.inner);
      all.graphs.erase(node.inner->handle);
      all.handles.give_back(reinterpret_cast<std::uintptr_t>(node.inner->handle));
    }
    all.nodes.erase(node.handle);
    all.handles.give_back(reinterpret_cast<std::uintptr_t>(node.handle));
  }
}

void each_node(graph_object& in, const std::function<void(graph_node&)>& visit) {
  for (graph_node& node : in.nodes) {
    visit(node);
    if (node.inner != nullptr) {
      each_node(*node.inner, visit);
    }
  }
}

void emit_all(const std::vector<graph_event>& events) {
  for (const graph_event& event : events) {
    emit_graph(event.what, event.data, 0);
  }
}

cupti::graph_node_handle add_node(cupti::graph_handle g, const operation& op, std::uint32_t device) {
  cupti::graph_data data = about(g);
  data.node_type = op.node;
  emit_graph(cupti::resource_event::graph_node_create_starting, data, device);
  {
    graph_state& all = graphs();
    const std::lock_guard lock{all.mutex};
    const auto in = find(all, g);
    if (in == nullptr) {
      return nullptr;
    }
    data.dependency = in->nodes.empty() ? nullptr : in->nodes.back().handle;
    data.node = make_node(all, *in, op).handle;
  }
  const cupti::graph_node_handle before = data.dependency;
  data.dependency = nullptr;
  emit_graph(cupti::resource_event::graph_node_created, data, device);
  if (before != nullptr) {
    data.dependency = before;
    emit_graph(cupti::resource_event::graph_node_dependency_created, data, device);
  }
  return data.node;
}

std::optional<std::uint32_t> id_of(cupti::graph_handle g) {
  const std::lock_guard lock{graphs().mutex};
  const auto found = graphs().graphs.find(g);
  return found != graphs().graphs.end() ? std::optional{found->second->id} : std::nullopt;
}

std::optional<std::uint32_t> id_of(cupti::graph_exec_handle e) {
  const std::lock_guard lock{graphs().mutex};
  const auto found = graphs().execs.find(e);
  return found != graphs().execs.end() ? std::optional{found->second->id} : std::nullopt;
}

std::optional<std::uint64_t> id_of(cupti::graph_node_handle n) {
  const std::lock_guard lock{graphs().mutex};
  const auto found = graphs().nodes.find(n);
  return found != graphs().nodes.end() ? std::optional{found->second} : std::nullopt;
}

void reset_graphs() {
  graph_state& all = graphs();
  const std::lock_guard lock{all.mutex};
  all.handles = handle_source{};
  all.last_id = 0;
  all.graphs.clear();
  all.execs.clear();
  all.nodes.clear();
}

}  // namespace standin
