// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "inject/ranges.hpp"

#include "inject/life.hpp"
#include "inject/signal_stack.hpp"

#include <varve/varve.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <vector>

namespace varve::inject {

namespace {

/// The recorder's log that a thread writes, counted from 1. A thread that comes for the first time has not
/// set any.
constexpr std::uint64_t first_time = 0;
constexpr std::uint64_t no_log = 65537;
constexpr std::uint64_t log_of(std::uint64_t token) noexcept { return (token >> 48U) + 1; }

/// Ranges that other threads ended, until their own threads take them off their stacks.
struct ends {
  static constexpr std::size_t most = 4096;
  std::mutex mutex;
  std::vector<std::uint64_t> tokens;
  // A bit for each log of which there are any, and for threads that come for the first time.
  std::array<std::atomic<std::uint32_t>, 2049> waiting{1U << first_time};

  [[nodiscard]] bool any(std::uint64_t log) const noexcept {
    return (waiting[log / 32].load(std::memory_order_relaxed) >> (log % 32) & 1U) != 0;
  }
};

ends& ended_elsewhere() noexcept {
  static auto* const leaked = new ends;  // outlives every thread and static destructor
  return *leaked;
}

/// What a thread has pushed. Of no destructor: ranges may come after those of a thread's objects.
struct pushed {
  const void* domain;
  std::uint64_t token;
};
struct thread_state {
  std::uint64_t log = first_time;
  std::uint32_t depth = 0;  // may be beyond what fits
  std::array<pushed, 512> stack;
};
thread_local thread_state this_thread;

/// Takes off this thread's stack what others ended.
void take_ended(thread_state& t) noexcept {
  ends& e = ended_elsewhere();
  std::array<std::uint64_t, 64> mine{};
  std::size_t count = 0;
  {
    const std::lock_guard lock{e.mutex};
    const auto end = std::remove_if(e.tokens.begin(), e.tokens.end(), [&](std::uint64_t token) {
      const bool taken = count < mine.size() && log_of(token) == t.log;
      if (taken) {
        mine[count++] = token;
      }
      return taken;
    });
    e.tokens.erase(end, e.tokens.end());
    if (count < mine.size()) {
      e.waiting[t.log / 32].fetch_and(~(1U << t.log % 32), std::memory_order_relaxed);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    varve_pop_(mine[i]);
  }
}

/// What a thread does before its first range, or when others have ended ranges of its.
void come(thread_state& t) noexcept {
  if (t.log == first_time) {
    t.log = no_log;
    give_signal_stack();
  } else {
    take_ended(t);
  }
}

thread_state& enter() noexcept {
  ensure_session();
  thread_state& t = this_thread;
  if (__builtin_expect(ended_elsewhere().any(t.log), 0)) {
    come(t);
  }
  return t;
}

std::uint64_t begin(thread_state& t, const range_mark& mark, std::int32_t payload) noexcept {
  if (mark.ignored) {
    return 0;
  }
  const std::uint64_t token =
      varve_push_(mark.kind, mark.name, mark.index != no_index ? mark.index : payload);
  if (token != 0) {
    t.log = log_of(token);
    for (const auto& [key, value] : mark.attributes) {
      varve_attribute_(token, key, value);
    }
  }
  return token;
}

}  // namespace

int push_range(const void* domain, const range_mark& mark, std::int32_t index) noexcept {
  thread_state& t = enter();
  const std::uint64_t token = begin(t, mark, index);
  if (t.depth < t.stack.size()) {
    t.stack[t.depth] = {domain, token};
  }
  return static_cast<int>(t.depth++);
}

int pop_range(const void* domain) noexcept {
  thread_state& t = enter();
  if (t.depth > t.stack.size()) {
    return static_cast<int>(--t.depth);  // one of those that did not fit, of whatever domain
  }
  std::uint32_t at = t.depth;
  while (at > 0 && t.stack[at - 1].domain != domain) {
    --at;
  }
  if (at == 0) {
    return -1;
  }
  varve_pop_(t.stack[at - 1].token);
  std::copy(t.stack.begin() + at, t.stack.begin() + t.depth, t.stack.begin() + at - 1);
  return static_cast<int>(--t.depth);
}

std::uint64_t start_range(const range_mark& mark, std::int32_t index) noexcept {
  return begin(enter(), mark, index);
}

void end_range(std::uint64_t id) noexcept {
  const thread_state& t = enter();
  if (id == 0) {
    return;
  }
  if (log_of(id) == t.log) {
    varve_pop_(id);
    return;
  }
  varve_end_elsewhere_(id);
  try {
    ends& e = ended_elsewhere();
    const std::lock_guard lock{e.mutex};
    if (e.tokens.size() < ends::most) {
      e.tokens.push_back(id);
      e.waiting[log_of(id) / 32].fetch_or(1U << log_of(id) % 32, std::memory_order_relaxed);
    }
  } catch (...) {
    // stays on its thread's stack until that ends; its time is right
  }
}

void lock_ranges() noexcept { ended_elsewhere().mutex.lock(); }
void unlock_ranges() noexcept { ended_elsewhere().mutex.unlock(); }

}  // namespace varve::inject
