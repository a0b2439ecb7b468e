// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cupti/buffers_state.hpp"
#include "standin_cupti/entry.hpp"
#include "standin_cupti/streams.hpp"

#include <algorithm>
#include <utility>

namespace standin {
namespace {

using cupti::result;
using buffer_list = std::list<std::unique_ptr<client_buffer>>;

thread_local bool in_completion = false;

// Records keep their bytes and change places.
void shuffle_records(client_buffer& buffer, std::mt19937& random) {
  std::vector<std::vector<std::uint8_t>> records;
  std::uint8_t* record = nullptr;
  std::size_t walked = 0;
  while (next_record(buffer.data, buffer.used, &record) == result::success) {
    records.emplace_back(record, record + size_of(cupti::read(record, cupti::kind_of)));
    walked += records.back().size();
  }
  if (walked != buffer.used) {
    return;  // has bytes that are no records
  }
  std::shuffle(records.begin(), records.end(), random);
  std::uint8_t* to = buffer.data;
  for (const auto& bytes : records) {
    to = std::copy(bytes.begin(), bytes.end(), to);
  }
}

// Under the mutex.
void forget_running(buffer_state& all, const client_buffer& buffer) {
  all.running.remove_if([&](const running_record& r) { return r.buffer == &buffer; });
}

buffer_list take_deliverable(buffer_state& all, bool running_too) {
  buffer_list taken;
  for (auto at = all.full.begin(); at != all.full.end();) {
    const auto next = std::next(at);
    if (running_too || (*at)->running == 0) {
      taken.splice(taken.end(), all.full, at);
    }
    at = next;
  }
  return taken;
}

void complete(buffer_state& all, std::unique_ptr<client_buffer> buffer) {
  cupti::buffer_completed_function completed = nullptr;
  std::size_t valid = buffer->used;
  {
    const std::lock_guard lock{all.mutex};
    forget_running(all, *buffer);
    completed = all.completed;
    if (settings().shuffle) {
      shuffle_records(*buffer, all.random);
    }
    if (all.truncate_buffers > 0) {
      --all.truncate_buffers;
      valid -= std::min(valid, all.truncate_bytes);
    }
    --all.outstanding;  // from here on it is the client's
  }
  const bool nested = std::exchange(in_completion, true);
  try {
    completed(nullptr, 0, buffer->data, buffer->size, valid);
  } catch (...) {
    misuse("the completion callback threw");
  }
  in_completion = nested;
  for (const std::string& name : buffer->names) {
    std::fill_n(const_cast<char*>(name.data()), name.size(), '?');
  }
}

// Without the mutex. Whoever waits for deliveries sees these from before they are taken until they are done.
void complete_all(buffer_state& all, buffer_list taken) {
  for (auto& buffer : taken) {
    complete(all, std::move(buffer));
  }
  const std::lock_guard lock{all.mutex};
  --all.delivering;
  all.changed.notify_all();
}

void run_worker(buffer_state& all) {
  std::unique_lock lock{all.mutex};
  while (!all.worker_ends) {
    buffer_list taken;
    if (settings().deliver == delivery::worker) {
      taken = take_deliverable(all, false);
    }
    if (taken.empty()) {
      all.changed.wait(lock);
      continue;
    }
    ++all.delivering;
    lock.unlock();
    complete_all(all, std::move(taken));
    lock.lock();
  }
}

void deliver_here(buffer_state& all, bool filling_too, bool running_too) {
  buffer_list taken;
  {
    const std::lock_guard lock{all.mutex};
    if (filling_too) {
      for (auto at = all.filling.begin(); at != all.filling.end();) {
        auto& buffer = at->second;
        if (buffer == nullptr || running_too || buffer->running == 0) {
          if (buffer != nullptr) {
            all.full.push_back(std::move(buffer));
          }
          at = all.filling.erase(at);
        } else {
          ++at;
        }
      }
    }
    taken = take_deliverable(all, running_too);
    if (settings().shuffle) {
      std::vector<std::unique_ptr<client_buffer>> order{std::make_move_iterator(taken.begin()),
                                                        std::make_move_iterator(taken.end())};
      std::shuffle(order.begin(), order.end(), all.random);
      taken.assign(std::make_move_iterator(order.begin()), std::make_move_iterator(order.end()));
    }
    ++all.delivering;
  }
  complete_all(all, std::move(taken));
}

void wait_for_deliveries(buffer_state& all) {
  std::unique_lock lock{all.mutex};
  all.changed.wait(lock, [&] { return all.delivering == 0; });
}

}  // namespace

void retire(buffer_state& all, std::unique_ptr<client_buffer> buffer) {
  all.full.push_back(std::move(buffer));
  if (settings().deliver == delivery::worker) {
    if (!all.worker.joinable()) {
      all.worker_ends = false;
      all.worker = std::thread{[&all] { run_worker(all); }};
    }
    all.changed.notify_all();
  }
}

void deliver_retired(buffer_state& all) {
  if (settings().deliver == delivery::filler) {
    deliver_here(all, false, false);
  }
}

result flush(bool forced) {
  buffer_state& all = buffers();
  if (is_forked_child()) {
    misuse("flushing in a child forked while CUDA was in use: CUPTI hangs");
    return result::unknown;
  }
  if (in_completion) {
    misuse("flushing inside a completion callback");
    return result::invalid_operation;
  }
  if (forced ? settings().forced_flush_withholds : settings().flush_withholds) {
    return result::success;
  }
  write_waiting(forced);
  deliver_here(all, true, forced);
  wait_for_deliveries(all);
  return result::success;
}

void deliver() {
  buffer_state& all = buffers();
  wait_for_deliveries(all);
  write_waiting(false);
  deliver_here(all, true, false);
  wait_for_deliveries(all);
}

void truncate_buffers(std::size_t bytes, std::size_t count) {
  const std::lock_guard lock{buffers().mutex};
  buffers().truncate_bytes = bytes;
  buffers().truncate_buffers = count;
}

void reset_buffers() {
  buffer_state& all = buffers();
  std::thread worker;
  {
    const std::lock_guard lock{all.mutex};
    all.worker_ends = true;
    worker = std::move(all.worker);
    all.changed.notify_all();
  }
  if (worker.joinable()) {
    worker.join();
  }
  const std::lock_guard lock{all.mutex};
  all.worker_ends = false;
  all.requested = nullptr;
  all.completed = nullptr;
  all.filling.clear();
  all.full.clear();
  all.running.clear();
  all.waiting.clear();
  all.names.clear();
  all.per_thread.reset();
  all.random.seed(settings().shuffle.value_or(0));
  all.outstanding = all.requests = all.written = all.dropped = all.dropped_in_all = 0;
  all.to_drop = all.truncate_bytes = all.truncate_buffers = 0;
}

}  // namespace standin
