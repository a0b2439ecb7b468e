// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cupti/activity.hpp"

#include "standin_cupti/buffers.hpp"
#include "standin_cupti/callbacks.hpp"
#include "standin_cupti/entry.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>

namespace standin {
namespace {

using cupti::record_kind;
using cupti::result;

constexpr std::size_t kinds = 64;

struct activity_state {
  std::mutex mutex;
  std::array<std::atomic<bool>, kinds> wanted{};
  std::map<std::pair<cupti::callback_domain, std::uint32_t>, bool> apis;  ///< said one by one
  std::atomic<bool> has_apis{false};
  std::atomic<cupti::thread_id_type> thread_ids{cupti::thread_id_type::pthread};
  std::map<cupti::attribute, std::uint64_t> attributes;
  std::atomic<std::uint64_t> generation{0};
};

activity_state& state() {
  static auto& all = *new activity_state;
  return all;
}

struct external_stacks {
  std::uint64_t generation = 0;
  std::map<cupti::external_correlation_kind, std::vector<std::uint64_t>> stacks;
};

external_stacks& stacks_of_this_thread() {
  static thread_local external_stacks mine;
  if (mine.generation != state().generation) {
    mine.stacks.clear();
    mine.generation = state().generation;
  }
  return mine;
}

const std::map<cupti::attribute, std::uint64_t>& default_attributes() {
  static const auto& values =
      *new std::map<cupti::attribute, std::uint64_t>{{cupti::attribute::device_buffer_size, 3355443},
                                                     {cupti::attribute::device_buffer_pool_limit, 250},
                                                     {cupti::attribute::zeroed_out_activity_buffer, 0},
                                                     {cupti::attribute::device_buffer_pre_allocate_value, 3},
                                                     {cupti::attribute::mem_allocation_type_host_pinned, 0},
                                                     {cupti::attribute::per_thread_activity_buffer, 0}};
  return values;
}

// Sizes are size_t, switches one byte.
std::size_t size_of_attribute(cupti::attribute what) {
  const bool is_switch = what == cupti::attribute::zeroed_out_activity_buffer ||
                         what == cupti::attribute::mem_allocation_type_host_pinned ||
                         what == cupti::attribute::per_thread_activity_buffer;
  return is_switch ? 1 : sizeof(std::size_t);
}

}  // namespace

result enable_kind(record_kind kind, bool on) {
  const auto index = static_cast<std::size_t>(kind);
  if (kind == record_kind::invalid || index >= kinds) {
    return result::invalid_kind;
  }
  if (kind == record_kind::kernel && on) {
    misuse("enabling KERNEL serialises kernels");
  }
  state().wanted[index] = on;
  return result::success;
}

bool wanted(record_kind kind) { return state().wanted[static_cast<std::size_t>(kind)].load(); }

record_kind wanted_kernels() {
  return wanted(record_kind::concurrent_kernel) ? record_kind::concurrent_kernel
         : wanted(record_kind::kernel)          ? record_kind::kernel
                                                : record_kind::invalid;
}

result enable_api(cupti::callback_domain domain, std::uint32_t id, bool on) {
  const std::lock_guard lock{state().mutex};
  state().apis[{domain, id}] = on;
  state().has_apis = true;
  return result::success;
}

bool wanted_api(cupti::callback_domain domain, std::uint32_t id) {
  activity_state& all = state();
  if (all.has_apis.load()) {
    const std::lock_guard lock{all.mutex};
    if (const auto found = all.apis.find({domain, id}); found != all.apis.end()) {
      return found->second;
    }
  }
  return wanted(domain == cupti::callback_domain::runtime_api ? record_kind::runtime : record_kind::driver);
}

bool correlates() {
  return api_callbacks_enabled() || wanted(record_kind::runtime) || wanted(record_kind::driver) ||
         state().has_apis.load();
}

result set_thread_id_type(cupti::thread_id_type type) {
  state().thread_ids = type;
  return result::success;
}

std::uint32_t this_thread_id() {
  return state().thread_ids.load() == cupti::thread_id_type::system
             ? static_cast<std::uint32_t>(::syscall(SYS_gettid))
             : static_cast<std::uint32_t>(::pthread_self());
}

result push_external(cupti::external_correlation_kind kind, std::uint64_t id) {
  stacks_of_this_thread().stacks[kind].push_back(id);
  return result::success;
}

result pop_external(cupti::external_correlation_kind kind, std::uint64_t* last) {
  auto& stack = stacks_of_this_thread().stacks[kind];
  if (stack.empty()) {
    misuse("popping an external id from an empty stack");
    return result::queue_empty;
  }
  if (last != nullptr) {
    *last = stack.back();
  }
  stack.pop_back();
  return result::success;
}

void write_external(std::uint32_t correlation) {
  if (!wanted(record_kind::external_correlation)) {
    return;
  }
  for (const auto& [kind, stack] : stacks_of_this_thread().stacks) {
    if (!stack.empty()) {
      write(make_external_record(kind, stack.back(), correlation));
    }
  }
}

result set_attribute(cupti::attribute what, const std::size_t* size, const void* value) {
  if (size == nullptr || value == nullptr || default_attributes().count(what) == 0) {
    return result::invalid_parameter;
  }
  if (*size < size_of_attribute(what)) {
    return result::parameter_size_not_sufficient;
  }
  std::uint64_t given = 0;
  std::memcpy(&given, value, size_of_attribute(what));
  if (what == cupti::attribute::per_thread_activity_buffer) {
    set_per_thread_buffers(given != 0);
  }
  const std::lock_guard lock{state().mutex};
  state().attributes[what] = given;
  return result::success;
}

result get_attribute(cupti::attribute what, std::size_t* size, void* value) {
  if (size == nullptr || value == nullptr || default_attributes().count(what) == 0) {
    return result::invalid_parameter;
  }
  if (*size < size_of_attribute(what)) {
    return result::parameter_size_not_sufficient;
  }
  std::uint64_t held = default_attributes().at(what);
  if (what == cupti::attribute::per_thread_activity_buffer) {
    held = per_thread_buffers() ? 1 : 0;
  } else {
    const std::lock_guard lock{state().mutex};
    if (const auto found = state().attributes.find(what); found != state().attributes.end()) {
      held = found->second;
    }
  }
  *size = size_of_attribute(what);
  std::memcpy(value, &held, *size);
  return result::success;
}

void reset_activity() {
  activity_state& all = state();
  const std::lock_guard lock{all.mutex};
  for (auto& kind : all.wanted) {
    kind = false;
  }
  all.apis.clear();
  all.has_apis = false;
  all.thread_ids = cupti::thread_id_type::pthread;
  all.attributes.clear();
  ++all.generation;
}

std::vector<record_kind> enabled_kinds() {
  std::vector<record_kind> found;
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    if (state().wanted[kind].load()) {
      found.push_back(static_cast<record_kind>(kind));
    }
  }
  return found;
}

}  // namespace standin
