// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which label path was open when a graph node was captured. Lives from arming or a session's start on, and
// outlives sessions while armed.
#ifndef VARVE_RECORD_GRAPH_LABELS_HPP
#define VARVE_RECORD_GRAPH_LABELS_HPP

#include <varve/trace.hpp>

#include "record/log.hpp"

#include <cstdint>

namespace varve::record {

/// Thread safe; takes a lock and may allocate: building a graph is no launch path. Without memory for an
/// entry the node stays unlabelled, which the report counts.
class graph_labels {
 public:
  /// Notes the path of the given stack for `node`, and the range that it was captured in.
  void capture(std::uint64_t node, const thread_log& log) noexcept;
  /// `to` gets what `from` has. False when that is nothing.
  bool copy(std::uint64_t from, std::uint64_t to) noexcept;
  void mark_stale(std::uint64_t node) noexcept;
  /// Forgets the node, at once or at the next purge() when a session may still read it.
  void destroy(std::uint64_t node, bool later) noexcept;
  /// Forgets what is to be forgotten later; `all`: at once, else what was destroyed before the last call but
  /// one.
  void purge(bool all = true) noexcept;
  void clear() noexcept;
  /// Around a fork.
  void lock() noexcept;
  void unlock() noexcept;

  /// The node as a trace's record, its path interned there, and the token of the range it was captured in.
  /// False when nothing is known of it.
  bool resolve(std::uint64_t node, trace& into, graph_node& record, std::uint64_t& captured_in);
};

graph_labels& labels_of_graphs() noexcept;

}  // namespace varve::record

#endif  // VARVE_RECORD_GRAPH_LABELS_HPP
