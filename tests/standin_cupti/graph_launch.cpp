// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Launching executable graphs, and the end of graphs.
#include "standin_cupti/activity.hpp"
#include "standin_cupti/calls.hpp"
#include "standin_cupti/entry.hpp"
#include "standin_cupti/graphs.hpp"
#include "standin_cupti/names.hpp"
#include "standin_cupti/streams.hpp"

#include <algorithm>
#include <utility>

namespace standin {
namespace {

using cupti::resource_event;

struct node_run {
  std::uint64_t id;
  operation op;
};

// The nodes that do work, in order, bodies as often as they run.
void gather(const graph_object& in, std::vector<node_run>& runs) {
  for (const graph_node& node : in.nodes) {
    if (node.op.kind != cupti::record_kind::invalid) {
      runs.push_back({node.id, node.op});
    }
    for (std::uint32_t i = 0; node.inner != nullptr && i < node.times; ++i) {
      gather(*node.inner, runs);
    }
  }
}

}  // namespace

done launch(stream s, executable e, const work& w) {
  const params::graph_launch params{e.handle, s.handle};
  std::vector<interval> times;
  std::vector<std::uint64_t> ids;
  const function what{runtime::graph_launch, driver::graph_launch, s.device, &params, &params};
  const auto body = [&](call_frame& frame) {
    std::shared_ptr<exec_object> exec;
    std::vector<node_run> runs;
    {
      const std::lock_guard lock{graphs().mutex};
      exec = find(graphs(), e.handle);
      if (exec == nullptr) {
        frame.result = error_invalid_value;
        return;
      }
      gather(exec->content, runs);
    }
    occurrence where;
    where.device = s.device;
    where.stream = stream_id(s);
    where.correlation = frame.correlation;
    where.graph = exec->id;
    where.from_device = w.from_device;
    const bool one_record = exec->one_record && wanted(cupti::record_kind::graph_trace);
    for (node_run& run : runs) {
      where.times = times_of(s, frame.entered, w);
      where.graph_node = run.id;
      times.push_back(where.times);
      if (!one_record) {
        ids.push_back(run.id);
        if (choose_kind(run.op)) {
          frame.records.push_back(make_record_of(run.op, where, w, s));
        }
      }
    }
    if (one_record && !times.empty()) {
      where.times = {times.front().begin, times.back().end};
      times.assign(1, where.times);
      frame.records.push_back(make_graph_record(where));
    }
  };
  done result;
  if (w.from_device) {
    call_frame frame;
    frame.entered = now();
    body(frame);
    write_work(frame.records);
  } else {
    result = perform(what, w.how, body);
  }
  result.times = std::move(times);
  result.node_ids = std::move(ids);
  return result;
}

void destroy(graph g, const call& how) {
  perform({runtime::graph_destroy, driver::graph_destroy}, how, [&](call_frame& frame) {
    graph_state& all = graphs();
    std::vector<graph_event> events{{resource_event::graph_destroy_starting, about(g.handle)}};
    {
      const std::lock_guard lock{all.mutex};
      const auto destroyed = find(all, g.handle);
      if (destroyed == nullptr) {
        frame.result = error_invalid_value;
        return;
      }
      each_node(*destroyed, [&](const graph_node& node) {
        cupti::graph_data data = about(g.handle);
        data.node = node.handle;
        data.node_type = node.op.node;
        events.push_back({resource_event::graph_node_destroy_starting, data});
      });
    }
    emit_all(events);
    const std::lock_guard lock{all.mutex};
    if (const auto found = all.graphs.find(g.handle); found != all.graphs.end()) {
      forget_nodes(all, *found->second);
      all.graphs.erase(found);
      all.handles.give_back(reinterpret_cast<std::uintptr_t>(g.handle));
    }
  });
}

void destroy(executable e, const call& how) {
  perform({runtime::graph_exec_destroy, driver::graph_exec_destroy}, how, [&](call_frame& frame) {
    graph_state& all = graphs();
    {
      const std::lock_guard lock{all.mutex};
      if (find(all, e.handle) == nullptr) {
        frame.result = error_invalid_value;
        return;
      }
    }
    emit_all({{resource_event::graph_exec_destroy_starting, about(nullptr, e.handle)}});
    const std::lock_guard lock{all.mutex};
    if (const auto found = all.execs.find(e.handle); found != all.execs.end()) {
      forget_nodes(all, found->second->content);
      all.handles.give_back(reinterpret_cast<std::uintptr_t>(found->second->content.handle));
      all.execs.erase(found);
      all.handles.give_back(reinterpret_cast<std::uintptr_t>(e.handle));
    }
  });
}

}  // namespace standin
