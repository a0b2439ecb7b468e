// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "gpu/tape/read_callbacks.hpp"

#include <cstring>
#include <utility>

namespace varve_tape {
namespace {

template <class Handle>
std::uint64_t bits(Handle* handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

bool asking = true;

/// CUPTI's id of a handle; 0 where it has none.
template <class Handle, class Id>
Id id_of(Handle* handle, CUptiResult (*ask)(Handle*, Id*)) {
  Id id = 0;
  return asking && handle != nullptr && ask(handle, &id) == CUPTI_SUCCESS ? id : 0;
}

/// Only members that the callback is documented to fill are asked about: others may lead anywhere.
void take_graph_data(CUpti_CallbackId id, const CUpti_GraphData& data, resource& out) {
  const auto graph = [&] {
    out.graph = bits(data.graph);
    out.graph_id = id_of(data.graph, cuptiGetGraphId);
  };
  const auto node = [&] {
    out.node = bits(data.node);
    out.node_id = id_of(data.node, cuptiGetGraphNodeId);
    out.type = data.nodeType;
  };
  const auto exec = [&] {
    out.exec = bits(data.graphExec);
    out.exec_id = id_of(data.graphExec, cuptiGetGraphExecId);
  };
  switch (id) {
    case CUPTI_CBID_RESOURCE_GRAPH_CREATED:
    case CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING:
      return graph();
    case CUPTI_CBID_RESOURCE_GRAPH_CLONED:
      graph();
      out.original_graph = bits(data.originalGraph);
      out.original_graph_id = id_of(data.originalGraph, cuptiGetGraphId);
      return;
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING:
      graph();
      out.type = data.nodeType;
      return;
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
    case CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING:
      graph();
      return node();
    case CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED:
    case CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING:
      graph();
      node();
      out.dependency = bits(data.dependency);
      return;
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING:
      return graph();
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED:
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING:
      graph();
      return exec();
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
      graph();
      node();
      out.original_graph = bits(data.originalGraph);
      out.original_node = bits(data.originalNode);
      out.original_node_id = id_of(data.originalNode, cuptiGetGraphNodeId);
      return;
    default:  // from 13.0: an executable's node is updated, or gets other parameters
      out.graph = bits(data.graph);
      out.node = bits(data.node);
      out.original_graph = bits(data.originalGraph);
      out.original_node = bits(data.originalNode);
      out.type = data.nodeType;
      out.exec = bits(data.graphExec);
  }
}

bool is_of_stream(CUpti_CallbackId id) {
  return id == CUPTI_CBID_RESOURCE_STREAM_CREATED || id == CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING;
}

}  // namespace

void ask_for_ids(bool ask) { asking = ask; }

resource resource_of(CUpti_CallbackId id, const CUpti_ResourceData* data) {
  resource out;
  out.event = id;
  out.null = data == nullptr || (out.of_graph() && data->resourceDescriptor == nullptr);
  if (data == nullptr) {
    return out;
  }
  if (out.of_graph()) {
    if (!out.null) {
      take_graph_data(id, *static_cast<const CUpti_GraphData*>(data->resourceDescriptor), out);
    }
    return out;
  }
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED || id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING ||
      is_of_stream(id)) {
    out.context = bits(data->context);
    out.context_id = id_of(data->context, cuptiGetContextId);
  }
  if (is_of_stream(id)) {
    out.stream = bits(data->resourceHandle.stream);
    (void)cuptiGetStreamIdEx(data->context, data->resourceHandle.stream, 0, &out.stream_id);
  }
  return out;
}

buffer buffer_of(CUcontext context, std::uint32_t stream, std::uint8_t* memory, std::size_t valid) {
  // Where a kernel's record has the pointer to its name, in every layout since CUPTI 11.
  constexpr std::uint32_t kernel_name = 104;
  buffer out;
  out.context = bits(context);
  out.stream = stream;
  out.size = valid;
  CUpti_Activity* next = nullptr;
  CUptiResult result = CUPTI_SUCCESS;
  while (valid != 0 && (result = cuptiActivityGetNextRecord(memory, valid, &next)) == CUPTI_SUCCESS) {
    record r;
    r.kind = static_cast<std::uint32_t>(next->kind);
    r.offset = static_cast<std::uint64_t>(reinterpret_cast<std::uint8_t*>(next) - memory);
    if (next->kind == CUPTI_ACTIVITY_KIND_KERNEL || next->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      const char* name = nullptr;
      std::memcpy(&name, reinterpret_cast<const std::uint8_t*>(next) + kernel_name, sizeof name);
      r.name = name == nullptr ? "" : name;
      r.name_at = name == nullptr ? 0 : kernel_name;
    }
    out.records.push_back(std::move(r));
  }
  out.walked = result;
  if (out.records.empty() && valid != 0) {
    out.records.emplace_back();
  }
  // A record reaches to the next one, the last to the end.
  for (std::size_t i = 0; i < out.records.size(); ++i) {
    record& r = out.records[i];
    const std::uint64_t end = i + 1 < out.records.size() ? out.records[i + 1].offset : valid;
    const auto* const bytes_of = reinterpret_cast<const std::byte*>(memory);
    r.data.assign(bytes_of + r.offset, bytes_of + end);
  }
  std::size_t dropped = 0;
  (void)cuptiActivityGetNumDroppedRecords(context, stream, &dropped);
  out.dropped = dropped;
  return out;
}

}  // namespace varve_tape
