// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The life of the collector; callbacks.cpp has what CUPTI calls.
#include "cupti/collector.hpp"

#include "cupti/explain.hpp"
#include "driver/driver.hpp"

#include "record/clock.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace varve {

namespace cupti {

namespace {

constexpr std::size_t least_buffer = std::size_t{64} << 10U;
constexpr std::size_t largest_buffer = std::size_t{1} << 30U;
constexpr std::size_t most_buffers = std::size_t{1} << 16U;
constexpr std::size_t least_record = 88;  // bytes of what becomes an activity

}  // namespace

collector& the_collector() noexcept {
  static auto* const leaked = new collector;
  return *leaked;
}

void collector::refuse(std::string why) noexcept { problem_ = std::move(why); }

// Two libraries that were both at work would get into each other's way; one that never was is left for
// another.
bool collector::choose_library(const std::string& path) {
  const attachment* const now = attached_.load();
  if (now != nullptr && now->used) {
    if (path.empty() || is_named(now->lib, path)) {
      return true;
    }
    refuse("this process has used " + now->lib.path + ", so " + path +
           " is not: name that one or none, or start the process anew with the other");
    return false;
  }
  const load_result found = load(path);
  if (found.loaded == nullptr) {
    refuse(found.error);
    return false;
  }
  const auto known = std::find_if(attachments_.begin(), attachments_.end(),
                                  [&](const auto& a) { return &a->lib == found.loaded; });
  if (known != attachments_.end()) {
    attached_.store(known->get());
    return true;
  }
  attached_.store(attachments_.emplace_back(std::make_unique<attachment>(*found.loaded)).get());
  heeded_ &= ~static_cast<std::uint32_t>(told_to_heed::attached);  // this library may have an exit function
  heed_exit(told_to_heed::attached);
  return true;
}

bool collector::attach(const std::string& path) {
  if (subscriber_ != nullptr) {
    return choose_library(path);
  }
  // CUPTI without a driver answers every call with an error, slowly.
  if (path.empty() && cuda::find_driver(true) == nullptr) {
    refuse("no NVIDIA driver (libcuda.so.1) on this machine: no GPU is recorded; everything else is");
    return false;
  }
  if (!choose_library(path)) {
    return false;
  }
  const library& lib = attached_.load()->lib;
  const result answer = lib.call.subscribe(&subscriber_, &collector::called_back, this);
  if (answer != result::success) {
    subscriber_ = nullptr;
    refuse(explain(answer, "cuptiSubscribe"));
    return false;
  }
  attached_.load()->used = true;
  const result registered =
      lib.call.activity_register_callbacks(&collector::buffer_requested, &collector::buffer_completed);
  if (registered != result::success) {
    lib.call.unsubscribe(subscriber_);
    subscriber_ = nullptr;
    refuse(explain(registered, "cuptiActivityRegisterCallbacks"));
    return false;
  }
  avoid_defects();
  attached_.load()->graphs.reset_counts();
  follow_graphs(true);
  enable_calls(false);
  return true;
}

void collector::detach() noexcept {
  attachment& a = *attached_.load();
  follow_graphs(false);
  a.lib.call.unsubscribe(subscriber_);
  subscriber_ = nullptr;
  a.graphs.clear();
  contexts_.clear();  // nobody tells when they end; those that still work are seen again
  pool_.close();
}

// In a forked child nothing is locked, not even to look: who held the lock may not exist there.

void collector::start(const gpu_options& options) noexcept {
  if (left_) {
    return;
  }
  const question asks{*this};
  const bool told_later = asks && is_to_be_told();
  const std::lock_guard lock{life_};
  try {
    problem_.clear();
    note_.clear();
    if (!asks) {
      refuse("the process is exiting: no GPU is recorded any more");
      return;
    }
    options_ = options;
    {
      const std::lock_guard told{told_mutex_};
      errors_ = 0;
    }
    options_.buffer_bytes =
        std::clamp(options.buffer_bytes & ~(record_alignment - 1), least_buffer, largest_buffer);
    options_.buffers = std::clamp<std::size_t>(options.buffers, 1, most_buffers);
    waiting_ = must_wait(told_later);
    if (waiting_) {
      problem_ = "CUDA has not been initialised in this process: there is no GPU work to record";
      return;
    }
    begin();
  } catch (const std::bad_alloc&) {
    give_up();
  }
}

void collector::give_up() noexcept {
  problem_.clear();  // there may be no memory for the text either
  note_.clear();
  if (subscriber_ != nullptr && !stays_attached()) {
    detach();
  }
}

void collector::begin() {
  const cuda::outside_captures guard{used_driver()};
  settle_inheritance();
  if (!attach(named_library(options_.cupti_library))) {
    return;
  }
  attachment& a = *attached_.load();
  // All that the buffers hold may come at once.
  a.records.open(
      (options_.buffers * options_.buffer_bytes + buffer_pool::most_spares * buffer_pool::spare_bytes) /
      least_record);
  pool_.open(options_.buffer_bytes, options_.buffers,
             buffer_pool::ready_of(options_.buffer_bytes, options_.buffers));
  dropped_ = 0;
  lost_bytes_ = 0;
  late_before_ = late_at_stop_;
  forget_last_launches();
  contexts_.forget_shown();
  looks_since_ = record::monotonic();
  ++era_;
  last_flush_ = record::monotonic();
  enable_records(true);
  if (!problem_.empty()) {
    enable_records(false);
    if (!stays_attached()) {
      detach();
    }
    return;
  }
  enable_whole_graphs(options_.whole_graphs);
  enable_calls(true);
  if (armed_kernels_ || has_defects_of_13_0(a.lib.version)) {
    a.lib.call.activity_flush_all(0);  // what was before is thrown away
  }
  count_dropped();
  dropped_ = 0;
  recording_ = true;
}

// Not under a lock: the driver may wait for its initialisation, which tells us.
bool collector::is_to_be_told() noexcept { return expects_cuda_ && !cuda_started_ && !ask_driver(); }

// Who initialises CUDA comes for life_ with the driver's locks held: as long as it has not been here, CUPTI,
// which may want these, is left to it. Once CUPTI has been touched there is nothing to be gained.
bool collector::must_wait(bool told_later) const noexcept {
  return told_later && !told_ && subscriber_ == nullptr;
}

bool collector::ask_driver() noexcept {
  if (!cuda_used_) {
    const cuda::driver* const driver = cuda::find_driver(false);
    if (driver != nullptr && cuda::is_initialised(*driver)) {
      cuda_used_ = true;
    }
  }
  return cuda_used_;
}

void collector::cuda_starts() noexcept {
  cuda_started_ = true;
  if (left_) {
    return;
  }
  const question asks{*this};
  if (!asks) {
    return;
  }
  const std::lock_guard lock{life_};
  told_ = true;
  try {
    if (stays_attached() && subscriber_ == nullptr) {
      begin_arming();
    }
    if (waiting_) {
      waiting_ = false;
      problem_.clear();
      begin();
    }
  } catch (const std::bad_alloc&) {
    give_up();
  }
}

void collector::stop() noexcept {
  if (left_) {
    return;
  }
  const question asks{*this};
  const std::lock_guard lock{life_};
  waiting_ = false;
  if (!recording_) {
    return;
  }
  const cuda::outside_captures guard{asks ? used_driver() : nullptr};
  if (asks) {
    fetch_the_last();
  }
  recording_ = false;
  wait_for_completions();  // that have seen it recording
  late_at_stop_ = late_;
  if (asks && !stays_attached()) {
    detach();
  }
}

/// What a session has switched on.
void collector::switch_off() noexcept {
  enable_calls(false);
  enable_whole_graphs(false);
  if (!armed_kernels_) {
    enable_records(false);
  }
}

/// Only the first of them: what follows is mostly of the same cause.
void collector::note(std::string_view text) noexcept {
  try {
    if (note_.empty()) {
      note_ = text;
    }
  } catch (const std::bad_alloc&) {
    // nobody is told
  }
}

template <class Note>
void collector::attach_early(Note note) noexcept {
  if (left_) {
    return;
  }
  const question asks{*this};
  if (!asks) {
    return;
  }
  const bool told_later = is_to_be_told();
  const std::lock_guard lock{life_};
  try {
    settle_inheritance();
    note();
    if (!must_wait(told_later)) {
      begin_arming();
    }
  } catch (const std::bad_alloc&) {
    // not armed: graphs captured from now on have no labels, which reports count; nor is a capture known
  }
}

void collector::arm(bool kernels) noexcept {
  attach_early([&] {
    armed_ = true;
    armed_kernels_ = armed_kernels_ || kernels;
  });
}

void collector::begin_arming() {
  const cuda::outside_captures guard{used_driver()};
  const attachment* const now = attached_.load();
  const bool done =
      attach(now != nullptr && now->used ? now->lib.path : named_library(options_.cupti_library));
  armed_ = armed_ && done;
  following_captures_ = following_captures_ && done;
  armed_kernels_ = armed_kernels_ && armed_;
  if (armed_kernels_ && !records_on_) {
    const std::size_t bytes = std::max(options_.buffer_bytes, least_buffer);
    const std::size_t buffers = std::max<std::size_t>(options_.buffers, 1);
    pool_.open(bytes, buffers, buffer_pool::ready_of(bytes, buffers));
    enable_records(true);
  }
}

void collector::disarm() noexcept {
  if (left_) {
    return;
  }
  const question asks{*this};
  const std::lock_guard lock{life_};
  if (!armed_) {
    return;
  }
  armed_ = false;
  armed_kernels_ = false;
  if (!asks) {
    return;
  }
  const cuda::outside_captures guard{used_driver()};
  settle_inheritance();
  if (!recording_ && subscriber_ != nullptr) {
    enable_records(false);
    attached_.load()->lib.call.activity_flush_all(flush_forced);
    if (!stays_attached()) {
      detach();
    }
  }
}

void collector::follow_captures(const std::string& library) noexcept {
  attach_early([&] {
    options_.cupti_library = library;
    following_captures_ = true;
  });
}

void collector::ignore_captures() noexcept {
  if (left_) {
    return;
  }
  const question asks{*this};
  const std::lock_guard lock{life_};
  if (!std::exchange(following_captures_, false) || !asks) {
    return;
  }
  const cuda::outside_captures guard{used_driver()};
  settle_inheritance();
  if (!recording_ && !armed_ && subscriber_ != nullptr) {
    detach();
  }
}

void collector::hand_over(trace& batch, bool full) noexcept {
  if (attachment* const a = attached_.load(); a != nullptr && !left_) {
    a->records.hand_over(batch, full);
  }
}

bool collector::hand_over_last(trace& batch) noexcept {
  attachment* const a = attached_.load();
  return a == nullptr || left_ || a->records.hand_over_last(batch);
}

}  // namespace cupti

namespace record {

device_source::~device_source() = default;

device_source& built_in_source() noexcept { return cupti::the_collector(); }

}  // namespace record

}  // namespace varve
