// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/host.hpp"

#include <varve/collector.hpp>

#include "record/graph_labels.hpp"
#include "record/recording.hpp"
#include "record/registry.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

namespace varve {

namespace record {

namespace {

struct device_list {
  std::mutex mutex;
  std::vector<device_info> devices;
};

device_list& list() noexcept {
  static auto* const leaked = new device_list;
  return *leaked;
}

std::atomic<bool> any_shares_cores{false};
// CUPTI counts from 1: both may be in one trace.
std::atomic<std::uint32_t> last_correlation{std::uint32_t{1} << 31U};
std::atomic<std::uint64_t> last_node{std::uint64_t{1} << 63U};

bool labels_are_kept() noexcept {
  return (varve_load_state_() & (VARVE_STATE_RECORDING | VARVE_STATE_ARMED)) != 0;
}

}  // namespace

std::vector<device_info> host_devices() {
  device_list& l = list();
  const std::lock_guard lock{l.mutex};
  return l.devices;
}

bool host_devices_share_cores() noexcept { return any_shares_cores; }

}  // namespace record

inline namespace v0 {

std::uint64_t clock_ticks() noexcept { return record::now(); }
time_ns clock_nanoseconds(std::uint64_t ticks) noexcept { return record::session_clock()(ticks); }

host_device::host_device(device_info info, bool shares_host_cores) : id_{info.id} {
  if (shares_host_cores) {
    record::any_shares_cores = true;
  }
  record::device_list& l = record::list();
  const std::lock_guard lock{l.mutex};
  const auto same =
      std::find_if(l.devices.begin(), l.devices.end(), [&](const device_info& d) { return d.id == info.id; });
  if (same != l.devices.end()) {
    *same = std::move(info);
  } else {
    l.devices.push_back(std::move(info));
  }
}

host_device::~host_device() = default;

void host_device::report(const host_activity& what) noexcept {
  using namespace record;
  if ((varve_load_state_() & VARVE_STATE_RECORDING) == 0) {
    return;
  }
  thread_log* const log = this_log != nullptr ? this_log : registry.acquire();
  if (log == nullptr) {
    return;  // counted by the registry
  }
  const std::uint64_t where = static_cast<std::uint64_t>(id_) << 32U | what.stream;
  const std::uint64_t launch =
      static_cast<std::uint64_t>(what.correlation) << 32U | static_cast<std::uint64_t>(what.kind);
  const slot slots[] = {make_slot(event::activity, where, reinterpret_cast<std::uintptr_t>(what.name)),
                        {what.begin, what.end},
                        {launch, what.node},
                        {static_cast<std::uint64_t>(what.bytes), 0}};
  log->append(slots, 4);
}

std::uint64_t host_device::capture_node() noexcept {
  using namespace record;
  const std::uint64_t node = last_node.fetch_add(1, std::memory_order_relaxed) + 1;
  if (labels_are_kept() && this_log != nullptr && this_log->depth() != 0) {
    labels_of_graphs().capture(node, *this_log);
  }
  return node;
}

std::uint64_t host_device::clone_node(std::uint64_t from) noexcept {
  const std::uint64_t node = record::last_node.fetch_add(1, std::memory_order_relaxed) + 1;
  record::labels_of_graphs().copy(from, node);
  return node;
}

void host_device::update_node(std::uint64_t node, std::uint64_t from) noexcept {
  // From the next launch on.
  const std::uint32_t next = record::last_correlation.load(std::memory_order_relaxed) + 1;
  record::labels_of_graphs().copy(from, node, std::max(next, 1U));
}

void host_device::destroy_node(std::uint64_t node) noexcept {
  record::labels_of_graphs().destroy(node, true);
}

host_call::host_call(host_device& /*device*/, call_kind kind, bool captured) noexcept : correlation_{0} {
  using namespace record;
  if ((varve_load_state_() & VARVE_STATE_RECORDING) == 0) {
    return;
  }
  thread_log* const log = this_log != nullptr ? this_log : registry.acquire();
  if (log == nullptr) {
    return;
  }
  std::uint32_t id = last_correlation.fetch_add(1, std::memory_order_relaxed) + 1;
  if (id == 0) {  // 0 means none; the counter has wrapped
    id = last_correlation.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  const std::uint64_t what = call_payload(kind, id) | (captured ? call_captured : 0);
  const slot s = make_slot(event::call_begin, now(), what);
  if (log->append(&s, 1, 1)) {
    correlation_ = id;
  }
}

host_call::~host_call() {
  if (correlation_ != 0 && record::this_log != nullptr) {
    record::this_log->append_kept(record::make_slot(record::event::call_end, record::now(), correlation_));
  }
}

collector::~collector() = default;

}  // namespace v0
}  // namespace varve
