// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Memory of devices that was handed out and taken back meanwhile.
#ifndef VARVE_ANALYZE_MEMORY_USE_HPP
#define VARVE_ANALYZE_MEMORY_USE_HPP

#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

class memory_use {
 public:
  explicit memory_use(const std::vector<memory_event>& events);

  [[nodiscard]] bool empty() const noexcept { return at_.empty(); }

  struct change {
    std::int64_t allocated = 0;
    std::int64_t freed = 0;
    std::int64_t peak = 0;  ///< most that was there at one instant of what came, less what went, since
  };
  /// In [begin, end).
  [[nodiscard]] change between(time_ns begin, time_ns end) const noexcept;
  /// Came less went before `at`, since the first event.
  [[nodiscard]] std::int64_t held(time_ns at) const noexcept { return held_after(count_before(at)); }

 private:
  [[nodiscard]] std::size_t count_before(time_ns at) const noexcept;
  [[nodiscard]] std::int64_t held_after(std::size_t events) const noexcept {
    return allocated_[events] - freed_[events];
  }
  [[nodiscard]] std::int64_t most_held(std::size_t first, std::size_t last) const noexcept;

  std::vector<time_ns> at_;
  std::vector<std::int64_t> allocated_;  // by number of events: in all of these
  std::vector<std::int64_t> freed_;
  std::vector<std::int64_t>
      most_;  // a tree over what is held after each number of events: leaves in the upper half
};

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_MEMORY_USE_HPP
