// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// How the collector fetches what CUPTI has, and what it waits for at the end of a session or of the process.
#include "cupti/collector.hpp"

#include "cupti/explain.hpp"
#include "driver/driver.hpp"

#include "record/clock.hpp"
#include "record/fork.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>

namespace varve::cupti {

namespace {

constexpr time_ns patience = 2'000'000'000;  // with completions that are under way at a stop, or due
constexpr time_ns patience_with_records = 10'000'000'000;
constexpr time_ns patience_with_the_last = 200'000'000;
constexpr time_ns patience_with_kept = 20'000'000;
constexpr time_ns look_interval = 50'000'000;  // for captures; and for records that are withheld anyway
constexpr time_ns flush_interval = 500'000'000;

}  // namespace

// Waiting for a context breaks the captures in it, whichever thread's they are and in whatever mode they or
// we are: the driver answers with an error, and the capture is invalid. So where one is known or shown, the
// GPU is waited for by what it leaves behind. False: that took too long.
bool collector::wait_for_devices() noexcept {
  const cuda::driver* const driver = cuda::find_driver(false);
  if (driver == nullptr) {
    return true;
  }
  look_for_captures();
  if (contexts_.may_capture()) {
    return wait_for_records();
  }
  std::vector<context_handle> contexts;
  try {
    contexts = contexts_.all();
  } catch (const std::bad_alloc&) {
    note("no memory to wait for the GPU: its last work may lack times");
  }
  bool captured = false;
  for (const context_handle c : contexts) {
    const int answer = cuda::synchronize(*driver, reinterpret_cast<cuda::context>(c));
    captured = captured || cuda::is_of_capture(answer);
    if (answer != cuda::success && !cuda::is_of_capture(answer)) {
      note("a GPU context could not be waited for: its last work may lack times");
    }
  }
  return !captured || wait_for_records();
}

// A capture that began before there was somebody to tell shows itself by the nodes that its calls make, and
// by its end; one of a blocking stream the driver tells of. Where nobody has looked for long, the next node
// is waited for: it does no harm to take one that the engine makes itself for a capture's.
void collector::look_for_captures() noexcept {
  if (!contexts_.has_older()) {
    return;
  }
  looks_for_captures_ = true;
  while (!contexts_.may_capture() && record::monotonic() - looks_since_ < look_interval) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  looks_for_captures_ = false;
}

/// Of the threads' last ones.
std::size_t collector::launches_without_record() const noexcept {
  const decoder& records = attached_.load()->records;
  if (records.counted().not_kept != 0) {
    return 0;  // it cannot be told
  }
  const auto last = last_launches();
  return static_cast<std::size_t>(std::count_if(last.begin(), last.end(), [&](const launch_ids& l) {
    return l.outer != 0 && !records.has_read(l.outer) && !records.has_read(l.inner);
  }));
}

// How we read the documentation of cuptiActivityFlushAll: it synchronises nothing, and holds a buffer back as
// long as a record in it is incomplete. Others have seen buffers held back without that, and whether a launch
// has its record in a buffer at once is not said: so it counts, too, whether last launches have come.
bool collector::wait_for_records() noexcept {
  const time_ns patience_here = attached_.load()->withholds ? look_interval : patience_with_records;
  const std::uint64_t so_far = pool_.loans();
  std::size_t left = ~std::size_t{0};
  time_ns until = 0;
  while (flush(0)) {
    const std::size_t still = pool_.lent(fetched_, so_far) + launches_without_record();
    if (still == 0) {
      return true;
    }
    const time_ns now = record::monotonic();
    if (still < left) {
      left = still;
      until = now + patience_here;
    } else if (now > until) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return true;  // the note says why it may not be all
}

// A forced flush may return before CUPTI's own thread has given all that it was told to.
void collector::wait_for_the_last(std::uint64_t loans) noexcept {
  attachment& a = *attached_.load();
  const time_ns until = record::monotonic() + (a.keeps ? patience_with_kept : patience_with_the_last);
  while (pool_.lent(fetched_, loans) != 0 && record::monotonic() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  a.keeps = pool_.lent(fetched_, loans) != 0;
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
  const bool waited = wait_for_devices();
  decoder& records = attached_.load()->records;
  const std::uint64_t without_end = records.counted().without_end;
  const std::uint64_t so_far = pool_.loans();
  flush(flush_forced);
  wait_for_the_last(so_far);
  fetched_ = so_far;       // what has not come now never does
  wait_for_completions();  // that have begun before the flush
  count_dropped();
  if (waited) {
    return;
  }
  if (records.counted().without_end != without_end) {
    note(
        "the GPU is not waited for where a graph is captured, and work still ran when its records had been "
        "waited for: it has no end");
  } else if (launches_without_record() != 0) {
    note(
        "the GPU is not waited for where a graph is captured, and launches had no record when these had been "
        "waited for: their work still ran, or they had none");
  } else {
    attached_.load()->withholds = true;
  }
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
