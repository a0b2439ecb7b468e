// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A pass of the range_counter: from what must be so before CUPTI counts, to the values that it gives.
#include "counters/calls.hpp"
#include "counters/ranges.hpp"

#include "cupti/collector.hpp"

#include <varve/varve.h>

#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

namespace varve::counters {

namespace {

/// Kept at most until they are handed over: some 48 MB.
constexpr std::size_t most_kept = 1'000'000;

std::uint64_t token_of(std::string_view text) noexcept {
  std::uint64_t token = 0;
  const auto [last, code] = std::from_chars(text.data(), text.data() + text.size(), token);
  return code == std::errc{} && last == text.data() + text.size() ? token : 0;
}

std::int64_t whole(double value) noexcept {
  constexpr double most = 9.2e18;
  return value >= 0 && value <= most ? std::llround(value) : -1;
}

}  // namespace

/// The first range of a pass is the pass. CUPTI is started here, where no range is open.
void range_counter::begin_pass(const char* name) {
  ++passes_;
  pushed_ = 0;
  counting_ = false;
  whole_ = true;
  const cuda::driver* const d = cuda::find_driver(false);
  if (d == nullptr) {
    ++no_driver_;
    return;
  }
  cuda::context current = nullptr;
  if (d->context_get_current == nullptr || d->context_get_current(&current) != cuda::success ||
      current == nullptr) {
    ++no_context_;
    return;
  }
  captures_ = cupti::the_collector().captures_begun();
  if (std::string_view{name} == VARVE_CAPTURE || cupti::the_collector().capturing()) {
    ++captured_;
    return;
  }
  const calls_of_ours guard{d, nullptr};
  if (profiler_ != nullptr && current != context_) {
    ++other_context_;
    return;
  }
  // What was launched before must not count for the first range.
  if (cuda::is_of_capture(cuda::synchronize(*d, current))) {
    ++captured_;
    return;
  }
  if (profiler_ == nullptr && !enable(current)) {
    return;
  }
  next_turn_ = &turns_[name];
  turn_ = *next_turn_ % profiler_->turns().size();
  counting_ = profiler_->start(turn_);
  if (counting_) {
    ++*next_turn_;
    return;
  }
  ++failed_passes_;
  failure_ = profiler_->error();
  if (profiler_->is_final()) {
    give_up(failure_);
  }
}

bool range_counter::enable(cuda::context c) {
  const cuda::driver& d = *cuda::find_driver(false);
  int device = 0;
  if (d.context_get_device == nullptr || d.context_get_device(&device) != cuda::success || device < 0) {
    ++no_context_;
    return false;
  }
  if (left_enabled_ != nullptr) {
    const cuda::in_context earlier{d, context_};
    left_enabled_->disable();
    left_enabled_.reset();
  }
  device_ = static_cast<std::uint32_t>(device);
  context_ = c;
  auto made = std::make_unique<profiler>(call_, options_.ranges);
  if (!made->enable(reinterpret_cast<cupti::context_handle>(c), device_, options_.operations)) {
    give_up(made->error());
    return false;
  }
  taken_.assign(made->turns().size(), 0);
  profiler_ = std::move(made);
  return true;
}

void range_counter::give_up(std::string why) {
  error_ = std::move(why);
  counting_ = false;
  if (profiler_ != nullptr) {
    profiler_->disable();
  }
  running_ = false;
  open_.clear();
  owner_ = std::thread::id{};
}

/// For all work so far, so that it counts for the range that it was made in; false: the pass is left out.
///
/// Once a capture is under way nobody waits and CUPTI is asked nothing: waiting for a context breaks the
/// captures in it, whichever thread's and in whatever mode. What was started is cancelled where the pass
/// ends, or the next begins.
bool range_counter::wait() {
  const cupti::collector& captures = cupti::the_collector();
  const bool captured = captures.capturing() || captures.captures_begun() != captures_;
  const int answer = captured ? cuda::success : cuda::synchronize(*cuda::find_driver(false), context_);
  if (!captured && answer == cuda::success) {
    return true;
  }
  counting_ = false;
  if (captured || cuda::is_of_capture(answer)) {
    ++captured_;
    --*next_turn_;
  } else {
    ++failed_passes_;
    failure_ = "cuCtxSynchronize: CUDA error " + std::to_string(answer) + ": work on the GPU has failed";
  }
  return false;
}

void range_counter::push(open_range& r) {
  if (!wait()) {
    return;
  }
  const calls_of_ours guard{cuda::find_driver(false), context_};
  r.counted = profiler_->push(token_text{r.token}.text);
  ++(r.counted ? pushed_ : dropped_);
}

void range_counter::pop() {
  if (counting_ && wait()) {
    const calls_of_ours guard{cuda::find_driver(false), context_};
    whole_ = profiler_->pop() && whole_;
  }
}

void range_counter::end_pass() {
  const bool counted = counting_ && wait();
  counting_ = false;
  if (profiler_ == nullptr || cupti::the_collector().capturing()) {
    return;
  }
  const calls_of_ours guard{cuda::find_driver(false), context_};
  if (!counted) {
    profiler_->cancel();
    return;
  }
  if (pushed_ == 0) {  // nothing to be counted, which may not be what CUPTI calls a pass
    profiler_->cancel();
    --*next_turn_;
    return;
  }
  if (!whole_) {
    profiler_->cancel();
    ++failed_passes_;
    failure_ = "cuptiRangeProfilerPopRange did not end a range";
    return;
  }
  profiler::outcome found;
  if (!profiler_->stop(found)) {
    ++failed_passes_;
    failure_ = profiler_->error();
    if (profiler_->is_final()) {
      give_up(failure_);
    }
    return;
  }
  ++taken_[turn_];
  dropped_ += found.dropped;
  keep(found);
}

void range_counter::keep(const profiler::outcome& found) {
  const turn& t = profiler_->turns()[turn_];
  for (const profiler::counted& one : found.ranges) {
    const std::uint64_t token = token_of(one.name);
    if (token == 0) {
      ++dropped_;
      continue;
    }
    if (done_.size() + t.counts.size() > most_kept) {
      ++not_kept_;
      continue;
    }
    ++counted_;
    for (std::size_t i = 0; i < t.counts.size(); ++i) {
      const quantity& q = t.counts[i];
      if (const std::int64_t value = whole(one.values[i]); value >= 0) {
        done_.push_back({token, {none, device_, value, q.what, q.pipe, q.part}});
      }
    }
  }
}

}  // namespace varve::counters
