// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/flows.hpp"

#include "formats/pytorch/operator_around.hpp"

#include <algorithm>
#include <tuple>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

auto key(const flows::start& s) noexcept { return std::tuple{s.id, s.at, s.thread}; }
auto key(const flows::end_on_device& e) noexcept { return std::tuple{e.device, e.stream, e.at, e.id}; }

template <class T>
void sort(std::vector<T>& all) {
  std::sort(all.begin(), all.end(), [](const T& a, const T& b) { return key(a) < key(b); });
}

/// Of those with this id the latest that is not after `at`, else the first; or nullptr.
const flows::start* find(const std::vector<flows::start>& starts, std::uint64_t id, time_ns at) {
  const auto after = std::upper_bound(starts.begin(), starts.end(), std::tuple{id, at, narrow_none},
                                      [](const auto& k, const flows::start& s) { return k < key(s); });
  if (after != starts.begin() && after[-1].id == id) {
    return &after[-1];
  }
  return after != starts.end() && after->id == id ? &*after : nullptr;
}

std::uint32_t process_of(const trace& t, std::uint16_t thread) {
  return thread < t.threads.size() ? t.threads[thread].process : none;
}

/// The ids that several processes use, each for its own flows.
std::vector<std::uint64_t> shared_ids(const trace& t, const std::vector<flows::start>& starts) {
  std::vector<std::uint64_t> out;
  for (std::size_t k = 1; k < starts.size(); ++k) {
    const bool shared = starts[k].id == starts[k - 1].id &&
                        process_of(t, starts[k].thread) != process_of(t, starts[k - 1].thread);
    if (shared && (out.empty() || out.back() != starts[k].id)) {
      out.push_back(starts[k].id);
    }
  }
  return out;
}

/// The operator that a flow to this instant leads to: of those that begin there the outermost.
std::uint32_t operator_at(const trace& t, std::uint16_t thread, time_ns at) {
  constexpr int most_climbed = 64;
  std::uint32_t op = operation_around(t, thread, at);
  for (int n = 0; op != none && n < most_climbed; ++n) {
    const std::uint32_t parent = t.operators.parent[op];
    if (parent == none || t.operators.begin[parent] != at ||
        t.operator_kinds[t.operators.kind[parent]].source != operator_source::operation) {
      break;
    }
    op = parent;
  }
  return op;
}

}  // namespace

void flows::settle(time_ns shift) {
  for (auto* all : {&launch_starts_, &forward_starts_, &backward_ends_}) {
    for (start& s : *all) {
      s.at += shift;
    }
    sort(*all);
  }
  for (end_on_device& e : launch_ends_) {
    e.at += shift;
  }
  sort(launch_ends_);
}

std::optional<std::uint64_t> flows::id_of(const trace& t, std::uint32_t activity,
                                          std::uint64_t correlation) const {
  if (activity < ends_at_.size() && ends_at_[activity]) {
    return correlation;
  }
  const std::uint16_t stream = t.activities.stream[activity];
  if (stream >= t.streams.size()) {
    return std::nullopt;
  }
  const end_on_device place{0, t.activities.begin[activity], t.streams[stream].stream,
                            t.streams[stream].device};
  const auto [first, last] = std::equal_range(
      launch_ends_.begin(), launch_ends_.end(), place, [](const end_on_device& a, const end_on_device& b) {
        return std::tuple{a.device, a.stream, a.at} < std::tuple{b.device, b.stream, b.at};
      });
  if (first == last) {
    return std::nullopt;
  }
  if (first->id == last[-1].id) {
    return first->id;
  }
  // Of several, to activities that took no time, the correlation tells.
  const auto found = std::lower_bound(
      first, last, correlation, [](const end_on_device& e, std::uint64_t wanted) { return e.id < wanted; });
  return found != last && found->id == correlation ? std::optional{correlation} : std::nullopt;
}

std::vector<launch_point> flows::launches(const trace& t, const std::vector<std::uint32_t>& activities,
                                          const std::vector<std::uint64_t>& correlations) const {
  const std::vector<std::uint64_t> shared = shared_ids(t, launch_starts_);
  std::vector<launch_point> out;
  for (const std::uint32_t i : activities) {
    const auto id = id_of(t, i, correlations[i]);
    const start* const from = id ? find(launch_starts_, *id, t.activities.begin[i]) : nullptr;
    if (from != nullptr && !std::binary_search(shared.begin(), shared.end(), *id)) {
      out.push_back({i, from->thread, from->at});
    }
  }
  return out;
}

std::vector<flows::backward> flows::backwards(const trace& t) const {
  std::vector<backward> out;
  for (const end_on_host& e : backward_ends_) {
    const start* const from = find(forward_starts_, e.id, e.at);
    const std::uint32_t op = from != nullptr ? operator_at(t, e.thread, e.at) : none;
    const std::uint32_t forward = op != none ? operation_around(t, from->thread, from->at) : none;
    if (forward != none && from->at <= e.at && forward != op &&
        process_of(t, from->thread) == process_of(t, e.thread)) {
      out.push_back({op, forward});
    }
  }
  // Of several the forward operator that began last.
  std::sort(out.begin(), out.end(), [&](const backward& a, const backward& b) {
    const auto begin = [&](const backward& x) { return t.operators.begin[x.forward]; };
    return a.op != b.op ? a.op < b.op : begin(a) != begin(b) ? begin(a) > begin(b) : a.forward < b.forward;
  });
  out.erase(
      std::unique(out.begin(), out.end(), [](const backward& a, const backward& b) { return a.op == b.op; }),
      out.end());
  return out;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
