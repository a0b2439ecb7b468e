// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which label paths the graphs have that passes replayed.
#ifndef VARVE_WORK_REPLAYED_LABELS_HPP
#define VARVE_WORK_REPLAYED_LABELS_HPP

#include <varve/trace.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace model_work {

/// FLOPs and bytes that others tell of the nodes of a label.
struct told_of_nodes {
  double declared = 0;  ///< the engine and counters
  double shapes = 0;    ///< operators' shapes: of one replay
  double calls = 0;     ///< calls of cuBLAS, which are perhaps not all that ran under the label
};

struct replayed_label {
  std::uint32_t pass = none;  ///< range
  std::uint32_t label = none;
  told_of_nodes told;
};

class replayed_labels {
 public:
  static constexpr std::uint32_t whole = 0;  ///< the path of a pass

  replayed_labels() = default;
  /// `pass_of` is the pass of each range, or none.
  replayed_labels(const trace& t, const std::vector<std::uint32_t>& pass_of);

  /// By label, outer before inner.
  [[nodiscard]] std::vector<replayed_label> of(std::uint32_t pass) const;
  /// What stands below the innermost pass of a label; requests are no steps. Parents have smaller numbers.
  [[nodiscard]] std::uint32_t path_of(std::uint32_t label) const noexcept {
    return label < path_of_label_.size() ? path_of_label_[label] : whole;
  }
  [[nodiscard]] std::uint32_t parent_of(std::uint32_t path) const noexcept { return paths_[path].parent; }
  /// A label with this path.
  [[nodiscard]] std::uint32_t label_of(std::uint32_t path) const noexcept { return paths_[path].label; }

 private:
  struct step {
    std::uint32_t parent = none;
    std::uint32_t label = none;
  };

  void read_paths(const trace& t);

  std::vector<step> paths_;
  std::vector<std::uint32_t> path_of_label_;
  std::vector<replayed_label> labels_;  // by pass, then label
};

}  // namespace model_work
}  // namespace v0
}  // namespace varve

#endif  // VARVE_WORK_REPLAYED_LABELS_HPP
