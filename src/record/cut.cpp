// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/cut.hpp"

#include "trace/call_kinds.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace varve::record {

namespace {

constexpr time_ns never = std::numeric_limits<time_ns>::max();
constexpr time_ns unseen = std::numeric_limits<time_ns>::min() / 2;

bool launches(const call_columns& c, std::size_t i) noexcept {
  return c.captured[i] == 0 && c.correlation[i] != 0 && launches_work(c.kind[i]);
}

}  // namespace

/// An outermost range, or a call outside of all.
struct cut::root {
  std::uint32_t range = none;
  std::uint32_t call = none;
  time_ns begin = 0;
  time_ns end = 0;   ///< on the host; `never` while it is open
  time_ns done = 0;  ///< the later of that and of its last activity's end
  bool launches = false;
  bool replays = false;  ///< a graph
  bool complete = true;  ///< each of its launches has an activity
  bool ready = false;
};

bool cut::takes(std::uint32_t correlation, time_ns begin) const noexcept {
  const std::uint32_t call = call_of(correlation);
  return call != none ? calls_[call] : begin < at_;
}

std::uint32_t cut::call_of(std::uint32_t correlation) const noexcept {
  const auto after = std::upper_bound(called_.begin(), called_.end(), std::pair{correlation, none});
  return after != called_.begin() && std::prev(after)->first == correlation ? std::prev(after)->second : none;
}

std::vector<cut::root> cut::roots_of(const trace& t, const cut_options& options) {
  std::vector<root> roots;
  root_of_.assign(t.ranges.size(), none);
  for (std::uint32_t r = 0; r < t.ranges.size(); ++r) {
    const range& one = t.ranges[r];
    if (one.parent < r) {
      root_of_[r] = root_of_[one.parent];
    }
    if (root_of_[r] == none && one.kind != range_kind::request) {
      root_of_[r] = static_cast<std::uint32_t>(roots.size());
      roots.push_back({r, none, one.begin});
    }
    if (root_of_[r] != none) {  // a thread may have taken over, and be at it longer
      root& outermost = roots[root_of_[r]];
      outermost.end = one.clipped_end && one.end >= t.end ? never : std::max(outermost.end, one.end);
    }
  }
  for (const std::uint32_t r : options.held) {
    if (r < root_of_.size() && root_of_[r] != none) {
      roots[root_of_[r]].end = never;
    }
  }
  const call_columns& c = t.calls;
  std::vector<std::uint32_t> root_of_call(c.size(), none);
  std::vector<bool> seen(c.size(), false);
  for (std::uint32_t i = 0; i < c.size(); ++i) {
    if (c.correlation[i] != 0) {
      called_.emplace_back(c.correlation[i], i);
    }
    if (c.range[i] < root_of_.size()) {
      root_of_call[i] = root_of_[c.range[i]];
    }
    if (root_of_call[i] == none) {
      root_of_call[i] = static_cast<std::uint32_t>(roots.size());
      roots.push_back({none, i, c.begin[i], c.end[i] >= t.end ? never : c.end[i]});
    }
  }
  if (!std::is_sorted(called_.begin(), called_.end())) {
    std::sort(called_.begin(), called_.end());
  }
  for (root& one : roots) {
    one.done = one.end != never ? one.end : 0;
  }
  time_ns latest = unseen;  // begin of a call whose activities have begun to come
  for (std::size_t a = 0; a < t.activities.size(); ++a) {
    if (const std::uint32_t call = call_of(t.activities.correlation[a]); call != none) {
      seen[call] = true;
      latest = std::max(latest, c.begin[call]);
      time_ns& done = roots[root_of_call[call]].done;
      done = std::max(done, t.activities.end[a]);
    }
  }
  for (std::uint32_t i = 0; i < c.size(); ++i) {
    if (launches(c, i)) {
      root& one = roots[root_of_call[i]];
      one.launches = true;
      one.replays = one.replays || c.kind[i] == call_kind::graph_launch;
      one.complete = one.complete && seen[i];
    }
  }
  for (root& one : roots) {
    if (one.end != never) {
      const time_ns age = t.end - one.done;
      const bool given_up = age > patience || latest - (options.memory_used > 0.75 ? 0 : lag) > one.end;
      const bool settled = age > lag || (age > options.settling && latest >= one.end);
      one.ready = (one.complete || given_up) && (!one.replays || settled);
    }
  }
  return roots;
}

// All roots before the moment are ready, and over on the host; `quiet`: and on devices.
void cut::choose(const std::vector<root>& roots, const trace& t, double memory_used) {
  std::vector<std::uint32_t> order(roots.size());
  for (std::uint32_t k = 0; k < order.size(); ++k) {
    order[k] = k;
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return roots[a].begin != roots[b].begin ? roots[a].begin < roots[b].begin : a < b;
  });
  time_ns over = t.begin;
  time_ns done = t.begin;
  time_ns best = t.begin;
  time_ns quiet = t.begin;
  const auto offer = [&](time_ns at) {
    best = at >= over ? std::max(best, at) : best;
    quiet = at >= std::max(over, done) ? std::max(quiet, at) : quiet;
  };
  bool all_ready = true;
  for (const std::uint32_t k : order) {
    if (roots[k].range == none && !roots[k].launches) {
      continue;  // a thread that waits for something holds nothing up
    }
    offer(roots[k].begin);
    all_ready = roots[k].ready;
    if (!all_ready) {
      break;
    }
    over = std::max(over, roots[k].end);
    done = std::max(done, roots[k].done);
  }
  if (all_ready) {
    offer(t.end);
  }
  const bool memory_is_short = memory_used > 0.25;
  const time_ns length = t.end - t.begin;
  at_ = quiet > t.begin || !(memory_is_short || length > patience_for_quiet) ? quiet : best;
  overlaps_ = at_ == t.begin && (memory_is_short || length > patience_with_overlap) &&
              std::any_of(roots.begin(), roots.end(), [](const root& one) { return one.ready; });
}

cut::cut(const trace& t, const cut_options& options) : at_{t.begin} {
  const std::vector<root> roots = roots_of(t, options);
  choose(roots, t, options.memory_used);
  if (overlaps_) {
    at_ = t.end;
  }
  const auto goes = [&](const root& one) { return one.ready && one.begin < at_; };
  ranges_.resize(t.ranges.size());
  for (std::size_t r = 0; r < t.ranges.size(); ++r) {
    const range& one = t.ranges[r];
    ranges_[r] = root_of_[r] != none ? goes(roots[root_of_[r]]) : !one.clipped_end && one.end <= at_;
  }
  for (const request_link& l : t.requests) {  // one that was served meanwhile goes with its last pass
    ranges_[l.request] = ranges_[l.request] && ranges_[l.pass];
  }
  calls_.resize(t.calls.size());
  for (std::size_t i = 0; i < t.calls.size(); ++i) {
    calls_[i] = t.calls.range[i] < ranges_.size() && ranges_[t.calls.range[i]];
  }
  for (const root& one : roots) {
    if (one.call != none) {
      calls_[one.call] = goes(one);
    }
  }
}

}  // namespace varve::record
