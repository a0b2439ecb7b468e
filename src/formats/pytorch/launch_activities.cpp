// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/pytorch/launch_activities.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace varve {
inline namespace v0 {
namespace pytorch {

namespace {

// What an activity looks like.
struct look {
  std::uint32_t name = none;
  std::uint32_t detail = none;
  std::uint32_t rest = 0;  // kind and stream's rank
  bool operator==(const look& o) const noexcept {
    return name == o.name && detail == o.detail && rest == o.rest;
  }
};
struct look_hash {
  std::size_t operator()(const look& l) const noexcept {
    return mixed((std::uint64_t{l.name} << 32U | l.detail) ^ mixed(l.rest));
  }
};

// Entries of to.activities by launch, in the order of the file.
void collect(const trace& t, launch_activities& to) {
  const activity_columns& columns = t.activities;
  struct launch {
    std::uint32_t correlation;
    time_ns begin;
    std::uint32_t call;
  };
  std::vector<launch> launches;
  for (std::uint32_t c = 0; c < t.calls.size(); ++c) {
    if (t.calls.kind[c] == call_kind::graph_launch && t.calls.correlation[c] != 0 &&
        t.calls.captured[c] == 0) {
      launches.push_back({t.calls.correlation[c], t.calls.begin[c], c});
    }
  }
  if (launches.empty() && t.graph_nodes.empty()) {
    return;
  }
  const auto key = [](const launch& l) { return std::tuple{l.correlation, l.begin, l.call}; };
  std::sort(launches.begin(), launches.end(),
            [&](const launch& a, const launch& b) { return key(a) < key(b); });
  // Of several launches with one correlation the latest that begins before the activity.
  const auto find = [&](std::uint32_t correlation, time_ns at) {
    const auto after = std::upper_bound(launches.begin(), launches.end(), std::tuple{correlation, at, none},
                                        [&](const auto& wanted, const launch& l) { return wanted < key(l); });
    if (after != launches.begin() && after[-1].correlation == correlation) {
      return static_cast<std::uint32_t>(after - launches.begin() - 1);
    }
    return after != launches.end() && after->correlation == correlation
               ? static_cast<std::uint32_t>(after - launches.begin())
               : none;
  };

  struct member {
    std::uint32_t launch;
    std::uint32_t activity;
  };
  std::vector<member> members;
  std::unordered_map<std::uint32_t, std::uint32_t> unknown;  // correlation of a launch that is not there
  std::vector<std::pair<time_ns, std::uint32_t>> starts;     // begin, call
  for (const launch& l : launches) {
    starts.emplace_back(l.begin, l.call);
  }
  std::vector<std::uint64_t> sizes(launches.size(), 0);
  for (std::uint32_t i = 0; i < columns.size(); ++i) {
    if (columns.kind[i] == activity_kind::graph) {
      continue;
    }
    const std::uint32_t correlation = columns.correlation[i];
    std::uint32_t l = correlation != 0 ? find(correlation, columns.begin[i]) : none;
    if (l == none && columns.node[i] != none) {
      const auto [known, added] = unknown.try_emplace(correlation, static_cast<std::uint32_t>(sizes.size()));
      if (added) {
        sizes.push_back(0);
        starts.emplace_back(columns.begin[i], none);
      }
      l = known->second;
    }
    if (l != none) {
      members.push_back({l, i});
      ++sizes[l];
    }
  }

  std::vector<std::uint32_t> in_order;
  for (std::uint32_t l = 0; l < sizes.size(); ++l) {
    if (sizes[l] > 0) {
      in_order.push_back(l);
    }
  }
  std::sort(in_order.begin(), in_order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple{starts[a], a} < std::tuple{starts[b], b};
  });
  std::vector<std::size_t> next(sizes.size(), 0);
  std::size_t total = 0;
  for (const std::uint32_t l : in_order) {
    next[l] = total;
    to.replays.push_back({starts[l].second, none, total, total + sizes[l]});
    total += sizes[l];
  }
  to.activities.resize(total);
  for (const member& m : members) {
    to.activities[next[m.launch]++] = m.activity;
  }
}

// Each launch's activities in an order that is the same for each launch of a graph, and what they look like.
void order(const trace& t, launch_activities& to) {
  const activity_columns& columns = t.activities;
  std::vector<std::uint32_t> streams(t.streams.size());
  std::iota(streams.begin(), streams.end(), 0U);
  std::sort(streams.begin(), streams.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t s) {
      const stream_info& info = t.streams[s];
      return std::tuple{info.device, info.context, info.stream, s};
    };
    return key(a) < key(b);
  });
  std::vector<std::uint32_t> place(streams.size() + 1, static_cast<std::uint32_t>(streams.size()));
  for (std::uint32_t k = 0; k < streams.size(); ++k) {
    place[streams[k]] = k;
  }
  const auto place_of = [&](std::uint32_t i) {
    return place[std::min<std::size_t>(columns.stream[i], streams.size())];
  };

  std::unordered_map<look, std::uint32_t, look_hash> ids;
  to.looks.resize(to.activities.size());
  to.ranks.resize(to.activities.size());
  for (const replay& r : to.replays) {
    std::sort(to.activities.begin() + static_cast<std::ptrdiff_t>(r.first),
              to.activities.begin() + static_cast<std::ptrdiff_t>(r.last),
              [&](std::uint32_t a, std::uint32_t b) {
                const auto key = [&](std::uint32_t i) {
                  return std::tuple{place_of(i), columns.begin[i], columns.end[i], i};
                };
                return key(a) < key(b);
              });
    std::uint32_t rank = 0;
    for (std::size_t k = r.first; k < r.last; ++k) {
      const std::uint32_t i = to.activities[k];
      rank += k > r.first && place_of(i) != place_of(to.activities[k - 1]) ? 1U : 0U;
      to.ranks[k] = static_cast<std::uint16_t>(std::min<std::uint32_t>(rank, 0xFFFF));
      const look l{columns.name[i], columns.detail[i],
                   static_cast<std::uint32_t>(columns.kind[i]) | rank << 8U};
      to.looks[k] = ids.try_emplace(l, static_cast<std::uint32_t>(ids.size())).first->second;
    }
  }
}

}  // namespace

launch_activities find_launch_activities(const trace& t) {
  launch_activities out;
  collect(t, out);
  order(t, out);
  return out;
}

}  // namespace pytorch
}  // namespace v0
}  // namespace varve
