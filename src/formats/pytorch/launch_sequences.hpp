// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_FORMATS_PYTORCH_LAUNCH_SEQUENCES_HPP
#define VARVE_FORMATS_PYTORCH_LAUNCH_SEQUENCES_HPP

#include "formats/pytorch/graph_launches.hpp"

#include <varve/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace varve {
inline namespace v0 {
namespace pytorch {

/// Sorts launches into graphs where no nodes are named: by the sequence of looks that each ran. What it is
/// made with must outlive it.
class launch_sequences {
 public:
  /// `looks` and `ranks` by entry of to.activities.
  launch_sequences(const trace& t, const std::vector<std::uint32_t>& looks,
                   const std::vector<std::uint16_t>& ranks, graph_launches& to)
      : columns_{t.activities}, looks_{looks}, ranks_{ranks}, out_{to} {}

  /// Takes launch `r` of to.replays.
  void add(std::uint32_t r);
  /// Once, after all are in: sets their graphs and positions.
  void join();

 private:
  /// A sequence of looks that some launch ran, and where it belongs.
  struct sequence {
    std::uint32_t replay = none;  // the first that ran it
    std::uint64_t hash = 0;
    std::uint64_t bag = 0;  // whatever the order
    std::uint32_t graph = none;
    std::vector<std::uint32_t> positions;  // empty: 0, 1, 2, …
    std::uint64_t count = 0;
  };

  [[nodiscard]] std::size_t size(std::uint32_t r) const noexcept {
    return out_.replays[r].last - out_.replays[r].first;
  }
  [[nodiscard]] std::size_t size(const sequence& s) const noexcept { return size(s.replay); }
  [[nodiscard]] const std::uint32_t* looks(const sequence& s) const noexcept {
    return looks_.data() + out_.replays[s.replay].first;
  }

  bool join_reordered(sequence& s);
  bool join_incomplete(sequence& s);
  std::uint32_t add_graph(const sequence& s);

  const activity_columns& columns_;
  const std::vector<std::uint32_t>& looks_;
  const std::vector<std::uint16_t>& ranks_;
  graph_launches& out_;
  std::vector<sequence> sequences_;
  std::unordered_map<std::uint64_t, std::uint32_t> launches_with_bag_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> sequence_with_hash_;
  std::vector<std::uint32_t> sequence_of_replay_;
  std::vector<std::uint32_t> joined_;  // sequences that made a graph, the longer first
  std::unordered_map<std::uint64_t, std::uint32_t> graph_with_bag_;  // their sequences
  std::size_t steps_left_ = 0;
};

}  // namespace pytorch
}  // namespace v0
}  // namespace varve

#endif  // VARVE_FORMATS_PYTORCH_LAUNCH_SEQUENCES_HPP
