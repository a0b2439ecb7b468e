// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/overlap.hpp"

namespace varve {
inline namespace v0 {
namespace analysis {

void overlap_sweep::unite(const std::vector<running>& what) {
  for (const running& r : what) {
    if (r.begin == r.end) {
      continue;
    }
    const std::uint32_t leaf = rows_.slots[r.slot].row;
    rows_.rows[leaf].joint_exclusive.add(r.begin, r.end);
    for (std::uint32_t up = leaf; up != none; up = rows_.rows[up].parent) {
      rows_.rows[up].joint_inclusive.add(r.begin, r.end);
    }
    for (std::uint32_t s = r.slot; s != none; s = rows_.slots[s].parent) {
      rows_.slot_times[s].joint.add(r.begin, r.end);
    }
    passes_.add_joint(r.slot, r.begin, r.end);
    const layer_row& row = rows_.rows[leaf];
    for (std::uint32_t k = 0; k < row.label_count; ++k) {
      rows_.labels[rows_.label_lists[row.first_label + k]].joint.add(r.begin, r.end);
    }
    if (row.last_label != none) {
      rows_.labels[row.last_label].joint_exclusive.add(r.begin, r.end);
    }
    kernel_row& kernel = rows_.kernels[r.kernel];
    kernel.joint.add(r.begin, r.end);
    rows_.categories[kernel.category].joint.add(r.begin, r.end);
  }
}

void overlap_sweep::enter(const running& r) {
  const std::uint32_t leaf = rows_.slots[r.slot].row;
  layer_row& row = rows_.rows[leaf];
  if (layers_.enter(row.share, leaf)) {
    for (std::uint32_t up = leaf; up != none; up = rows_.rows[up].parent) {
      ++rows_.rows[up].active_below;
    }
    for (std::uint32_t k = 0; k < row.label_count; ++k) {
      ++rows_.labels[rows_.label_lists[row.first_label + k]].share.active;
    }
    if (row.last_label != none) {
      ++rows_.labels[row.last_label].share_exclusive.active;
    }
  }
  kernel_row& kernel = rows_.kernels[r.kernel];
  kernels_.enter(kernel.share, r.kernel);
  categories_.enter(rows_.categories[kernel.category].share, kernel.category);
  ++kinds_[static_cast<std::size_t>(r.what)];
}

void overlap_sweep::leave(const running& r) {
  const std::uint32_t leaf = rows_.slots[r.slot].row;
  layer_row& row = rows_.rows[leaf];
  if (layers_.leave(row.share, leaf)) {
    for (std::uint32_t up = leaf; up != none; up = rows_.rows[up].parent) {
      --rows_.rows[up].active_below;
    }
    for (std::uint32_t k = 0; k < row.label_count; ++k) {
      --rows_.labels[rows_.label_lists[row.first_label + k]].share.active;
    }
    if (row.last_label != none) {
      --rows_.labels[row.last_label].share_exclusive.active;
    }
  }
  kernel_row& kernel = rows_.kernels[r.kernel];
  kernels_.leave(kernel.share, r.kernel);
  categories_.leave(rows_.categories[kernel.category].share, kernel.category);
  --kinds_[static_cast<std::size_t>(r.what)];
}

void overlap_sweep::pass(const std::vector<running>& what, time_ns length) {
  layers_.pass(length);
  kernels_.pass(length);
  categories_.pass(length);
  if (kernels_.rows() == 1) {
    rows_.kernels[kernels_.only()].share.alone += length;
  }
  if (categories_.rows() == 1) {
    rows_.categories[categories_.only()].share.alone += length;
  }
  if (layers_.rows() == 1) {
    rows_.rows[layers_.only()].share.alone += length;
    return;
  }
  // Alone to the smallest subtree that holds all that is active, which holds each of them, and to the names
  // that all have in common.
  const std::uint32_t any = rows_.slots[what[running_.front().second].slot].row;
  std::uint32_t up = any;
  while (up != none && rows_.rows[up].active_below != layers_.rows()) {
    up = rows_.rows[up].parent;
  }
  if (up != none) {
    rows_.rows[up].alone_below += length;
  }
  const layer_row& row = rows_.rows[any];
  for (std::uint32_t k = 0; k < row.label_count; ++k) {
    label_row& label = rows_.labels[rows_.label_lists[row.first_label + k]];
    label.share.alone += label.share.active == layers_.rows() ? length : 0;
  }
  if (row.last_label != none) {
    label_row& label = rows_.labels[row.last_label];
    label.share_exclusive.alone += label.share_exclusive.active == layers_.rows() ? length : 0;
  }
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
