// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/samples.hpp"

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

/// GPU time of each call, with what ran in the ranges inside.
std::vector<time_ns> time_slots(const row_table& rows) {
  const std::vector<call_slot>& slots = rows.slots;
  std::vector<time_ns> times(slots.size());
  for (std::size_t s = slots.size(); s-- > 0;) {
    times[s] += static_cast<time_ns>(rows.slot_times[s].solo);
    if (slots[s].parent != none) {
      times[slots[s].parent] += times[s];
    }
  }
  for (std::size_t s = 0; s < slots.size(); ++s) {
    times[s] += rows.slot_times[s].joint.total();
  }
  return times;
}

}  // namespace

samples::samples(const results& from, const tree_order& order, bool histograms)
    : from_{from}, order_{order}, slot_times_{time_slots(from.rows)}, launches_(from.rows.kernels.size()) {
  const row_table& rows = from.rows;
  std::vector<std::size_t> calls(order.row.size(), 0);
  std::vector<std::size_t> delays(order.row.size());
  for (const call_slot& s : rows.slots) {
    calls[order.position[s.row]] += s.is_call() ? 1U : 0U;
  }
  for (std::size_t k = 0; k < order.row.size(); ++k) {
    const layer_row& r = rows.rows[order.row[k]];
    delays[k] = static_cast<std::size_t>(r.own.count + r.calls.graph_launches);
  }
  std::vector<std::size_t> kernels;
  for (const kernel_row& k : rows.kernels) {
    kernels.push_back(static_cast<std::size_t>(k.own.count));
  }
  for (const auto* most : {&calls, &delays, &delays, &kernels, &kernels, &kernels}) {
    statistics_.emplace_back(*most, histograms);
  }
  each([&](sample what, std::size_t row, time_ns value) { statistics(what).add(row, value); },
       [&](std::uint32_t kernel, std::uint32_t call) {
         launches_[kernel].add(from.calls.kind(call), from.calls.end(call) - from.calls.begin(call));
       });
  for (row_statistics& s : statistics_) {
    s.settle();
  }
}

template <class Value, class Launch>
void samples::each(const Value& value, const Launch& launch) {
  const activity_table& a = from_.activities;
  const row_table& rows = from_.rows;
  const activity_columns& columns = from_.source.activities;
  for (std::size_t s = 0; s < rows.slots.size(); ++s) {
    if (rows.slots[s].is_call()) {
      value(sample::layer_call, order_.position[rows.slots[s].row], slot_times_[s]);
    }
  }
  const auto delays = [&](std::uint32_t call, time_ns start, std::uint32_t row, std::uint32_t kernel) {
    launch(kernel, call);
    const time_ns latency = start - from_.calls.begin(call);
    const time_ns queue = start - from_.calls.end(call);
    if (latency >= 0) {
      value(sample::layer_latency, order_.position[row], latency);
      value(sample::kernel_latency, kernel, latency);
    }
    if (queue > 0) {
      value(sample::layer_queue, order_.position[row], queue);
      value(sample::kernel_queue, kernel, queue);
    }
  };
  for (std::uint32_t pos = 0; pos < a.size; ++pos) {
    const time_ns begin = columns.begin[a.record_at(pos)];
    const std::uint32_t kernel = from_.sweep.kernel[pos];
    value(sample::kernel_duration, kernel, columns.end[a.record_at(pos)] - begin);
    const std::uint32_t c = a.call[pos];
    if (c != none && a.first_of_call[c] == pos && from_.calls.kind(c) == call_kind::launch &&
        from_.calls.is_counted(c)) {
      delays(c, begin, rows.slots[a.slot[pos]].row, kernel);
    }
  }
  for (std::size_t l = 0; l < a.graph_launches.size(); ++l) {
    const std::uint32_t call = a.graph_launches[l].call;
    if (const std::uint32_t first = a.first_of_call[call]; first != none) {
      delays(call, columns.begin[a.record_at(first)], from_.graph_rows[l], from_.sweep.kernel[first]);
    }
  }
}

void samples::deliver() {
  each([&](sample what, std::size_t row, time_ns value) { statistics(what).collect(row, value); },
       [](std::uint32_t, std::uint32_t) {});
  for (const order_record& o : orders_) {
    *o.to = statistics(o.what).get(o.number);
  }
  orders_.clear();
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
