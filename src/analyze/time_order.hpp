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

/// Merges what consists of few sorted runs: buffers in any order.
class run_merger {
 public:
  /// The time of the next one.
  void add(time_ns at) {
    if (at < last_ || runs_.empty()) {
      start_run(at);
    }
    any_tie_ = any_tie_ || (at == last_ && count_ != 0);
    last_ = at;
    runs_.back().end = ++count_;
  }

  /// Cuts the runs, `time_of(position)` in each, so that one follows the other; false: into too many pieces.
  template <class TimeOf>
  bool merge(const TimeOf& time_of) {
    std::make_heap(runs_.begin(), runs_.end(), later);
    while (!too_many_ && !runs_.empty() && pieces_.size() <= most_runs()) {
      std::pop_heap(runs_.begin(), runs_.end(), later);
      run r = runs_.back();
      runs_.pop_back();
      any_tie_ = any_tie_ || (!pieces_.empty() && time_of(pieces_.back().end - 1) == r.first);
      const std::size_t end = runs_.empty() ? r.end : end_before(r, runs_.front().first, time_of);
      pieces_.push_back({r.first, r.begin, end});
      if (end != r.end) {
        runs_.push_back({time_of(end), end, r.end});
        std::push_heap(runs_.begin(), runs_.end(), later);
      }
    }
    return runs_.empty();
  }

  /// After merge(): calls `append(first, last)` for positions [first, last), in order of time.
  template <class Append>
  void for_each(const Append& append) const {
    for (const run& r : pieces_) {
      append(r.begin, r.end);
    }
  }
  /// After merge().
  [[nodiscard]] bool was_sorted() const noexcept { return pieces_.size() <= 1; }
  /// After merge(): some have one time.
  [[nodiscard]] bool any_tie() const noexcept { return any_tie_; }

 private:
  struct run {
    time_ns first;
    std::size_t begin;
    std::size_t end;
  };

  static bool later(const run& a, const run& b) noexcept {
    return a.first != b.first ? a.first > b.first : a.begin > b.begin;
  }
  [[nodiscard]] std::size_t most_runs() const noexcept { return count_ / 256; }

  void start_run(time_ns at) {
    if (runs_.size() <= most_runs()) {
      runs_.push_back({at, count_, count_});
    } else {
      too_many_ = true;
    }
  }
  /// Where `r` has what is later than `limit`, its end if nowhere.
  template <class TimeOf>
  static std::size_t end_before(const run& r, time_ns limit, const TimeOf& time_of) {
    std::size_t low = r.begin + 1;
    std::size_t high = r.end;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (time_of(middle) <= limit) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  std::vector<run> runs_;    // a heap once they are merged
  std::vector<run> pieces_;  // in order of time
  time_ns last_ = 0;
  std::size_t count_ = 0;
  bool too_many_ = false;
  bool any_tie_ = false;
};

/// Sorts those of one time, that stand side by side.
template <class Key, class Before>
void sort_ties(std::span<std::uint32_t> ids, const Key& key, const Before& before) {
  for (auto run = ids.begin(); run != ids.end();) {
    const auto next = std::find_if(run, ids.end(), [&](std::uint32_t id) { return key(id) != key(*run); });
    if (next - run > 1) {
      std::sort(run, next, before);
    }
    run = next;
  }
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

/// Sorts record ids by `key(id)`, a time; `before(a, b)` orders by the time and then by what the records
/// hold, never by their id: the result does not depend on the order of the records. Takes linear time unless
/// many records share one time.
template <class Key, class Before>
void sort_by_time(std::span<std::uint32_t> ids, const Key& key, const Before& before) {
  run_merger runs;
  for (const std::uint32_t id : ids) {
    runs.add(key(id));
  }
  if (!runs.merge([&](std::size_t position) { return key(ids[position]); })) {
    if (!insertion_sort(ids, before)) {
      radix_sort(ids, key, before);
    }
    return;
  }
  if (!runs.was_sorted()) {
    const std::vector<std::uint32_t> unsorted(ids.begin(), ids.end());
    auto to = ids.begin();
    runs.for_each([&](std::size_t first, std::size_t last) {
      to = std::copy(unsorted.begin() + static_cast<std::ptrdiff_t>(first),
                     unsorted.begin() + static_cast<std::ptrdiff_t>(last), to);
    });
  }
  if (runs.any_tie()) {
    sort_ties(ids, key, before);
  }
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_TIME_ORDER_HPP
