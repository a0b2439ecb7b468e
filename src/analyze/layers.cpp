// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The rows by label path and, of their sums, the phases.
#include "analyze/assemble.hpp"

#include <algorithm>
#include <numeric>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

std::string step_text(const trace& t, const path_node& step) {
  std::string out{t.strings[step.name]};
  if (step.index != no_index) {
    out += ' ';
    out += std::to_string(step.index);
  }
  return out;
}

class layer_builder {
 public:
  layer_builder(const results& from, const tree_order& order, samples& values, report& to)
      : from_{from}, order_{order}, values_{values}, to_{to} {}

  void build() {
    target_.resize(order_.row.size());
    extents_.resize(order_.row.size());
    positions_.resize(order_.row.size());
    std::iota(positions_.begin(), positions_.end(), 0U);
    to_.phases.reserve(from_.rows.groups.size());
    to_.layers.reserve(order_.row.size());
    for (std::uint32_t k = 0; k < order_.row.size(); ++k) {
      const layer_row& source = from_.rows.rows[order_.row[k]];
      extents_[k] = source.own.extent;
      if (source.path == whole_pass) {
        add_phase(k, source);
      } else {
        add_row(k, source);
      }
    }
    for (std::uint32_t k = static_cast<std::uint32_t>(order_.row.size()); k-- > 0;) {
      finish(k);
    }
    fill_phases();
  }

 private:
  void add_phase(std::uint32_t k, const layer_row& source);
  void add_row(std::uint32_t k, const layer_row& source);
  void finish(std::uint32_t k);
  void fill_phases();
  [[nodiscard]] const range_sums& passes_of(const layer_row& source) const {
    return from_.rows.rows[order_.row[pass_position_[source.group]]].ranges;
  }
  [[nodiscard]] measures& inclusive(std::uint32_t k) {
    return from_.rows.rows[order_.row[k]].path == whole_pass ? to_.phases[target_[k]].total
                                                             : to_.layers[target_[k]].inclusive;
  }

  const results& from_;
  const tree_order& order_;
  samples& values_;
  report& to_;
  std::vector<std::uint32_t> target_;  // by position: in report::layers or, for a whole pass, report::phases
  std::vector<time_extent> extents_;
  std::vector<std::uint32_t> positions_;
  std::vector<std::uint32_t> pass_position_ = std::vector<std::uint32_t>(from_.rows.groups.size());
};

void layer_builder::add_phase(std::uint32_t k, const layer_row& source) {
  row names;
  name_group(from_, source.group, names);
  pass_position_[source.group] = k;
  target_[k] = static_cast<std::uint32_t>(to_.phases.size());
  phase_row& phase = to_.phases.emplace_back();
  phase.phase = names.phase;
  phase.model = names.model;
  phase.device = names.device;
  phase.batch = names.batch;
  const range_sums& host = source.ranges;
  phase.passes = host.calls;
  phase.total.calls = host.calls;
  phase.total.host_time = host.time;
  phase.total.allocated_bytes = host.allocated;
  phase.total.freed_bytes = host.freed;
  phase.total.peak_bytes = host.peak;
  phase.total.calls_with_work = host.calls_with_work;
  phase.total.alone_time = source.alone_below;
  const std::uint32_t key = from_.rows.groups[source.group].key;
  phase.wall = from_.walls[from_.rows.groups[source.group].device].length[key];
  if (source.group < from_.spans.length_by_group.size()) {
    phase.event_span = summarise(from_.spans.length_by_group[source.group], from_.histograms);
  }
  if (source.group < from_.sweep.parts.size()) {
    phase.partition = to_partition(from_.sweep.parts[source.group]);
  }
}

void layer_builder::add_row(std::uint32_t k, const layer_row& source) {
  const path_node& step = from_.marks.paths[source.path];
  const range_sums& host = source.ranges;
  target_[k] = static_cast<std::uint32_t>(to_.layers.size());
  row& r = to_.layers.emplace_back();
  name_group(from_, source.group, r);
  r.kind = step.kind;
  r.index = step.index;
  r.depth = step.depth - 1;
  const auto per_pass = from_.passes.of_row(order_.row[k]);
  r.per_pass.assign(per_pass.begin(), per_pass.end());
  if (source.path != outside) {
    r.label = from_.source.strings[step.name];
    r.path = step_text(from_.source, step);
    if (step.parent != whole_pass) {
      r.parent = target_[order_.position[source.parent]];
      r.path = to_.layers[r.parent].path + " / " + r.path;
    }
  }
  measures& own = r.exclusive;
  own = to_measures(source.own, source.calls);
  own.shared_time += source.share.shared;
  own.alone_time += source.share.alone;
  own.declared = host.declared;
  add_to(own.declared, source.declared);
  own.calls = host.calls + source.replays;
  own.calls_with_work = host.calls_declaring + source.replays_declaring;
  own.host_time = std::max<time_ns>(0, host.own_time);
  r.inclusive = own;
  r.inclusive.alone_time += source.alone_below;
  r.inclusive.calls_with_work = host.calls_with_work + source.replays_with_work;
  r.inclusive.host_time = host.time;
  own.allocated_bytes = std::max<std::int64_t>(0, host.own_allocated);
  own.freed_bytes = std::max<std::int64_t>(0, host.own_freed);
  r.inclusive.allocated_bytes = host.allocated;
  r.inclusive.freed_bytes = host.freed;
  r.inclusive.peak_bytes = host.peak;
  own.gpu_time += source.joint_exclusive.total();
  if (source.path == outside) {
    const range_sums& pass = passes_of(source);
    own.calls = r.inclusive.calls = pass.calls;
    own.host_time = r.inclusive.host_time = std::max<time_ns>(0, pass.own_time);
    own.allocated_bytes = r.inclusive.allocated_bytes = std::max<std::int64_t>(0, pass.own_allocated);
    own.freed_bytes = r.inclusive.freed_bytes = std::max<std::int64_t>(0, pass.own_freed);
    add_to(own.declared, pass.declared);
    r.inclusive.declared = own.declared;
    own.calls_with_work = r.inclusive.calls_with_work = pass.calls_declaring;
  }
}

// From the last row to the first: all rows below are complete.
void layer_builder::finish(std::uint32_t k) {
  const layer_row& source = from_.rows.rows[order_.row[k]];
  measures& sums = inclusive(k);
  if (source.parent != none) {
    const std::uint32_t parent = order_.position[source.parent];
    add_parts(inclusive(parent), sums);
    extents_[parent].add(extents_[k]);
  }
  sums.gpu_time += source.joint_inclusive.total();
  set_span(sums, extents_[k]);
  const bool is_phase = source.path == whole_pass;
  if (is_phase) {
    to_.phases[target_[k]].gpu_span = sums.span;
  } else {
    row& r = to_.layers[target_[k]];
    values_.want(sample::layer_call, std::span{positions_}.subspan(k, 1), r.per_call,
                 std::max<std::int64_t>(0, r.inclusive.calls - values_.count(sample::layer_call, k)));
  }
  const auto below = std::span{positions_}.subspan(k, order_.last[k] - k);
  values_.want(sample::layer_latency, below,
               is_phase ? to_.phases[target_[k]].launch_latency : to_.layers[target_[k]].launch_latency);
  values_.want(sample::layer_queue, below,
               is_phase ? to_.phases[target_[k]].queue_delay : to_.layers[target_[k]].queue_delay);
}

void layer_builder::fill_phases() {
  const structure& s = from_.marks;
  const row_table& rows = from_.rows;
  std::vector<std::vector<time_ns>> lengths(rows.groups.size());
  for (std::size_t p = 0; p < s.passes.size(); ++p) {
    from_.devices.each_of(s.passes[p], [&](std::uint32_t device) {
      const std::uint32_t g = rows.known_group(s.passes[p].key, device);
      if (g == none) {
        return;
      }
      lengths[g].push_back(s.passes[p].end - s.passes[p].begin);
      if (!s.attributes.empty()) {
        const auto& a = s.attributes[p];
        phase_row& sum = to_.phases[target_[pass_position_[g]]];
        add_to(sum.prefill_tokens, a[VARVE_PREFILL_TOKENS]);
        add_to(sum.decode_tokens, a[VARVE_DECODE_TOKENS]);
        add_to(sum.sequences, plus(a[VARVE_PREFILL_SEQUENCES], a[VARVE_DECODE_SEQUENCES]));
        add_to(sum.emitted_tokens, a[VARVE_EMITTED_TOKENS]);
      }
    });
  }
  for (std::uint32_t g = 0; g < lengths.size(); ++g) {
    const std::uint32_t k = pass_position_[g];
    phase_row& phase = to_.phases[target_[k]];
    phase.step = summarise(std::move(lengths[g]), from_.histograms);
    phase.samples.stride = from_.passes.stride(g);
    for (const std::uint32_t p : from_.passes.passes(g)) {
      phase.samples.step.push_back(s.passes[p].end - s.passes[p].begin);
      if (!from_.memory.empty()) {
        phase.samples.held_bytes.push_back(from_.memory.held(s.passes[p].host_end));
      }
    }
    phase.samples.gpu_time.resize(phase.samples.step.size());
    if (from_.activities.size != 0) {
      const auto times = from_.passes.of_row(order_.row[k]);
      std::copy(times.begin(), times.end(), phase.samples.gpu_time.begin());
    }
  }
}

}  // namespace

void add_layers(const results& from, const tree_order& order, samples& values, report& to) {
  layer_builder{from, order, values, to}.build();
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
