// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The simulated CUDA's calls that make executable graphs, and that change what is in a node.
#include "standin_cupti/activity.hpp"
#include "standin_cupti/calls.hpp"
#include "standin_cupti/entry.hpp"
#include "standin_cupti/graphs.hpp"
#include "standin_cupti/names.hpp"

namespace standin {
namespace {

using cupti::resource_event;

constexpr int error_update_failed = 910;

cupti::graph_data updated(const graph_node& node, const graph_node& source, const exec_object& exec,
                          cupti::graph_handle g) {
  cupti::graph_data data = about(exec.content.handle);
  data.original_graph = g;
  data.node = node.handle;
  data.original_node = source.handle;
  data.node_type = node.op.node;
  data.graph_exec = exec.handle;
  return data;
}

bool same_shape(const graph_object& a, const graph_object& b) {
  bool same = a.nodes.size() == b.nodes.size();
  for (std::size_t i = 0; same && i < a.nodes.size(); ++i) {
    const graph_node& x = a.nodes[i];
    const graph_node& y = b.nodes[i];
    same = x.op.node == y.op.node && x.op.kind == y.op.kind && (x.inner == nullptr) == (y.inner == nullptr) &&
           (x.inner == nullptr || same_shape(*x.inner, *y.inner));
  }
  return same;
}

void take_over(graph_object& to, const graph_object& from, const exec_object& exec, cupti::graph_handle g,
               std::vector<graph_event>& events) {
  for (std::size_t i = 0; i < to.nodes.size(); ++i) {
    to.nodes[i].op = from.nodes[i].op;
    events.push_back({resource_event::graph_node_updated, updated(to.nodes[i], from.nodes[i], exec, g)});
    if (to.nodes[i].inner != nullptr) {
      take_over(*to.nodes[i].inner, *from.nodes[i].inner, exec, g, events);
    }
  }
}

// False: no such node.
template <class Is>
bool rename(graph_object& in, std::string_view name, const Is& is) {
  bool found = false;
  each_node(in, [&](graph_node& node) {
    if (!found && is(node)) {
      node.op.name = name;
      found = true;
    }
  });
  return found;
}

}  // namespace

executable instantiate(graph g, const call& how) {
  executable made;
  const params::instantiate params{&made.handle, g.handle, 0};
  perform({runtime::graph_instantiate, driver::graph_instantiate, 0, &params, &params}, how,
          [&](call_frame& frame) {
            emit_all({{resource_event::graph_exec_create_starting, about(g.handle)}});
            std::vector<graph_event> events;
            {
              graph_state& all = graphs();
              const std::lock_guard lock{all.mutex};
              const auto source = find(all, g.handle);
              if (source == nullptr) {
                frame.result = error_invalid_value;
                return;
              }
              const auto exec = std::make_shared<exec_object>();
              exec->handle = reinterpret_cast<cupti::graph_exec_handle>(all.handles.take());
              exec->content.handle = reinterpret_cast<cupti::graph_handle>(all.handles.take());
              exec->id = exec->content.id = ++all.last_id;
              exec->one_record = wanted(cupti::record_kind::graph_trace);
              all.execs[exec->handle] = exec;
              const exec_clone_graph told_as = settings().exec_clone;
              cupti::graph_data told = about(told_as == exec_clone_graph::own      ? exec->content.handle
                                             : told_as == exec_clone_graph::source ? g.handle
                                                                                   : nullptr);
              told.original_graph = g.handle;
              told.graph_exec = exec->handle;
              clone_nodes(all, *source, exec->content, told, events);
              cupti::graph_data created = about(g.handle);
              created.graph_exec = exec->handle;
              events.push_back({resource_event::graph_exec_created, created});
              made.handle = exec->handle;
            }
            emit_all(events);
          });
  return made;
}

int update(executable e, graph g, const call& how) {
  const params::update params{e.handle, g.handle, nullptr};
  return perform({runtime::graph_exec_update, driver::graph_exec_update, 0, &params, &params}, how,
                 [&](call_frame& frame) {
                   std::vector<graph_event> events;
                   {
                     const std::lock_guard lock{graphs().mutex};
                     const auto exec = find(graphs(), e.handle);
                     const auto source = find(graphs(), g.handle);
                     if (exec == nullptr || source == nullptr || !same_shape(exec->content, *source)) {
                       frame.result = error_update_failed;
                       return;
                     }
                     take_over(exec->content, *source, *exec, g.handle, events);
                   }
                   if (settings().version >= cupti::cuda_13_0) {
                     emit_all(events);
                   }
                 })
      .result;
}

void set_kernel(graph g, cupti::graph_node_handle node, std::string_view name, const call& how) {
  const params::set_kernel params{node, nullptr};
  perform({runtime::graph_set_kernel, driver::graph_set_kernel, 0, &params, &params}, how,
          [&](call_frame& frame) {
            const std::lock_guard lock{graphs().mutex};
            const auto in = find(graphs(), g.handle);
            const bool found =
                in != nullptr && rename(*in, name, [&](const graph_node& n) { return n.handle == node; });
            frame.result = found ? 0 : error_invalid_value;
          });
}

void set_kernel(executable e, cupti::graph_node_handle node, std::string_view name, const call& how) {
  const params::exec_set_kernel params{e.handle, node, nullptr};
  perform({runtime::graph_exec_set_kernel, driver::graph_exec_set_kernel, 0, &params, &params}, how,
          [&](call_frame& frame) {
            {
              const std::lock_guard lock{graphs().mutex};
              const auto exec = find(graphs(), e.handle);
              const bool found = exec != nullptr && rename(exec->content, name, [&](const graph_node& n) {
                                   return n.original == node;
                                 });
              if (!found) {
                frame.result = error_invalid_value;
                return;
              }
            }
            if (settings().version >= cupti::cuda_13_0) {
              cupti::graph_data data{};
              data.node = node;
              data.graph_exec = e.handle;
              emit_all({{resource_event::graph_node_set_params, data}});
            }
          });
}

}  // namespace standin
