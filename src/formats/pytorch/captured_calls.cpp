// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/captured_calls.hpp"

#include <algorithm>
#include <unordered_set>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

bool puts_work(call_kind kind) noexcept {
  return kind == call_kind::launch || kind == call_kind::copy || kind == call_kind::set ||
         kind == call_kind::graph_launch;
}

}  // namespace

std::vector<stretch> find_captures(const trace& t, std::vector<capture_notes::bound> bounds) {
  const auto key = [&](const capture_notes::bound& b) {
    return std::tuple{t.calls.thread[b.call], t.calls.begin[b.call], b.call};
  };
  std::sort(bounds.begin(), bounds.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::vector<stretch> out;
  const capture_notes::bound* open = nullptr;
  for (const capture_notes::bound& b : bounds) {
    const std::uint16_t thread = t.calls.thread[b.call];
    if (thread == narrow_none) {
      continue;
    }
    if (open != nullptr && t.calls.thread[open->call] != thread) {
      open = nullptr;
    }
    if (b.begins) {
      open = open == nullptr ? &b : open;  // a runtime call can make the driver's inside
    } else if (open != nullptr) {
      out.push_back({thread, t.calls.begin[open->call], t.calls.begin[b.call]});
      open = nullptr;
    }
  }
  return out;
}

std::vector<std::uint32_t> calls_without_work(const trace& t) {
  const std::unordered_set<std::uint32_t> ran{t.activities.correlation.begin(),
                                              t.activities.correlation.end()};
  std::vector<std::uint32_t> all;
  for (std::uint32_t c = 0; c < t.calls.size(); ++c) {
    if (puts_work(t.calls.kind[c]) && t.calls.thread[c] != narrow_none) {
      all.push_back(c);
    }
  }
  std::sort(all.begin(), all.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t c) {
      return std::tuple{t.calls.thread[c], t.calls.begin[c], -t.calls.end[c], c};
    };
    return key(a) < key(b);
  });
  std::vector<std::uint32_t> out;
  const auto inside = [&](std::uint32_t c, std::uint32_t outer) {
    return t.calls.thread[c] == t.calls.thread[outer] && t.calls.begin[c] < t.calls.end[outer] &&
           t.calls.end[c] <= t.calls.end[outer];
  };
  std::uint32_t outer = none;
  bool worked = false;
  const auto close = [&] {
    if (outer != none && !worked) {
      out.push_back(outer);
    }
  };
  for (const std::uint32_t c : all) {
    const bool works = t.calls.correlation[c] != 0 && ran.count(t.calls.correlation[c]) != 0;
    if (outer != none && inside(c, outer)) {
      worked |= works;
      continue;
    }
    close();
    outer = c;
    worked = works;
  }
  close();
  return out;
}

void mark_captured(trace& t, const std::vector<capture_notes::bound>& bounds) {
  if (bounds.empty()) {
    return;
  }
  for_each_inside(t, find_captures(t, bounds), calls_without_work(t),
                  [&](const stretch&, std::uint32_t c) { t.calls.captured[c] = 1; });
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
