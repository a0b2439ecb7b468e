// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/log.hpp"

#include "record/range_counter.hpp"
#include "record/span_source.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

namespace varve::record {

std::atomic<std::uint64_t> current_epoch{0};

namespace {

struct pool_state {
  std::mutex mutex;
  std::vector<chunk*> free;
  std::size_t made = 0;
  bool open = false;
};

pool_state& pool_in_use() noexcept {
  static auto* const leaked = new pool_state;  // outlives every thread and static destructor
  return *leaked;
}

chunk_pool the_pool;

}  // namespace

chunk_pool& pool = the_pool;

void chunk_pool::open(std::size_t bytes) {
  const std::size_t wanted = std::max<std::size_t>(bytes / chunk::bytes, 2);
  pool_state& s = pool_in_use();
  const std::lock_guard lock{s.mutex};
  s.free.reserve(wanted);
  while (s.free.size() < wanted) {
    void* memory = ::operator new (sizeof(chunk), std::align_val_t{alignof(chunk)});
    s.free.push_back(new (memory) chunk{});
  }
  s.made = wanted;
  s.open = true;
}

void chunk_pool::close() noexcept {
  pool_state& s = pool_in_use();
  const std::lock_guard lock{s.mutex};
  for (chunk* c : s.free) {
    ::operator delete (c, std::align_val_t{alignof(chunk)});
  }
  s.free.clear();
  s.open = false;
}

chunk* chunk_pool::take() noexcept {
  pool_state& s = pool_in_use();
  chunk* taken = nullptr;
  bool low = false;
  {
    const std::lock_guard lock{s.mutex};
    if (!s.free.empty()) {
      taken = s.free.back();
      s.free.pop_back();
    }
    low = s.free.size() < s.made / 2;
  }
  if (low) {
    wake_reader();
  }
  if (taken != nullptr) {
    taken->size.store(0, std::memory_order_relaxed);
    taken->next.store(nullptr, std::memory_order_relaxed);
  }
  return taken;
}

void chunk_pool::give(chunk* c) noexcept {
  pool_state& s = pool_in_use();
  const std::lock_guard lock{s.mutex};
  if (s.open && s.free.size() < s.free.capacity()) {
    s.free.push_back(c);
  } else {
    ::operator delete (c, std::align_val_t{alignof(chunk)});
  }
}

void chunk_pool::lock() noexcept { pool_in_use().mutex.lock(); }
void chunk_pool::unlock() noexcept { pool_in_use().mutex.unlock(); }

inline void thread_log::write_one(const slot& s) noexcept {
  *cursor_ = s;
  ++cursor_;
  chunk_->size.store(static_cast<std::uint32_t>(cursor_ - chunk_->slots), std::memory_order_release);
}

void thread_log::write(const slot* slots, std::uint32_t count) noexcept {
  std::copy_n(slots, count, cursor_);
  cursor_ += count;
  chunk_->size.store(static_cast<std::uint32_t>(cursor_ - chunk_->slots), std::memory_order_release);
}

// One more slot than asked for is never used: the end of the thread, which is always kept free.
inline bool thread_log::ready(std::uint32_t slots) noexcept {
  if (__builtin_expect(epoch_ != current_epoch.load(std::memory_order_relaxed), 0) && !enter_epoch()) {
    return false;
  }
  return __builtin_expect(cursor_ + slots <= limit_, 1) || refill(slots);
}

bool thread_log::refill(std::uint32_t slots) noexcept {
  const std::uint32_t kept = depth_ + open_calls_ + 1;
  if (slots + kept > chunk::capacity) {
    return false;
  }
  chunk* fresh = pool.take();
  if (fresh == nullptr) {
    return false;
  }
  if (chunk_ != nullptr) {
    chunk_->next.store(fresh, std::memory_order_release);
  } else {
    first_.store(fresh, std::memory_order_release);
  }
  chunk_ = fresh;
  cursor_ = fresh->slots;
  limit_ = fresh->slots + chunk::capacity - kept;
  return true;
}

// The first event of a thread in a session says so, and tells again which ranges are open.
bool thread_log::enter_epoch() noexcept {
  const std::uint64_t epoch = current_epoch.load(std::memory_order_acquire);
  const std::uint32_t needed = 2 + 2 * depth_;
  if (chunk_ != nullptr) {
    limit_ = chunk_->slots + chunk::capacity - (depth_ + open_calls_ + 1);
  }
  if ((chunk_ == nullptr || cursor_ + needed > limit_) && !refill(needed)) {
    return false;
  }
  epoch_ = epoch;
  const slot header[] = {make_slot(event::epoch, 0, epoch), {serial_, thread_id_}};
  write(header, 2);
  for (std::uint32_t i = 0; i < depth_; ++i) {
    const open_range& r = stack_[i];
    if (r.origin != 0 && i > 0 && stack_[i - 1].serial == r.serial) {
      continue;  // a further step of the same adopted path
    }
    const bool adopted = r.origin != 0;
    const auto what = adopted ? reopened_adoption : static_cast<std::uint32_t>(r.kind);
    const slot again[] = {make_slot(event::reopened, 0, r.serial),
                          {adopted ? r.origin : reinterpret_cast<std::uintptr_t>(r.name),
                           static_cast<std::uint64_t>(what) << 32U | static_cast<std::uint32_t>(r.index)}};
    write(again, 2);
  }
  return true;
}

inline void thread_log::write_label(event packed, std::uint64_t ticks, const char* name, std::int32_t index,
                                    int kind) noexcept {
  if (__builtin_expect(packs(name, index), 1)) {
    write_one(make_slot(packed, ticks, pack(name, index)));
    return;
  }
  const slot wide[] = {make_slot(event::begin_wide, ticks, static_cast<std::uint64_t>(packed == event::next)),
                       {reinterpret_cast<std::uintptr_t>(name),
                        static_cast<std::uint64_t>(kind) << 32U | static_cast<std::uint32_t>(index)}};
  write(wide, 2);
}

inline std::uint64_t thread_log::opened(const char* name, std::int32_t index, int kind) noexcept {
  stack_[depth_++] = {serial_, 0, name, index, static_cast<std::int16_t>(kind), false};
  return make_token(number_, serial_++);
}

std::uint64_t thread_log::push(int kind, const char* name, std::int32_t index, bool recording) noexcept {
  if (__builtin_expect(depth_ == max_depth, 0)) {
    count(lost.deep_ranges);
    return 0;
  }
  if (recording) {
    if (!ready(3)) {  // the widest begin, and its end
      count(lost.dropped_ranges);
      return 0;
    }
    --limit_;
    write_label(static_cast<event>(static_cast<int>(event::begin_phase) + kind), now(), name, index, kind);
  }
  return opened(name, index, kind);
}

void thread_log::pop(std::uint64_t token, bool recording) noexcept {
  std::uint64_t ticks = recording ? now() : 0;
  if (__builtin_expect(token_log(token) != number_, 0)) {
    count(lost.foreign_ends);
    return;
  }
  const std::uint64_t serial = token_serial(token);
  std::uint32_t at = depth_;
  while (at > 0 && stack_[at - 1].serial != serial) {
    --at;
  }
  if (at == 0) {
    return;  // ended twice
  }
  std::uint32_t from = at - 1;
  while (from > 0 && stack_[from - 1].serial == serial) {
    --from;
  }
  if (recording && epoch_ != current_epoch.load(std::memory_order_relaxed)) {
    recording = enter_epoch();
    ticks = now();  // the session that it belongs to may have begun after the first reading
  }
  if (recording) {
    write_one(make_slot(event::end, ticks, serial));
    limit_ += at - from;
  }
  const bool streamed = stack_[from].streamed;
  if (__builtin_expect(at != depth_, 0)) {
    std::copy(stack_ + at, stack_ + depth_, stack_ + from);
  }
  depth_ -= at - from;
  if (__builtin_expect(streamed, 0)) {
    built_in_spans().end(make_token(number_, serial));
  }
}

std::uint64_t thread_log::next(std::uint64_t token, const char* name, std::int32_t index,
                               bool recording) noexcept {
  const bool innermost_own = depth_ > 0 && stack_[depth_ - 1].serial == token_serial(token) &&
                             stack_[depth_ - 1].origin == 0 && token_log(token) == number_ &&
                             !stack_[depth_ - 1].streamed;
  if (__builtin_expect(!innermost_own || !recording || !ready(2), 0)) {
    pop(token, recording);
    return push(VARVE_KIND_LAYER, name, index, recording);
  }
  write_label(event::next, now(), name, index, VARVE_KIND_LAYER);
  --depth_;
  return opened(name, index, VARVE_KIND_LAYER);
}

std::uint64_t thread_log::adopt(const varve_handoff_t& where, bool recording) noexcept {
  const std::uint32_t steps = std::min<std::uint32_t>(where.depth, VARVE_HANDOFF_DEPTH);
  if (depth_ + steps > max_depth) {
    count(lost.deep_ranges);
    return 0;
  }
  if (recording) {
    if (!ready(1 + steps)) {
      count(lost.dropped_ranges);
      return 0;
    }
    limit_ -= steps;
    write_one(make_slot(event::adopt, 0, where.id));
  }
  for (std::uint32_t i = 0; i < steps; ++i) {
    stack_[depth_++] = {
        serial_, where.id, where.path[i].name, where.path[i].index, static_cast<std::int16_t>(where.kinds[i]),
        false};
  }
  return make_token(number_, serial_++);
}

bool thread_log::mark_streamed(std::uint64_t token) noexcept {
  for (std::uint32_t at = token_log(token) == number_ ? depth_ : 0; at > 0; --at) {
    open_range& r = stack_[at - 1];
    if (r.serial == token_serial(token)) {
      r.streamed = r.origin == 0 && r.kind == VARVE_KIND_PHASE;
      return r.streamed;
    }
  }
  return false;
}

bool thread_log::append(const slot* slots, std::uint32_t count_of_slots, std::uint32_t then) noexcept {
  if (!ready(count_of_slots + then)) {
    count(lost.dropped_events);
    return false;
  }
  open_calls_ += then;
  limit_ -= then;
  write(slots, count_of_slots);
  return true;
}

void thread_log::append_alias(std::uint32_t id, std::uint32_t outer) noexcept {
  if (ready(1)) {
    write_one(make_slot(event::call_begin, outer, call_alias | id));
  } else {
    count(lost.dropped_aliases);
  }
}

void thread_log::append_kept(const slot& s) noexcept {
  --open_calls_;
  if (epoch_ == current_epoch.load(std::memory_order_relaxed)) {
    write_one(s);
    ++limit_;
  }
}

void thread_log::end_thread(bool recording) noexcept {
  if (recording && chunk_ != nullptr && epoch_ == current_epoch.load(std::memory_order_relaxed)) {
    write_one(make_slot(event::thread_end, now(), 0));
  }
  for (std::uint32_t i = 0; i < depth_; ++i) {
    if (stack_[i].streamed) {
      built_in_spans().abandon(make_token(number_, stack_[i].serial));
    }
  }
  if (depth_ > 0 && (varve_load_state_() & state_counting) != 0) {
    built_in_counter().abandon();
  }
  depth_ = 0;
  open_calls_ = 0;
  epoch_ = 0;  // whoever takes this log over says so
}

std::uint64_t thread_log::innermost() const noexcept {
  if (depth_ == 0) {
    return 0;
  }
  const open_range& top = stack_[depth_ - 1];
  return top.origin != 0 ? top.origin : make_token(number_, top.serial);
}

}  // namespace varve::record
