// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Where the sums of a report's rows grow, and the calls (ranges and replays) that they are made of.
//
// Most activities run alone on their device. Their time is added once, to their own row and call, and summed
// up the tree at the end ("solo"). Only where activities overlap are unions kept at every level ("joint").
#ifndef VARVE_ANALYZE_ROWS_HPP
#define VARVE_ANALYZE_ROWS_HPP

#include "analyze/flat_map.hpp"
#include "analyze/numbers.hpp"
#include "analyze/roofs.hpp"
#include "analyze/structure.hpp"

#include <varve/report.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// What activities add up to, exclusive.
struct activity_sums {
  std::uint64_t solo = 0;  ///< effective, alone on the device; wraps around as long as it is not complete
  std::int64_t count = 0;  ///< of all kinds
  time_ns time = 0;        ///< sum of the durations of all kinds
  time_extent extent;
  time_ns overlap = 0;
  std::int64_t kernels = 0;
  time_ns kernel_time = 0;
  std::int64_t copies = 0;
  std::int64_t sets = 0;
  std::int64_t copy_bytes = 0;
  std::int64_t collective_bytes = 0;
  starved_time starved;
  time_ns device_gap = 0;
  time_ns unknown_work = 0;           ///< duration of those whose work is not known, where any is
  time_ns communication = 0;          ///< duration of collectives
  time_ns unknown_communication = 0;  ///< of those in `unknown_work`
  time_ns copying = 0;                ///< of copies and sets

  void add(time_ns begin, time_ns end, time_ns cut, std::uint64_t length) noexcept {
    solo += length;
    ++count;
    add_to(time, end - begin);
    extent.add(begin, end);
    add_to(overlap, cut);
  }
  void add_kernel(time_ns length) noexcept {
    ++kernels;
    add_to(kernel_time, length);
  }
  void add_other(activity_kind kind, std::int64_t bytes) noexcept {
    if (kind == activity_kind::copy) {
      ++copies;
      add_to(copy_bytes, bytes);
    }
    sets += kind == activity_kind::set ? 1 : 0;
  }
};

/// What calls on the host add up to, exclusive.
struct call_sums {
  std::int64_t launches = 0;
  std::int64_t graph_launches = 0;
  time_ns launch_time = 0;
  time_ns graph_build_time = 0;
  time_ns synchronise_time = 0;
  time_ns allocate_time = 0;
  std::int64_t synchronisations = 0;
  std::int64_t allocations = 0;

  void add(call_kind kind, time_ns length) noexcept;
  void add(const call_sums& other) noexcept;
};

/// A row's part in a stretch of time in which several activities ran.
struct sharing {
  std::uint32_t active = 0;  ///< its activities that run now
  double since = 0;          ///< the share when it became active
  double shared = 0;
  time_ns alone = 0;
};

/// All rows of one kind of pass on one device: `key` in structure::keys, `device` an index or none.
struct row_group {
  std::uint32_t key = no_pass_key;
  std::uint32_t device = none;
};

/// What ranges add up to that count on the row's device.
struct range_sums {
  std::int64_t calls = 0;
  std::int64_t calls_with_work = 0;
  std::int64_t calls_declaring = 0;
  time_ns time = 0;
  time_ns own_time = 0;  ///< without the ranges inside on the same thread
  work declared;
  std::int64_t allocated = 0;
  std::int64_t freed = 0;
  std::int64_t own_allocated = 0;  ///< likewise
  std::int64_t own_freed = 0;
  std::int64_t peak = 0;
};

/// A row of the tree of label paths.
struct layer_row {
  std::uint32_t path = whole_pass;
  std::uint32_t group = 0;
  std::uint32_t parent = none;
  std::uint32_t first_label = 0;  ///< in row_table::label_lists: the distinct names of its path
  std::uint16_t label_count = 0;
  bool names_again = false;         ///< the last step's name stands in the path before
  std::uint32_t last_label = none;  ///< in row_table::labels: the last step's name

  activity_sums own;
  range_sums ranges;
  call_sums calls;  ///< made in its ranges
  std::int64_t replays = 0;
  std::int64_t replays_with_work = 0;
  std::int64_t replays_declaring = 0;
  work declared;  ///< by replays

  union_length joint_exclusive;
  union_length joint_inclusive;
  sharing share;
  std::uint32_t active_below = 0;  ///< rows of the subtree that are active
  time_ns alone_below = 0;         ///< several rows active, all in this subtree and in no smaller one
};

/// A row of a view without a tree: labels, kernels, categories.
struct flat_row {
  std::uint32_t name = none;  ///< a string, or a category
  std::uint32_t group = 0;
  activity_sums own;
  call_sums calls;
  union_length joint;
  sharing share;
};

struct kernel_row : flat_row {
  std::uint32_t category = none;  ///< row in row_table::categories
  bool is_collective = false;
  std::uint32_t shape = none;  ///< the shape that came last, and how often in a row
  std::int64_t shape_run = 0;
};

struct label_row : flat_row {
  union_length joint_exclusive;
  sharing share_exclusive;
  std::uint32_t path = none;  ///< the first that ends in it
};

/// One call of a row on one device: a range, or a replay of a captured one.
struct call_slot {
  std::uint32_t row = none;
  std::uint32_t parent = none;  ///< always smaller than its own index
  std::uint32_t next = none;    ///< of the same range, on another device; of no range: its pass
  std::uint32_t range = none;   ///< none: a replay, or work in a pass alone; no_call: in no pass either

  static constexpr std::uint32_t no_call = none - 1;
  [[nodiscard]] bool is_call() const noexcept { return range != no_call; }
  [[nodiscard]] bool is_range() const noexcept { return range < no_call; }
};

struct slot_time {
  std::uint64_t solo = 0;
  union_length joint;
};

class row_table {
 public:
  row_table(const trace& t, structure& s);

  std::uint32_t group(std::uint32_t key, std::uint32_t device);
  /// The row of a path, made with its parents if new.
  std::uint32_t row(std::uint32_t path, std::uint32_t group);
  /// Or none.
  [[nodiscard]] std::uint32_t known_group(std::uint32_t key, std::uint32_t device) const noexcept {
    return group_ids_.find(pair_key(key, device));
  }
  [[nodiscard]] std::uint32_t known_row(std::uint32_t path, std::uint32_t key,
                                        std::uint32_t device) const noexcept {
    const std::uint32_t known = known_group(key, device);
    return known != none ? row_ids_.find(pair_key(path, known)) : none;
  }
  [[nodiscard]] bool has_row(std::uint32_t path, std::uint32_t key, std::uint32_t device) const noexcept {
    return known_row(path, key, device) != none;
  }
  /// The row of a kernel, copy or set by its name.
  std::uint32_t kernel(std::uint32_t name, activity_kind kind, std::uint32_t group) {
    const bool moves = kind == activity_kind::copy || kind == activity_kind::set;
    const auto known = static_cast<std::uint32_t>(std::min<std::size_t>(name, trace_.strings.size()));
    last_kernel& last = last_kernels_[std::size_t{2} * known + (moves ? 1 : 0)];
    if (last.group != group) {
      last = {group, find_kernel(known, moves, group)};
    }
    return last.row;
  }
  /// Whether an activity's name is that of a collective.
  bool is_collective(std::uint32_t name) {
    return category_names[category_of(static_cast<std::uint32_t>(
               std::min<std::size_t>(name, trace_.strings.size())))] == "collective";
  }
  void count_shape(std::uint32_t kernel, std::uint32_t shape) {
    kernel_row& k = kernels[kernel];
    if (k.shape != shape) {
      flush_shape(kernel);
      k.shape = shape;
    }
    ++k.shape_run;
  }
  /// Adds the run that is not in `shapes` yet.
  void flush_shape(std::uint32_t kernel);

  /// The first of an owner range's slots, one a device, or none.
  [[nodiscard]] std::uint32_t first_slot(std::uint32_t owner) const noexcept { return range_slots_[owner]; }
  /// The call that an owner range is on a device.
  std::uint32_t range_slot(std::uint32_t owner, std::uint32_t device);
  /// The pass that a call was made in, or none.
  [[nodiscard]] std::uint32_t pass_of(std::uint32_t slot) const noexcept {
    const call_slot& s = slots[slot];
    return s.is_range() ? structure_.ranges[s.range].pass : s.next;
  }
  /// Work in no range of its pass: of the implicit pass, or of none.
  std::uint32_t outside_slot(std::uint32_t pass, std::uint32_t device);
  /// The replay of a path by a graph launch; the range around the launch where that has the same path.
  std::uint32_t replay_slot(std::uint32_t call, std::uint32_t launch_range, std::uint32_t path,
                            std::uint32_t device);
  /// What a replayed node carries. Captured nodes of one path carry a part of its work each, others the
  /// whole.
  void declare_node(std::uint32_t slot, const graph_node& node);
  /// Of what a description tells of a replay in this pass and of those around it, each once a device.
  void declare_described(std::uint32_t slot, std::uint32_t pass);
  /// Slots of replays that a description tells of, and its entries: each once, other launches' have none.
  struct described_slot {
    std::uint32_t slot = none;
    std::uint32_t list = none;
  };
  [[nodiscard]] const std::vector<described_slot>& described() const noexcept { return described_; }

  std::vector<row_group> groups;
  std::vector<layer_row> rows;
  std::vector<kernel_row> kernels;
  std::vector<flat_row> categories;
  std::vector<label_row> labels;
  std::vector<std::uint32_t> label_lists;
  std::vector<std::string_view> category_names;
  std::vector<call_slot> slots;
  std::vector<slot_time> slot_times;  ///< by slot, once activities are swept
  struct shape_count {
    std::uint32_t kernel;
    std::uint32_t shape;
    std::int64_t count;
  };
  std::vector<shape_count> shapes;
  roof_ledger roofs;  ///< by row

 private:
  struct last_kernel {
    std::uint32_t group = none;
    std::uint32_t row = none;
  };

  void declare(std::uint32_t slot, std::span<const work> works);
  void add_work(std::uint32_t row, const work& w);
  void list_labels(std::uint32_t row);
  std::uint32_t find_kernel(std::uint32_t name, bool moves, std::uint32_t group);
  std::uint32_t category_of(std::uint32_t name);
  std::uint32_t category_id(std::string_view name);
  std::uint32_t known_range_slot(std::uint32_t owner, std::uint32_t device) const noexcept;
  std::uint32_t add_slot(std::uint32_t row, std::uint32_t parent, std::uint32_t range,
                         std::uint32_t pass = none);

  const trace& trace_;
  structure& structure_;
  flat_map group_ids_;
  flat_map row_ids_;
  flat_map kernel_ids_;
  flat_map category_ids_;
  flat_map label_ids_;
  flat_map outside_ids_;
  flat_map replay_ids_;
  flat_map shape_ids_;
  flat_map described_ids_;
  std::vector<described_slot> described_;
  struct slot_work {
    bool declared = false;
    bool inside = false;    ///< declared for it or for something below
    bool by_parts = false;  ///< and a part by each of its nodes
  };
  std::vector<slot_work> slot_works_;       ///< by slot, as far as any declares
  std::vector<std::uint32_t> range_slots_;  ///< by range: its first slot
  std::vector<last_kernel> last_kernels_;   ///< by name, kernels and what moves bytes apart
  std::vector<std::uint8_t> name_categories_;
};

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_ROWS_HPP
