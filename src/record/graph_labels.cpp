// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "record/graph_labels.hpp"

#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

namespace varve::record {

namespace {

struct entry {
  std::uint32_t path = none;  // in state::paths
  bool stale = false;
  std::uint64_t captured_in = 0;
};

struct labels_state {
  std::mutex mutex;
  string_table strings;
  label_table paths;
  std::unordered_map<std::uint64_t, entry> nodes;
  std::vector<std::uint64_t> doomed;  // gone, but a session may still read their labels
  std::vector<std::uint64_t> older;   // the same before the last purge
};

labels_state& state() noexcept {
  static auto* const leaked = new labels_state;
  return *leaked;
}

graph_labels the_labels;

}  // namespace

graph_labels& labels_of_graphs() noexcept { return the_labels; }

void graph_labels::capture(std::uint64_t node, const thread_log& log) noexcept {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  try {
    std::uint32_t path = none;
    for (std::uint32_t i = 0; i < log.depth(); ++i) {
      const open_range& step = log.stack()[i];
      path =
          s.paths.intern({path, s.strings.intern(step.name), step.index, static_cast<range_kind>(step.kind)});
    }
    s.nodes[node] = {path, false, log.innermost()};
  } catch (const std::bad_alloc&) {
    s.nodes.erase(node);
  }
}

bool graph_labels::copy(std::uint64_t from, std::uint64_t to) noexcept {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  const auto source = s.nodes.find(from);
  if (source == s.nodes.end()) {
    s.nodes.erase(to);  // better unlabelled than the label of an older version
    return false;
  }
  try {
    const entry copied = source->second;
    s.nodes[to] = copied;
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void graph_labels::mark_stale(std::uint64_t node) noexcept {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  if (const auto found = s.nodes.find(node); found != s.nodes.end()) {
    found->second.stale = true;
  }
}

void graph_labels::destroy(std::uint64_t node, bool later) noexcept {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  if (later) {
    try {
      s.doomed.push_back(node);
      return;
    } catch (const std::bad_alloc&) {
      // forget it now instead
    }
  }
  s.nodes.erase(node);
}

void graph_labels::purge(bool all) noexcept {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  for (const std::uint64_t node : s.older) {
    s.nodes.erase(node);
  }
  s.older.clear();
  std::swap(s.older, s.doomed);
  if (all) {
    for (const std::uint64_t node : s.older) {
      s.nodes.erase(node);
    }
    s.older.clear();
  }
}

void graph_labels::clear() noexcept {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  s.nodes.clear();
  s.doomed.clear();
  s.older.clear();
}

void graph_labels::lock() noexcept { state().mutex.lock(); }
void graph_labels::unlock() noexcept { state().mutex.unlock(); }

bool graph_labels::resolve(std::uint64_t node, trace& into, graph_node& record, std::uint64_t& captured_in) {
  labels_state& s = state();
  const std::lock_guard lock{s.mutex};
  const auto found = s.nodes.find(node);
  if (found == s.nodes.end()) {
    return false;
  }
  std::vector<std::uint32_t> steps;
  for (std::uint32_t p = found->second.path; p != none; p = s.paths[p].parent) {
    steps.push_back(p);
  }
  record.label = none;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const label_node& n = s.paths[*step];
    record.label =
        into.labels.intern({record.label, into.strings.intern(s.strings[n.name]), n.index, n.kind});
  }
  record.stale = found->second.stale;
  captured_in = found->second.captured_in;
  return true;
}

}  // namespace varve::record
