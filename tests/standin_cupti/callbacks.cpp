// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cupti/callbacks.hpp"

#include "standin_cupti/entry.hpp"

#include <atomic>
#include <deque>
#include <mutex>

namespace standin {
namespace {

using cupti::callback_domain;
using cupti::result;

constexpr std::size_t domains = 7;
constexpr std::size_t ids = 1024;

struct subscriber {
  cupti::callback_function function;
  void* user_data;
};

struct callback_state {
  std::mutex mutex;
  std::deque<subscriber> subscribers;  // never shortened: a callback may be on its way to an old one
  std::atomic<const subscriber*> current{nullptr};
  std::atomic<const subscriber*> last{nullptr};
  std::array<std::array<std::atomic<bool>, ids>, domains> enabled{};
  std::array<std::atomic<int>, domains> enabled_of_domain{};
  std::atomic<std::size_t> made{0};
  std::atomic<std::size_t> running{0};
};

callback_state& the_callbacks() {
  static auto& all = *new callback_state;
  return all;
}

// Under the mutex.
void set(callback_state& all, std::size_t domain, std::size_t id, bool on) {
  if (all.enabled[domain][id].exchange(on) != on) {
    all.enabled_of_domain[domain] += on ? 1 : -1;
  }
}

void disable_all(callback_state& all) {
  for (std::size_t domain = 0; domain < domains; ++domain) {
    for (std::size_t id = 0; id < ids; ++id) {
      set(all, domain, id, false);
    }
  }
}

bool is_current(const callback_state& all, cupti::subscriber_handle handle) {
  return handle != nullptr && reinterpret_cast<const subscriber*>(handle) == all.current.load();
}

}  // namespace

result subscribe(cupti::subscriber_handle* handle, cupti::callback_function function, void* user_data) {
  callback_state& all = the_callbacks();
  if (handle == nullptr || function == nullptr) {
    return result::invalid_parameter;
  }
  const std::lock_guard lock{all.mutex};
  if (settings().other_subscriber || all.current.load() != nullptr) {
    return result::multiple_subscribers_not_supported;
  }
  const subscriber& added = all.subscribers.emplace_back(subscriber{function, user_data});
  all.last = &added;
  all.current = &added;
  *handle = reinterpret_cast<cupti::subscriber_handle>(const_cast<subscriber*>(&added));
  return result::success;
}

result unsubscribe(cupti::subscriber_handle handle) {
  callback_state& all = the_callbacks();
  const std::lock_guard lock{all.mutex};
  if (!is_current(all, handle)) {
    misuse("unsubscribing who is not subscribed");
    return result::invalid_parameter;
  }
  all.current = nullptr;
  if (!settings().callbacks_after_unsubscribe) {
    disable_all(all);
  }
  return result::success;
}

result enable(bool on, cupti::subscriber_handle handle, callback_domain domain, std::uint32_t id) {
  callback_state& all = the_callbacks();
  const std::lock_guard lock{all.mutex};
  const auto row = static_cast<std::size_t>(domain);
  if (!is_current(all, handle) || row == 0 || row >= domains || id >= ids) {
    return result::invalid_parameter;
  }
  set(all, row, id, on);
  return result::success;
}

result enable_domain(bool on, cupti::subscriber_handle handle, callback_domain domain) {
  callback_state& all = the_callbacks();
  const std::lock_guard lock{all.mutex};
  const auto row = static_cast<std::size_t>(domain);
  if (!is_current(all, handle) || row == 0 || row >= domains) {
    return result::invalid_parameter;
  }
  for (std::size_t id = 1; id < ids; ++id) {
    set(all, row, id, on);
  }
  return result::success;
}

void emit(callback_domain domain, std::uint32_t id, const void* data) {
  callback_state& all = the_callbacks();
  if (id >= ids || !all.enabled[static_cast<std::size_t>(domain)][id].load(std::memory_order_acquire)) {
    return;
  }
  const subscriber* to = all.current.load(std::memory_order_acquire);
  if (to == nullptr && settings().callbacks_after_unsubscribe) {
    to = all.last.load(std::memory_order_acquire);
  }
  if (to == nullptr) {
    return;
  }
  all.made.fetch_add(1, std::memory_order_relaxed);
  all.running.fetch_add(1, std::memory_order_relaxed);
  try {
    to->function(to->user_data, domain, id, data);
  } catch (...) {
    misuse("a callback threw");
  }
  all.running.fetch_sub(1, std::memory_order_relaxed);
}

bool api_callbacks_enabled() {
  const auto& count = the_callbacks().enabled_of_domain;
  return count[static_cast<std::size_t>(callback_domain::driver_api)] > 0 ||
         count[static_cast<std::size_t>(callback_domain::runtime_api)] > 0;
}

void notify(cupti::state_event event, result code, const char* message) {
  const cupti::state_data data{code, message};
  emit(callback_domain::state, static_cast<std::uint32_t>(event), &data);
}

void reset_callbacks() {
  callback_state& all = the_callbacks();
  const std::lock_guard lock{all.mutex};
  all.current = nullptr;
  all.last = nullptr;
  disable_all(all);
  all.made = 0;
}

bool subscribed() { return the_callbacks().current.load() != nullptr; }

std::vector<std::uint32_t> enabled_callbacks(callback_domain domain) {
  std::vector<std::uint32_t> found;
  const auto& row = the_callbacks().enabled[static_cast<std::size_t>(domain)];
  for (std::uint32_t id = 0; id < ids; ++id) {
    if (row[id].load()) {
      found.push_back(id);
    }
  }
  return found;
}

std::size_t callbacks_made() { return the_callbacks().made.load(); }
std::size_t callbacks_running() { return the_callbacks().running.load(); }

}  // namespace standin
