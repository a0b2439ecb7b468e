// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What all views share: sums, and the order of rows.
#include "analyze/assemble.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace varve {
inline namespace v0 {
namespace analysis {

measures to_measures(const activity_sums& a, const call_sums& c) {
  measures m;
  m.gpu_time = static_cast<time_ns>(a.solo);
  m.shared_time = static_cast<double>(a.solo);
  m.alone_time = m.gpu_time;
  m.kernel_time = a.kernel_time;
  m.overlap = a.overlap;
  m.launches = c.launches;
  m.graph_launches = c.graph_launches;
  m.launch_time = c.launch_time;
  m.graph_build_time = c.graph_build_time;
  m.synchronise_time = c.synchronise_time;
  m.allocate_time = c.allocate_time;
  m.synchronisations = c.synchronisations;
  m.allocations = c.allocations;
  m.kernels = a.kernels;
  m.copies = a.copies;
  m.sets = a.sets;
  m.copy_bytes = a.copy_bytes;
  m.collective_bytes = a.collective_bytes;
  m.starved = a.starved;
  m.device_gap = a.device_gap;
  m.unknown_work_time = a.unknown_work;
  m.activity_time = a.time;
  m.collective_time = a.communication;
  m.unknown_collective_time = a.unknown_communication;
  m.copy_time = a.copying;
  set_span(m, a.extent);
  return m;
}

void set_span(measures& to, const time_extent& extent) noexcept {
  to.span = extent.length();
  to.first_start = extent.last >= extent.first ? extent.first : 0;
}

void add_parts(starved_time& to, const starved_time& part) {
  add_to(to.launching, part.launching);
  add_to(to.graph_building, part.graph_building);
  add_to(to.synchronising, part.synchronising);
  add_to(to.allocating, part.allocating);
  add_to(to.other, part.other);
}

void add_parts(measures& to, const measures& part) {
  add_to(to.gpu_time, part.gpu_time);
  to.shared_time += part.shared_time;
  add_to(to.alone_time, part.alone_time);
  add_to(to.kernel_time, part.kernel_time);
  add_to(to.overlap, part.overlap);
  add_to(to.launches, part.launches);
  add_to(to.graph_launches, part.graph_launches);
  add_to(to.launch_time, part.launch_time);
  add_to(to.graph_build_time, part.graph_build_time);
  add_to(to.synchronise_time, part.synchronise_time);
  add_to(to.allocate_time, part.allocate_time);
  add_to(to.synchronisations, part.synchronisations);
  add_to(to.allocations, part.allocations);
  add_to(to.kernels, part.kernels);
  add_to(to.copies, part.copies);
  add_to(to.sets, part.sets);
  add_to(to.copy_bytes, part.copy_bytes);
  add_to(to.collective_bytes, part.collective_bytes);
  add_parts(to.starved, part.starved);
  add_to(to.device_gap, part.device_gap);
  add_to(to.unknown_work_time, part.unknown_work_time);
  add_to(to.activity_time, part.activity_time);
  add_to(to.collective_time, part.collective_time);
  add_to(to.unknown_collective_time, part.unknown_collective_time);
  add_to(to.copy_time, part.copy_time);
  add_to(to.declared, part.declared);
}

void add_joint(measures& to, const union_length& joint, const sharing& share) {
  to.gpu_time += joint.total();
  to.shared_time += share.shared;
  to.alone_time += share.alone;
}

void name_group(const results& from, std::uint32_t group, row& to) {
  const phase_key& key = from.marks.keys[from.rows.groups[group].key];
  to.phase = key.phase;
  to.model = from.source.strings[key.model];
  to.batch = key.batch;
  to.device = from.activities.devices[from.rows.groups[group].device].id;
}

namespace {

/// Ranks of paths in a walk of their tree, children in order of their ids.
std::vector<std::uint32_t> rank_paths(const std::vector<path_node>& paths) {
  std::vector<std::uint32_t> first_child(paths.size(), none);
  std::vector<std::uint32_t> next(paths.size(), none);
  for (std::uint32_t p = static_cast<std::uint32_t>(paths.size()); p-- > 1;) {
    next[p] = first_child[paths[p].parent];
    first_child[paths[p].parent] = p;
  }
  std::vector<std::uint32_t> ranks(paths.size());
  std::uint32_t rank = 0;
  for (std::uint32_t p = whole_pass; p != none;) {
    ranks[p] = rank++;
    std::uint32_t to = first_child[p];
    while (to == none && p != whole_pass) {
      to = next[p];
      p = paths[p].parent;
    }
    p = to;
  }
  return ranks;
}

}  // namespace

tree_order order_rows(const structure& s, const row_table& rows) {
  tree_order order;
  std::vector<std::uint32_t> groups(rows.groups.size());
  std::iota(groups.begin(), groups.end(), 0U);
  // What is in no pass comes last: key 0 turns into the greatest.
  std::sort(groups.begin(), groups.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple{rows.groups[a].key - 1, rows.groups[a].device} <
           std::tuple{rows.groups[b].key - 1, rows.groups[b].device};
  });
  std::vector<std::uint32_t> group_rank(groups.size());
  for (std::uint32_t k = 0; k < groups.size(); ++k) {
    group_rank[groups[k]] = k;
  }
  const std::vector<std::uint32_t> path_rank = rank_paths(s.paths);
  order.row.resize(rows.rows.size());
  std::iota(order.row.begin(), order.row.end(), 0U);
  std::sort(order.row.begin(), order.row.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple{group_rank[rows.rows[a].group], path_rank[rows.rows[a].path]} <
           std::tuple{group_rank[rows.rows[b].group], path_rank[rows.rows[b].path]};
  });
  order.position.resize(order.row.size());
  order.last.resize(order.row.size());
  for (std::uint32_t k = 0; k < order.row.size(); ++k) {
    order.position[order.row[k]] = k;
    order.last[k] = k + 1;
  }
  for (std::size_t k = order.row.size(); k-- > 0;) {
    if (const std::uint32_t parent = rows.rows[order.row[k]].parent; parent != none) {
      std::uint32_t& last = order.last[order.position[parent]];
      last = std::max(last, order.last[k]);
    }
  }
  return order;
}

namespace {

void sort_flat(const std::vector<phase_row>& phases, std::vector<row>& rows) {
  using group = std::tuple<std::string_view, std::string_view, std::string_view, std::uint32_t>;
  std::map<group, std::size_t> ranks;
  for (const phase_row& p : phases) {
    ranks.emplace(group{p.phase, p.model, p.batch, p.device}, ranks.size());
  }
  std::vector<std::size_t> rank;
  rank.reserve(rows.size());
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  for (const row& r : rows) {  // what is in no pass comes last
    const auto found = ranks.find({r.phase, r.model, r.batch, r.device});
    rank.push_back(found != ranks.end() ? found->second : ranks.size());
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t r) {
      const measures& m = rows[r].inclusive;
      return std::tuple{rank[r],   rows[r].device, ~m.gpu_time /* falling */, std::string_view{rows[r].path},
                        m.kernels, m.copies};
    };
    return key(a) < key(b);
  });
  std::vector<row> sorted;
  sorted.reserve(rows.size());
  for (const std::uint32_t r : order) {
    sorted.push_back(std::move(rows[r]));
  }
  rows.swap(sorted);
}

}  // namespace

void sort_rows(report& r) {
  sort_flat(r.phases, r.labels);
  sort_flat(r.phases, r.kernels);
  sort_flat(r.phases, r.categories);
}

void tidy(report& r) {
  sort_rows(r);
  std::erase_if(r.phases, [](const phase_row& p) { return p.phase.empty(); });
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
