// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/recording.hpp"

#include "record/cut.hpp"
#include "record/graph_labels.hpp"
#include "record/log.hpp"
#include "record/process_state.hpp"
#include "record/range_counter.hpp"
#include "record/span_source.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace varve::record {

namespace {

// Under the lock. False while some are about to come.
bool take_over_counts(process_state& p) noexcept {
  std::vector<counted_range> counts;
  const bool done = !p.counts || built_in_counter().hand_over(counts);
  p.records->take_over(counts);
  return done;
}

// Under the lock: what the devices did.
void take_over(process_state& p) noexcept {
  if (p.devices != nullptr) {
    p.devices->hand_over(p.batch, p.records->full());
    p.records->take_over(p.batch);
  }
  if (p.spans) {
    std::vector<device_span> spans;
    built_in_spans().hand_over(spans);
    p.records->take_over(spans);
  }
  static_cast<void>(take_over_counts(p));
}

// Under the lock: reads what the logs hold so far, and nothing of after the window.
void drain_so_far(process_state& p) noexcept {
  std::uint64_t until = 0;
  {
    const std::lock_guard lock{p.window};
    until = std::min(now(), p.ended.ticks);
  }
  p.records->drain(until);
  take_over(p);
}

// Records of a node come at most so much later than it is gone, and of a call than it was made.
std::atomic<time_ns> retire_interval{60'000'000'000};

time_ns retired_at(process_state& p) noexcept {
  const std::lock_guard lock{p.mutex};
  return p.retired;
}

// Under the lock, when all that was done before `asked`, when sources were asked for it, has been taken over:
// what was called since may be needed, however long it took to get the lock and to read.
void retire(process_state& p, time_ns asked, time_ns interval) noexcept {
  if (asked - p.retired > interval) {
    p.retired = monotonic();
    labels_of_graphs().purge();
    p.records->retire();
  }
}

std::atomic<time_ns> settle_interval{cut_options{}.settling};

clock_mapping mapping_until(const process_state& p, const clock_anchor& end) {
  return p.device_time.running() ? p.device_time.mapping() : clock_mapping{p.started, end};
}

// Drains now and then, and when markers say that memory runs low. What is done is asked for and taken over
// before what it needs is forgotten. Where there is no memory the session keeps no more, and the engine
// lives.
void read_logs() noexcept {
  process_state& p = process();
  for (;;) {
    {
      std::unique_lock lock{p.wake_mutex};
      const auto pause = std::min<std::chrono::nanoseconds>(std::chrono::milliseconds{100},
                                                            std::chrono::nanoseconds{retire_interval});
      p.wake.wait_for(lock, pause, [&] { return p.woken || p.stopping; });
      if (p.stopping) {
        return;
      }
      p.woken = false;
    }
    const time_ns asked = monotonic();
    const bool may_retire = asked - retired_at(p) > retire_interval;
    built_in_source().poll(may_retire);
    built_in_spans().poll();
    const std::lock_guard lock{p.mutex};
    if (p.records) {
      drain_so_far(p);
      p.device_time.read(false);
      if (may_retire) {
        retire(p, asked, retire_interval);
      }
    }
  }
}

}  // namespace

void retire_after(time_ns interval) noexcept { retire_interval = interval; }

void settle_after(time_ns interval) noexcept { settle_interval = interval; }

void wake_reader() noexcept {
  process_state& p = process();
  {
    const std::lock_guard lock{p.wake_mutex};
    if (p.woken) {
      return;
    }
    p.woken = true;
  }
  p.wake.notify_all();
}

clock_mapping session_clock() noexcept {
  process_state& p = process();
  const std::lock_guard lock{p.mutex};
  return p.records ? mapping_until(p, read_anchor()) : p.clock;
}

// Also of a session that is stopping: its last drain may be to come.
void drain_before_unload() noexcept {
  if ((varve_load_state_() & VARVE_STATE_FRESH) != 0) {
    return;  // nothing was ever recorded; a copy of the library that is being unloaded must not allocate
  }
  process_state& p = process();
  const std::lock_guard lock{p.mutex};
  if (p.records) {
    drain_so_far(p);
    p.records->forget_addresses();
  }
}

// The cost of a begin and an end on this machine, on a log of its own; the least of a few tries.
double measure_marker_ns() {
  constexpr int pairs = 900;
  const auto stack = std::make_unique<open_range[]>(thread_log::max_depth);
  const auto log = std::make_unique<thread_log>();
  log->stack_ = stack.get();
  log->number_ = 1;
  log->epoch_ = current_epoch.load();
  log->chunk_ = pool.take();
  if (log->chunk_ == nullptr) {
    return 0;
  }
  double best = 1e9;
  for (int attempt = 0; attempt < 4; ++attempt) {
    log->cursor_ = log->chunk_->slots;
    log->limit_ = log->chunk_->slots + chunk::capacity - 1;
    const time_ns before = monotonic();
    for (int i = 0; i < pairs; ++i) {
      log->pop(log->push(VARVE_KIND_LAYER, "calibration", i, true), true);
    }
    best = std::min(best, static_cast<double>(monotonic() - before) / pairs);
  }
  pool.give(log->chunk_);
  return best;
}

namespace {

void tell_more(const process_state& p, trace& t) {
  for (const loss& l : p.records->reasons()) {
    t.lose(l.what, l.where, l.count);
  }
  p.device_time.tell(t);
  if (p.spans) {
    t.clock_error = std::max(t.clock_error, built_in_spans().error());
  }
}

void tell_reader_to_stop(process_state& p) {
  {
    const std::lock_guard lock{p.wake_mutex};
    p.stopping = true;
  }
  p.wake.notify_all();
}

/// Whatever happens, the next session finds everything as before this one.
struct clean_up {
  process_state& p;
  explicit clean_up(process_state& state) noexcept : p{state} {}
  clean_up(const clean_up&) = delete;
  clean_up& operator=(const clean_up&) = delete;
  ~clean_up() {
    p.records.reset();
    p.devices = nullptr;
    p.spans = p.counts = false;
    p.batch = {};
    p.device_time.stop();
    pool.close();
    labels_of_graphs().end_reading();
    if ((varve_load_state_() & VARVE_STATE_ARMED) == 0) {
      labels_of_graphs().clear();
    }
  }
};

}  // namespace

double start_recording(std::size_t marker_memory, std::size_t trace_memory) {
  process_state& p = process();
  const std::lock_guard lock{p.mutex};
  if (p.records) {
    throw busy{};
  }
  pool.open(marker_memory);
  {
    const std::lock_guard window{p.window};
    p.ended.ticks = UINT64_MAX;
  }
  p.started = read_anchor();  // before the first thread can see the new epoch and record in it
  const std::uint64_t epoch = current_epoch.fetch_add(1, std::memory_order_release) + 1;
  try {
    const double marker_ns = measure_marker_ns();
    p.records = std::make_unique<store>(epoch, p.started.ticks, trace_memory);
    p.retired = monotonic();
    p.stopping = false;
    p.woken = false;
    static_cast<void>(built_in_source());  // made now, not where memory may have run out
    static_cast<void>(built_in_spans());
    static_cast<void>(built_in_counter());
    p.reader = std::make_unique<std::thread>(read_logs);
    labels_of_graphs().begin_reading();
    return marker_ns;
  } catch (...) {
    p.records.reset();
    pool.close();
    throw;
  }
}

void record_devices() noexcept {
  process_state& p = process();
  const std::lock_guard lock{p.mutex};
  p.devices = &built_in_source();
  p.batch = {};
  p.device_time.start();
}

void record_spans() noexcept {
  process_state& p = process();
  const std::lock_guard lock{p.mutex};
  p.spans = true;
}

void record_counts() noexcept {
  process_state& p = process();
  const std::lock_guard lock{p.mutex};
  p.counts = true;
}

void open_window() noexcept {
  process_state& p = process();
  const std::lock_guard lock{p.mutex};
  // In this order no call within the window goes unseen.
  __atomic_or_fetch(&varve_state_, VARVE_STATE_RECORDING | (p.counts ? state_counting : 0), __ATOMIC_RELEASE);
  p.records->begin_at(now());
}

void close_window() noexcept {
  process_state& p = process();
  const std::lock_guard lock{p.window};
  __atomic_and_fetch(&varve_state_, ~(VARVE_STATE_RECORDING | state_counting), __ATOMIC_RELEASE);
  p.ended = read_anchor();
}

recorded stop_recording(bool keep) {
  process_state& p = process();
  tell_reader_to_stop(p);
  p.reader->join();
  p.reader.reset();
  const std::lock_guard lock{p.mutex};
  const clean_up at_end{p};
  recorded out;
  p.device_time.read(true);
  p.clock = mapping_until(p, p.ended);
  if (keep) {
    p.records->drain(p.ended.ticks, true);
    take_over(p);
    out.count = p.records->records();
    out.records = p.records->take(p.clock, p.ended.ticks);
    tell_more(p, out.records);
  }
  return out;
}

recorded copy_recording() {
  built_in_source().poll(true);
  process_state& p = process();
  const std::lock_guard lock{p.mutex};
  const clock_anchor now = read_anchor();
  p.device_time.read(true);
  p.records->drain(now.ticks);
  take_over(p);
  recorded out{p.records->copy(mapping_until(p, now), now.ticks), p.records->records()};
  tell_more(p, out.records);
  return out;
}

namespace {

/// Nothing but losses, as nothing was finished.
recorded nothing_taken(const process_state& p, const clock_anchor& now) {
  recorded out;
  out.records.begin = out.records.end = p.records->begin_of_rest(mapping_until(p, now));
  out.records.losses = p.records->losses();
  tell_more(p, out.records);
  return out;
}

}  // namespace

// Where somebody is about to tell of passes, it waits for a moment, without the lock.
recorded take_recording(std::size_t& at_stake) {
  constexpr int most_tries = 20;
  process_state& p = process();
  for (int tries = 1;; ++tries) {
    const time_ns asked = monotonic();
    built_in_source().poll(true);
    built_in_spans().poll();
    trace fresh;
    std::vector<std::uint64_t> awaited;
    std::unique_lock lock{p.mutex};
    const clock_anchor now = read_anchor();
    p.device_time.read(true);
    p.records->drain(now.ticks);
    if ((p.spans && !built_in_spans().await(awaited)) || !take_over_counts(p)) {
      if (tries == most_tries) {
        return nothing_taken(p, now);
      }
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
      continue;
    }
    take_over(p);
    if (p.devices != nullptr) {
      if (!p.devices->hand_over_last(p.batch)) {
        throw std::bad_alloc{};
      }
      p.records->take_over(p.batch);
      p.records->renew_tables();
      p.batch = std::move(fresh);
    }
    recorded out{p.records->take_finished(mapping_until(p, now), now.ticks, awaited, settle_interval), 0};
    out.count = out.records.ranges.size() + out.records.calls.size() + out.records.activities.size();
    at_stake = out.count;
    tell_more(p, out.records);
    p.device_time.forget_until(p.records->begin());
    // What comes later has lost its call anyway.
    retire(p, asked, std::min<time_ns>(retire_interval, cut::patience));
    return out;
  }
}

recording_size size_of_recording() {
  process_state& p = process();
  const std::lock_guard lock{p.mutex};
  return p.records ? p.records->size() : recording_size{};
}

std::vector<loss> recording_losses() {
  process_state& p = process();
  const std::lock_guard lock{p.mutex};
  std::vector<loss> out = p.records->losses();
  for (loss& l : p.records->reasons()) {
    out.push_back(std::move(l));
  }
  return out;
}

}  // namespace varve::record
