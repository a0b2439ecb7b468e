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

/// Sorts by insertion as long as nothing is far from its place; false, with the order changed, when it is.
template <class Before>
bool insertion_sort(std::span<std::uint32_t> ids, const Before& before) {
  constexpr std::size_t far_off = 64;
  for (std::size_t i = 1; i < ids.size(); ++i) {
    const std::uint32_t id = ids[i];
    std::size_t to = i;
    for (; to > 0 && i - to < far_off && before(id, ids[to - 1]); --to) {
      ids[to] = ids[to - 1];
    }
    ids[to] = id;
    if (i - to == far_off) {
      return false;
    }
  }
  return true;
}

/// Sorts what consists of few sorted runs that do not overlap in time (buffers in any order); false, with
/// nothing changed, when it does not. Leaves those of one time in any order.
template <class Key>
bool sort_runs(std::span<std::uint32_t> ids, const Key& key) {
  struct run {
    time_ns first;
    time_ns last;
    std::size_t begin;
    std::size_t end;
  };
  std::vector<run> runs;
  time_ns previous = key(ids[0]);
  runs.push_back({previous, previous, 0, 0});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const time_ns at = key(ids[i]);
    if (at < previous) {
      if (runs.size() > ids.size() / 256) {
        return false;
      }
      runs.push_back({at, at, i, i});
    }
    runs.back().last = at;
    runs.back().end = i + 1;
    previous = at;
  }
  std::sort(runs.begin(), runs.end(), [](const run& a, const run& b) {
    return a.first != b.first ? a.first < b.first : a.last < b.last;
  });
  for (std::size_t r = 1; r < runs.size(); ++r) {
    if (runs[r].first < runs[r - 1].last) {
      return false;
    }
  }
  std::vector<std::uint32_t> sorted;
  sorted.reserve(ids.size());
  for (const run& r : runs) {
    sorted.insert(sorted.end(), ids.begin() + static_cast<std::ptrdiff_t>(r.begin),
                  ids.begin() + static_cast<std::ptrdiff_t>(r.end));
  }
  std::copy(sorted.begin(), sorted.end(), ids.begin());
  return true;
}

/// Sorts by the key's upper bits, and what these leave equal by `before`.
template <class Key, class Before>
void radix_sort(std::span<std::uint32_t> ids, const Key& key, const Before& before) {
  time_ns first = key(ids[0]);
  time_ns last = first;
  for (const std::uint32_t id : ids) {
    first = std::min(first, key(id));
    last = std::max(last, key(id));
  }
  unsigned shift = 0;
  while (((static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first)) >> shift) > 0xFFFFFFFFU) {
    ++shift;
  }
  std::vector<std::uint64_t> numbers;  // times cut to 32 bits, above ids
  numbers.reserve(ids.size());
  for (const std::uint32_t id : ids) {
    const std::uint64_t offset = static_cast<std::uint64_t>(key(id)) - static_cast<std::uint64_t>(first);
    numbers.push_back(offset >> shift << 32U | id);
  }
  radix_sort_upper(numbers);
  for (std::size_t begin = 0; begin < numbers.size();) {
    std::size_t end = begin;
    for (; end < numbers.size() && numbers[end] >> 32U == numbers[begin] >> 32U; ++end) {
      ids[end] = static_cast<std::uint32_t>(numbers[end]);
    }
    if (end - begin > 1) {
      std::sort(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                ids.begin() + static_cast<std::ptrdiff_t>(end), before);
    }
    begin = end;
  }
}

/// Sorts record ids by `key(id)`, a time; `less(a, b)` orders those of one time, by what the records hold,
/// never by their id: the result does not depend on the order of the records. Takes linear time unless many
/// records share one time.
template <class Key, class Less>
void sort_by_time(std::span<std::uint32_t> ids, const Key& key, const Less& less) {
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const time_ns x = key(a);
    const time_ns y = key(b);
    return x != y ? x < y : less(a, b);
  };
  if (ids.empty() || insertion_sort(ids, before)) {
    return;
  }
  if (!sort_runs(ids, key)) {
    radix_sort(ids, key, before);
    return;
  }
  for (auto run = ids.begin(); run != ids.end();) {
    const auto next = std::find_if(run, ids.end(), [&](std::uint32_t id) { return key(id) != key(*run); });
    if (next - run > 1) {
      std::sort(run, next, before);
    }
    run = next;
  }
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_TIME_ORDER_HPP
