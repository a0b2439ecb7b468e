// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/host.hpp"

#include <algorithm>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

/// Rows by path, for many queries of one kind of pass in a row.
class row_finder {
 public:
  row_finder(const trace& t, const structure& s, row_table& rows)
      : trace_{t}, structure_{s}, rows_{rows}, last_(s.paths.size()) {}

  layer_row& of(std::uint32_t path, std::uint32_t key, std::uint32_t device) {
    return rows_.rows[index_of(path, key, device)];
  }
  /// Of an owner: a pass stands for all that is in it.
  std::uint32_t row_of_owner(std::uint32_t owner, std::uint32_t device) {
    return index_of(structure_.path_of(trace_, owner), structure_.key_of(structure_.ranges[owner].pass),
                    device);
  }
  range_sums& of_owner(std::uint32_t owner, std::uint32_t device) {
    return rows_.rows[row_of_owner(owner, device)].ranges;
  }

 private:
  std::uint32_t index_of(std::uint32_t path, std::uint32_t key, std::uint32_t device) {
    last& known = last_[path];
    if (known.key != key || known.device != device) {
      known = {key, device, rows_.row(path, rows_.group(key, device))};
    }
    return known.row;
  }

  struct last {
    std::uint32_t key = none;
    std::uint32_t device = none;
    std::uint32_t row = none;
  };
  const trace& trace_;
  const structure& structure_;
  row_table& rows_;
  std::vector<last> last_;
};

void count_ranges(const trace& t, const structure& s, const range_devices& devices, const memory_use& memory,
                  row_table& rows, row_finder& find, report_quality& quality) {
  for (std::uint32_t r = 0; r < t.ranges.size(); ++r) {
    quality.clipped_ranges += t.ranges[r].clipped_begin || t.ranges[r].clipped_end ? 1 : 0;
    if (s.ranges[r].owner != r) {
      continue;
    }
    const interval here = extent(t.ranges[r]);
    const memory_use::change bytes = memory.between(here.begin, here.end);
    const bool is_pass = t.ranges[r].kind == range_kind::phase;
    const bool has_work = is_pass ? s.passes[s.ranges[r].pass].has_work : s.ranges[r].has_work;
    devices.each(r, [&](std::uint32_t d) {
      range_sums& sums = find.of_owner(r, d);
      ++sums.calls;
      sums.calls_declaring += s.ranges[r].declares ? 1 : 0;
      sums.calls_with_work += has_work ? 1 : 0;
      add_to(sums.time, here.end - here.begin);
      add_to(sums.own_time, here.end - here.begin);
      for (std::int64_t* allocated : {&sums.allocated, &sums.own_allocated}) {
        add_to(*allocated, bytes.allocated);
      }
      for (std::int64_t* freed : {&sums.freed, &sums.own_freed}) {
        add_to(*freed, bytes.freed);
      }
      sums.peak = std::max(sums.peak, bytes.peak);
    });
    const std::uint32_t around = t.ranges[r].parent < r ? s.ranges[t.ranges[r].parent].owner : none;
    if (around != none && t.ranges[around].thread == t.ranges[r].thread) {
      const interval outer = extent(t.ranges[around]);
      const interval inside{std::max(here.begin, outer.begin), std::min(here.end, outer.end)};
      const memory_use::change its = memory.between(inside.begin, inside.end);
      devices.each(around, [&](std::uint32_t d) {
        range_sums& sums = find.of_owner(around, d);
        add_to(sums.own_time, -std::max<time_ns>(inside.end - inside.begin, 0));
        add_to(sums.own_allocated, -its.allocated);
        add_to(sums.own_freed, -its.freed);
      });
    }
  }
  for (const range_work& w : t.works) {
    if (const std::uint32_t owner = s.works.owner_of(w, s.ranges); owner != none) {
      devices.each(owner, [&](std::uint32_t d) {
        const std::uint32_t row = find.row_of_owner(owner, d);
        add_to(rows.rows[row].ranges.declared, w.declared);
        rows.roofs.add(row, d, w.declared);
      });
    }
  }
  if (s.implicit_pass) {
    const bool has_work =
        s.passes[0].has_work ||
        std::any_of(s.ranges.begin(), s.ranges.end(), [](const range_place& r) { return r.has_work; });
    for (std::uint32_t g = 0; g < rows.groups.size(); ++g) {
      if (rows.groups[g].key == s.passes[0].key) {
        range_sums& sums = rows.rows[rows.row(whole_pass, g)].ranges;
        sums.calls = 1;
        sums.calls_with_work = has_work ? 1 : 0;
        sums.time = s.passes[0].host_end - s.passes[0].begin;
        const memory_use::change bytes = memory.between(s.passes[0].begin, s.passes[0].host_end);
        sums.allocated = bytes.allocated;
        sums.freed = bytes.freed;
        sums.peak = bytes.peak;
      }
    }
  }
}

/// Where calls count: the row of the range that they were made in.
class call_placer {
 public:
  call_placer(const trace& t, const structure& s, const call_index& calls, const activity_table& activities,
              const range_devices& devices, row_table& rows)
      : trace_{t}, structure_{s}, calls_{calls}, activities_{activities}, devices_{devices}, rows_{rows} {}

  /// The device of what call `c` launched, or none.
  [[nodiscard]] std::uint32_t device_of(std::uint32_t c) const noexcept {
    const std::uint32_t first = activities_.first_of_call[c];
    return first != none ? rows_.groups[rows_.rows[rows_.slots[activities_.slot[first]].row].group].device
                         : none;
  }
  /// Of one that launched nothing: the lowest on which the range counts that it was made in.
  [[nodiscard]] std::uint32_t home_of(std::uint32_t c) const {
    const std::uint32_t owner = in_range(c) ? structure_.ranges[calls_.range(c)].owner : none;
    return owner != none ? devices_.lowest(owner) : devices_.home(none, path_of(c), key_of(c));
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
  const range_devices& devices_;
  row_table& rows_;
  std::uint32_t last_range_ = none;
  std::uint32_t last_device_ = none;
  std::uint32_t last_row_ = none;
};

std::vector<std::uint32_t> count_calls(const trace& t, const structure& s, const call_index& calls,
                                       const activity_table& activities, const range_devices& devices,
                                       row_table& rows, row_finder& find) {
  call_placer placer{t, s, calls, activities, devices, rows};
  std::vector<std::uint32_t> idle;  // launched nothing; where they count takes the rows of the others
  for (const std::uint32_t c : calls.outermost()) {
    const call_kind kind = calls.kind(c);
    if (calls.captured(c) || kind == call_kind::copy || kind == call_kind::set) {
      continue;
    }
    const time_ns length = calls.end(c) - calls.begin(c);
    if (const std::uint32_t device = placer.device_of(c); device != none) {
      rows.rows[placer.row_of(c, device)].calls.add(kind, length);
    } else if (activities.devices.size() > 1) {
      idle.push_back(c);
    } else {
      find.of(placer.path_of(c), placer.key_of(c), 0).calls.add(kind, length);
    }
  }
  for (const std::uint32_t c : idle) {
    find.of(placer.path_of(c), placer.key_of(c), placer.home_of(c))
        .calls.add(calls.kind(c), calls.end(c) - calls.begin(c));
  }
  std::vector<std::uint32_t> graph_rows;
  for (const graph_launch& l : activities.graph_launches) {
    const std::uint32_t device = placer.device_of(l.call);
    graph_rows.push_back(device != none ? placer.row_of(l.call, device) : none);
  }
  return graph_rows;
}

/// Work that was declared for passes themselves is that of no layer.
void place_work_of_passes(row_table& rows) {
  for (std::size_t r = 0, count = rows.rows.size(); r < count; ++r) {
    if (rows.rows[r].path == whole_pass && declares_work(rows.rows[r].ranges.declared)) {
      rows.row(outside, rows.rows[r].group);
    }
  }
}

}  // namespace

std::vector<std::uint32_t> count_host(const trace& t, const structure& s, const call_index& calls,
                                      const activity_table& activities, const range_devices& devices,
                                      const memory_use& memory, row_table& rows, report_quality& quality) {
  row_finder find{t, s, rows};
  count_ranges(t, s, devices, memory, rows, find, quality);
  std::vector<std::uint32_t> graph_rows = count_calls(t, s, calls, activities, devices, rows, find);
  place_work_of_passes(rows);
  return graph_rows;
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
