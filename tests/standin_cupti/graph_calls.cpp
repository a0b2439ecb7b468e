// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The simulated CUDA's calls that make graphs.
#include "standin_cupti/callbacks.hpp"
#include "standin_cupti/calls.hpp"
#include "standin_cupti/entry.hpp"
#include "standin_cupti/graphs.hpp"
#include "standin_cupti/names.hpp"
#include "standin_cupti/streams.hpp"

#include <utility>

namespace standin {
namespace {

using cupti::resource_event;

// Within a call.
graph new_graph() {
  graph made;
  {
    const std::lock_guard lock{graphs().mutex};
    made.handle = make_graph(graphs())->handle;
  }
  emit_all({{resource_event::graph_created, about(made.handle)}});
  return made;
}

cupti::graph_node_handle add(
    const function& what, graph g, const operation& op, const call& how,
    const std::function<void(graph_node&, graph_state&, std::vector<graph_event>&)>& fill) {
  cupti::graph_node_handle made = nullptr;
  perform(what, how, [&](call_frame& frame) {
    made = add_node(g.handle, op);
    std::vector<graph_event> events;
    {
      const std::lock_guard lock{graphs().mutex};
      const auto in = find(graphs(), g.handle);
      if (made == nullptr || in == nullptr) {
        frame.result = error_invalid_value;
        return;
      }
      fill(in->nodes.back(), graphs(), events);
    }
    emit_all(events);
  });
  return made;
}

std::vector<std::uint64_t> working_ids(graph_object* in) {
  std::vector<std::uint64_t> ids;
  if (in != nullptr) {
    each_node(*in, [&](graph_node& node) {
      if (node.op.kind != cupti::record_kind::invalid) {
        ids.push_back(node.id);
      }
    });
  }
  return ids;
}

operation structural(cupti::graph_node_type type) {
  operation op;
  op.kind = cupti::record_kind::invalid;
  op.node = type;
  return op;
}

}  // namespace

void begin_capture(stream s, const call& how) {
  const params::of_stream params{s.handle};
  perform({runtime::stream_begin_capture, driver::stream_begin_capture, s.device, &params, &params}, how,
          [&](call_frame&) { set_capturing(s, new_graph().handle); });
}

void begin_capture_to(stream s, graph g, const call& how) {
  const params::of_stream params{s.handle};
  perform({runtime::stream_begin_capture_to_graph, driver::stream_begin_capture_to_graph, s.device, &params,
           &params},
          how, [&](call_frame&) { set_capturing(s, g.handle); });
}

graph end_capture(stream s, const call& how) {
  graph captured;
  const params::of_stream params{s.handle};
  perform({runtime::stream_end_capture, driver::stream_end_capture, s.device, &params, &params}, how,
          [&](call_frame& frame) {
            captured.handle = capturing(s);
            frame.result = captured.handle == nullptr ? error_invalid_value : 0;
            end_capturing(captured.handle);
          });
  return captured;
}

graph create_graph(const call& how) {
  graph made;
  perform({runtime::graph_create, driver::graph_create}, how, [&](call_frame&) { made = new_graph(); });
  return made;
}

cupti::graph_node_handle add_kernel(graph g, std::string_view name, const launch_shape& shape,
                                    const call& how) {
  operation op;
  op.name = name;
  op.shape = shape;
  return add({runtime::graph_add_kernel, driver::graph_add_kernel}, g, op, how, [](auto&&...) {});
}

cupti::graph_node_handle add_empty(graph g, const call& how) {
  return add({runtime::graph_add_empty, driver::graph_add_empty}, g,
             structural(cupti::graph_node_type::empty), how, [](auto&&...) {});
}

cupti::graph_node_handle add_child(graph g, graph child, const call& how) {
  return add({runtime::graph_add_child, driver::graph_add_child}, g,
             structural(cupti::graph_node_type::graph), how,
             [&](graph_node& node, graph_state& all, std::vector<graph_event>& events) {
               const auto source = find(all, child.handle);
               if (source == nullptr) {
                 return;
               }
               node.inner = make_graph(all);
               cupti::graph_data told = about(node.inner->handle);
               told.original_graph = child.handle;
               events.push_back({resource_event::graph_cloned, told});
               clone_nodes(all, *source, *node.inner, told, events);
             });
}

graph add_conditional(graph g, std::uint32_t times, const call& how) {
  graph body;
  add({runtime::graph_add_node, driver::graph_add_node}, g, structural(cupti::graph_node_type::conditional),
      how, [&](graph_node& node, graph_state& all, std::vector<graph_event>& events) {
        node.inner = make_graph(all);
        node.times = times;
        body.handle = node.inner->handle;
        events.push_back({resource_event::graph_created, about(body.handle)});
      });
  return body;
}

graph clone(graph g, const call& how) {
  graph made;
  perform({runtime::graph_clone, driver::graph_clone}, how, [&](call_frame& frame) {
    std::vector<graph_event> events;
    {
      graph_state& all = graphs();
      const std::lock_guard lock{all.mutex};
      const auto source = find(all, g.handle);
      if (source == nullptr) {
        frame.result = error_invalid_value;
        return;
      }
      const auto copy = make_graph(all);
      made.handle = copy->handle;
      cupti::graph_data told = about(copy->handle);
      told.original_graph = g.handle;
      events.push_back({resource_event::graph_cloned, told});
      clone_nodes(all, *source, *copy, told, events);
    }
    emit_all(events);
  });
  return made;
}

std::vector<std::uint64_t> node_ids(graph g) {
  const std::lock_guard lock{graphs().mutex};
  return working_ids(find(graphs(), g.handle).get());
}

std::vector<std::uint64_t> node_ids(executable e) {
  const std::lock_guard lock{graphs().mutex};
  const auto exec = find(graphs(), e.handle);
  return working_ids(exec != nullptr ? &exec->content : nullptr);
}

std::uint32_t exec_id(executable e) { return id_of(e.handle).value_or(0); }

}  // namespace standin
