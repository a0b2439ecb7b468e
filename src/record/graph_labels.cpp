// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/graph_labels.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <iterator>
#include <list>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

namespace varve::record {

namespace {

struct entry {
  std::uint32_t path = none;  // in state::paths
  std::uint32_t since = 0;    // correlation of the update that made it; 0: all launches are of it or later
  std::uint64_t version = 0;  // 0: it was before all of the session's updates
  std::uint64_t made = 0;     // after so many purges
  std::uint64_t captured_in = 0;
  std::uint64_t origin = 0;
  bool stale = false;
};

bool is_same(const entry& a, const entry& b) noexcept {
  return a.path == b.path && a.captured_in == b.captured_in && a.origin == b.origin && a.stale == b.stale;
}

/// Correlations wrap: the two must be less than 2^31 calls apart.
bool is_of(std::uint32_t correlation, const entry& e) noexcept {
  return e.since == 0 || static_cast<std::int32_t>(correlation - e.since) >= 0;
}

struct leaving_entry {
  std::uint64_t node;
  bool whole;  // else its oldest version
};

struct labels_state {
  std::mutex mutex;
  string_table strings;
  label_table paths;
  std::unordered_map<std::uint64_t, entry> nodes;
  std::unordered_map<std::uint64_t, std::list<entry>> former;  // versions, oldest first
  std::deque<leaving_entry> leaving;
  std::size_t aged = 0;  // of these, those from before the last purge
  std::uint64_t purges = 0;
  std::uint64_t last_version = 0;
  std::size_t versions = 0;
  std::size_t without_path = 0;
  bool reading = false;
  std::atomic<bool> versioned{false};  // by this session
};

labels_state& state() noexcept {
  static auto* const leaked = new labels_state;
  return *leaked;
}

graph_labels the_labels;

// All of these under the lock.

void forget_next(labels_state& s) noexcept {
  const leaving_entry gone = s.leaving.front();
  s.leaving.pop_front();
  s.aged -= s.aged != 0 ? 1U : 0U;
  const auto old = s.former.find(gone.node);
  if (gone.whole) {
    s.nodes.erase(gone.node);
  }
  if (old != s.former.end()) {
    s.versions -= gone.whole ? old->second.size() : 1U;
    old->second.erase(old->second.begin(), gone.whole ? old->second.end() : std::next(old->second.begin()));
    if (old->second.empty()) {
      s.former.erase(old);
    }
  }
}

void leave(labels_state& s, const leaving_entry& what) {
  if (s.leaving.size() >= graph_labels::most_leaving) {
    forget_next(s);
  }
  s.leaving.push_back(what);
}

/// none: it is new, and there is no room for it.
std::uint32_t path_of(labels_state& s, const thread_log& log) {
  const bool room = s.paths.size() + log.depth() <= graph_labels::most_steps;
  std::uint32_t path = none;
  for (std::uint32_t i = 0; i < log.depth(); ++i) {
    const open_range& open = log.stack()[i];
    label_node step{path, none, open.index, static_cast<range_kind>(open.kind)};
    step.name = room ? s.strings.intern(open.name) : s.strings.find(open.name);
    path = room ? s.paths.intern(step) : s.paths.find(step);
    if (path == none) {
      break;
    }
  }
  return path;
}

/// Launches that are told of now came after an update of two purges before, however many calls ago it is.
void settle(const labels_state& s, entry& now) noexcept {
  if (s.purges - now.made >= 2) {
    now.since = 0;
  }
}

void change(labels_state& s, std::uint64_t node, entry to, std::uint32_t since) {
  entry& now = s.nodes[node];
  to.since = 0;
  to.version = 0;
  if (s.reading && since != 0) {
    if (is_same(now, to)) {
      return;
    }
    settle(s, now);
    std::list<entry> old{now};
    leave(s, {node, false});
    std::list<entry>& all = s.former[node];
    all.splice(all.end(), old);
    ++s.versions;
    to.since = since;
    to.version = ++s.last_version;
    to.made = s.purges;
    s.versioned = true;
  }
  now = to;
}

}  // namespace

graph_labels& labels_of_graphs() noexcept { return the_labels; }

void graph_labels::capture(std::uint64_t node, const thread_log& log) noexcept {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  try {
    const std::uint32_t path = path_of(s, log);
    s.without_path += path == none ? 1U : 0U;
    entry& now = s.nodes[node];
    now = {};
    now.path = path;
    now.captured_in = log.innermost();
    now.origin = node;
  } catch (const std::bad_alloc&) {
    s.nodes.erase(node);
  }
}

bool graph_labels::copy(std::uint64_t from, std::uint64_t to, std::uint32_t since) noexcept {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  const auto source = s.nodes.find(from);
  const bool known = source != s.nodes.end();
  const bool keeps = s.reading && since != 0 && s.nodes.count(to) != 0;
  if (!known && !keeps) {
    s.nodes.erase(to);  // better unlabelled than the label of an older version
    return false;
  }
  try {
    const entry copied = known ? source->second : entry{};
    change(s, to, copied, since);
    return known;
  } catch (const std::bad_alloc&) {
    s.nodes.erase(to);
    return false;
  }
}

void graph_labels::mark_stale(std::uint64_t node, std::uint32_t since) noexcept {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  const auto found = s.nodes.find(node);
  if (found == s.nodes.end()) {
    return;
  }
  try {
    entry stale = found->second;
    stale.stale = true;
    change(s, node, stale, since);
  } catch (const std::bad_alloc&) {
    found->second.stale = true;
  }
}

void graph_labels::destroy(std::uint64_t node, bool replayed) noexcept {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  if (replayed && s.reading) {
    try {
      leave(s, {node, true});
      return;
    } catch (const std::bad_alloc&) {
      // forget it now instead
    }
  }
  s.nodes.erase(node);
}

void graph_labels::begin_reading() noexcept {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  s.reading = true;
}

void graph_labels::end_reading() noexcept {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  s.reading = false;
  while (!s.leaving.empty()) {
    forget_next(s);
  }
  if (s.versioned) {
    for (auto& [id, node] : s.nodes) {
      node.since = 0;
      node.version = 0;
    }
    s.versioned = false;
  }
}

void graph_labels::purge() noexcept {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  while (s.aged != 0) {
    forget_next(s);
  }
  s.aged = s.leaving.size();
  ++s.purges;
}

void graph_labels::clear() noexcept {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  s.nodes.clear();
  s.former.clear();
  s.leaving.clear();
  s.aged = 0;
  s.versions = 0;
  s.without_path = 0;
  s.versioned = false;
  s.strings = {};
  s.paths = {};
}

void graph_labels::lock() noexcept { state().mutex.lock(); }
void graph_labels::unlock() noexcept { state().mutex.unlock(); }

std::uint64_t graph_labels::version(std::uint64_t node, std::uint32_t correlation) noexcept {
  labels_state& s = state();
  if (!s.versioned.load(std::memory_order_relaxed)) {
    return 0;
  }
  const std::lock_guard lock{s.mutex};
  const auto now = s.nodes.find(node);
  if (now == s.nodes.end()) {
    return 0;
  }
  settle(s, now->second);
  if (correlation == 0 || is_of(correlation, now->second)) {
    return now->second.version;
  }
  if (const auto old = s.former.find(node); old != s.former.end()) {
    const auto found = std::find_if(old->second.rbegin(), old->second.rend(),
                                    [&](const entry& e) { return is_of(correlation, e); });
    return found != old->second.rend() ? found->version : forgotten;
  }
  return forgotten;
}

graph_labels::origin graph_labels::resolve(std::uint64_t node, std::uint64_t version, trace& into,
                                           graph_node& record) {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  record.label = none;
  const auto found = s.nodes.find(node);
  if (found == s.nodes.end()) {
    return {};
  }
  entry e = found->second;
  if (e.version != version) {
    // Of one that is forgotten, the next is shown, and that it is not known to be the same.
    e.stale = true;
    if (const auto old = s.former.find(node); old != s.former.end()) {
      const auto same = std::find_if(old->second.rbegin(), old->second.rend(),
                                     [&](const entry& o) { return o.version == version; });
      const bool kept = same != old->second.rend();
      e = kept ? *same : old->second.front();
      e.stale = e.stale || !kept;
    }
  }
  std::vector<std::uint32_t> steps;
  for (std::uint32_t p = e.path; p != none; p = s.paths[p].parent) {
    steps.push_back(p);
  }
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const label_node& n = s.paths[*step];
    record.label =
        into.labels.intern({record.label, into.strings.intern(s.strings[n.name]), n.index, n.kind});
  }
  record.stale = e.stale;
  return {e.captured_in, e.origin};
}

std::unordered_map<std::uint64_t, std::size_t> graph_labels::captures() {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> nodes;  // captured in a range; clones are one with it
  {
    labels_state& s = state();
    const std::lock_guard lock{s.mutex};
    nodes.reserve(s.nodes.size() + s.versions);
    const auto add = [&](const entry& e) {
      if (e.captured_in != 0) {
        nodes.emplace_back(e.captured_in, e.origin);
      }
    };
    for (const auto& [id, now] : s.nodes) {
      add(now);
    }
    for (const auto& [id, old] : s.former) {
      std::for_each(old.begin(), old.end(), add);
    }
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  std::unordered_map<std::uint64_t, std::size_t> out;
  for (const auto& [range, node] : nodes) {
    ++out[range];
  }
  return out;
}

bool graph_labels::knows(std::uint64_t node) noexcept {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  return s.nodes.find(node) != s.nodes.end();
}

std::size_t graph_labels::without_path() noexcept {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  return s.without_path;
}

std::size_t graph_labels::size() noexcept {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  return s.nodes.size() + s.versions;
}

}  // namespace varve::record
