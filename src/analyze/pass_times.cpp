// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/pass_times.hpp"

#include <algorithm>

namespace varve {
inline namespace v0 {
namespace analysis {

pass_times::pass_times(const trace& t, const structure& s, const range_devices& devices,
                       const row_table& rows, std::size_t most)
    : trace_{t}, structure_{s}, rows_{rows} {
  if (most == 0) {
    return;
  }
  groups_.resize(rows.groups.size());
  for (std::uint32_t p = 0; p < s.passes.size(); ++p) {
    devices.each_of(s.passes[p], [&](std::uint32_t device) {
      if (const std::uint32_t g = rows.known_group(s.passes[p].key, device); g != none) {
        groups_[g].passes.push_back(p);
      }
    });
  }
  // Rows may still be made, but no more than there are paths.
  const auto numbers = [&] {
    std::size_t passes = 0;
    for (const group_passes& g : groups_) {
      passes += std::min(most, g.passes.size());
    }
    return passes * s.paths.size();
  };
  while (most > 1 && numbers() > most_numbers) {
    most /= 2;
  }
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    std::vector<std::uint32_t>& passes = groups_[g].passes;
    if (passes.empty()) {
      continue;
    }
    std::stable_sort(passes.begin(), passes.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return s.passes[a].begin < s.passes[b].begin; });
    const std::size_t stride = (passes.size() - 1) / most + 1;
    const std::size_t count = (passes.size() - 1) / stride + 1;
    groups_[g].stride = static_cast<std::int64_t>(stride);
    for (std::uint32_t k = 0; k < count; ++k) {
      passes[k] = passes[k * stride];
      numbers_[pair_key(passes[k], g)] = k;
    }
    passes.resize(count);
    passes.shrink_to_fit();
  }
}

std::span<const std::uint32_t> pass_times::passes(std::uint32_t group) const noexcept {
  return group < groups_.size() ? std::span{groups_[group].passes} : std::span<const std::uint32_t>{};
}

std::int64_t pass_times::stride(std::uint32_t group) const noexcept {
  return group < groups_.size() ? groups_[group].stride : 0;
}

std::span<const time_ns> pass_times::of_row(std::uint32_t row) const noexcept {
  return std::span{times_}.subspan(first_[row], passes(rows_.rows[row].group).size());
}

std::uint32_t pass_times::find(std::uint32_t pass, std::uint32_t group) noexcept {
  if (pass != last_pass_ || group != last_group_) {
    last_pass_ = pass;
    last_group_ = group;
    last_number_ = numbers_.find(pair_key(pass, group));
  }
  return last_number_;
}

void pass_times::add_joint(std::uint32_t slot, time_ns begin, time_ns end) {
  std::uint32_t row = rows_.slots[slot].row;
  const std::uint32_t group = rows_.rows[row].group;
  const std::uint32_t number = find(rows_.pass_of(slot), group);
  if (number == none) {
    return;
  }
  joint_first_.resize(rows_.rows.size(), npos);
  for (; row != none; row = rows_.rows[row].parent) {
    if (joint_first_[row] == npos) {
      joint_first_[row] = joint_.size();
      joint_.resize(joint_.size() + groups_[group].passes.size());
    }
    joint_[joint_first_[row] + number].add(begin, end);
  }
}

void pass_times::settle(bool any_activity) {
  std::size_t size = 0;
  for (const layer_row& r : rows_.rows) {
    first_.push_back(size);
    size += passes(r.group).size();
  }
  times_.resize(size);
  if (any_activity) {
    add_slots();
  } else {
    add_ranges();
  }
}

// What ran alone is summed up the tree; what overlapped is united at every level already.
void pass_times::add_slots() {
  for (std::uint32_t s = 0; s < rows_.slots.size() && !times_.empty(); ++s) {
    const std::uint32_t row = rows_.slots[s].row;
    if (const std::uint32_t k = find(rows_.pass_of(s), rows_.rows[row].group); k != none) {
      times_[first_[row] + k] += static_cast<time_ns>(rows_.slot_times[s].solo);
    }
  }
  joint_first_.resize(rows_.rows.size(), npos);
  for (std::size_t r = rows_.rows.size(); r-- > 0;) {
    const std::uint32_t parent = rows_.rows[r].parent;
    const std::size_t count = passes(rows_.rows[r].group).size();
    for (std::size_t k = 0; k < count; ++k) {
      time_ns& time = times_[first_[r] + k];
      if (parent != none) {
        times_[first_[parent] + k] += time;
      }
      time += joint_first_[r] != npos ? joint_[joint_first_[r] + k].total() : 0;
    }
  }
}

// As host.cpp counts ranges: what is in no layer is the pass without the ranges inside on its thread.
void pass_times::add_ranges() {
  const auto add = [&](std::uint32_t path, std::uint32_t pass, time_ns length) {
    const std::uint32_t row = rows_.known_row(path, structure_.key_of(pass), 0);
    const std::uint32_t k = row != none ? find(pass, rows_.rows[row].group) : none;
    if (k != none) {
      add_to(times_[first_[row] + k], length);
    }
  };
  for (std::uint32_t r = 0; r < trace_.ranges.size() && !times_.empty(); ++r) {
    const range& record = trace_.ranges[r];
    if (structure_.ranges[r].owner != r) {
      continue;
    }
    const interval here = extent(record);
    const std::uint32_t path = structure_.path_of(trace_, r);
    add(path == whole_pass ? outside : path, structure_.ranges[r].pass, here.end - here.begin);
    const std::uint32_t around = record.parent < r ? structure_.ranges[record.parent].owner : none;
    if (around != none && trace_.ranges[around].kind == range_kind::phase &&
        trace_.ranges[around].thread == record.thread) {
      const interval outer = extent(trace_.ranges[around]);
      const time_ns inside = std::min(here.end, outer.end) - std::max(here.begin, outer.begin);
      add(outside, structure_.ranges[around].pass, -std::max<time_ns>(inside, 0));
    }
  }
  for (time_ns& time : times_) {
    time = std::max<time_ns>(time, 0);
  }
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
