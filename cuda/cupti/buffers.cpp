// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cupti/buffers.hpp"

#include <algorithm>
#include <new>

namespace varve::cupti {

namespace {

constexpr std::align_val_t alignment{64};

/// Null without memory.
std::uint8_t* make(std::size_t bytes) noexcept {
  return static_cast<std::uint8_t*>(::operator new(bytes, alignment, std::nothrow));
}
void release(std::uint8_t* data) noexcept { ::operator delete(data, alignment); }

/// Makes up to `most` in a vector that has room for them.
void fill(std::vector<std::uint8_t*>& with, std::size_t most, std::size_t bytes) noexcept {
  while (with.size() < most) {
    std::uint8_t* const made = make(bytes);
    if (made == nullptr) {
      return;
    }
    with.push_back(made);
  }
}

}  // namespace

void buffer_pool::open(std::size_t bytes, std::size_t most, std::size_t ready) noexcept {
  close();
  std::vector<std::uint8_t*> free;
  std::vector<std::uint8_t*> spares;
  std::vector<loan> loans;
  try {
    free.reserve(most);
    spares.reserve(most_spares);
    loans.reserve(most + most_spares + lent());  // of these none comes while it is closed
    fill(free, std::min(ready, most), bytes);
    fill(spares, most_spares, spare_bytes);
  } catch (const std::bad_alloc&) {
    most = 0;
  }
  const std::lock_guard lock{mutex_};
  if (most != 0) {
    loans.assign(lent_.begin(), lent_.end());
    lent_.swap(loans);
  }
  free_.swap(free);
  spares_.swap(spares);
  bytes_ = bytes;
  most_ = most;
  ready_ = ready;
  made_ = free_.size();
  refused_ = 0;
  ++opening_;
  open_ = true;
}

buffer_pool::piece buffer_pool::take() noexcept {
  const std::lock_guard lock{mutex_};
  const bool spare = free_.empty();
  const bool is_short = spare && made_ < most_;
  std::vector<std::uint8_t*>& from = spare ? spares_ : free_;
  if (from.empty() || lent_.size() == lent_.capacity()) {
    refused_ += open_ ? 1U : 0U;
    return {nullptr, 0, is_short};
  }
  std::uint8_t* const data = from.back();
  from.pop_back();
  lent_.push_back({data, loans_++, opening_, spare});
  return {data, spare ? spare_bytes : bytes_, is_short};
}

void buffer_pool::give(std::uint8_t* data) noexcept {
  {
    const std::lock_guard lock{mutex_};
    const auto found =
        std::find_if(lent_.begin(), lent_.end(), [&](const loan& l) { return l.data == data; });
    if (found == lent_.end()) {
      return;  // not ours
    }
    const loan back = *found;
    *found = lent_.back();
    lent_.pop_back();
    if (open_ && back.opening == opening_) {
      (back.spare ? spares_ : free_).push_back(data);
      return;
    }
  }
  release(data);
}

void buffer_pool::refill() noexcept {
  for (;;) {
    std::size_t bytes = 0;
    std::uint32_t opening = 0;
    {
      const std::lock_guard lock{mutex_};
      if (!open_ || free_.size() >= ready_ || made_ >= most_) {
        return;
      }
      ++made_;
      bytes = bytes_;
      opening = opening_;
    }
    std::uint8_t* const made = make(bytes);
    {
      const std::lock_guard lock{mutex_};
      const bool same = open_ && opening == opening_;
      if (same && made != nullptr) {
        free_.push_back(made);
        continue;
      }
      made_ -= same ? 1U : 0U;
    }
    release(made);
    return;
  }
}

void buffer_pool::close() noexcept {
  std::vector<std::uint8_t*> unused[2];
  {
    const std::lock_guard lock{mutex_};
    open_ = false;
    free_.swap(unused[0]);
    spares_.swap(unused[1]);
  }
  for (const std::vector<std::uint8_t*>& all : unused) {
    for (std::uint8_t* const data : all) {
      release(data);
    }
  }
}

std::uint64_t buffer_pool::refused() const noexcept {
  const std::lock_guard lock{mutex_};
  return refused_;
}

std::uint64_t buffer_pool::loans() const noexcept {
  const std::lock_guard lock{mutex_};
  return loans_;
}

std::size_t buffer_pool::lent(std::uint64_t first, std::uint64_t end) const noexcept {
  const std::lock_guard lock{mutex_};
  return static_cast<std::size_t>(std::count_if(
      lent_.begin(), lent_.end(), [&](const loan& l) { return l.number >= first && l.number < end; }));
}

std::uint64_t buffer_pool::loan_of(const std::uint8_t* data) const noexcept {
  const std::lock_guard lock{mutex_};
  const auto found = std::find_if(lent_.begin(), lent_.end(), [&](const loan& l) { return l.data == data; });
  return found != lent_.end() ? found->number : loans_;
}

std::size_t buffer_pool::lent() const noexcept {
  const std::lock_guard lock{mutex_};
  return lent_.size();
}

}  // namespace varve::cupti
