// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// How the collector fetches what CUPTI has, and what it waits for at the end of a session or of the process.
#include "cupti/collector.hpp"

#include "cupti/explain.hpp"
#include "driver/driver.hpp"

#include "record/clock.hpp"
#include "record/fork.hpp"

#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>

namespace varve::cupti {

namespace {

constexpr time_ns patience = 2'000'000'000;  // with completions that are under way at a stop, or due
constexpr time_ns flush_interval = 500'000'000;

}  // namespace

// Waiting for a context breaks the captures in it, whichever thread's they are and in whatever mode they or
// we are: the driver answers with an error, and the capture is invalid. So where one may be under way, the
// GPU is waited for by what it leaves behind.
void collector::wait_for_devices() noexcept {
  if (contexts_.may_capture()) {
    wait_for_records();
    return;
  }
  const cuda::driver* const driver = cuda::find_driver(false);
  if (driver == nullptr) {
    return;
  }
  std::vector<context_handle> contexts;
  try {
    contexts = contexts_.all();
  } catch (const std::bad_alloc&) {
    note("no memory to wait for the GPU: its last work may lack times");
  }
  for (const context_handle c : contexts) {
    const int answer = cuda::synchronize(*driver, reinterpret_cast<cuda::context>(c));
    if (answer != cuda::success) {
      note("a GPU context could not be waited for: its last work may lack times");
    }
  }
}

// By the documentation of cuptiActivityFlushAll: it synchronises nothing, and holds a buffer back as long as
// a record in it is incomplete. Longer than without a buffer coming back for a while nobody waits: CUPTI may
// hold one back for a reason of its own.
void collector::wait_for_records() noexcept {
  const std::uint64_t so_far = pool_.loans();
  std::size_t left = pool_.lent(fetched_, so_far);
  time_ns until = record::monotonic() + patience;
  while (flush(0)) {
    const std::size_t still = pool_.lent(fetched_, so_far);
    if (still == 0) {
      return;
    }
    const time_ns now = record::monotonic();
    if (still < left) {
      left = still;
      until = now + patience;
    } else if (now > until) {
      note(
          "records of the GPU were still incomplete 2 s after the stop, and it is not waited for where a "
          "graph may "
          "be captured: work that still ran has no end");
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

// CUPTI's own threads may be at work on buffers that were full before the flush.
void collector::wait_for_completions() noexcept {
  const time_ns until = record::monotonic() + patience;
  while (completing_ != 0) {
    if (record::monotonic() > until) {
      note("a buffer of records was still being read at the end: the rest of it is lost");
      return;
    }
    std::this_thread::sleep_for(std::chrono::microseconds{50});
  }
}

bool collector::flush(std::uint32_t flag) noexcept {
  const result answer = attached_.load()->lib.call.activity_flush_all(flag);
  if (answer == result::success) {
    return true;
  }
  try {
    note("records of the GPU are missing (" + explain(answer, "cuptiActivityFlushAll") + ")");
  } catch (const std::bad_alloc&) {
    // nobody is told
  }
  return false;
}

/// For what may be captured while CUPTI is asked. Null: nothing is, and this may be a thread in the driver's
/// initialisation.
const cuda::driver* collector::used_driver() const noexcept {
  return cuda_used_ || !expects_cuda_ ? cuda::find_driver(false) : nullptr;
}

/// What a session has switched on is off then, and its records are here.
void collector::fetch_the_last() noexcept {
  switch_off();
  wait_for_devices();
  const std::uint64_t so_far = pool_.loans();
  flush(flush_forced);
  fetched_ = so_far;       // what has not come now never does
  wait_for_completions();  // that have begun before the flush
  count_dropped();
}

// What is registered last runs first. So this is done once libcupti is loaded, and again whenever CUDA may
// have registered something of its own: where that has run the driver waits for nothing any more. It may be
// in a callback, since what it takes is a lock that nobody calls others under, and memory for a few
// addresses.
void collector::heed_exit(told_to_heed when) noexcept {
  const auto bit = static_cast<std::uint32_t>(when);
  if ((heeded_.load(std::memory_order_relaxed) & bit) == 0 && (heeded_.fetch_or(bit) & bit) == 0) {
    static_cast<void>(std::atexit([] { the_collector().end_asking(); }));
  }
}

/// Runs before what libcupti and the driver have for the end of the process: from then on nobody asks them.
void collector::end_asking() noexcept {
  if (exiting_.exchange(true)) {
    return;  // done, by what was registered later
  }
  const time_ns until = record::monotonic() + patience;
  while (asking_ != 0 && record::monotonic() < until) {
    std::this_thread::sleep_for(std::chrono::microseconds{50});
  }
  // A session may stop later, as global ones do, and then has what is fetched here.
  if (!left_ && recording_ && record::lock_within(life_, until - record::monotonic())) {
    const std::lock_guard lock{life_, std::adopt_lock};
    if (recording_) {
      fetch_the_last();
    }
  }
}

time_ns collector::now() const noexcept {
  const attachment* const a = attached_.load();
  const question asks{*this};
  std::uint64_t t = 0;
  return a != nullptr && asks && a->lib.call.get_timestamp(&t) == result::success ? static_cast<time_ns>(t)
                                                                                  : record::realtime();
}

void collector::poll(bool now) noexcept {
  const question asks{*this};
  if (asks && waiting_ && ask_driver()) {
    cuda_starts();  // the driver has not told
  }
  if (left_ || !asks || !recording_) {
    return;
  }
  std::unique_lock lock{life_, std::defer_lock};
  if (now) {
    lock.lock();
  } else if (!lock.try_lock()) {
    return;
  }
  if (!recording_) {
    return;
  }
  pool_.refill();
  if (now || record::monotonic() - last_flush_ >= flush_interval) {
    last_flush_ = record::monotonic();
    const cuda::outside_captures guard{used_driver()};
    flush(0);
    count_dropped();
  }
}

void collector::count_dropped() noexcept {
  std::size_t dropped = 0;
  if (attached_.load()->lib.call.activity_get_num_dropped_records(nullptr, 0, &dropped) == result::success) {
    dropped_ += dropped;
  }
}

}  // namespace varve::cupti
