// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "counters/ranges.hpp"

#include "counters/calls.hpp"
#include "counters/library.hpp"
#include "cupti/collector.hpp"
#include "cupti/library.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace varve {
namespace counters {

void range_counter::start(const counter_options& options, const gpu_options& gpu) noexcept {
  if (left_) {
    return;
  }
  try {
    const std::lock_guard lock{mutex_};
    options_ = options;
    options_.ranges = std::clamp<std::size_t>(options.ranges, 1, 65'536);
    const std::string library = cupti::named_library(gpu.cupti_library);
    load_result found = load(library);
    call_ = found.call;
    version_ = found.version;
    error_ = std::move(found.error);
    profiler_.reset();
    turns_.clear();
    taken_.clear();
    done_.clear();
    open_.clear();
    owner_ = std::thread::id{};
    counting_ = false;
    failure_.clear();
    passes_ = counted_ = no_driver_ = no_context_ = other_context_ = failed_passes_ = 0;
    beyond_ = dropped_ = not_kept_ = cut_ = captured_ = 0;
    busy_ = 0;
    used_ = true;
    if (error_.empty()) {
      cupti::the_collector().follow_captures(library);
      running_ = true;
    }
  } catch (const std::bad_alloc&) {
    error_ = "there is no memory to count with";
  }
}

void range_counter::stop() noexcept {
  if (left_ || !used_) {
    return;
  }
  const std::lock_guard lock{mutex_};
  const bool ran = running_.exchange(false);
  cut_ += counting_ ? 1U : 0U;
  counting_ = false;
  open_.clear();
  owner_ = std::thread::id{};
  if (ran && profiler_ != nullptr) {
    const cuda::driver* const d = cuda::find_driver(false);
    const calls_of_ours guard{d, context_};
    const bool captured = cupti::the_collector().capturing() ||
                          (d != nullptr && cuda::is_of_capture(cuda::synchronize(*d, context_)));
    if (captured) {
      left_enabled_ = std::move(profiler_);
    } else {
      profiler_->disable();
    }
  }
  cupti::the_collector().ignore_captures();
}

bool range_counter::is_wanted(int kind, const char* name) const {
  if (!options_.labels.empty()) {
    return kind != VARVE_KIND_PHASE &&
           std::find(options_.labels.begin(), options_.labels.end(), name) != options_.labels.end();
  }
  if (kind == VARVE_KIND_PHASE) {
    return options_.depth == 0;
  }
  const auto inner =
      std::find_if(open_.rbegin(), open_.rend(), [](const open_range& r) { return r.is_pass; });
  return static_cast<std::size_t>(inner - open_.rbegin()) + 1 == options_.depth;
}

void range_counter::begin(std::uint64_t token, int kind, const char* name) noexcept {
  if (left_ || !running_) {
    return;
  }
  const std::thread::id self = std::this_thread::get_id();
  std::thread::id owner = owner_;
  if (owner == std::thread::id{}) {
    if (kind != VARVE_KIND_PHASE) {
      return;  // in no pass
    }
    owner = owner_.compare_exchange_strong(owner, self) ? self : owner;
  }
  if (owner != self) {
    ++busy_;
    return;
  }
  const std::lock_guard lock{mutex_};
  if (!running_) {
    owner_ = std::thread::id{};
    return;
  }
  try {
    if (open_.empty()) {
      open_.reserve(16);
      begin_pass(name);
    }
    begin_inside(token, kind, name);
  } catch (const std::bad_alloc&) {
    ++not_kept_;
    if (open_.empty()) {
      counting_ = false;  // no pass to be in
      owner_ = std::thread::id{};
    }
  }
}

void range_counter::begin_inside(std::uint64_t token, int kind, const char* name) {
  if (!running_) {
    return;  // gave up
  }
  const bool inside = std::any_of(open_.begin(), open_.end(), [](const open_range& r) { return r.counted; });
  bool counted = counting_ && !inside && is_wanted(kind, name);
  if (counted && pushed_ == profiler_->most_ranges()) {
    ++beyond_;
    counted = false;
  }
  open_.push_back({token, kind == VARVE_KIND_PHASE, false});
  if (counted) {
    push(open_.back());
  }
}

void range_counter::end(std::uint64_t token) noexcept {
  if (left_ || !running_) {
    return;
  }
  if (owner_.load() != std::this_thread::get_id()) {
    return;
  }
  const std::lock_guard lock{mutex_};
  const auto found =
      std::find_if(open_.rbegin(), open_.rend(), [&](const open_range& r) { return r.token == token; });
  if (found != open_.rend()) {
    unwind(open_.size() - static_cast<std::size_t>(found - open_.rbegin()) - 1);
  }
}

// Where a thread ends CUDA may have forgotten it: whoever begins the next pass ends this one.
void range_counter::abandon() noexcept {
  if (left_ || !running_ || owner_.load() != std::this_thread::get_id()) {
    return;
  }
  const std::lock_guard lock{mutex_};
  cut_ += std::exchange(counting_, false) ? 1U : 0U;
  open_.clear();
  owner_ = std::thread::id{};
}

/// Ends what is open beyond the first `to`, innermost first; with the outermost its pass.
void range_counter::unwind(std::size_t to) {
  while (open_.size() > to) {
    const bool counted = open_.back().counted;
    open_.pop_back();
    if (counted) {
      pop();
    }
  }
  if (open_.empty()) {
    try {
      end_pass();
    } catch (const std::bad_alloc&) {
      ++not_kept_;
    }
    owner_ = std::thread::id{};
  }
}

bool range_counter::hand_over(std::vector<record::counted_range>& counts) noexcept {
  if (left_ || !used_) {
    return true;
  }
  std::unique_lock lock{mutex_, std::try_to_lock};
  if (!lock && running_) {
    return false;
  }
  if (!lock) {
    lock.lock();  // there is no next time
  }
  try {
    counts.insert(counts.end(), done_.begin(), done_.end());
    done_.clear();
    return true;
  } catch (const std::bad_alloc&) {
    return false;  // later: they are bounded
  }
}

void range_counter::leave_to_parent() noexcept {
  if (used_) {
    left_ = true;
    running_ = false;
  }
}

}  // namespace counters

namespace record {

range_counter::~range_counter() = default;

range_counter& built_in_counter() noexcept {
  static auto* const leaked = new counters::range_counter;
  return *leaked;
}

}  // namespace record
}  // namespace varve
