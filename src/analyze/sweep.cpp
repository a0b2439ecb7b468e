// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/sweep.hpp"

#include "analyze/idle.hpp"
#include "analyze/overlap.hpp"

#include <algorithm>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

time_ns& starved_part(starved_time& s, instant what) noexcept {
  switch (what) {
    case instant::launching:
      return s.launching;
    case instant::graph_building:
      return s.graph_building;
    case instant::synchronising:
      return s.synchronising;
    case instant::allocating:
      return s.allocating;
    default:
      return s.other;
  }
}

class device_sweep {
 public:
  device_sweep(const trace& t, const structure& s, const pass_walls& walls, const call_index& calls,
               const activity_table& activities, row_table& rows, pass_times& passes,
               const std::vector<interval>& missing, std::size_t device, std::vector<std::uint32_t>& kernel)
      : trace_{t},
        structure_{s},
        walls_{walls},
        calls_{calls},
        activities_{activities},
        rows_{rows},
        device_{activities.devices[device]},
        submissions_{t, activities, calls, device},
        gaps_{calls, missing},
        clock_{walls, s.keys.size()},
        overlaps_{rows, passes},
        stream_end_(activities.streams.size(), -far),
        kernel_{kernel} {}

  device_result run(const std::vector<std::uint32_t>& passes_by_begin) {
    now_ = walls_.begin;
    if (device_.first < device_.last) {
      now_ = std::min(now_, trace_.activities.begin[activities_.record_at(device_.first)]);
    }
    for (std::size_t pos = device_.first; pos < device_.last; ++pos) {
      add(pos);
    }
    flush();
    tail(passes_by_begin);
    clock_.finish();
    result_.any_parts = clock_.parts();
    return result_;
  }

  [[nodiscard]] const wall_parts& parts(std::uint32_t key) const noexcept { return clock_.parts(key); }

 private:
  void add(std::size_t pos);
  void flush();
  void gap(time_ns end, std::size_t pos, std::uint32_t row, std::uint32_t kernel);
  void tail(const std::vector<std::uint32_t>& passes_by_begin);

  const trace& trace_;
  const structure& structure_;
  const pass_walls& walls_;
  const call_index& calls_;
  const activity_table& activities_;
  row_table& rows_;
  const device_activities& device_;
  submissions submissions_;
  gap_divider gaps_;
  wall_clock clock_;
  overlap_sweep overlaps_;
  std::vector<time_ns> stream_end_;
  std::vector<std::uint32_t>& kernel_;
  std::vector<running> running_;  // overlapping activities that are not swept yet
  time_ns now_ = 0;               // the end of what ran so far
  device_result result_;
};

void device_sweep::add(std::size_t pos) {
  const std::uint32_t i = activities_.record_at(pos);
  const activity_columns& a = trace_.activities;
  const time_ns begin = a.begin[i];
  const time_ns end = a.end[i];
  const activity_kind kind = a.kind[i];
  running r;
  r.begin = begin;
  if (a.stream[i] < trace_.streams.size()) {
    time_ns& stream_end = stream_end_[a.stream[i]];
    r.begin = std::max(begin, stream_end);
    stream_end = std::max(stream_end, end);
  }
  r.end = std::max(r.begin, end);
  r.slot = activities_.slot[pos];
  const call_slot& slot = rows_.slots[r.slot];
  layer_row& row = rows_.rows[slot.row];
  r.kernel = rows_.kernel(a.name[i], kind, row.group);
  kernel_[pos] = r.kernel;
  kernel_row& kernel = rows_.kernels[r.kernel];
  r.what = kind == activity_kind::copy || kind == activity_kind::set ? instant::copy
           : kernel.is_collective                                    ? instant::communication
                                                                     : instant::compute;
  rows_.slot_times[r.slot].solo += r.length();
  const time_ns overlap = std::min(end, r.begin) - begin;
  row.own.add(begin, end, overlap, r.length());
  kernel.own.add(begin, end, overlap, r.length());
  if (kind == activity_kind::kernel) {
    ++result_.kernels;
    add_to(result_.kernel_time, end - begin);
    row.own.add_kernel(end - begin);
    kernel.own.add_kernel(end - begin);
    if (a.detail[i] < trace_.shapes.size()) {
      rows_.count_shape(r.kernel, a.detail[i]);
    }
  } else {
    const std::int64_t bytes = a.detail[i] < trace_.bytes.size() ? trace_.bytes[a.detail[i]] : 0;
    row.own.add_other(kind, bytes);
    kernel.own.add_other(kind, bytes);
  }
  if (r.what != instant::compute) {
    for (activity_sums* sums : {&row.own, &kernel.own}) {
      add_to(r.what == instant::copy ? sums->copying : sums->communication, end - begin);
    }
  }
  result_.extent.add(begin, end);

  if (r.begin >= now_ || running_.empty()) {
    flush();
    if (r.begin > now_) {
      gap(r.begin, pos, slot.row, r.kernel);
    }
    now_ = r.begin;
  }
  running_.push_back(r);
  now_ = std::max(now_, r.end);
}

// Sweeps what ran until now. Mostly it is one activity, which had the device for itself.
void device_sweep::flush() {
  if (running_.empty()) {
    return;
  }
  const time_ns begin = running_.front().begin;
  if (running_.size() == 1) {
    clock_.add(begin, running_.front().end, running_.front().what, no_pass_key);
  } else {
    for (const running& r : running_) {
      rows_.slot_times[r.slot].solo -= r.length();
      rows_.rows[rows_.slots[r.slot].row].own.solo -= r.length();
      rows_.kernels[r.kernel].own.solo -= r.length();
    }
    overlaps_.sweep(running_,
                    [&](time_ns from, time_ns to, instant what) { clock_.add(from, to, what, no_pass_key); });
  }
  result_.busy += now_ - begin;
  running_.clear();
}

// The device was idle from now_ to `end`, when the activity at `pos` began.
void device_sweep::gap(time_ns end, std::size_t pos, std::uint32_t row, std::uint32_t kernel) {
  if (clock_.is_idle(end)) {
    return;
  }
  const std::uint32_t key = rows_.groups[rows_.rows[row].group].key;
  const std::uint32_t c = activities_.call[pos];
  if (c == none) {
    clock_.add(now_, end, instant::unrecorded, no_pass_key);
    return;
  }
  const auto charge = [&](time_ns from, time_ns to, instant what) {
    const time_ns charged = clock_.add(from, to, what, key);
    if (what == instant::unrecorded || charged == 0) {
      return;
    }
    for (activity_sums* sums : {&rows_.rows[row].own, &rows_.kernels[kernel].own}) {
      (what == instant::device_gap ? sums->device_gap : starved_part(sums->starved, what)) += charged;
    }
  };
  gaps_.divide(now_, end, submissions_.earliest_from(pos, c, end), calls_.thread(c), charge);
}

// Nothing comes any more: starved, by what the thread did whose pass on the device is open and began last.
void device_sweep::tail(const std::vector<std::uint32_t>& passes_by_begin) {
  const auto emit = [&](time_ns from, time_ns to, instant what) { clock_.add(from, to, what, no_pass_key); };
  std::vector<std::uint32_t> open;  // in order of begin; below the last some may have ended
  auto next = passes_by_begin.begin();
  while (now_ < walls_.end) {
    for (; next != passes_by_begin.end() && structure_.passes[*next].begin <= now_; ++next) {
      open.push_back(*next);
    }
    while (!open.empty() && structure_.passes[open.back()].end <= now_) {
      open.pop_back();
    }
    time_ns end = next != passes_by_begin.end() ? structure_.passes[*next].begin : walls_.end;
    std::uint16_t thread = narrow_none;
    if (!open.empty()) {
      thread = structure_.passes[open.back()].thread;
      end = std::min(end, structure_.passes[open.back()].end);
    }
    if (thread == narrow_none && device_.first < device_.last) {
      const std::uint32_t c = activities_.call[device_.last - 1];
      thread = c != none ? calls_.thread(c) : narrow_none;
    }
    gaps_.divide(now_, end, far, thread, emit);
    now_ = end;
  }
}

}  // namespace

sweep_result sweep_devices(const trace& t, const structure& s, const std::vector<pass_walls>& walls,
                           const call_index& calls, const activity_table& activities,
                           const range_devices& devices, const spans_found& spans, row_table& rows,
                           pass_times& passes) {
  sweep_result result;
  result.parts.resize(rows.groups.size());
  result.kernel.resize(activities.size);
  rows.slot_times.resize(rows.slots.size());
  std::vector<std::vector<std::uint32_t>> passes_of(activities.devices.size());  // by device
  for (std::uint32_t p = 0; p < s.passes.size(); ++p) {
    devices.each_of(s.passes[p], [&](std::uint32_t d) { passes_of[d].push_back(p); });
  }
  auto missing = missing_records(s, calls, activities, devices, rows);
  for (std::size_t d = 0; d < activities.devices.size(); ++d) {
    std::vector<std::uint32_t>& passes_by_begin = passes_of[d];
    std::sort(passes_by_begin.begin(), passes_by_begin.end(), [&](std::uint32_t a, std::uint32_t b) {
      return s.passes[a].begin != s.passes[b].begin ? s.passes[a].begin < s.passes[b].begin : a < b;
    });
    missing[d].insert(missing[d].end(), spans.by_device[d].begin(), spans.by_device[d].end());
    unite(missing[d]);
    device_sweep sweep{t, s, walls[d], calls, activities, rows, passes, missing[d], d, result.kernel};
    result.devices.push_back(sweep.run(passes_by_begin));
    for (std::size_t g = 0; g < rows.groups.size(); ++g) {
      if (rows.groups[g].device == d) {
        result.parts[g] = sweep.parts(rows.groups[g].key);
      }
    }
  }
  return result;
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
