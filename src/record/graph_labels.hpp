// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which label path was open when a graph node was captured. Lives from arming or a session's start on, and
// outlives sessions while armed.
#ifndef VARVE_RECORD_GRAPH_LABELS_HPP
#define VARVE_RECORD_GRAPH_LABELS_HPP

#include <varve/trace.hpp>

#include "record/log.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace varve::record {

/// Thread safe; takes a lock and may allocate: building a graph is no launch path. Without memory for an
/// entry the node stays unlabelled, which the report counts.
///
/// While a session reads, a node whose label changes keeps the former one for launches of before: each
/// version is valid from the correlation of the call that made it on. What is gone or superseded is kept for
/// a while, and no more than `most_leaving` of that.
class graph_labels {
 public:
  static constexpr std::size_t most_leaving = std::size_t{1} << 18U;
  /// Steps of all label paths that nodes were captured with, as long as they are armed: nodes captured later
  /// with another path stay unlabelled, and are counted.
  static constexpr std::size_t most_steps = std::size_t{1} << 18U;

  /// Notes the path of the given stack for `node`, and the range that it was captured in.
  void capture(std::uint64_t node, const thread_log& log) noexcept;
  /// `to` gets what `from` has, from the call `since` on; 0: it is new. False when that is nothing.
  bool copy(std::uint64_t from, std::uint64_t to, std::uint32_t since = 0) noexcept;
  void mark_stale(std::uint64_t node, std::uint32_t since) noexcept;
  /// Forgets the node; `replayed`: records may carry it, so that a session may still ask for it.
  void destroy(std::uint64_t node, bool replayed) noexcept;
  /// A session reads from now on, or no longer.
  void begin_reading() noexcept;
  void end_reading() noexcept;
  /// Forgets what was gone or superseded before the last call but one.
  void purge() noexcept;
  void clear() noexcept;
  /// Around a fork.
  void lock() noexcept;
  void unlock() noexcept;

  /// A version that is not kept any more.
  static constexpr std::uint64_t forgotten = ~std::uint64_t{0};
  /// Which version of the node a launch with this correlation ran; 0: the first, `forgotten`: an older one
  /// than any that is kept.
  [[nodiscard]] std::uint64_t version(std::uint64_t node, std::uint32_t correlation) noexcept;
  /// What is known of a node beside its record.
  struct origin {
    std::uint64_t range = 0;  ///< token of the range that it was captured in; 0: none
    std::uint64_t node = 0;   ///< that was captured, of which this one is a clone
  };
  /// That version of the node as a trace's record, its path interned there.
  origin resolve(std::uint64_t node, std::uint64_t version, trace& into, graph_node& record);

  /// Tokens of the ranges that nodes which are kept were captured in, and how many in each.
  [[nodiscard]] std::unordered_map<std::uint64_t, std::size_t> captures();
  [[nodiscard]] bool knows(std::uint64_t node) noexcept;

  /// Nodes that were captured with a path for which there was no room.
  [[nodiscard]] std::size_t without_path() noexcept;
  /// Nodes and former versions that are kept.
  [[nodiscard]] std::size_t size() noexcept;
};

graph_labels& labels_of_graphs() noexcept;

}  // namespace varve::record

#endif  // VARVE_RECORD_GRAPH_LABELS_HPP
