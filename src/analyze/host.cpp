// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/host.hpp"

#include <algorithm>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

/// Host rows by path, for many queries of one kind of pass in a row.
class host_finder {
 public:
  host_finder(const trace& t, const structure& s, row_table& rows)
      : trace_{t}, structure_{s}, rows_{rows}, last_(s.paths.size()) {}

  host_row& of(std::uint32_t path, std::uint32_t key) {
    last& known = last_[path];
    if (known.key != key) {
      known = {key, rows_.host(path, key)};
    }
    return rows_.host_rows[known.row];
  }
  /// Of an owner: a pass stands for all that is in it.
  host_row& of_owner(std::uint32_t owner) {
    return of(structure_.path_of(trace_, owner), structure_.key_of(structure_.ranges[owner].pass));
  }

 private:
  struct last {
    std::uint32_t key = none;
    std::uint32_t row = none;
  };
  const trace& trace_;
  const structure& structure_;
  row_table& rows_;
  std::vector<last> last_;
};

void count_ranges(const trace& t, const structure& s, host_finder& hosts, report_quality& quality) {
  for (std::uint32_t r = 0; r < t.ranges.size(); ++r) {
    quality.clipped_ranges += t.ranges[r].clipped_begin || t.ranges[r].clipped_end ? 1 : 0;
    if (s.ranges[r].owner != r) {
      continue;
    }
    const interval here = extent(t.ranges[r]);
    host_row& row = hosts.of_owner(r);
    const bool is_pass = t.ranges[r].kind == range_kind::phase;
    ++row.calls;
    row.calls_declaring += s.ranges[r].declares ? 1 : 0;
    row.calls_with_work += (is_pass ? s.passes[s.ranges[r].pass].has_work : s.ranges[r].has_work) ? 1 : 0;
    add_to(row.time, here.end - here.begin);
    add_to(row.own_time, here.end - here.begin);
    const std::uint32_t around = t.ranges[r].parent < r ? s.ranges[t.ranges[r].parent].owner : none;
    if (around != none && t.ranges[around].thread == t.ranges[r].thread) {
      const interval outer = extent(t.ranges[around]);
      const time_ns inside = std::min(here.end, outer.end) - std::max(here.begin, outer.begin);
      add_to(hosts.of_owner(around).own_time, -std::max<time_ns>(inside, 0));
    }
  }
  for (const range_work& w : t.works) {
    if (w.range < t.ranges.size() && s.ranges[w.range].owner != none) {
      add_to(hosts.of_owner(s.ranges[w.range].owner).declared, w.declared);
    }
  }
  if (s.implicit_pass) {
    host_row& row = hosts.of(whole_pass, s.passes[0].key);
    row.calls = 1;
    row.calls_with_work = s.passes[0].has_work || std::any_of(s.ranges.begin(), s.ranges.end(),
                                                              [](const range_place& r) { return r.has_work; })
                              ? 1
                              : 0;
    row.time = s.passes[0].host_end - s.passes[0].begin;
  }
}

/// Where calls count: the row of the range that they were made in.
class call_placer {
 public:
  call_placer(const trace& t, const structure& s, const call_index& calls, const activity_table& activities,
              row_table& rows)
      : trace_{t}, structure_{s}, calls_{calls}, activities_{activities}, rows_{rows} {}

  /// The device of what call `c` launched, or none.
  [[nodiscard]] std::uint32_t device_of(std::uint32_t c) const noexcept {
    const std::uint32_t first = activities_.first_of_call[c];
    return first != none ? rows_.groups[rows_.rows[rows_.slots[activities_.slot[first]].row].group].device
                         : none;
  }
  [[nodiscard]] std::uint32_t key_of(std::uint32_t c) const noexcept {
    return structure_.key_of(in_range(c) ? structure_.ranges[calls_.range(c)].pass
                                         : structure_.default_pass());
  }
  [[nodiscard]] std::uint32_t path_of(std::uint32_t c) const noexcept {
    const std::uint32_t path =
        in_range(c) ? structure_.path_of(trace_, structure_.ranges[calls_.range(c)].owner) : whole_pass;
    return path == whole_pass ? outside : path;
  }
  std::uint32_t row_of(std::uint32_t c, std::uint32_t device) {
    if (calls_.range(c) != last_range_ || device != last_device_) {
      last_row_ = rows_.row(path_of(c), rows_.group(key_of(c), device));
      last_range_ = calls_.range(c);
      last_device_ = device;
    }
    return last_row_;
  }

 private:
  [[nodiscard]] bool in_range(std::uint32_t c) const noexcept {
    return calls_.range(c) < structure_.ranges.size();
  }

  const trace& trace_;
  const structure& structure_;
  const call_index& calls_;
  const activity_table& activities_;
  row_table& rows_;
  std::uint32_t last_range_ = none;
  std::uint32_t last_device_ = none;
  std::uint32_t last_row_ = none;
};

std::vector<std::uint32_t> count_calls(const trace& t, const structure& s, const call_index& calls,
                                       const activity_table& activities, row_table& rows,
                                       host_finder& hosts) {
  call_placer placer{t, s, calls, activities, rows};
  for (const std::uint32_t c : calls.outermost()) {
    const call_kind kind = calls.kind(c);
    if (calls.captured(c) || kind == call_kind::copy || kind == call_kind::set) {
      continue;
    }
    const std::uint32_t device = placer.device_of(c);
    call_sums& sums = device != none ? rows.rows[placer.row_of(c, device)].calls
                                     : hosts.of(placer.path_of(c), placer.key_of(c)).no_device;
    sums.add(kind, calls.end(c) - calls.begin(c));
  }
  std::vector<std::uint32_t> graph_rows;
  for (const graph_launch& l : activities.graph_launches) {
    const std::uint32_t device = placer.device_of(l.call);
    graph_rows.push_back(device != none ? placer.row_of(l.call, device) : none);
  }
  return graph_rows;
}

void place_host_rows(const structure& s, row_table& rows) {
  std::vector<std::uint32_t> lowest(s.keys.size(), none);
  for (const row_group& g : rows.groups) {
    lowest[g.key] = std::min(lowest[g.key], g.device);
  }
  const std::size_t count = rows.host_rows.size();  // what is added below has nothing to place
  for (std::size_t h = 0; h < count; ++h) {
    const std::uint32_t key = rows.host_rows[h].key;
    if (rows.host_rows[h].first_row == none) {
      rows.row(rows.host_rows[h].path, rows.group(key, lowest[key] == none ? 0 : lowest[key]));
    }
    std::uint32_t target = rows.host_rows[h].first_row;
    for (std::uint32_t r = target; r != none; r = rows.rows[r].next) {
      if (rows.groups[rows.rows[r].group].device < rows.groups[rows.rows[target].group].device) {
        target = r;
      }
    }
    rows.rows[target].calls.add(rows.host_rows[h].no_device);
  }
  // Work that was declared for passes themselves is that of no layer.
  for (std::size_t h = 0; h < count; ++h) {
    if (rows.host_rows[h].path == whole_pass && declares_work(rows.host_rows[h].declared)) {
      for (std::uint32_t g = 0; g < rows.groups.size(); ++g) {
        if (rows.groups[g].key == rows.host_rows[h].key) {
          rows.row(outside, g);
        }
      }
    }
  }
}

}  // namespace

std::vector<std::uint32_t> count_host(const trace& t, const structure& s, const call_index& calls,
                                      const activity_table& activities, row_table& rows,
                                      report_quality& quality) {
  host_finder hosts{t, s, rows};
  count_ranges(t, s, hosts, quality);
  std::vector<std::uint32_t> graph_rows = count_calls(t, s, calls, activities, rows, hosts);
  place_host_rows(s, rows);
  return graph_rows;
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
