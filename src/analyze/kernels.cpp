// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The rows by kernel and by category.
#include "analyze/assemble.hpp"

#include <algorithm>
#include <tuple>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

/// The kernels, each with the launching calls that it was the first to come of.
struct kernel_samples {
  grouped_values duration;
  grouped_values latency;
  grouped_values queue;
  std::vector<call_sums> launches;
};

kernel_samples collect(const results& from) {
  const std::size_t rows = from.rows.kernels.size();
  kernel_samples samples{grouped_values{rows}, grouped_values{rows}, grouped_values{rows},
                         std::vector<call_sums>(rows)};
  const activity_table& activities = from.activities;
  for (std::size_t k = 0; k < rows; ++k) {
    samples.duration.count(k, static_cast<std::size_t>(from.rows.kernels[k].own.count));
  }
  const auto each_launch = [&](const auto& visit) {
    for (const launch_record& l : from.launches) {
      const std::uint32_t pos = activities.first_of_call[l.call];
      const time_ns start = clamp_time(from.source.activities.begin[activities.record[pos]]);
      visit(l.call, from.sweep.kernel[pos], start);
    }
  };
  each_launch([&](std::uint32_t c, std::uint32_t k, time_ns start) {
    samples.launches[k].add(from.calls.kind(c), from.calls.end(c) - from.calls.begin(c));
    samples.latency.count(k, start >= from.calls.begin(c) ? 1 : 0);
    samples.queue.count(k, start > from.calls.end(c) ? 1 : 0);
  });
  samples.duration.allocate();
  samples.latency.allocate();
  samples.queue.allocate();
  each_launch([&](std::uint32_t c, std::uint32_t k, time_ns start) {
    if (start >= from.calls.begin(c)) {
      samples.latency.add(k, start - from.calls.begin(c));
    }
    if (start > from.calls.end(c)) {
      samples.queue.add(k, start - from.calls.end(c));
    }
  });
  for (std::size_t pos = 0; pos < activities.record.size(); ++pos) {
    const std::uint32_t i = activities.record[pos];
    samples.duration.add(from.sweep.kernel[pos], clamp_time(from.source.activities.end[i]) -
                                                     clamp_time(from.source.activities.begin[i]));
  }
  return samples;
}

/// Fills in the commonest shape of each kernel, of equally common ones the smallest.
void add_shapes(const results& from, std::vector<row>& kernels) {
  std::vector<std::int64_t> most(kernels.size(), 0);
  const auto key = [](const launch_shape& s) {
    return std::tuple{s.grid[0],
                      s.grid[1],
                      s.grid[2],
                      s.block[0],
                      s.block[1],
                      s.block[2],
                      s.registers,
                      s.static_shared_memory,
                      s.dynamic_shared_memory};
  };
  for (const row_table::shape_count& s : from.rows.shapes) {
    row& kernel = kernels[s.kernel];
    const launch_shape& shape = from.source.shapes[s.shape];
    ++kernel.shapes;
    if (s.count > most[s.kernel] || (s.count == most[s.kernel] && key(shape) < key(kernel.shape))) {
      most[s.kernel] = s.count;
      kernel.shape = shape;
    }
  }
}

row make_row(const results& from, const flat_row& source, std::string_view name, const call_sums& launches,
             const activity_sums& sums) {
  row r;
  name_group(from, source.group, r);
  r.path = r.label = name;
  r.inclusive = to_measures(sums, launches);
  add_joint(r.inclusive, source.joint, source.share);
  r.inclusive.calls = sums.count;
  return r;
}

void add_sums(activity_sums& to, const activity_sums& a) {
  to.solo += a.solo;
  add_to(to.kernel_time, a.kernel_time);
  to.extent.add(a.extent);
  to.kernels += a.kernels;
  to.count += a.count;
  to.overlap += a.overlap;
  to.copies += a.copies;
  to.sets += a.sets;
  add_to(to.copy_bytes, a.copy_bytes);
  add_parts(to.starved, a.starved);
  to.device_gap += a.device_gap;
}

}  // namespace

void add_kernels(const results& from, const tree_order& order, report& to) {
  const row_table& rows = from.rows;
  const kernel_samples samples = collect(from);
  summariser summarise;
  std::vector<std::uint32_t> ranks;
  std::vector<activity_sums> sums(rows.categories.size());
  std::vector<call_sums> launches(rows.categories.size());
  std::vector<std::vector<std::uint32_t>> members(rows.categories.size());
  for (std::uint32_t k = 0; k < rows.kernels.size(); ++k) {
    const kernel_row& source = rows.kernels[k];
    row& r = to.kernels.emplace_back(
        make_row(from, source, from.source.strings[source.name], samples.launches[k], source.own));
    r.per_call = summarise.summarise(samples.duration.of(k));
    r.launch_latency = summarise.summarise(samples.latency.of(k));
    r.queue_delay = summarise.summarise(samples.queue.of(k));
    ranks.push_back(order.rank[source.group]);
    add_sums(sums[source.category], source.own);
    launches[source.category].add(samples.launches[k]);
    members[source.category].push_back(k);
  }
  add_shapes(from, to.kernels);
  sort_flat(to.kernels, ranks);

  ranks.clear();
  std::vector<std::span<const time_ns>> parts;
  for (std::uint32_t c = 0; c < rows.categories.size(); ++c) {
    const flat_row& source = rows.categories[c];
    row& r = to.categories.emplace_back(
        make_row(from, source, rows.category_names[source.name], launches[c], sums[c]));
    const auto of_members = [&](const grouped_values& values) {
      parts.clear();
      for (const std::uint32_t k : members[c]) {
        parts.push_back(values.of(k));
      }
      return summarise.summarise(parts);
    };
    r.per_call = of_members(samples.duration);
    r.launch_latency = of_members(samples.latency);
    r.queue_delay = of_members(samples.queue);
    ranks.push_back(order.rank[source.group]);
  }
  sort_flat(to.categories, ranks);
  for (std::vector<row>* view : {&to.kernels, &to.categories}) {
    for (row& r : *view) {
      r.exclusive = r.inclusive;
    }
  }
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
