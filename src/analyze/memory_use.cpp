// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/memory_use.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace varve {
inline namespace v0 {
namespace analysis {

memory_use::memory_use(const std::vector<memory_event>& events) {
  std::vector<memory_event> on_device;
  std::copy_if(events.begin(), events.end(), std::back_inserter(on_device),
               [](const memory_event& m) { return m.on_device; });
  std::stable_sort(on_device.begin(), on_device.end(),
                   [](const memory_event& a, const memory_event& b) { return a.at < b.at; });
  // Cut so that no sum of them overflows: of a million to four terabytes.
  const std::int64_t most = (std::int64_t{1} << 62) / static_cast<std::int64_t>(on_device.size() + 1);
  allocated_.push_back(0);
  freed_.push_back(0);
  for (const memory_event& m : on_device) {
    at_.push_back(m.at);
    allocated_.push_back(allocated_.back() + std::clamp<std::int64_t>(m.bytes, 0, most));
    freed_.push_back(freed_.back() - std::clamp<std::int64_t>(m.bytes, -most, 0));
  }
  const std::size_t leaves = allocated_.size();
  most_.resize(2 * leaves);
  for (std::size_t i = 0; i < leaves; ++i) {
    most_[leaves + i] = held_after(i);
  }
  for (std::size_t i = leaves; i-- > 1;) {
    most_[i] = std::max(most_[2 * i], most_[2 * i + 1]);
  }
}

memory_use::change memory_use::between(time_ns begin, time_ns end) const noexcept {
  if (empty()) {
    return {};
  }
  const std::size_t first = count_before(begin);
  const std::size_t last = std::max(first, count_before(end));
  return {allocated_[last] - allocated_[first], freed_[last] - freed_[first],
          most_held(first, last) - held_after(first)};
}

std::size_t memory_use::count_before(time_ns at) const noexcept {
  return static_cast<std::size_t>(std::lower_bound(at_.begin(), at_.end(), at) - at_.begin());
}

// After `first` to `last` events.
std::int64_t memory_use::most_held(std::size_t first, std::size_t last) const noexcept {
  std::int64_t most = std::numeric_limits<std::int64_t>::min();
  std::size_t from = first + allocated_.size();
  std::size_t to = last + 1 + allocated_.size();
  for (; from < to; from /= 2, to /= 2) {
    if (from % 2 != 0) {
      most = std::max(most, most_[from++]);
    }
    if (to % 2 != 0) {
      most = std::max(most, most_[--to]);
    }
  }
  return most;
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
