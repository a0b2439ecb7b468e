// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/registry.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace varve::record {

thread_local thread_log* this_log __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

struct registry_state {
  std::mutex mutex;
  std::vector<thread_log*> logs;
  std::vector<thread_log*> reusable;
  std::uint64_t refused = 0;
  pthread_key_t key{};
  bool has_key = false;
};

registry_state& registry_in_use() noexcept {
  static auto* const leaked = new registry_state;  // outlives every thread and static destructor
  return *leaked;
}

// Runs on the ending thread, after its thread_local destructors; not on the main thread at exit.
void thread_ended(void* log) noexcept {
  this_log = nullptr;
  static_cast<thread_log*>(log)->end_thread((varve_load_state_() & VARVE_STATE_RECORDING) != 0);
  registry.recycle(*static_cast<thread_log*>(log));
}

log_registry the_registry;

}  // namespace

log_registry& registry = the_registry;

thread_log* log_registry::acquire() noexcept {
  registry_state& s = registry_in_use();
  const std::lock_guard lock{s.mutex};
  if (!s.has_key) {
    s.has_key = pthread_key_create(&s.key, thread_ended) == 0;
  }
  thread_log* log = nullptr;
  if (!s.reusable.empty()) {
    log = s.reusable.back();
    s.reusable.pop_back();
  } else if (s.logs.size() < 0xFFFF) {
    try {
      auto made = std::make_unique<thread_log>();
      auto stack = std::make_unique<open_range[]>(thread_log::max_depth);
      s.reusable.reserve(s.logs.size() + 1);  // so that recycling never allocates
      s.logs.push_back(made.get());
      log = made.release();
      log->stack_ = stack.release();
      log->number_ = static_cast<std::uint32_t>(s.logs.size());
    } catch (const std::bad_alloc&) {
      log = nullptr;
    }
  }
  if (log == nullptr) {
    ++s.refused;
    return nullptr;
  }
  log->thread_id_ = static_cast<std::uint64_t>(::syscall(SYS_gettid));
  if (s.has_key) {
    pthread_setspecific(s.key, log);
  }
  this_log = log;
  return log;
}

std::uint64_t log_registry::take_refused() noexcept {
  registry_state& s = registry_in_use();
  const std::lock_guard lock{s.mutex};
  return std::exchange(s.refused, 0);
}

std::uint32_t log_registry::size() noexcept {
  registry_state& s = registry_in_use();
  const std::lock_guard lock{s.mutex};
  return static_cast<std::uint32_t>(s.logs.size());
}

thread_log* log_registry::find(std::uint32_t number) noexcept {
  registry_state& s = registry_in_use();
  const std::lock_guard lock{s.mutex};
  return number >= 1 && number <= s.logs.size() ? s.logs[number - 1] : nullptr;
}

void log_registry::recycle(thread_log& log) noexcept {
  registry_state& s = registry_in_use();
  const std::lock_guard lock{s.mutex};
  s.reusable.push_back(&log);
}

void log_registry::lock() noexcept { registry_in_use().mutex.lock(); }
void log_registry::unlock() noexcept { registry_in_use().mutex.unlock(); }

const slot* log_cursor::next() noexcept {
  for (;;) {
    chunk* current = log_.first_.load(std::memory_order_acquire);
    if (current == nullptr) {
      return nullptr;
    }
    if (log_.read_ < current->size.load(std::memory_order_acquire)) {
      return &current->slots[log_.read_];
    }
    chunk* following = current->next.load(std::memory_order_acquire);
    if (following == nullptr) {
      return nullptr;
    }
    // The writer moved on after its last write here, which may have come since the size was read.
    if (log_.read_ < current->size.load(std::memory_order_acquire)) {
      return &current->slots[log_.read_];
    }
    log_.first_.store(following, std::memory_order_relaxed);
    log_.read_ = 0;
    pool.give(current);
  }
}

}  // namespace varve::record
