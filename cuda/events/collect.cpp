// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What runs on the recorder's thread: which events are done, and when they were.
#include "events/event_spans.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace varve::cuda {

namespace {

/// As documented for events.
constexpr time_ns resolution = 500;
/// What two clocks may drift apart in a time, and a float's rounding of it: 1 in 2^13 (122 in a million).
constexpr unsigned drift_shift = 13;
/// Times that an event on an idle stream is asked for before the device counts as busy.
constexpr int most_queries = 2000;

/// Of CUresult, or `no_length` where the driver gives none.
constexpr int no_length = -1;
int elapsed(const driver& d, event from, event to, time_ns& out) noexcept {
  float milliseconds = 0;
  constexpr float most = 1e9F;  // eleven days
  const int result = d.event_elapsed(&milliseconds, from, to);
  if (result != success) {
    return result;
  }
  if (!(milliseconds >= 0) || milliseconds > most) {
    return no_length;
  }
  out = std::llround(static_cast<double>(milliseconds) * 1e6);
  return success;
}

}  // namespace

void event_spans::poll() noexcept {
  const std::unique_lock lock{polling_, std::try_to_lock};
  if (!lock || !running_ || named_ == 0) {
    return;
  }
  if (const driver* const d = find_driver(false); d != nullptr && d->has_events()) {
    collect(*d);
  }
}

void event_spans::stop() noexcept {
  if (!running_ || left_) {
    return;
  }
  const std::lock_guard polling{polling_};
  running_ = false;
  while (calls_ != 0) {
    std::this_thread::yield();
  }
  const driver* const d = find_driver(false);
  if (d == nullptr || !d->has_events()) {
    return;
  }
  {
    const std::lock_guard lock{mutex_};
    unfinished_ += open_.size();
    for (const open_span& span : open_) {
      put_back(span);
    }
    open_.clear();
  }
  const time_ns deadline = limits_.monotonic() + limits_.patience;
  while (collect(*d) && limits_.monotonic() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  release(*d);
}

/// Returns whether anything is still pending.
bool event_spans::collect(const driver& d) noexcept {
  {
    const std::lock_guard lock{mutex_};
    if (pending_.empty()) {
      return false;
    }
  }
  const outside_captures guard{d};
  if (guard.result() != success) {
    return true;  // for another time
  }
  std::vector<open_span> waiting;
  try {
    const std::lock_guard lock{mutex_};
    waiting = pending_;
    pending_.clear();
  } catch (const std::bad_alloc&) {
    return true;
  }
  std::sort(waiting.begin(), waiting.end(),
            [](const open_span& a, const open_span& b) { return a.in < b.in; });
  std::span rest{waiting};
  while (!rest.empty()) {
    std::size_t count = 1;
    while (count < rest.size() && rest[count].in == rest[0].in) {
      ++count;
    }
    collect_of(d, *rest[0].in, rest.first(count));
    rest = rest.subspan(count);
  }
  const std::lock_guard lock{mutex_};
  return !pending_.empty();
}

void event_spans::collect_of(const driver& d, timed_context& c, std::span<open_span> spans) noexcept {
  const inside current{*this, d, c};
  if (current.result() != success) {
    forget_if_gone(c, current.result());
    for (const open_span& span : spans) {
      fail(current.result());
      give_back(span);
    }
    return;
  }
  std::size_t done = 0;
  std::size_t kept = 0;  // done ones first, then what is pending
  for (const open_span span : spans) {
    const int result = d.event_query(span.end);
    if (result != success && result != not_ready) {
      fail(result);
      give_back(span);
      continue;
    }
    spans[kept++] = span;
    if (result == success) {
      std::swap(spans[done++], spans[kept - 1]);
    }
  }
  // The moment comes after all that is done, and soon: so its distance is short, and never negative.
  moment m;
  if (done != 0 && !find_moment(d, c, m)) {
    done = 0;
  }
  for (const open_span& span : spans.first(done)) {
    place(d, span, m);
    give_back(span);
  }
  const std::lock_guard lock{mutex_};
  pending_.insert(pending_.end(), spans.begin() + static_cast<std::ptrdiff_t>(done),
                  spans.begin() + static_cast<std::ptrdiff_t>(kept));
}

/// A stream and events of our own in the current context. False where the driver refuses them.
bool event_spans::prepare(const driver& d, timed_context& c) noexcept {
  if (c.own_stream == nullptr) {
    int device = 0;
    if (d.context_get_device(&device) == success) {
      c.device = static_cast<std::uint32_t>(device);
    }
    if (d.stream_create(&c.own_stream, non_blocking_stream) != success) {
      c.own_stream = nullptr;
      return false;
    }
  }
  for (event& e : c.moments) {
    if (e == nullptr && d.event_create(&e, 0) != success) {
      e = nullptr;
      return false;
    }
  }
  return true;
}

/// The moment lies between the readings before its event was recorded and after it was seen done. The best of
/// a few. False where the device is too busy for it, or the driver refuses.
bool event_spans::find_moment(const driver& d, timed_context& c, moment& best) noexcept {
  if (!prepare(d, c)) {
    return false;
  }
  for (const event e : c.moments) {
    const time_ns began = limits_.monotonic();
    const std::uint64_t before = limits_.ticks();
    int result = d.event_record(e, c.own_stream);
    for (int i = 0; i < most_queries && result == success; ++i) {
      result = d.event_query(e);
      if (result == success) {
        const std::uint64_t after = limits_.ticks();
        const time_ns error = (limits_.monotonic() - began + 1) / 2;
        if (best.at == nullptr || error < best.error) {
          best = {e, before + (after - before) / 2, error};
        }
        break;
      }
      result = result == not_ready ? success : result;
    }
  }
  return best.at != nullptr;
}

void event_spans::place(const driver& d, const open_span& span, const moment& m) noexcept {
  time_ns age = 0;
  time_ns length = 0;
  int result = elapsed(d, span.begin, m.at, age);
  result = result == success ? elapsed(d, span.begin, span.end, length) : result;
  if (result != success) {
    fail(result);
    return;
  }
  const time_ns error = m.error + resolution + (age >> drift_shift);
  error_ = std::max(error_.load(), error);
  const stream_info where{span.in->device, reinterpret_cast<std::uintptr_t>(span.in->handle),
                          reinterpret_cast<std::uintptr_t>(span.on)};
  const std::lock_guard lock{mutex_};
  try {
    if (done_.size() < limits_.spans) {
      done_.push_back({span.pass, where, m.ticks, -age, length - age});
      ++measured_;
      return;
    }
  } catch (const std::bad_alloc&) {
    // counted like what there is no room for
  }
  ++exhausted_;
}

/// All events that are in the lists: none is anywhere else once no call is under way.
void event_spans::release(const driver& d) noexcept {
  std::list<timed_context> all;
  {
    const std::lock_guard lock{mutex_};
    unfinished_ += pending_.size();
    for (const open_span& span : pending_) {
      put_back(span);
    }
    pending_.clear();
    all.swap(contexts_);
    events_ = 0;
  }
  if (all.empty()) {
    return;
  }
  const outside_captures guard{d};
  for (const timed_context& c : all) {
    const inside current{*this, d, c};
    if (c.gone || current.result() != success) {
      continue;
    }
    for (const event e : c.free) {
      d.event_destroy(e);
    }
    for (const event e : c.moments) {
      if (e != nullptr) {
        d.event_destroy(e);
      }
    }
    if (c.own_stream != nullptr) {
      d.stream_destroy(c.own_stream);
    }
  }
}

}  // namespace varve::cuda
