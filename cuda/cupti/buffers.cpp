// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cupti/buffers.hpp"

#include <algorithm>
#include <new>

namespace varve::cupti {

namespace {

constexpr std::align_val_t alignment{64};
constexpr std::size_t few = 2;  // free ones that refill() keeps there

void release(std::uint8_t* data) noexcept { ::operator delete(data, alignment); }

}  // namespace

bool buffer_pool::make(std::vector<std::uint8_t*>& into, std::size_t bytes) noexcept {
  void* const memory = ::operator new(bytes, alignment, std::nothrow);
  if (memory == nullptr) {
    return false;
  }
  into.push_back(static_cast<std::uint8_t*>(memory));  // open() has reserved
  return true;
}

void buffer_pool::open(std::size_t bytes, std::size_t most, std::size_t ready) noexcept {
  close();
  const std::lock_guard lock{mutex_};
  try {
    free_.reserve(most);
    spares_.reserve(most_spares);
    lent_.reserve(most + most_spares + lent_.size());
  } catch (const std::bad_alloc&) {
    most = 0;
  }
  bytes_ = bytes;
  most_ = most;
  made_ = 0;
  refused_ = 0;
  ++opening_;
  open_ = true;
  while (made_ < std::min(ready, most_) && make(free_, bytes_)) {
    ++made_;
  }
  while (most != 0 && spares_.size() < most_spares && make(spares_, spare_bytes)) {
  }
}

buffer_pool::piece buffer_pool::take() noexcept {
  const std::lock_guard lock{mutex_};
  if (open_ && free_.empty() && made_ < most_ && make(free_, bytes_)) {
    ++made_;
  }
  const bool spare = free_.empty();
  std::vector<std::uint8_t*>& from = spare ? spares_ : free_;
  if (from.empty() || lent_.size() == lent_.capacity()) {
    refused_ += open_ ? 1U : 0U;
    return {};
  }
  std::uint8_t* const data = from.back();
  from.pop_back();
  lent_.push_back({data, opening_, spare});
  return {data, spare ? spare_bytes : bytes_};
}

void buffer_pool::give(std::uint8_t* data) noexcept {
  const std::lock_guard lock{mutex_};
  const auto found = std::find_if(lent_.begin(), lent_.end(), [&](const loan& l) { return l.data == data; });
  if (found == lent_.end()) {
    return;  // not ours
  }
  const loan back = *found;
  lent_.erase(found);
  if (open_ && back.opening == opening_) {
    (back.spare ? spares_ : free_).push_back(data);
  } else {
    release(data);
  }
}

void buffer_pool::refill() noexcept {
  const std::lock_guard lock{mutex_};
  while (open_ && free_.size() < few && made_ < most_ && make(free_, bytes_)) {
    ++made_;
  }
}

void buffer_pool::close() noexcept {
  const std::lock_guard lock{mutex_};
  open_ = false;
  for (std::vector<std::uint8_t*>* all : {&free_, &spares_}) {
    for (std::uint8_t* data : *all) {
      release(data);
    }
    all->clear();
  }
}

std::uint64_t buffer_pool::refused() const noexcept {
  const std::lock_guard lock{mutex_};
  return refused_;
}

std::size_t buffer_pool::lent() const noexcept {
  const std::lock_guard lock{mutex_};
  return lent_.size();
}

}  // namespace varve::cupti
