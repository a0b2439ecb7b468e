// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "counters/ranges.hpp"

#include "counters/library.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <new>
#include <string_view>
#include <utility>

namespace varve {
namespace counters {

namespace {

/// Kept at most until they are handed over: some 48 MB.
constexpr std::size_t most_kept = 1'000'000;

/// What a range is called where it is counted: its own name, since those of one name are counted together.
struct token_text {
  char text[24] = {};
  explicit token_text(std::uint64_t token) noexcept { std::to_chars(text, text + sizeof text - 1, token); }
};

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

void range_counter::start(const counter_options& options, const gpu_options& gpu) noexcept {
  if (left_) {
    return;
  }
  try {
    const std::lock_guard lock{mutex_};
    options_ = options;
    options_.ranges = std::clamp<std::size_t>(options.ranges, 1, 65'536);
    load_result found = load(gpu.cupti_library);
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
    beyond_ = dropped_ = not_kept_ = cut_ = 0;
    busy_ = 0;
    used_ = true;
    running_ = error_.empty();
  } catch (const std::bad_alloc&) {
    error_ = "there is no memory to count with";
  }
}

void range_counter::stop() noexcept {
  if (left_ || !running_.exchange(false)) {
    return;
  }
  const std::lock_guard lock{mutex_};
  cut_ += counting_ ? 1U : 0U;
  counting_ = false;
  open_.clear();
  owner_ = std::thread::id{};
  if (profiler_ != nullptr) {
    if (const cuda::driver* const d = cuda::find_driver(false)) {
      static_cast<void>(cuda::synchronize(*d, context_));
    }
    profiler_->disable();
  }
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
  if (profiler_ == nullptr && !enable(current)) {
    return;
  }
  if (current != context_) {
    ++other_context_;
    return;
  }
  // What was launched before must not count for the first range.
  static_cast<void>(cuda::synchronize(*d, context_));
  std::size_t& next = turns_[name];
  turn_ = next % profiler_->turns().size();
  counting_ = profiler_->start(turn_);
  if (counting_) {
    ++next;
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

void range_counter::begin_inside(std::uint64_t token, int kind, const char* name) {
  if (!running_) {
    return;  // gave up
  }
  const bool inside = std::any_of(open_.begin(), open_.end(), [](const open_range& r) { return r.counted; });
  bool counted = counting_ && !inside && is_wanted(kind, name);
  if (counted && pushed_ == options_.ranges) {
    ++beyond_;
    counted = false;
  }
  open_.push_back({token, kind == VARVE_KIND_PHASE, false});
  if (counted) {
    open_.back().counted = profiler_->push(token_text{token}.text);
    ++(open_.back().counted ? pushed_ : dropped_);
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
    if (open_.back().counted && !profiler_->pop()) {
      whole_ = false;
    }
    open_.pop_back();
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

void range_counter::end_pass() {
  if (!std::exchange(counting_, false)) {
    return;
  }
  const cuda::driver& d = *cuda::find_driver(false);
  const int waited = cuda::synchronize(d, context_);
  if (!whole_ || waited != cuda::success) {
    profiler_->cancel();
    ++failed_passes_;
    failure_ = waited != cuda::success
                   ? "cuCtxSynchronize: CUDA error " + std::to_string(waited) +
                         ": passes that capture graphs, or end beside a capture, cannot be counted"
                   : "cuptiRangeProfilerPopRange did not end a range";
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

void range_counter::hand_over(std::vector<record::counted_range>& counts) noexcept {
  if (left_ || !used_) {
    return;
  }
  std::unique_lock lock{mutex_, std::try_to_lock};
  if (!lock && running_) {
    return;  // a pass begins or ends: next time
  }
  if (!lock) {
    lock.lock();  // there is no next time
  }
  try {
    counts.insert(counts.end(), done_.begin(), done_.end());
    done_.clear();
  } catch (const std::bad_alloc&) {
    // later: they are bounded
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
