// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cupti/layout.hpp"

#include "standin_cupti/entry.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace standin {
namespace {

using cupti::record_kind;

constexpr std::uint32_t fictional_since =
    130100;  // 13.1's kernel record is longer than 13.0's; how long is made up
constexpr std::size_t fictional_kernel_size = 248;

record blank(record_kind kind) {
  record made;
  // What a field that nobody sets holds is not zero in real buffers either.
  made.bytes.assign(size_of(kind), std::uint8_t{0xA5});
  std::memcpy(made.bytes.data(), &kind, sizeof kind);
  return made;
}

// T is the field's: values convert to it.
template <class T>
void put(record& to, cupti::field<T> f, std::common_type_t<T> value) {
  if (settings().version >= f.since) {
    std::memcpy(to.bytes.data() + f.offset, &value, sizeof(T));
  }
}

void put_axes(record& to, cupti::field<std::int32_t> first, const std::array<std::uint32_t, 3>& axes) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    put(to, cupti::field<std::int32_t>{first.offset + 4 * i}, static_cast<std::int32_t>(axes[i]));
  }
}

record kernel_record(const operation& what, const occurrence& where) {
  namespace f = cupti::kernel;
  record made = blank(what.kind);
  std::fill(made.bytes.begin() + 4, made.bytes.end(), std::uint8_t{0});
  put(made, f::registers_per_thread, what.shape.registers);
  put(made, f::start, where.times.begin);
  put(made, f::end, where.times.end);
  put(made, f::completed, where.times.end);
  put(made, f::device_id, where.device);
  put(made, f::context_id, context_of(where.device));
  put(made, f::stream_id, where.stream);
  put_axes(made, f::grid_x, what.shape.grid);
  put_axes(made, f::block_x, what.shape.block);
  put(made, f::static_shared_memory, static_cast<std::int32_t>(what.shape.static_shared));
  put(made, f::dynamic_shared_memory, static_cast<std::int32_t>(what.shape.dynamic_shared));
  put(made, f::correlation_id, where.correlation);
  put(made, f::grid_id, std::int64_t{where.correlation});
  put(made, f::launch,
      what.shape.cooperative ? cupti::launch_type::cooperative : cupti::launch_type::regular);
  put(made, f::graph_node_id, where.graph_node);
  put(made, f::graph_id, where.graph);
  put(made, f::channel_id, 1);
  put(made, f::channel, cupti::channel_type::compute);
  put(made, f::is_device_launched, where.from_device ? 1 : 0);
  put(made, f::cluster_x, what.shape.cluster[0]);
  put(made, f::cluster_y, what.shape.cluster[1]);
  put(made, f::cluster_z, what.shape.cluster[2]);
  if (made.bytes.size() == fictional_kernel_size) {
    std::fill(made.bytes.begin() + 216, made.bytes.end(), std::uint8_t{0xA5});
  }
  made.name = what.name;
  return made;
}

record copy_record(const operation& what, const occurrence& where) {
  namespace f = cupti::copy;
  const bool from_host = what.direction == cupti::copy_direction::host_to_device;
  const bool to_host = what.direction == cupti::copy_direction::device_to_host;
  record made = blank(record_kind::memcpy);
  put(made, f::direction, what.direction);
  put(made, f::source_kind, from_host ? cupti::memory_pinned : cupti::memory_device);
  put(made, f::destination_kind, to_host ? cupti::memory_pinned : cupti::memory_device);
  put(made, f::flags, cupti::flag_async);
  put(made, f::bytes, what.bytes);
  put(made, f::start, where.times.begin);
  put(made, f::end, where.times.end);
  put(made, f::device_id, where.device);
  put(made, f::context_id, context_of(where.device));
  put(made, f::stream_id, where.stream);
  put(made, f::correlation_id, where.correlation);
  put(made, f::graph_node_id, where.graph_node);
  put(made, f::graph_id, where.graph);
  put(made, f::channel_id, 2);
  put(made, f::channel, cupti::channel_type::async_memcpy);
  put(made, f::is_device_launched, where.from_device ? 1 : 0);
  put(made, f::copy_count, what.count);
  return made;
}

record peer_record(const operation& what, const occurrence& where) {
  namespace f = cupti::peer_copy;
  record made = blank(record_kind::memcpy_p2p);
  put(made, f::direction, cupti::copy_direction::peer_to_peer);
  put(made, f::source_kind, cupti::memory_device);
  put(made, f::destination_kind, cupti::memory_device);
  put(made, f::flags, cupti::flag_async);
  put(made, f::bytes, what.bytes);
  put(made, f::start, where.times.begin);
  put(made, f::end, where.times.end);
  put(made, f::device_id, where.device);
  put(made, f::context_id, context_of(where.device));
  put(made, f::stream_id, where.stream);
  put(made, f::source_device_id, where.device);
  put(made, f::source_context_id, context_of(where.device));
  put(made, f::destination_device_id, what.to_device);
  put(made, f::destination_context_id, context_of(what.to_device));
  put(made, f::correlation_id, where.correlation);
  put(made, f::graph_node_id, where.graph_node);
  put(made, f::graph_id, where.graph);
  put(made, f::channel_id, 2);
  put(made, f::channel, cupti::channel_type::async_memcpy);
  return made;
}

record set_record(const operation& what, const occurrence& where) {
  namespace f = cupti::set;
  record made = blank(record_kind::memset);
  put(made, f::value, what.value);
  put(made, f::bytes, what.bytes);
  put(made, f::start, where.times.begin);
  put(made, f::end, where.times.end);
  put(made, f::device_id, where.device);
  put(made, f::context_id, context_of(where.device));
  put(made, f::stream_id, where.stream);
  put(made, f::correlation_id, where.correlation);
  put(made, f::flags, cupti::flag_async);
  put(made, f::kind, cupti::memory_device);
  put(made, f::graph_node_id, where.graph_node);
  put(made, f::graph_id, where.graph);
  put(made, f::channel_id, 1);
  put(made, f::channel, cupti::channel_type::compute);
  put(made, f::is_device_launched, where.from_device ? 1 : 0);
  return made;
}

}  // namespace

std::size_t size_of(record_kind kind) {
  const bool is_kernel = kind == record_kind::kernel || kind == record_kind::concurrent_kernel;
  return is_kernel && settings().version >= fictional_since ? fictional_kernel_size
                                                            : cupti::size_of(kind, settings().version);
}

record make_work_record(const operation& what, const occurrence& where) {
  switch (what.kind) {
    case record_kind::memcpy:
      return copy_record(what, where);
    case record_kind::memcpy_p2p:
      return peer_record(what, where);
    case record_kind::memset:
      return set_record(what, where);
    default:
      return kernel_record(what, where);
  }
}

record make_api_record(record_kind domain, std::uint32_t id, interval times, std::uint32_t thread,
                       std::uint32_t correlation, int result) {
  namespace f = cupti::api;
  record made = blank(domain);
  put(made, f::callback_id, id);
  put(made, f::start, times.begin);
  put(made, f::end, times.end);
  put(made, f::process_id, static_cast<std::uint32_t>(::getpid()));
  put(made, f::thread_id, thread);
  put(made, f::correlation_id, correlation);
  put(made, f::return_value, static_cast<std::uint32_t>(result));
  return made;
}

record make_memory_record(cupti::memory_operation what, std::uint64_t address, std::uint64_t bytes,
                          std::uint64_t time, std::uint32_t device, std::uint32_t correlation) {
  namespace f = cupti::memory;
  record made = blank(record_kind::memory);
  put(made, f::operation, what);
  put(made, f::kind, cupti::memory_device);
  put(made, f::correlation_id, correlation);
  put(made, f::address, address);
  put(made, f::bytes, bytes);
  put(made, f::timestamp, time);
  put(made, f::process_id, static_cast<std::uint32_t>(::getpid()));
  put(made, f::device_id, device);
  put(made, f::context_id, context_of(device));
  put(made, f::stream_id, cupti::invalid_id);
  put(made, f::name, nullptr);
  put(made, f::is_async, 0);
  put(made, f::pool_size, 0);
  put(made, f::pool_used, 0);
  return made;
}

record make_graph_record(const occurrence& where) {
  namespace f = cupti::graph_trace;
  record made = blank(record_kind::graph_trace);
  put(made, f::correlation_id, where.correlation);
  put(made, f::start, where.times.begin);
  put(made, f::end, where.times.end);
  put(made, f::device_id, where.device);
  put(made, f::graph_id, where.graph);
  put(made, f::context_id, context_of(where.device));
  put(made, f::stream_id, where.stream);
  put(made, f::end_device_id, where.device);
  put(made, f::end_context_id, context_of(where.device));
  return made;
}

record make_synchronization_record(cupti::synchronization_type type, interval times, std::uint32_t device,
                                   std::uint32_t stream, std::uint32_t correlation) {
  namespace f = cupti::synchronization;
  record made = blank(record_kind::synchronization);
  put(made, f::type, type);
  put(made, f::start, times.begin);
  put(made, f::end, times.end);
  put(made, f::correlation_id, correlation);
  put(made, f::context_id, context_of(device));
  put(made, f::stream_id, stream);
  put(made, f::event_id, cupti::invalid_id);
  put(made, f::event_sync_id, 0);
  put(made, f::return_value, 0);
  return made;
}

record make_overhead_record(cupti::overhead_kind what, interval times, std::uint32_t thread, bool with_data) {
  namespace f = cupti::overhead;
  record made = blank(record_kind::overhead);
  put(made, f::what, what);
  put(made, f::object, cupti::object_kind::thread);
  put(made, f::process_id, static_cast<std::uint32_t>(::getpid()));
  put(made, f::thread_id, thread);
  put(made, f::start, times.begin);
  put(made, f::end, times.end);
  put(made, f::correlation_id, cupti::unknown_correlation);
  put(made, f::data, with_data && settings().version >= f::data.since ? std::calloc(1, 32) : nullptr);
  return made;
}

record make_external_record(cupti::external_correlation_kind kind, std::uint64_t id,
                            std::uint32_t correlation) {
  namespace f = cupti::external_correlation;
  record made = blank(record_kind::external_correlation);
  put(made, f::kind, kind);
  put(made, f::external_id, id);
  put(made, f::correlation_id, correlation);
  return made;
}

void finish(std::uint8_t* record_bytes, std::uint64_t end) {
  static_assert(cupti::kernel::end.offset == cupti::copy::end.offset &&
                cupti::kernel::end.offset == cupti::set::end.offset &&
                cupti::kernel::end.offset == cupti::peer_copy::end.offset);
  std::memcpy(record_bytes + cupti::kernel::end.offset, &end, sizeof end);
  const auto kind = cupti::read(record_bytes, cupti::kind_of);
  if (kind == record_kind::kernel || kind == record_kind::concurrent_kernel) {
    std::memcpy(record_bytes + cupti::kernel::completed.offset, &end, sizeof end);
  }
}

}  // namespace standin
