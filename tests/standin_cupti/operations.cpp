// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The simulated CUDA outside graphs.
#include "standin_cupti/activity.hpp"
#include "standin_cupti/buffers.hpp"
#include "standin_cupti/callbacks.hpp"
#include "standin_cupti/calls.hpp"
#include "standin_cupti/counters.hpp"
#include "standin_cupti/entry.hpp"
#include "standin_cupti/graphs.hpp"
#include "standin_cupti/names.hpp"
#include "standin_cupti/streams.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

namespace standin {
namespace {

using cupti::record_kind;

struct allocation {
  std::uint64_t bytes;
  std::uint32_t device;
};

struct memory_state {
  std::mutex mutex;
  std::map<std::uint64_t, allocation> allocations;
  std::uint64_t next = 0x7F0000000000;
  std::map<std::uint64_t, cupti::graph_handle> captured_events;  ///< recorded while their stream captured
};

memory_state& memory() {
  static auto& all = *new memory_state;
  return all;
}

std::atomic<std::uint64_t> last_event{0x300000};

std::uint32_t usual_launch(const launch_shape& shape) {
  return shape.cooperative                        ? runtime::launch_cooperative
         : shape.cluster[0] > 0                   ? runtime::launch_kernel_ex
         : settings().version >= cupti::cuda_13_0 ? runtime::launch_kernel_13
                                                  : runtime::launch_kernel;
}

std::uint32_t usual_driver_launch(const launch_shape& shape) {
  return shape.cooperative      ? driver::launch_cooperative
         : shape.cluster[0] > 0 ? driver::launch_kernel_ex
                                : driver::launch_kernel;
}

std::uint32_t usual_driver_copy(cupti::copy_direction direction) {
  switch (direction) {
    case cupti::copy_direction::host_to_device:
      return driver::memcpy_htod_async;
    case cupti::copy_direction::device_to_host:
      return driver::memcpy_dtoh_async;
    case cupti::copy_direction::device_to_device:
      return driver::memcpy_dtod_async;
    default:
      return driver::memcpy_async;
  }
}

// Work that ran has ended when the call returns.
done synchronizing(const function& what, const call& how, cupti::synchronization_type type,
                   std::uint32_t stream, const std::function<void()>& wait) {
  return perform(what, how, [&](call_frame& frame) {
    wait();
    if (settings().order == record_order::at_flush) {
      write_waiting(false);
    }
    if (wanted(record_kind::synchronization)) {
      frame.records.push_back(
          make_synchronization_record(type, {frame.entered, now()}, what.device, stream, frame.correlation));
    }
  });
}

void write_memory(call_frame& frame, cupti::memory_operation what, std::uint64_t address, allocation a) {
  if (wanted(record_kind::memory)) {
    frame.records.push_back(
        make_memory_record(what, address, a.bytes, frame.entered, a.device, frame.correlation));
  }
}

void write_anyhow(std::vector<std::uint8_t> bytes) {
  record r;
  r.bytes = std::move(bytes);
  write(std::move(r));
}

}  // namespace

done launch(stream s, std::string_view name, const launch_shape& shape, const work& w) {
  operation op;
  op.name = name;
  op.shape = shape;
  params::launch_kernel rt{&op, {}, {}, nullptr, shape.dynamic_shared, s.handle};
  params::driver_launch_kernel drv{&op, {}, {}, shape.dynamic_shared, s.handle, nullptr, nullptr};
  std::copy(shape.grid.begin(), shape.grid.end(), rt.grid);
  std::copy(shape.grid.begin(), shape.grid.end(), drv.grid);
  std::copy(shape.block.begin(), shape.block.end(), rt.block);
  std::copy(shape.block.begin(), shape.block.end(), drv.block);
  return submit({usual_launch(shape), usual_driver_launch(shape), s.device, &rt, &drv, op.name.c_str()}, s,
                op, w);
}

done copy(stream s, cupti::copy_direction direction, std::uint64_t bytes, const work& w,
          std::uint64_t count) {
  operation op;
  op.kind = record_kind::memcpy;
  op.node = cupti::graph_node_type::memcpy;
  op.direction = direction;
  op.bytes = bytes;
  op.count = count;
  return submit({runtime::memcpy_async, usual_driver_copy(direction), s.device}, s, op, w);
}

done peer_copy(stream s, std::uint32_t to_device, std::uint64_t bytes, const work& w) {
  operation op;
  op.kind = record_kind::memcpy_p2p;
  op.node = cupti::graph_node_type::memcpy;
  op.bytes = bytes;
  op.to_device = to_device;
  return submit({runtime::memcpy_peer_async, driver::memcpy_peer_async, s.device}, s, op, w);
}

done memset(stream s, std::uint32_t value, std::uint64_t bytes, const work& w) {
  operation op;
  op.kind = record_kind::memset;
  op.node = cupti::graph_node_type::memset;
  op.value = value;
  op.bytes = bytes;
  return submit({runtime::memset_async, driver::memset_d32_async, s.device}, s, op, w);
}

done host_function(stream s, const call& how) {
  operation op;
  op.kind = record_kind::invalid;
  op.node = cupti::graph_node_type::host;
  work w;
  w.how = how;
  return submit({runtime::launch_host_func, driver::launch_host_func, s.device}, s, op, w);
}

std::uint64_t allocate(std::uint64_t bytes, std::uint32_t device, const call& how) {
  std::uint64_t address = 0;
  perform({runtime::malloc, driver::mem_alloc, device}, how, [&](call_frame& frame) {
    {
      const std::lock_guard lock{memory().mutex};
      address = memory().next;
      memory().next += (bytes + 511) / 512 * 512;
      memory().allocations[address] = {bytes, device};
    }
    write_memory(frame, cupti::memory_operation::allocation, address, {bytes, device});
  });
  return address;
}

void free(std::uint64_t address, const call& how) {
  perform({runtime::free, driver::mem_free}, how, [&](call_frame& frame) {
    allocation freed{};
    {
      const std::lock_guard lock{memory().mutex};
      const auto found = memory().allocations.find(address);
      if (found == memory().allocations.end()) {
        frame.result = 1;
        return;
      }
      freed = found->second;
      memory().allocations.erase(found);
    }
    write_memory(frame, cupti::memory_operation::release, address, freed);
  });
}

done synchronize(stream s, const call& how) {
  const params::of_stream params{s.handle};
  return synchronizing({runtime::stream_synchronize, driver::stream_synchronize, s.device, &params, &params},
                       how, cupti::synchronization_type::stream_synchronize, stream_id(s),
                       [&] { finish_running(s.device, s.handle); });
}

done synchronize_device(std::uint32_t device, const call& how) {
  return synchronizing({runtime::device_synchronize, driver::ctx_synchronize, device}, how,
                       cupti::synchronization_type::context_synchronize, cupti::invalid_id,
                       [&] { finish_running(device, std::nullopt); });
}

std::uint64_t create_event(const call& how) {
  const std::uint64_t event = last_event.fetch_add(0x40);
  perform({runtime::event_create_with_flags, driver::event_create}, how, [](call_frame&) {});
  return event;
}

done record_event(std::uint64_t event, stream s, const call& how) {
  const params::event_on_stream params{reinterpret_cast<void*>(event), s.handle};
  return perform({runtime::event_record, driver::event_record, s.device, &params, &params}, how,
                 [&](call_frame&) {
                   const cupti::graph_handle g = capturing(s);
                   const std::lock_guard lock{memory().mutex};
                   memory().captured_events[event] = g;
                 });
}

done wait_event(stream s, std::uint64_t event, const call& how) {
  return perform({runtime::stream_wait_event, driver::stream_wait_event, s.device}, how, [&](call_frame&) {
    cupti::graph_handle g = nullptr;
    {
      const std::lock_guard lock{memory().mutex};
      const auto found = memory().captured_events.find(event);
      g = found != memory().captured_events.end() ? found->second : nullptr;
    }
    if (g != nullptr) {
      set_capturing(s, g);
    }
  });
}

done synchronize_event(std::uint64_t, const call& how) {
  return synchronizing({runtime::event_synchronize, driver::event_synchronize}, how,
                       cupti::synchronization_type::event_synchronize, cupti::invalid_id, [] {});
}

done query_event(std::uint64_t, const call& how) {
  return perform({runtime::event_query, driver::event_query}, how, [](call_frame&) {});
}

void destroy_event(std::uint64_t event, const call& how) {
  perform({runtime::event_destroy, driver::event_destroy}, how, [&](call_frame&) {
    const std::lock_guard lock{memory().mutex};
    memory().captured_events.erase(event);
  });
}

done any_call(std::uint32_t runtime_id, std::uint32_t driver_id, const call& how) {
  return perform({runtime_id, driver_id}, how, [](call_frame&) {});
}

void write_overhead(cupti::overhead_kind what, interval times, bool with_data) {
  if (wanted(record_kind::overhead)) {
    write(make_overhead_record(what, times, this_thread_id(), with_data));
  }
}

void write_unknown_record(std::uint32_t kind, std::size_t size) {
  std::vector<std::uint8_t> bytes(size, std::uint8_t{0xA5});
  std::memcpy(bytes.data(), &kind, sizeof kind);
  write_anyhow(std::move(bytes));
}

void write_bytes(const std::vector<std::uint8_t>& bytes) { write_anyhow(bytes); }

void write_padding(std::size_t bytes) { write_anyhow(std::vector<std::uint8_t>(bytes)); }

void reset_memory() {
  const std::lock_guard lock{memory().mutex};
  memory().allocations.clear();
  memory().captured_events.clear();
}

void reset(const config& settings) {
  reset_entry(settings);
  reset_buffers();
  reset_callbacks();
  reset_activity();
  reset_counters();
  reset_calls();
  reset_streams();
  reset_graphs();
  reset_names();
  reset_memory();
}

}  // namespace standin
