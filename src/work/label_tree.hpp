// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which label of a pass stands for which operators.
#ifndef VARVE_WORK_LABEL_TREE_HPP
#define VARVE_WORK_LABEL_TREE_HPP

#include "work/label_rules.hpp"

#include <cstdint>
#include <vector>

namespace varve {
inline namespace v0 {
namespace model_work {

/// The labels of one pass, outer before inner: node 0 is the pass.
struct label_tree {
  struct node {
    std::uint32_t name = none;
    std::int32_t index = no_index;
    std::uint32_t first = none;  ///< child
    std::uint32_t last = none;
    std::uint32_t next = none;  ///< of the same parent

    friend bool operator==(const node&, const node&) = default;
  };
  std::vector<node> nodes{1};

  std::uint32_t add(std::uint32_t parent, std::uint32_t name, std::int32_t index);
  friend bool operator==(const label_tree&, const label_tree&) = default;
};

/// What labels did not tell, or told wrongly.
struct label_misfits {
  std::uint64_t no_such_layer = 0;   ///< labels with the index of a layer that the model has not
  std::uint64_t unnamed_layers = 0;  ///< layers that no label stands for, where labels stand for anything
  std::uint64_t not_as_many = 0;     ///< labels side by side whose operators can't be told apart
  std::uint64_t nothing_named = 0;   ///< passes in which no label stands for anything

  label_misfits& operator+=(const label_misfits& other) noexcept;
};

/// One operator after the other, the projections to queries, keys and values apart.
[[nodiscard]] std::vector<operator_work> split_projections(const model& m,
                                                           const std::vector<operator_work>& pass);

/// By operator, the innermost node that stands for it. `pass` is in order, as work_of_pass() makes it.
[[nodiscard]] std::vector<std::uint32_t> place_operators(const std::vector<operator_work>& pass,
                                                         const label_tree& tree, const string_table& strings,
                                                         label_rules& rules, label_misfits& misfits);

}  // namespace model_work
}  // namespace v0
}  // namespace varve

#endif  // VARVE_WORK_LABEL_TREE_HPP
