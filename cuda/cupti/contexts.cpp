// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cupti/contexts.hpp"

#include <algorithm>
#include <cstdint>
#include <new>

namespace varve::cupti {

void context_book::add(known k) noexcept {
  const std::lock_guard lock{mutex_};
  if (k.context == nullptr || std::any_of(contexts_.begin(), contexts_.end(),
                                          [&](const known& o) { return o.context == k.context; })) {
    return;
  }
  try {
    contexts_.push_back(k);
  } catch (const std::bad_alloc&) {
    // not waited for at the end: its last work may lack times
  }
}

void context_book::saw(context_handle c) noexcept { add({c, false}); }

void context_book::made(context_handle c) noexcept { add({c, true}); }

void context_book::gone(context_handle c) noexcept {
  const std::lock_guard lock{mutex_};
  contexts_.erase(
      std::remove_if(contexts_.begin(), contexts_.end(), [&](const known& k) { return k.context == c; }),
      contexts_.end());
  captures_.erase(
      std::remove_if(captures_.begin(), captures_.end(), [&](const capture& k) { return k.in == c; }),
      captures_.end());
}

context_book::capture context_book::capture_of(context_handle c, stream_handle s) noexcept {
  constexpr std::uintptr_t per_thread = 2;  // CU_STREAM_PER_THREAD; null may mean it, too
  return {c, s,
          reinterpret_cast<std::uintptr_t>(s) <= per_thread ? std::this_thread::get_id() : std::thread::id{}};
}

void context_book::capture_begins(context_handle c, stream_handle s) noexcept {
  const capture begun = capture_of(c, s);
  const std::lock_guard lock{mutex_};
  try {
    // A call of the runtime, and that of the driver inside it.
    if (std::find(captures_.begin(), captures_.end(), begun) == captures_.end()) {
      ++begun_;
      captures_.push_back(begun);
    }
  } catch (const std::bad_alloc&) {
    forgot_one_ = true;
  }
}

void context_book::capture_ends(stream_handle s) noexcept {
  const capture ended = capture_of(nullptr, s);
  const std::lock_guard lock{mutex_};
  const auto found = std::remove(captures_.begin(), captures_.end(), ended);
  // One that was shown ends here; where it was another's end, its next call shows it again.
  shown_ = shown_ && found != captures_.end();
  captures_.erase(found, captures_.end());
}

void context_book::stream_gone(stream_handle s) noexcept {
  const std::lock_guard lock{mutex_};
  captures_.erase(std::remove(captures_.begin(), captures_.end(), capture_of(nullptr, s)), captures_.end());
}

void context_book::call_was_captured() noexcept {
  const std::lock_guard lock{mutex_};
  shown_ = shown_ || captures_.empty();
}

void context_book::forget_shown() noexcept {
  const std::lock_guard lock{mutex_};
  shown_ = false;
}

bool context_book::capturing() const noexcept {
  const std::lock_guard lock{mutex_};
  return !captures_.empty();
}

bool context_book::may_capture() const noexcept {
  const std::lock_guard lock{mutex_};
  return forgot_one_ || shown_ || !captures_.empty();
}

bool context_book::has_older() const noexcept {
  const std::lock_guard lock{mutex_};
  return std::any_of(contexts_.begin(), contexts_.end(),
                     [](const known& k) { return !k.from_its_beginning; });
}

std::uint64_t context_book::captures_begun() const noexcept {
  const std::lock_guard lock{mutex_};
  return begun_;
}

std::vector<context_handle> context_book::all() const {
  const std::lock_guard lock{mutex_};
  std::vector<context_handle> out;
  out.reserve(contexts_.size());
  for (const known& k : contexts_) {
    out.push_back(k.context);
  }
  return out;
}

void context_book::clear() noexcept {
  const std::lock_guard lock{mutex_};
  contexts_.clear();
  captures_.clear();
  forgot_one_ = false;  // contexts of now are older from here on
  shown_ = false;
}

}  // namespace varve::cupti
