// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_ANALYZE_FLAT_MAP_HPP
#define VARVE_ANALYZE_FLAT_MAP_HPP

#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Two numbers as one key.
constexpr std::uint64_t pair_key(std::uint64_t high, std::uint32_t low) noexcept { return high << 32U | low; }

/// Keys to ids in one array: open addressing, no allocation per entry, no removal.
class flat_map {
 public:
  /// The id of `key`: `none` when the key is new, and then the caller stores one before the next call.
  std::uint32_t& operator[](std::uint64_t key) {
    if (2 * (used_ + 1) > slots_.size()) {
      grow();
    }
    slot& s = find_slot(key);
    if (s.id == none) {
      s.key = key;
      ++used_;
    }
    return s.id;
  }

  /// The id of `key`, or `none`.
  [[nodiscard]] std::uint32_t find(std::uint64_t key) const noexcept {
    return slots_.empty() ? none : const_cast<flat_map*>(this)->find_slot(key).id;
  }

 private:
  struct slot {
    std::uint64_t key = 0;
    std::uint32_t id = none;
  };

  slot& find_slot(std::uint64_t key) noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::uint64_t h = key * 0x9E3779B97F4A7C15ULL;
    h ^= h >> 32U;
    for (std::size_t i = h & mask;; i = (i + 1) & mask) {
      if (slots_[i].id == none || slots_[i].key == key) {
        return slots_[i];
      }
    }
  }

  void grow() {
    std::vector<slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const slot& s : old) {
      if (s.id != none) {
        find_slot(s.key) = s;
      }
    }
  }

  std::vector<slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_FLAT_MAP_HPP
