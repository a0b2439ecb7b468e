// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Tapes under sessions of varve, and what the traces say in the terms of a tape's expectations.
#ifndef VARVE_TESTS_TAPE_SESSION_PROGRAM_HPP
#define VARVE_TESTS_TAPE_SESSION_PROGRAM_HPP

#include "tape/player.hpp"

#include <varve/varve.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace varve_tape {

/// Marks ranges as the tape says, under a session from each start to the stop after it.
class session_program final : public program {
 public:
  explicit session_program(const char* library = library_name) : library_{library} {}
  void arms() override {
    ::setenv("VARVE_CUPTI_LIBRARY", library_, 1);
    varve::arm();
  }
  void disarms() override { varve::disarm(); }
  void starts(const start& how) override {
    varve::session_options options;
    options.gpu.cupti_library = library_;
    options.gpu.whole_graphs = how.whole_graphs;
    session_.emplace(std::move(options));
  }
  void stops() override {
    for (const varve::collector_status& c : session_->status().collectors) {
      if (c.name == "cupti" && c.state != varve::collector_state::running) {
        problem_ = c.detail;
      }
    }
    traces_.push_back(session_->stop());
    session_.reset();
  }
  void begins(const begin& range) override {
    const auto index = range.index < 0 ? varve::no_index : static_cast<std::int32_t>(range.index);
    open().push_back(!range.phase.empty()   ? varve_phase_begin(kept(range.phase))
                     : !range.layer.empty() ? varve_layer_begin(kept(range.layer), index)
                                            : varve_op_begin(kept(range.op), index));
  }
  void ends() override {
    varve_end(open().back());
    open().pop_back();
  }

  [[nodiscard]] const std::vector<varve::trace>& traces() const { return traces_; }
  /// Why the collector did not run; empty where it did.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  static std::vector<varve_range>& open() {
    thread_local std::vector<varve_range> ranges;
    return ranges;
  }
  /// Markers keep the address.
  static const char* kept(const std::string& name) {
    static auto* const lock = new std::mutex;
    static auto* const names = new std::set<std::string>;
    const std::lock_guard guard{*lock};
    return names->insert(name).first->c_str();
  }
  const char* library_;
  std::optional<varve::session> session_;
  std::vector<varve::trace> traces_;
  std::string problem_;
};

/// "layer:3", "decode".
inline std::string step_of(const varve::trace& t, std::uint32_t label) {
  const varve::label_node& node = t.labels[label];
  return std::string{t.strings[node.name]} +
         (node.index != varve::no_index ? ":" + std::to_string(node.index) : std::string{});
}

/// "decode/layer:3"; empty for none.
inline std::string path_of(const varve::trace& t, std::uint32_t label) {
  std::string path;
  for (; label != varve::none; label = t.labels[label].parent) {
    path = step_of(t, label) + (path.empty() ? "" : "/" + path);
  }
  return path;
}

using work_counts = std::map<std::string, std::uint64_t>;

/// "kernel gemm in decode of capture/layer:0, stale"
inline std::string line_of(const expect& e) {
  return std::string{e.kind.name()} + " " + e.name + " in " + (e.in.empty() ? "nothing" : e.in) +
         (e.node.empty() ? "" : " of " + e.node) + (e.stale ? ", stale" : "");
}

inline const char* record_name(varve::activity_kind kind) {
  switch (kind) {
    case varve::activity_kind::kernel:
      return "kernel";
    case varve::activity_kind::copy:
      return "memcpy";
    case varve::activity_kind::set:
      return "memset";
    default:
      return "graph_trace";
  }
}

/// What ran, each piece with what a tape can expect of it.
inline std::vector<expect> work_in(const varve::trace& t) {
  std::map<std::uint32_t, std::uint32_t> ranges;  // of calls, by correlation
  for (std::size_t c = 0; c < t.calls.size(); ++c) {
    ranges[t.calls.correlation[c]] = t.calls.range[c];
  }
  std::vector<expect> out;
  for (std::size_t i = 0; i < t.activities.size(); ++i) {
    expect e;
    e.kind.find(record_name(t.activities.kind[i]));
    e.name = t.strings[t.activities.name[i]];
    const auto range = ranges.find(t.activities.correlation[i]);
    if (t.activities.correlation[i] != 0 && range != ranges.end() && range->second != varve::none) {
      e.in = path_of(t, t.ranges[range->second].label);
    }
    if (const std::uint32_t node = t.activities.node[i]; node != varve::none) {
      e.node = path_of(t, t.graph_nodes[node].label);
      e.stale = t.graph_nodes[node].stale;
    }
    const std::string& path = e.node.empty() ? e.in : e.node;
    e.label = path.substr(path.rfind('/') + 1);
    out.push_back(std::move(e));
  }
  return out;
}

}  // namespace varve_tape

#endif  // VARVE_TESTS_TAPE_SESSION_PROGRAM_HPP
