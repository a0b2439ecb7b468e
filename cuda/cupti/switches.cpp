// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the collector asks CUPTI to tell: callbacks of calls, of graphs and of errors, and kinds of records.
#include "cupti/collector.hpp"

#include "cupti/explain.hpp"

#include <string>

namespace varve::cupti {

namespace {

struct wanted_records {
  record_kind kind;
  const char* name;
};
constexpr wanted_records all_records[] = {{record_kind::concurrent_kernel, "kernels"},
                                          {record_kind::memcpy, "copies"},
                                          {record_kind::memcpy_p2p, "copies between devices"},
                                          {record_kind::memset, "sets"},
                                          {record_kind::memory, "allocations"},
                                          {record_kind::overhead, "CUPTI's overhead"}};
constexpr wanted_records graph_records{record_kind::graph_trace, "whole graphs"};

constexpr resource_event followed[] = {
    resource_event::graph_node_created,          resource_event::graph_node_cloned,
    resource_event::graph_exec_create_starting,  resource_event::graph_exec_created,
    resource_event::graph_node_destroy_starting, resource_event::graph_destroy_starting,
    resource_event::graph_exec_destroy_starting};

}  // namespace

void collector::follow_graphs(bool on) {
  const library& lib = attached_.load()->lib;
  result first = result::success;
  for (const resource_event e : followed) {
    const result answer = lib.call.enable_callback(on ? 1 : 0, subscriber_, callback_domain::resource,
                                                   static_cast<std::uint32_t>(e));
    first = first == result::success ? answer : first;
  }
  if (on && first != result::success) {
    note("not all graphs are followed (" + explain(first, "cuptiEnableCallback") + ")");
  }
  for (const resource_event e :
       {resource_event::cu_init_finished, resource_event::context_created,
        resource_event::context_destroy_starting, resource_event::stream_destroy_starting}) {
    lib.call.enable_callback(on ? 1 : 0, subscriber_, callback_domain::resource,
                             static_cast<std::uint32_t>(e));
  }
  for (const state_event e : {state_event::fatal_error, state_event::error}) {
    lib.call.enable_callback(on ? 1 : 0, subscriber_, callback_domain::state, static_cast<std::uint32_t>(e));
  }
}

/// Those of launching calls and the like; or only of those that graphs are followed by.
void collector::enable_calls(bool all) {
  const attachment& a = *attached_.load();
  std::size_t refused = 0;
  result first = result::success;
  for (const callback_domain domain : {callback_domain::runtime_api, callback_domain::driver_api}) {
    for (std::uint32_t id = 0; id < call_kinds::most; ++id) {
      const std::uint8_t kind = a.kinds.of(domain, id);
      if (kind != call_kinds::not_watched) {
        const bool on = all || (kind & call_kinds::special) != 0;
        const result answer = a.lib.call.enable_callback(on ? 1 : 0, subscriber_, domain, id);
        if (on && answer != result::success) {
          first = refused++ == 0 ? answer : first;
        }
      }
    }
  }
  if (all) {
    not_watched_ = refused == 0 ? ""
                                : std::to_string(refused) + " calls are not watched (" +
                                      explain(first, "cuptiEnableCallback") + ")";
  }
}

/// With CUPTI's buffers on the device, as they are by default, graphs crash.
void collector::avoid_defects() {
  const library& lib = attached_.load()->lib;
  if (!has_defects_of_13_0(lib.version)) {
    return;
  }
  std::uint8_t on_the_host = 1;
  std::size_t size = sizeof on_the_host;
  const result answer =
      lib.call.activity_set_attribute != nullptr
          ? lib.call.activity_set_attribute(attribute::mem_allocation_type_host_pinned, &size, &on_the_host)
          : result::not_supported;
  if (answer != result::success) {
    note("graphs may crash: CUPTI's buffers could not be put into the host's memory (" +
         explain(answer, "cuptiActivitySetAttribute") + ")");
  }
}

void collector::enable_records(bool on) {
  const library& lib = attached_.load()->lib;
  if (on == records_on_) {
    return;
  }
  records_on_ = on;
  if (on) {
    switched_off_.clear();
  }
  const auto set = [&](const wanted_records& w) {
    const result answer = on ? lib.call.activity_enable(w.kind) : lib.call.activity_disable(w.kind);
    if (on && answer != result::success) {
      switched_off_.push_back(std::string{w.name} + " (" + explain(answer, "cuptiActivityEnable") + ")");
      return false;
    }
    return true;
  };
  for (const wanted_records& w : all_records) {
    if (!on && w.kind == record_kind::concurrent_kernel && has_defects_of_13_0(lib.version)) {
      continue;  // may hang
    }
    if (!set(w) && w.kind == record_kind::concurrent_kernel) {
      refuse("no records of " + switched_off_.back());
    }
  }
}

void collector::enable_whole_graphs(bool on) {
  if (on == whole_graphs_on_) {
    return;
  }
  const library& lib = attached_.load()->lib;
  const result answer =
      on ? lib.call.activity_enable(graph_records.kind) : lib.call.activity_disable(graph_records.kind);
  whole_graphs_on_ = on && answer == result::success;
  if (on && answer != result::success) {
    switched_off_.push_back(std::string{graph_records.name} + " (" + explain(answer, "cuptiActivityEnable") +
                            ")");
  }
}

}  // namespace varve::cupti
