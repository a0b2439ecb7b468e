// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/activities.hpp"

#include "analyze/event_spans.hpp"

#include "analyze/time_order.hpp"

#include <algorithm>
#include <numeric>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

class attribution {
 public:
  attribution(const trace& t, const analyze_options& options, structure& s, call_index& calls,
              row_table& rows, range_devices& devices, report_quality& quality)
      : trace_{t},
        options_{options},
        columns_{t.activities},
        structure_{s},
        calls_{calls},
        rows_{rows},
        devices_{devices},
        quality_{quality},
        graphs_{calls, t.graph_nodes} {}

  activity_table run() {
    order_by_device(trace_, calls_, quality_, table_);
    devices_.expect(table_.devices.size());
    std::vector<std::optional<ceilings>> at_most;
    for (const device_activities& device : table_.devices) {
      at_most.push_back(ceilings_of(trace_, device.id, options_));
    }
    rows_.roofs.know(std::move(at_most));
    const std::size_t n = table_.size;
    table_.call.resize(n);
    table_.slot.resize(n);
    for (std::size_t d = 0; d < table_.devices.size(); ++d) {
      attribute_device(static_cast<std::uint16_t>(d));
    }
    table_.first_of_call = calls_.finish_matching();
    find_first_of_calls();
    table_.graph_launches = graphs_.finish();
    for (const graph_launch& l : table_.graph_launches) {
      quality_.graph_launches_without_kernels += l.recorded ? 0 : 1;
      quality_.graph_launches_short += l.is_short ? 1 : 0;
      quality_.graph_launches_short_by_look += l.is_short && l.by_look ? 1 : 0;
    }
    return std::move(table_);
  }

 private:
  struct place {
    std::uint32_t slot = none;
    std::uint32_t pass = none;
  };

  [[nodiscard]] std::size_t stream_of(std::size_t i) const noexcept {
    return std::min<std::size_t>(columns_.stream[i], trace_.streams.size());
  }
  [[nodiscard]] time_ns begin(std::size_t i) const noexcept { return columns_.begin[i]; }
  [[nodiscard]] time_ns end(std::size_t i) const noexcept { return columns_.end[i]; }

  void attribute_device(std::uint16_t d);
  place place_of(std::uint32_t i, std::uint32_t c, std::uint16_t d);
  place place_replayed(std::uint32_t i, std::uint32_t c, std::uint32_t range, std::uint16_t d);
  time_ns effective_begin(stream_sums& stream, time_ns begin, time_ns end) const noexcept;
  void order_by_effective_begin(device_activities& device);
  void find_first_of_calls();

  const trace& trace_;
  const analyze_options& options_;
  const activity_columns& columns_;
  structure& structure_;
  call_index& calls_;
  row_table& rows_;
  range_devices& devices_;
  report_quality& quality_;
  activity_table table_;
  graph_launch_counter graphs_;
  // Where the last activity went: the next mostly goes there too.
  std::uint32_t last_range_ = none;
  place last_place_;
  std::uint32_t last_replay_call_ = none;
  std::uint32_t last_replay_path_ = none;
  place last_replay_;
};

// Where activity `i` belongs, launched by call `c`.
attribution::place attribution::place_of(std::uint32_t i, std::uint32_t c, std::uint16_t d) {
  std::uint32_t range = c != none                             ? calls_.range(c)
                        : i < trace_.range_of_activity.size() ? trace_.range_of_activity[i]
                                                              : none;
  range = range < structure_.ranges.size() ? range : none;
  const bool in_graph = c != none && calls_.kind(c) == call_kind::graph_launch;
  if (columns_.node[i] != none || in_graph) {
    if (const place replay = place_replayed(i, c, range, d); replay.slot != none) {
      return replay;
    }
  }
  if (range != last_range_ || range == none) {
    const std::uint32_t owner = range != none ? structure_.ranges[range].owner : none;
    last_place_.pass = range != none ? structure_.ranges[range].pass : structure_.default_pass();
    last_place_.slot = owner != none ? rows_.range_slot(owner, d) : rows_.outside_slot(last_place_.pass, d);
    last_range_ = range;
  }
  return last_place_;
}

// Of a graph's node: by the label that it was captured under. No slot where there is none.
attribution::place attribution::place_replayed(std::uint32_t i, std::uint32_t c, std::uint32_t range,
                                               std::uint16_t d) {
  const std::uint32_t node = columns_.node[i];
  const bool has_node = node < trace_.graph_nodes.size();
  table_.unknown_nodes += node != none && !has_node ? 1 : 0;
  const std::uint32_t label = has_node ? trace_.graph_nodes[node].label : none;
  const bool has_label = label < trace_.labels.size();
  quality_.unlabelled_nodes += !has_label && columns_.kind[i] != activity_kind::graph ? 1 : 0;
  quality_.stale_nodes += has_node && trace_.graph_nodes[node].stale ? 1 : 0;
  if (has_label && trace_.graph_nodes[node].source != label_source::captured) {
    const label_source source = trace_.graph_nodes[node].source;
    ++(source == label_source::capture_trace ? quality_.lent_nodes
       : source == label_source::inferred    ? quality_.inferred_nodes
                                             : quality_.positioned_nodes);
    const std::uint32_t owner = range != none ? structure_.ranges[range].owner : none;
    if (source == label_source::position && structure_.path_of(trace_, owner) == whole_pass) {
      add_to(table_.in_no_layer, columns_.end[i] - columns_.begin[i]);
    }
  }
  if (c != none && calls_.kind(c) == call_kind::graph_launch) {
    graphs_.note(c, has_node ? node : none, columns_.kind[i]);
  }
  const std::uint32_t path = has_label ? structure_.path_of_label[label] : whole_pass;
  if (path == whole_pass) {
    return {};
  }
  if (c != last_replay_call_ || c == none || path != last_replay_path_) {
    last_replay_.pass = range != none ? structure_.ranges[range].pass : structure_.default_pass();
    last_replay_.slot = rows_.replay_slot(c, range, path, d);
    last_replay_call_ = c;
    last_replay_path_ = path;
    if (last_replay_.pass != none && !structure_.described.empty()) {
      rows_.declare_described(last_replay_.slot, last_replay_.pass);
    }
  }
  if (declares_work(trace_.graph_nodes[node].declared)) {
    rows_.declare_node(last_replay_.slot, trace_.graph_nodes[node]);
    if (c != none && last_replay_.pass != none) {
      structure_.passes[last_replay_.pass].has_work = true;
    }
  }
  return last_replay_;
}

void attribution::attribute_device(std::uint16_t d) {
  device_activities& device = table_.devices[d];
  last_range_ = none;
  last_replay_path_ = none;
  time_ns last_effective = -far;
  time_ns last_submit = -far;
  bool in_order = true;
  bool submitted_in_order = true;
  std::int64_t matched = 0;
  std::int64_t unmatched_kernels = 0;
  std::int64_t negative_delays = 0;
  union_length kernel_union;
  for (std::size_t pos = device.first; pos < device.last; ++pos) {
    const std::uint32_t i = table_.record_at(pos);
    const time_ns b = begin(i);
    const time_ns e = end(i);
    stream_sums& stream = table_.streams[stream_of(i)];
    const time_ns effective = effective_begin(stream, b, e);
    in_order = in_order && effective >= last_effective;
    last_effective = effective;
    if (columns_.kind[i] == activity_kind::kernel) {
      ++stream.kernels;
      add_to(stream.kernel_time, e - b);
      stream.kernel_union.add(b, e);
      kernel_union.add(b, e);
    }

    const std::uint32_t c = calls_.find(columns_.correlation[i], b);
    table_.call[pos] = c;
    if (c == none) {
      unmatched_kernels += columns_.kind[i] == activity_kind::kernel ? 1 : 0;
    } else {
      ++matched;
      negative_delays += b < calls_.begin(c) ? 1 : 0;
      const time_ns submit = std::min(calls_.end(c), b);
      submitted_in_order = submitted_in_order && submit >= last_submit;
      last_submit = submit;
    }
    if (c != none && calls_.range(c) < structure_.ranges.size()) {
      devices_.note(calls_.range(c), d);
    }
    const place p = place_of(i, c, d);
    table_.slot[pos] = p.slot;
    if (p.pass != none) {
      time_ns& pass_end = structure_.passes[p.pass].end;
      pass_end = std::max(pass_end, e);
    }
  }
  const auto count = static_cast<std::int64_t>(device.last - device.first);
  quality_.matched += matched;
  quality_.unmatched += count - matched;
  quality_.unmatched_kernels += unmatched_kernels;
  quality_.negative_delays += negative_delays;
  device.kernel_union = kernel_union.total();
  device.submitted_in_order = submitted_in_order && in_order;
  if (!in_order) {
    order_by_effective_begin(device);
  }
}

time_ns attribution::effective_begin(stream_sums& stream, time_ns begin, time_ns end) const noexcept {
  const time_ns effective = std::max(begin, stream.end);
  if (&stream != &table_.streams.back()) {  // what is on unknown streams does not follow one another
    stream.end = std::max(stream.end, end);
  }
  return effective;
}

void attribution::order_by_effective_begin(device_activities& device) {
  for (stream_sums& s : table_.streams) {
    s.end = -far;
  }
  std::vector<time_ns> effective;
  effective.reserve(device.last - device.first);
  for (std::size_t pos = device.first; pos < device.last; ++pos) {
    const std::uint32_t i = table_.record_at(pos);
    effective.push_back(effective_begin(table_.streams[stream_of(i)], begin(i), end(i)));
  }
  std::vector<std::uint32_t> from(effective.size());
  std::iota(from.begin(), from.end(), 0U);
  sort_by_time(
      std::span{from}, [&](std::uint32_t k) { return effective[k]; },
      [&](std::uint32_t a, std::uint32_t b) {
        return effective[a] != effective[b] ? effective[a] < effective[b] : a < b;
      });
  if (table_.record.empty()) {
    table_.record.resize(table_.size);
    std::iota(table_.record.begin(), table_.record.end(), 0U);
  }
  for (std::vector<std::uint32_t>* column : {&table_.record, &table_.call, &table_.slot}) {
    std::vector<std::uint32_t> sorted(from.size());
    for (std::size_t k = 0; k < from.size(); ++k) {
      sorted[k] = (*column)[device.first + from[k]];
    }
    std::copy(sorted.begin(), sorted.end(), column->begin() + static_cast<std::ptrdiff_t>(device.first));
  }
}

void attribution::find_first_of_calls() {
  table_.first_of_call.assign(calls_.size(), none);
  for (std::size_t pos = 0; pos < table_.size; ++pos) {
    if (table_.call[pos] == none) {
      continue;
    }
    std::uint32_t& first = table_.first_of_call[table_.call[pos]];
    if (first == none || begin(table_.record_at(pos)) < begin(table_.record_at(first))) {
      first = static_cast<std::uint32_t>(pos);
    }
  }
}

}  // namespace

activity_table attribute_activities(const trace& t, const analyze_options& options, structure& s,
                                    call_index& calls, row_table& rows, range_devices& devices,
                                    report_quality& quality) {
  activity_table out = attribution{t, options, s, calls, rows, devices, quality}.run();
  for (const event_span& span : t.event_spans) {
    for (std::uint32_t d = 0; is_sound(t, span) && d < out.devices.size(); ++d) {
      if (out.devices[d].id == t.streams[span.stream].device) {
        devices.note(span.range, d);
      }
    }
  }
  devices.settle();
  return out;
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
