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

void add_occupancy(const results& from, std::uint32_t group, row& kernel) {
  if (kernel.shape.grid[0] == 0) {
    return;
  }
  const std::uint32_t device = from.rows.groups[group].device;
  const trace& t = from.source;
  std::int32_t capability = 0;
  std::int32_t multiprocessors = 0;
  if (const ceilings* const known = from.rows.roofs.device(device); known != nullptr) {
    capability = known->compute_capability;
    multiprocessors = known->multiprocessors;
  }
  for (const device_info& d : t.devices) {
    if (d.id == from.activities.devices[device].id) {
      capability = d.compute_capability != 0 ? d.compute_capability : capability;
      multiprocessors = d.multiprocessors != 0 ? d.multiprocessors : multiprocessors;
    }
  }
  kernel.occupied = occupancy_of(kernel.shape, capability, multiprocessors);
}

row make_row(const results& from, const flat_row& source, std::string_view name, const call_sums& launches,
             const activity_sums& sums) {
  row r;
  name_group(from, source.group, r);
  r.path = r.label = name;
  r.inclusive = to_measures(sums, launches);
  add_joint(r.inclusive, source.joint, source.share);
  r.inclusive.calls = sums.count;
  r.exclusive = r.inclusive;
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
  add_to(to.collective_bytes, a.collective_bytes);
  add_parts(to.starved, a.starved);
  to.device_gap += a.device_gap;
  add_to(to.time, a.time);
  add_to(to.communication, a.communication);
  add_to(to.copying, a.copying);
}

void add_work(row& to, const kernel_work& known, time_ns time) {
  measures& m = to.inclusive;
  add_to(m.declared, known.declared);
  m.calls_with_work += known.kernels;
  add_to(m.unknown_work_time, time - known.time);
  to.exclusive = m;
}

}  // namespace

void add_kernels(const results& from, samples& values, report& to) {
  const row_table& rows = from.rows;
  const auto want = [&](std::span<const std::uint32_t> kernels, row& r) {
    values.want(sample::kernel_duration, kernels, r.per_call);
    values.want(sample::kernel_latency, kernels, r.launch_latency);
    values.want(sample::kernel_queue, kernels, r.queue_delay);
  };
  std::vector<activity_sums> sums(rows.categories.size());
  std::vector<call_sums> launches(rows.categories.size());
  std::vector<std::vector<std::uint32_t>> members(rows.categories.size());
  to.kernels.reserve(rows.kernels.size());
  for (std::uint32_t k = 0; k < rows.kernels.size(); ++k) {
    const kernel_row& source = rows.kernels[k];
    want({&k, 1}, to.kernels.emplace_back(make_row(from, source, from.source.strings[source.name],
                                                   values.launches(k), source.own)));
    add_sums(sums[source.category], source.own);
    launches[source.category].add(values.launches(k));
    members[source.category].push_back(k);
  }
  add_shapes(from, to.kernels);
  for (std::uint32_t k = 0; k < rows.kernels.size(); ++k) {
    add_occupancy(from, rows.kernels[k].group, to.kernels[k]);
  }
  for (std::size_t k = 0; k < from.kernel_works.size(); ++k) {
    add_work(to.kernels[k], from.kernel_works[k], rows.kernels[k].own.time);
  }
  to.categories.reserve(rows.categories.size());
  for (std::uint32_t c = 0; c < rows.categories.size(); ++c) {
    const flat_row& source = rows.categories[c];
    want(members[c], to.categories.emplace_back(
                         make_row(from, source, rows.category_names[source.name], launches[c], sums[c])));
  }
  for (std::size_t k = 0; k < from.kernel_works.size(); ++k) {
    add_work(to.categories[rows.kernels[k].category], from.kernel_works[k], rows.kernels[k].own.time);
  }
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
