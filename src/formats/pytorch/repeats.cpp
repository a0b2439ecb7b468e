// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/repeats.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::size_t fewest_blocks = 3;  // or groups of blocks that take turns
constexpr std::size_t most_blocks = 256;
constexpr std::size_t shortest_block = 3;
constexpr std::size_t most_kinds = 8;
constexpr std::size_t occurrences = 8;  // of a kernel in a block, up to which it votes for the block's length
constexpr std::size_t most_candidates = 32;

/// Lengths that many kernels recur after, the shortest first. A kernel that stands in each block n times
/// recurs with the n-th of its name after it, one block on.
std::vector<std::size_t> candidates(const std::vector<std::uint32_t>& names) {
  std::vector<std::uint32_t> votes(names.size() / fewest_blocks + 1, 0);
  struct last {
    std::array<std::size_t, occurrences> at{};
    std::size_t count = 0;
  };
  std::unordered_map<std::uint32_t, last> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    last& l = seen[names[i]];
    for (std::size_t k = 1; k <= std::min(l.count, occurrences); ++k) {
      const std::size_t gap = i - l.at[(l.count - k) % occurrences];
      if (gap >= votes.size()) {
        break;
      }
      ++votes[gap];
    }
    l.at[l.count++ % occurrences] = i;
  }
  std::vector<std::size_t> lengths;
  for (std::size_t p = shortest_block; p < votes.size(); ++p) {
    if (votes[p] > 0) {
      lengths.push_back(p);
    }
  }
  const std::size_t kept = std::min(lengths.size(), most_candidates);
  std::partial_sort(
      lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(kept), lengths.end(),
      [&](std::size_t a, std::size_t b) { return votes[a] != votes[b] ? votes[a] > votes[b] : a < b; });
  lengths.resize(kept);
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

/// The longest stretch in which each kernel is the same as the one `period` before it, from where on both
/// are.
struct repetition {
  std::size_t first = 0;
  std::size_t size = 0;
};
repetition longest(const std::vector<std::uint32_t>& names, std::size_t period) {
  repetition best;
  std::size_t run = 0;
  for (std::size_t i = 0; i + period < names.size(); ++i) {
    run = names[i] == names[i + period] ? run + 1 : 0;
    if (run > 0 && run + period > best.size) {
      best = {i + 1 - run, run + period};
    }
  }
  return best;
}

/// Whether a block is itself made of equal parts.
bool has_period_within(const std::vector<std::uint32_t>& names, std::size_t first, std::size_t length) {
  // The failure function of Knuth, Morris and Pratt.
  std::vector<std::size_t> border(length, 0);
  for (std::size_t i = 1, k = 0; i < length; ++i) {
    while (k > 0 && names[first + i] != names[first + k]) {
      k = border[k - 1];
    }
    k += names[first + i] == names[first + k] ? 1U : 0U;
    border[i] = k;
  }
  const std::size_t period = length - border[length - 1];
  return period < length && length % period == 0;
}

/// In how many parts that are nearly alike a block falls: 1 where it doesn't.
std::size_t kinds_in(const std::vector<std::uint32_t>& names, std::size_t first, std::size_t length) {
  for (std::size_t kinds = most_kinds; kinds >= 2; --kinds) {
    const std::size_t part = length / kinds;
    if (length % kinds != 0 || part < shortest_block) {
      continue;
    }
    bool alike = true;
    for (std::size_t k = 1; k < kinds && alike; ++k) {
      std::size_t others = 0;
      for (std::size_t i = 0; i < part; ++i) {
        others += names[first + i] != names[first + k * part + i] ? 1U : 0U;
      }
      alike = 4 * others <= part;
    }
    if (alike) {
      return kinds;
    }
  }
  return 1;
}

}  // namespace

std::optional<repeat> find_repeat(const std::vector<std::uint32_t>& names, const std::vector<time_ns>& times,
                                  const std::function<bool(std::size_t)>& begins) {
  std::vector<time_ns> until(times.size() + 1, 0);
  std::partial_sum(times.begin(), times.end(), until.begin() + 1);
  std::optional<repeat> best;
  time_ns best_time = 0;
  for (const std::size_t period : candidates(names)) {
    const repetition s = longest(names, period);
    if (s.size < fewest_blocks * period || has_period_within(names, s.first, period)) {
      continue;
    }
    repeat r;
    r.kinds = kinds_in(names, s.first, period);
    r.length = period / r.kinds;
    r.count = s.size / r.length;
    if (r.count < fewest_blocks || r.count > most_blocks) {
      continue;
    }
    r.first = s.first;
    for (std::size_t at = s.first; at + r.count * r.length <= s.first + s.size; ++at) {
      if (begins(at)) {
        r.first = at;
        break;
      }
    }
    const time_ns time = until[r.first + r.count * r.length] - until[r.first];
    if (time > best_time) {
      best = r;
      best_time = time;
    }
  }
  return best && best_time >= until.back() - best_time ? best : std::nullopt;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
