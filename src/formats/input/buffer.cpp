// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/input/input.hpp"

#include <limits>
#include <new>

namespace varve {
inline namespace v0 {
namespace input {

void buffer::reserve(std::size_t capacity) {
  if (capacity <= capacity_ && bytes_ != nullptr) {
    return;
  }
  if (capacity > std::numeric_limits<std::size_t>::max() - padding) {
    throw std::bad_alloc{};
  }
  // realloc moves large blocks by remapping their pages, and does not touch pages that are never filled.
  void* moved = std::realloc(bytes_.get(), capacity + padding);
  if (moved == nullptr) {
    throw std::bad_alloc{};
  }
  static_cast<void>(bytes_.release());
  bytes_.reset(static_cast<char*>(moved));
  capacity_ = capacity;
}

}  // namespace input
}  // namespace v0
}  // namespace varve
