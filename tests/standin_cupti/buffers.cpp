// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cupti/buffers.hpp"

#include "standin_cupti/buffers_state.hpp"
#include "standin_cupti/entry.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace standin {
namespace {

using cupti::result;

// A thread that ends leaves its buffer to the next flush, as full.
struct thread_slot {
  std::uint64_t key = 0;
  thread_slot() {
    static std::atomic<std::uint64_t> last{0};
    key = ++last;
  }
  thread_slot(const thread_slot&) = delete;
  thread_slot& operator=(const thread_slot&) = delete;
  ~thread_slot() {
    buffer_state& all = buffers();
    const std::lock_guard lock{all.mutex};
    if (const auto found = all.filling.find(key); found != all.filling.end() && found->second != nullptr) {
      retire(all, std::move(found->second));
      all.filling.erase(found);
    }
  }
};

std::uint64_t slot_of_this_thread() {
  static thread_local const thread_slot slot;
  return per_thread_buffers() ? slot.key : 0;
}

std::unique_ptr<client_buffer> request(buffer_state& all) {
  auto fresh = std::make_unique<client_buffer>();
  try {
    all.requested(&fresh->data, &fresh->size, &fresh->most_records);
  } catch (...) {
    misuse("the request callback threw");
  }
  if (fresh->data == nullptr || fresh->size == 0) {
    if (settings().version < 28) {
      misuse("no buffer given: CUPTI crashes before 12.9");
    }
    return nullptr;
  }
  if (reinterpret_cast<std::uintptr_t>(fresh->data) % cupti::record_alignment != 0) {
    misuse("a buffer is not aligned to 8 bytes");
  }
  return fresh;
}

bool has_room(const client_buffer& buffer, const record& r) {
  const std::size_t configured = settings().records_per_buffer;
  return r.bytes.size() <= buffer.size - buffer.used &&
         (buffer.most_records == 0 || buffer.records < buffer.most_records) &&
         (configured == 0 || buffer.records < configured);
}

void append(buffer_state& all, client_buffer& buffer, record& r) {
  if (r.name) {
    auto& names = settings().names_die_with_buffer ? buffer.names : all.names;
    const char* name = names.insert(std::move(*r.name)).first->c_str();
    std::memcpy(r.bytes.data() + cupti::kernel::name.offset, &name, sizeof name);
  }
  if (r.running) {
    all.running.push_back({&buffer, buffer.used, r.stream, r.device});
    ++buffer.running;
  }
  std::copy(r.bytes.begin(), r.bytes.end(), buffer.data + buffer.used);
  buffer.used += r.bytes.size();
  ++buffer.records;
  ++all.written;
}

void drop(buffer_state& all) {
  ++all.dropped;
  ++all.dropped_in_all;
}

}  // namespace

buffer_state& buffers() {
  static auto& all = *new buffer_state;
  return all;
}

result register_buffers(cupti::buffer_requested_function requested,
                        cupti::buffer_completed_function completed) {
  if (requested == nullptr || completed == nullptr) {
    return result::invalid_parameter;
  }
  buffer_state& all = buffers();
  const std::lock_guard lock{all.mutex};
  all.requested = requested;
  all.completed = completed;
  return result::success;
}

void write(record r) {
  buffer_state& all = buffers();
  const std::uint64_t slot = slot_of_this_thread();
  std::unique_lock lock{all.mutex};
  if (all.to_drop > 0) {
    --all.to_drop;
    drop(all);
    return;
  }
  const auto current = [&]() -> std::unique_ptr<client_buffer>& { return all.filling[slot]; };
  if (current() == nullptr || !has_room(*current(), r)) {
    if (current() != nullptr) {
      retire(all, std::move(current()));
    }
    if (all.requested == nullptr) {
      drop(all);
      return;
    }
    lock.unlock();
    deliver_retired(all);
    std::unique_ptr<client_buffer> fresh = request(all);
    lock.lock();
    ++all.requests;
    if (fresh == nullptr) {
      drop(all);
      return;
    }
    ++all.outstanding;
    if (current() != nullptr) {  // somebody else's, meanwhile
      retire(all, std::move(current()));
    }
    current() = std::move(fresh);
    if (!has_room(*current(), r)) {
      misuse("a buffer has no room for one record");
      drop(all);
      return;
    }
  }
  append(all, *current(), r);
}

void write_later(record r) {
  buffer_state& all = buffers();
  const std::lock_guard lock{all.mutex};
  all.waiting.push_back(std::move(r));
}

void write_waiting(bool running_too) {
  buffer_state& all = buffers();
  std::list<record> ready;
  {
    const std::lock_guard lock{all.mutex};
    for (auto at = all.waiting.begin(); at != all.waiting.end();) {
      const auto next = std::next(at);
      if (running_too || !at->running) {
        ready.splice(ready.end(), all.waiting, at);
      }
      at = next;
    }
  }
  for (record& r : ready) {
    write(std::move(r));
  }
}

void finish_running(std::optional<std::uint32_t> device, std::optional<cupti::stream_handle> stream) {
  buffer_state& all = buffers();
  const auto meant = [&](const auto& r) {
    return (!device || *device == r.device) && (!stream || *stream == r.stream);
  };
  const std::uint64_t end = now();
  const std::lock_guard lock{all.mutex};
  for (record& r : all.waiting) {
    if (r.running && meant(r)) {
      finish(r.bytes.data(), end);
      r.running = false;
    }
  }
  all.running.remove_if([&](const running_record& r) {
    if (!meant(r)) {
      return false;
    }
    finish(r.buffer->data + r.offset, end);
    --r.buffer->running;
    return true;
  });
  all.changed.notify_all();
}

void finish_running() { finish_running(std::nullopt, std::nullopt); }

bool per_thread_buffers() {
  const std::lock_guard lock{buffers().mutex};
  return buffers().per_thread.value_or(settings().version >= cupti::cuda_13_0);
}

void set_per_thread_buffers(bool on) {
  const std::lock_guard lock{buffers().mutex};
  if (buffers().requested != nullptr) {
    misuse("per-thread buffers are chosen before callbacks are registered");
  }
  buffers().per_thread = on;
}

std::size_t take_dropped() {
  const std::lock_guard lock{buffers().mutex};
  return std::exchange(buffers().dropped, 0);
}

result next_record(std::uint8_t* buffer, std::size_t valid_size, std::uint8_t** record) {
  if (buffer == nullptr || record == nullptr) {
    return result::invalid_parameter;
  }
  const std::uint8_t* end = buffer + valid_size;
  std::uint8_t* next = *record == nullptr ? buffer : *record + size_of(cupti::read(*record, cupti::kind_of));
  if (next + sizeof(cupti::record_kind) > end) {
    return result::max_limit_reached;
  }
  const std::size_t size = size_of(cupti::read(next, cupti::kind_of));
  if (size == 0) {
    return result::invalid_kind;
  }
  if (size > static_cast<std::size_t>(end - next)) {
    return result::max_limit_reached;
  }
  *record = next;
  return result::success;
}

void drop_records(std::size_t n) {
  const std::lock_guard lock{buffers().mutex};
  buffers().to_drop += n;
}

std::size_t buffers_outstanding() {
  const std::lock_guard lock{buffers().mutex};
  return buffers().outstanding;
}

std::size_t buffers_requested() {
  const std::lock_guard lock{buffers().mutex};
  return buffers().requests;
}

std::size_t records_written() {
  const std::lock_guard lock{buffers().mutex};
  return buffers().written;
}

std::size_t records_dropped() {
  const std::lock_guard lock{buffers().mutex};
  return buffers().dropped_in_all;
}

}  // namespace standin
