// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The steps of an analysis: what was marked, what was called, what ran, what it adds up to.
#include "analyze/activities.hpp"
#include "analyze/assemble.hpp"
#include "analyze/calls.hpp"
#include "analyze/collectives.hpp"
#include "analyze/counted.hpp"
#include "analyze/event_spans.hpp"
#include "analyze/gauges.hpp"
#include "analyze/host.hpp"
#include "analyze/known_work.hpp"
#include "analyze/memory_use.hpp"
#include "analyze/operators.hpp"
#include "analyze/pass_times.hpp"
#include "analyze/repair.hpp"
#include "analyze/rows.hpp"
#include "analyze/structure.hpp"
#include "analyze/sweep.hpp"
#include "analyze/verdict.hpp"
#include "analyze/wall.hpp"

#include <varve/report.hpp>

#include <algorithm>
#include <limits>

namespace varve {
inline namespace v0 {

namespace {

using namespace analysis;

/// Each pass has a row wherever it counts, also where nothing ran in it.
void place_phases(const structure& s, const range_devices& devices, row_table& rows) {
  for (const pass& p : s.passes) {
    if (p.range == none) {  // the implicit pass: where anything ran
      if (rows.groups.empty()) {
        rows.row(whole_pass, rows.group(p.key, 0));
      }
      continue;
    }
    devices.each(p.range, [&](std::uint32_t d) { rows.row(whole_pass, rows.group(p.key, d)); });
  }
}

double attributed_share(const row_table& rows, time_ns in_no_layer) {
  double all = 0;
  double inside = -static_cast<double>(in_no_layer);
  for (const layer_row& r : rows.rows) {
    all += static_cast<double>(r.own.time);
    inside += r.path == outside ? 0.0 : static_cast<double>(r.own.time);
  }
  return all > 0 ? inside / all : 0.0;
}

void describe_source(const trace& t, report_quality& q) {
  q.inferred_passes = t.inferred_passes;
  q.captures_given = t.captures_given;
  q.live_cpu = t.live_cpu;
  q.losses = t.losses;
  q.collectors = t.collectors;
  q.clock = t.clock;
  q.clock_error = t.clock_error;
  q.own_overhead = t.own_overhead;
  const auto number = [](std::uint64_t n) {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::min(n, most));
  };
  q.inferred_prefills = number(t.inferred_prefills);
  q.calls_by_operator = number(t.elsewhere.by_operator);
  q.calls_by_forward = number(t.elsewhere.by_forward);
  q.calls_backward = number(t.elsewhere.backward);
  q.calls_by_pass = number(t.elsewhere.by_pass);
  q.activities_by_operator = number(t.elsewhere.activities_by_operator);
  q.activities_by_flow = number(t.elsewhere.activities_by_flow);
}

void add_losses(const repairs& repaired, const structure& s, const call_index& calls,
                const activity_table& activities, report_quality& q) {
  const auto lose = [&](const char* what, std::uint64_t count) {
    if (count != 0) {
      q.losses.push_back({what, "analysis", count});
    }
  };
  lose("ranges nested too deep for a row of their own, counted for the row around them", s.deep_ranges);
  lose("ranges and labels that end before they begin, or name a parent or label that is not there",
       s.broken_ranges);
  lose("calls and activities that lack a column", repaired.incomplete);
  lose("calls that end before they begin", repaired.reversed_calls);
  lose("times more than 146 years away", repaired.absurd_times);
  lose("calls made in a range that is not there", calls.unknown_ranges());
  lose("activities on a stream that is not there, taken as on the lowest device", activities.unknown_streams);
  lose("activities of graph nodes that are not there", activities.unknown_nodes);
  lose("activities on devices beyond the 256th", activities.on_more_devices);
}

report analyze_repaired(const trace& t, const analyze_options& options, const repairs& repaired) {
  report out;
  structure marks = read_structure(t, options);
  out.source = t.source;
  out.rank = t.rank;
  out.world_size = t.world_size;
  out.backend = t.backend;
  out.begin = marks.window.begin;
  out.end = marks.window.end;
  out.unprofiled_wall = options.unprofiled_wall;
  report_quality& quality = out.quality;
  describe_source(t, quality);
  quality.implicit_pass = marks.implicit_pass;
  quality.steady = options.steady;
  quality.ramp_passes = marks.ramps.passes;
  quality.unsized_kinds = marks.ramps.unsized_kinds;
  quality.unsized_names = marks.unsized_names;
  const std::vector<bool> known = operators_of_known_work(t);
  out.operators = tabulate_operators(t, known, options);

  call_index calls{t};
  row_table rows{t, marks};
  range_devices devices{t, marks, rows};
  const activity_table activities = attribute_activities(t, options, marks, calls, rows, devices, quality);
  calls.find_outermost();
  quality.duplicate_correlations = calls.duplicates();
  add_losses(repaired, marks, calls, activities, quality);
  if (activities.devices.empty()) {
    return out;  // nothing in it
  }
  count_known_work(t, marks, known, activities, rows, quality);
  const spans_found spans = find_spans(t, activities, marks, rows, quality);
  if (spans.broken != 0) {
    quality.losses.push_back(
        {"GPU spans of no pass, on an unknown stream or device, or that end before they begin", "analysis",
         spans.broken});
  }
  place_phases(marks, devices, rows);
  const auto walls = read_walls(marks, devices, activities.devices.size());
  pass_times passes{t, marks, devices, rows, options.most_samples};
  const sweep_result sweep = sweep_devices(t, marks, walls, calls, activities, devices, spans, rows, passes);
  for (std::uint32_t k = 0; k < rows.kernels.size(); ++k) {
    rows.flush_shape(k);
  }
  out.collectives = count_collectives(t, marks, activities, sweep, rows);
  const memory_use memory{t.memory_events};
  const std::vector<std::uint32_t> graph_rows =
      count_host(t, marks, calls, activities, devices, memory, rows, quality);
  passes.settle(activities.size != 0);
  quality.attributed = attributed_share(rows, activities.in_no_layer);

  const std::vector<kernel_work> works = find_kernel_work(t, marks, activities, sweep.kernel, rows);
  const results from{t,     marks, calls,  activities, rows,       devices, walls,
                     sweep, spans, passes, memory,     graph_rows, works,   options.histograms};
  const tree_order order = order_rows(marks, rows);
  samples values{from, order, options.histograms};
  if (!memory.empty()) {
    out.held_bytes = memory.held(std::numeric_limits<time_ns>::max());
  }
  add_layers(from, order, values, out);
  add_labels(from, order, values, out);
  add_main_kernels(from, order, out);
  add_kernels(from, values, out);
  values.deliver();
  add_devices(from, out);
  add_roofs(from, order, out);
  tidy(out);
  judge_rows(out);
  add_differences(from, order, out);
  add_requests(from, out);
  add_gauges(from, out);
  add_counts(from, order, out);
  std::vector<finding> found = findings_of(out);
  out.findings.insert(out.findings.begin(), std::make_move_iterator(found.begin()),
                      std::make_move_iterator(found.end()));
  out.predictions = predictions_of(out);
  return out;
}

}  // namespace

report analyze(const trace& t, const analyze_options& options) {
  if (!needs_repair(t)) {
    return analyze_repaired(t, options, {});
  }
  trace whole = t;
  const repairs repaired = repair(whole);
  return analyze_repaired(whole, options, repaired);
}

}  // namespace v0
}  // namespace varve
