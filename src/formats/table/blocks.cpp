// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "formats/table/blocks.hpp"

#include "formats/table/text.hpp"
#include "formats/table/units.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace varve::table {

namespace {

constexpr std::size_t fewest = 3;
constexpr double most_of = 0.5;

double gpu_time(const row& r) { return static_cast<double>(r.inclusive.gpu_time); }

/// Whether it is a replayed graph as traces are read: "graph 1 (339 nodes)". Ops below it are kernels by
/// place.
bool is_graph(const row& r) noexcept {
  const std::string_view label = r.label;
  return r.kind == range_kind::op && r.index == no_index && label.starts_with("graph ") &&
         (label.ends_with(" nodes)") || label.ends_with(" node)"));
}

/// Rows below one row that have one label.
struct siblings {
  std::size_t level = 0;
  double time = 0;
  std::vector<std::size_t> rows;
};

/// Blocks of one label by the rows that they stand below.
struct standing {
  std::map<std::uint32_t, std::int64_t> blocks;  ///< below each parent
  bool graphs = true;                            ///< whether all parents are replayed graphs

  /// "24", "up to 24".
  [[nodiscard]] std::string most() const {
    const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [least, largest] = std::minmax_element(blocks.begin(), blocks.end(), fewer);
    return (least->second < largest->second ? "up to " : "") + count(largest->second);
  }
  [[nodiscard]] std::string where() const {
    const auto n = static_cast<std::int64_t>(blocks.size());
    return n > 1 ? " in each of " + counted(n, graphs ? "graph" : "place") : "";
  }
};

blocks find(const std::vector<row>& rows, const std::vector<siblings>& groups, double whole,
            bool only_layers) {
  std::map<std::size_t, double> time;  // by level
  const auto repeats = [&](const siblings& g) {
    return g.rows.size() >= fewest && (!only_layers || rows[g.rows.front()].kind == range_kind::layer);
  };
  for (const siblings& g : groups) {
    if (repeats(g)) {
      time[g.level] += g.time;
    }
  }
  const auto level = std::find_if(time.begin(), time.end(),
                                  [&](const auto& entry) { return entry.second > most_of * whole; });
  blocks out;
  if (level != time.end()) {
    out.level = level->first;
    for (const siblings& g : groups) {
      if (g.level == out.level && repeats(g)) {
        out.rows.insert(out.rows.end(), g.rows.begin(), g.rows.end());
      }
    }
    std::sort(out.rows.begin(), out.rows.end());
  }
  return out;
}

}  // namespace

blocks find_blocks(const std::vector<row>& rows, const std::vector<std::size_t>& members) {
  constexpr std::size_t top = static_cast<std::size_t>(-1);
  struct place {
    std::size_t level = 0;
    bool in_graph = false;
  };
  std::unordered_map<std::size_t, place> known;
  std::map<std::pair<std::size_t, std::string_view>, std::size_t> places;
  std::vector<siblings> groups;
  double whole = 0;
  for (const std::size_t i : members) {
    const row& r = rows[i];
    const auto above = r.parent < i ? known.find(r.parent) : known.end();
    const bool is_root = above == known.end();
    const std::size_t level = is_root ? 1 : above->second.level + 1;
    const bool in_graph = is_graph(r) || (!is_root && above->second.in_graph);
    known.emplace(i, place{level, in_graph});
    whole += is_root ? gpu_time(r) : 0;
    if (r.index == no_index || (in_graph && r.kind == range_kind::op)) {
      continue;
    }
    const auto [entry, added] = places.try_emplace({is_root ? top : r.parent, r.label}, groups.size());
    if (added) {
      groups.push_back({level, 0, {}});
    }
    siblings& group = groups[entry->second];
    group.time += gpu_time(r);
    group.rows.push_back(i);
  }
  blocks out = find(rows, groups, whole, true);
  return out.level != 0 ? out : find(rows, groups, whole, false);
}

std::vector<std::string> describe(const blocks& found, const std::vector<row>& rows, double whole) {
  struct sum {
    double calls = 0;
    double time = 0;
    standing stand;
  };
  constexpr std::size_t most_kinds = 3;
  constexpr std::size_t most_parts = 6;
  constexpr double noticeable = 0.01;
  using sums = std::map<std::string_view, sum>;
  const auto add = [](sums& to, const row& r) {
    sum& s = to[r.label];
    s.calls += static_cast<double>(r.inclusive.calls);
    s.time += gpu_time(r);
    return &s.stand;
  };
  const auto by_time = [](const sums& from) {
    std::vector<std::pair<std::string_view, sum>> order(from.begin(), from.end());
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
    return order;
  };
  sums kinds;
  double together = 0;
  for (const std::size_t i : found.rows) {
    standing& stand = *add(kinds, rows[i]);
    ++stand.blocks[rows[i].parent];
    stand.graphs = stand.graphs && rows[i].parent < i && is_graph(rows[rows[i].parent]);
    together += gpu_time(rows[i]);
  }
  sums parts;
  for (std::size_t i = found.rows.empty() ? rows.size() : found.rows.front(); i < rows.size(); ++i) {
    if (rows[i].parent < i && std::binary_search(found.rows.begin(), found.rows.end(), rows[i].parent)) {
      add(parts, rows[i]);
    }
  }
  std::vector<std::string> out;
  for (const auto& [label, s] : by_time(kinds)) {
    if (out.size() == most_kinds) {
      break;
    }
    const std::string each = s.calls > 0 ? " of " + duration(s.time / s.calls) : "";
    out.push_back(s.stand.most() + " × " + printable(label) + each + s.stand.where() + ", " +
                  percent(s.time, whole) + " %");
  }
  const std::size_t heads = out.size();
  for (const auto& [label, s] : by_time(parts)) {
    if (out.size() == heads + most_parts || s.time < noticeable * together) {
      break;
    }
    out.push_back((out.size() == heads ? "in them " : "") + printable(label) + ' ' +
                  percent(s.time, together) + " %");
  }
  return out;
}

}  // namespace varve::table
