// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/launch_sequences.hpp"

#include "formats/pytorch/launch_activities.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

constexpr std::size_t tenth = 10;  // what an incomplete launch may lack

}  // namespace

void launch_sequences::add(std::uint32_t r) {
  const replay& at = out_.replays[r];
  sequence s;
  s.replay = r;
  for (std::size_t k = at.first; k < at.last; ++k) {
    const std::uint64_t h = mixed(looks_[k] + 1);
    s.hash = mixed(s.hash ^ h);
    s.bag += h;
  }
  ++launches_with_bag_[s.bag ^ mixed(size(s))];
  sequence_of_replay_.resize(out_.replays.size(), none);
  const auto [first, last] = sequence_with_hash_.equal_range(s.hash);
  for (auto found = first; found != last; ++found) {
    sequence& other = sequences_[found->second];
    if (size(other) == size(s) && std::equal(looks(s), looks(s) + size(s), looks(other))) {
      ++other.count;
      sequence_of_replay_[r] = found->second;
      return;
    }
  }
  s.count = 1;
  sequence_of_replay_[r] = static_cast<std::uint32_t>(sequences_.size());
  sequence_with_hash_.emplace(s.hash, sequence_of_replay_[r]);
  sequences_.push_back(std::move(s));
}

void launch_sequences::join() {
  if (sequences_.empty()) {
    return;
  }
  steps_left_ = 16 * out_.activities.size();
  std::vector<std::uint32_t> order(sequences_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return size(sequences_[a]) > size(sequences_[b]);
  });
  for (const std::uint32_t k : order) {
    sequence& s = sequences_[k];
    if (!join_reordered(s) && !join_incomplete(s)) {
      s.graph = add_graph(s);
      joined_.push_back(k);
      graph_with_bag_.try_emplace(s.bag ^ mixed(size(s)), k);
    }
  }
  for (std::uint32_t r = 0; r < out_.replays.size(); ++r) {
    replay& at = out_.replays[r];
    if (at.graph != none) {
      continue;
    }
    const sequence& s = sequences_[sequence_of_replay_[r]];
    at.graph = s.graph;
    for (std::size_t k = 0; k < size(r); ++k) {
      out_.positions[at.first + k] = s.positions.empty() ? static_cast<std::uint32_t>(k) : s.positions[k];
    }
  }
}

std::uint32_t launch_sequences::add_graph(const sequence& s) {
  const replay& at = out_.replays[s.replay];
  replayed_graph g;
  for (std::size_t k = at.first; k < at.last; ++k) {
    const std::uint32_t i = out_.activities[k];
    g.positions.push_back({columns_.name[i], columns_.kind[i], ranks_[k], 0, 0});
  }
  out_.graphs.push_back(std::move(g));
  return static_cast<std::uint32_t>(out_.graphs.size() - 1);
}

// The same looks in another order: the n-th of a look is the n-th there.
bool launch_sequences::join_reordered(sequence& s) {
  const auto found = graph_with_bag_.find(s.bag ^ mixed(size(s)));
  if (found == graph_with_bag_.end()) {
    return false;
  }
  const sequence& other = sequences_[found->second];
  if (size(other) != size(s)) {
    return false;
  }
  const auto by_look = [&](const sequence& q) {
    std::vector<std::uint32_t> order(size(q));
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return looks(q)[a] < looks(q)[b]; });
    return order;
  };
  const std::vector<std::uint32_t> from = by_look(s);
  const std::vector<std::uint32_t> to = by_look(other);
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (looks(s)[from[k]] != looks(other)[to[k]]) {
      return false;
    }
  }
  s.graph = other.graph;
  s.positions.resize(from.size());
  for (std::size_t k = 0; k < from.size(); ++k) {
    s.positions[from[k]] = to[k];
  }
  out_.reordered += s.count;
  return true;
}

// The sequence of one graph alone with less than a tenth left out. What repeats is no accident, but a graph.
bool launch_sequences::join_incomplete(sequence& s) {
  const std::size_t n = size(s);
  if (launches_with_bag_[s.bag ^ mixed(n)] > 1) {
    return false;
  }
  // Longer ones, the shortest of them last.
  const auto end = std::partition_point(joined_.begin(), joined_.end(),
                                        [&](std::uint32_t k) { return size(sequences_[k]) > n; });
  const sequence* fits = nullptr;
  bool several = false;
  std::vector<std::uint32_t> places(n);
  std::vector<std::uint32_t> left;
  for (auto k = end; k != joined_.begin() && !several;) {
    const sequence& other = sequences_[*--k];
    const std::size_t m = size(other);
    if ((m - n) * tenth >= m) {
      break;
    }
    if (steps_left_ <= m) {
      out_.uncompared += s.count;
      return false;
    }
    --steps_left_;
    std::size_t at = 0;
    std::size_t done = 0;
    for (; done < n && at - done <= m - n; ++at, --steps_left_) {
      if (looks(other)[at] == looks(s)[done]) {
        places[done++] = static_cast<std::uint32_t>(at);
      }
    }
    if (done == n && at - done <= m - n) {
      several = fits != nullptr;
      fits = &other;
      left = places;
    }
  }
  out_.ambiguous += several ? s.count : 0;
  if (fits == nullptr || several) {
    return false;
  }
  // From behind too: what lands elsewhere then could be either.
  std::vector<std::uint32_t> right(n);
  std::size_t at = size(*fits);
  for (std::size_t done = n; done > 0;) {
    --at;
    if (looks(*fits)[at] == looks(s)[done - 1]) {
      right[--done] = static_cast<std::uint32_t>(at);
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    left[k] |= left[k] != right[k] ? graph_launches::unsure : 0;
  }
  s.graph = fits->graph;
  s.positions = std::move(left);
  return true;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
