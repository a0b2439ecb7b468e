// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_ANALYZE_TIME_ORDER_HPP
#define VARVE_ANALYZE_TIME_ORDER_HPP

#include <varve/trace.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Sorts by the upper half of each number, keeping the order of equal ones.
inline void radix_sort_upper(std::vector<std::uint64_t>& numbers) {
  constexpr unsigned digit_bits = 11;
  constexpr std::size_t digits = std::size_t{1} << digit_bits;
  std::vector<std::uint64_t> other(numbers.size());
  for (unsigned shift = 32; shift < 64; shift += digit_bits) {
    std::array<std::size_t, digits> count{};
    for (const std::uint64_t n : numbers) {
      ++count[n >> shift & (digits - 1)];
    }
    if (std::any_of(count.begin(), count.end(), [&](std::size_t c) { return c == numbers.size(); })) {
      continue;  // all share this digit
    }
    std::size_t start = 0;
    for (std::size_t& c : count) {
      const std::size_t size = c;
      c = start;
      start += size;
    }
    for (const std::uint64_t n : numbers) {
      other[count[n >> shift & (digits - 1)]++] = n;
    }
    numbers.swap(other);
  }
}

/// Sorts record ids by `key(id)`, a time within ±far; `less(a, b)` orders those of one time, by what the
/// records hold, never by their id: the result does not depend on the order of the records. Costs one walk
/// when they are in order already, and little more than linear time otherwise.
template <class Key, class Less>
void sort_by_time(std::span<std::uint32_t> ids, const Key& key, const Less& less) {
  if (ids.empty()) {
    return;
  }
  bool sorted = true;
  bool ties = false;
  time_ns first = key(ids[0]);
  time_ns last = first;
  time_ns previous = first;
  for (const std::uint32_t id : ids.subspan(1)) {
    const time_ns at = key(id);
    sorted = sorted && at >= previous;
    ties = ties || at == previous;
    previous = at;
    first = std::min(first, at);
    last = std::max(last, at);
  }
  if (sorted && !ties) {
    return;
  }
  // Times as 32-bit numbers above the ids: what they lose, the comparison below restores.
  unsigned shift = 0;
  while (((static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first)) >> shift) > 0xFFFFFFFFU) {
    ++shift;
  }
  if (!sorted) {
    std::vector<std::uint64_t> numbers;
    numbers.reserve(ids.size());
    for (const std::uint32_t id : ids) {
      const std::uint64_t offset = static_cast<std::uint64_t>(key(id)) - static_cast<std::uint64_t>(first);
      numbers.push_back(offset >> shift << 32U | id);
    }
    radix_sort_upper(numbers);
    std::transform(numbers.begin(), numbers.end(), ids.begin(),
                   [](std::uint64_t n) { return static_cast<std::uint32_t>(n); });
  } else {
    shift = 0;
  }
  const auto rounded = [&](std::uint32_t id) {
    return (static_cast<std::uint64_t>(key(id)) - static_cast<std::uint64_t>(first)) >> shift;
  };
  for (auto run = ids.begin(); run != ids.end();) {
    const std::uint64_t at = rounded(*run);
    auto next = run + 1;
    while (next != ids.end() && rounded(*next) == at) {
      ++next;
    }
    if (next - run > 1) {
      std::sort(run, next, [&](std::uint32_t a, std::uint32_t b) {
        const time_ns x = key(a);
        const time_ns y = key(b);
        return x != y ? x < y : less(a, b);
      });
    }
    run = next;
  }
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_TIME_ORDER_HPP
