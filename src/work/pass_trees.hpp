// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The labels of one pass after the other as trees: of its ranges, and of the graphs that it replayed.
#ifndef VARVE_WORK_PASS_TREES_HPP
#define VARVE_WORK_PASS_TREES_HPP

#include "work/label_rules.hpp"
#include "work/label_tree.hpp"
#include "work/replayed_labels.hpp"

#include <varve/trace.hpp>

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace model_work {

class pass_trees {
 public:
  /// Where a node comes from; the first is the pass.
  struct origin {
    std::uint32_t parent = none;  ///< node
    std::uint32_t range = none;   ///< none: a label of replays
    std::uint32_t label = none;
    told_of_nodes told{};  ///< of replays
    double inside = 0;     ///< FLOPs and bytes of it and below that are told by others, and count
    bool overruled = false;
  };

  /// Interns names; holds on to both.
  pass_trees(trace& t, label_rules& rules);

  /// Whether another pass is inside of a range.
  [[nodiscard]] bool holds_passes(std::uint32_t range) const { return holds_passes_[range]; }

  void build(std::uint32_t pass);
  [[nodiscard]] const label_tree& tree() const noexcept { return tree_; }
  [[nodiscard]] const std::vector<origin>& origins() const noexcept { return origins_; }
  /// Finds what is told with more trust than a description that tells so much of each node.
  void find_trusted(const std::vector<double>& amounts);
  /// After that: whether the description counts of a node of which it tells so much.
  [[nodiscard]] bool leave_room(std::uint32_t node, double amount) const noexcept;

 private:
  struct step {
    std::uint32_t name = none;
    std::int32_t index = no_index;
  };

  void read_steps(label_rules& rules);
  void list_ranges();
  void add_replays(std::uint32_t pass);

  trace& t_;
  std::vector<step> steps_;             // by label
  std::vector<std::uint32_t> pass_of_;  // by range: the innermost pass around, or none
  std::vector<std::uint32_t> first_;    // by range that is a pass, and one more: in inside_
  std::vector<std::uint32_t> inside_;   // ranges of one pass after the other
  std::vector<bool> holds_passes_;      // by range
  std::vector<bool> told_;              // by range, with all inside: by someone who is trusted more
  replayed_labels labels_;

  // Of the pass at hand
  label_tree tree_;
  std::vector<origin> origins_;
  std::vector<std::uint32_t> node_of_range_;
};

}  // namespace model_work
}  // namespace v0
}  // namespace varve

#endif  // VARVE_WORK_PASS_TREES_HPP
