// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The fields of a report as docs/report-schema.md names them, in the order in which they are written. One
// list serves the writer and the reader: an archive is called with each field's name and place.
#ifndef VARVE_FORMATS_JSON_FIELDS_HPP
#define VARVE_FORMATS_JSON_FIELDS_HPP

#include <varve/report.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace varve::json {

/// The first field of the document; its value is the schema's version.
inline constexpr const char* version_field = "varve_report";

/// Names of the values of an enumeration, by value.
template <class Enum>
inline constexpr std::array<std::string_view, 0> names{};
template <>
inline constexpr std::array<std::string_view, 4> names<range_kind>{"phase", "layer", "op", "request"};
template <>
inline constexpr std::array<std::string_view, 3> names<pass_inference>{"not_inferred", "module_calls",
                                                                       "repeated_annotations"};
template <>
inline constexpr std::array<std::string_view, 3> names<collector_state>{"running", "stopped", "unavailable"};
template <>
inline constexpr std::array<std::string_view, math_pipes> names<math_pipe>{
    "unknown",    "mixed",       "fp64",        "fp64_tensor",      "fp32",
    "fp16",       "tf32_tensor", "fp16_tensor", "fp16_tensor_fp16", "bf16_tensor",
    "fp8_tensor", "fp4_tensor",  "int8_tensor", "int8_dp4a"};
template <>
inline constexpr std::array<std::string_view, count_kinds> names<count_kind>{"dram_read", "dram_written",
                                                                             "operations"};
template <>
inline constexpr std::array<std::string_view, work_sources> names<work_source>{"counters", "engine", "shapes",
                                                                               "description"};
template <>
inline constexpr std::array<std::string_view, bounds> names<bound> = [] {
  std::array<std::string_view, bounds> out{};
  for (std::size_t k = 0; k < bounds; ++k) {
    out[k] = bound_name(static_cast<bound>(k));
  }
  return out;
}();
template <>
inline constexpr std::array<std::string_view, 6> names<occupancy::limit>{
    "unknown", "warps", "blocks", "registers", "shared_memory", "grid"};
template <>
inline constexpr std::array<std::string_view, 11> names<finding::kind>{
    "slowest",         "stands_out",     "drift",       "memory_jump",      "warming_up",        "overhead",
    "work_difference", "clocks_dropped", "page_faults", "context_switches", "counted_difference"};
template <>
inline constexpr std::array<std::string_view, gauge_kinds> names<gauge_kind>{
    "sm_clock",    "memory_clock", "clock_limits", "temperature",        "power",
    "memory_used", "minor_faults", "major_faults", "voluntary_switches", "involuntary_switches"};
template <>
inline constexpr std::array<std::string_view, 7> names<prediction::change>{
    "graphs", "half_weight_bytes", "quarter_weight_bytes", "half_kv_bytes", "double_batch",
    "fused",  "left_out"};

/// U or const U.
template <class T, class U>
concept is = std::same_as<std::remove_const_t<T>, U>;

template <class Archive>
void fields(Archive& a, is<distribution> auto& d) {
  a("count", d.count);
  a("total", d.total);
  a("min", d.min);
  a("max", d.max);
  a("p50", d.p50);
  a("p95", d.p95);
  a("p99", d.p99);
  a("mean", d.mean);
  a("deviation", d.deviation);
  a("histogram", d.histogram);
}

template <class Archive>
void fields(Archive& a, is<starved_time> auto& s) {
  a("launching", s.launching);
  a("graph_building", s.graph_building);
  a("synchronising", s.synchronising);
  a("allocating", s.allocating);
  a("other", s.other);
}

template <class Archive>
void fields(Archive& a, is<wall_partition> auto& p) {
  a("compute", p.compute);
  a("exposed_communication", p.exposed_communication);
  a("exposed_copy", p.exposed_copy);
  a("starved", p.starved);
  a("device_gap", p.device_gap);
  a("unrecorded", p.unrecorded);
  a("no_pass", p.no_pass);
}

template <class Archive>
void fields(Archive& a, is<work> auto& w) {
  a("flops", w.flops);
  a("weight_bytes", w.weight_bytes);
  a("kv_bytes", w.kv_bytes);
  a("activation_bytes", w.activation_bytes);
  a("pipe", w.pipe);
  a("bytes_below", w.bytes_below);
  a("bytes_above", w.bytes_above);
  a("doubled_bytes", w.doubled_bytes);
}

template <class Archive>
void fields(Archive& a, is<roof_times> auto& r) {
  a("total", r.total);
  a("compute", r.compute);
  a("memory", r.memory);
  a("total_below", r.total_below);
  a("total_above", r.total_above);
  a("memory_below", r.memory_below);
  a("memory_above", r.memory_above);
  a("half_weights", r.half_weights);
  a("quarter_weights", r.quarter_weights);
  a("half_kv", r.half_kv);
  a("double_batch", r.double_batch);
  a("unrated_flops", r.unrated_flops);
  a.template by<math_pipe>("compute_by_pipe", r.compute_by_pipe);
}

template <class Archive>
void fields(Archive& a, is<verdict> auto& v) {
  a("by", v.by);
  a("side", v.side);
  a("pipe", v.pipe);
  a("roof_share", v.roof_share);
  a("compute_share", v.compute_share);
  a("memory_share", v.memory_share);
  a("why", v.why);
}

template <class Archive>
void fields(Archive& a, is<measures> auto& m) {
  a("calls", m.calls);
  a("gpu_time", m.gpu_time);
  a("kernel_time", m.kernel_time);
  a("span", m.span);
  a("shared_time", m.shared_time);
  a("alone_time", m.alone_time);
  a("overlap", m.overlap);
  a("host_time", m.host_time);
  a("launches", m.launches);
  a("graph_launches", m.graph_launches);
  a("launch_time", m.launch_time);
  a("graph_build_time", m.graph_build_time);
  a("synchronise_time", m.synchronise_time);
  a("allocate_time", m.allocate_time);
  a("synchronisations", m.synchronisations);
  a("allocations", m.allocations);
  a("kernels", m.kernels);
  a("copies", m.copies);
  a("sets", m.sets);
  a("copy_bytes", m.copy_bytes);
  a("collective_bytes", m.collective_bytes);
  a("starved", m.starved);
  a("device_gap", m.device_gap);
  a("declared", m.declared);
  a("calls_with_work", m.calls_with_work);
  a("unknown_work_time", m.unknown_work_time);
  a("roof", m.roof);
  a("allocated_bytes", m.allocated_bytes);
  a("freed_bytes", m.freed_bytes);
  a("peak_bytes", m.peak_bytes);
  a("activity_time", m.activity_time);
  a("collective_time", m.collective_time);
  a("unknown_collective_time", m.unknown_collective_time);
  a("copy_time", m.copy_time);
  a("first_start", m.first_start);
}

template <class Archive>
void fields(Archive& a, is<launch_shape> auto& s) {
  a("grid", s.grid);
  a("block", s.block);
  a("registers", s.registers);
  a("static_shared_memory", s.static_shared_memory);
  a("dynamic_shared_memory", s.dynamic_shared_memory);
}

template <class Archive>
void fields(Archive& a, is<occupancy> auto& o) {
  a("theoretical", o.theoretical);
  a("blocks", o.blocks);
  a("limited_by", o.limited_by);
  a("waves", o.waves);
  a("tail", o.tail);
}

template <class Archive>
void fields(Archive& a, is<gauge_row> auto& g) {
  a("what", g.what);
  a("limit", g.limit);
  a("samples", g.samples);
  a("mean", g.mean);
  a("min", g.min);
  a("max", g.max);
  a("total", g.total);
  a("per_pass", g.per_pass);
}

template <class Archive>
void fields(Archive& a, is<count_sum> auto& c) {
  a("what", c.what);
  a("pipe", c.pipe);
  a("part", c.part);
  a("calls", c.calls);
  a("sum", c.sum);
}

template <class Archive>
void fields(Archive& a, is<counted_work> auto& c) {
  a("calls", c.calls);
  a("dram_read", c.dram_read);
  a("dram_written", c.dram_written);
  a("tensor_ops", c.tensor_ops);
  a("core_flops", c.core_flops);
  a("intensity", c.intensity);
  a("why", c.why);
  a.template by<math_pipe>("operations", c.operations);
  a("all_operations", c.all_operations);
  a("used", c.used);
  a("other_work", c.other_work);
  a("sums", c.sums);
}

template <class Archive>
void fields(Archive& a, is<rated_work> auto& w) {
  a("flops", w.flops);
  a("bytes", w.bytes);
  a("counted_share", w.counted_share);
  a("unknown_share", w.unknown_share);
  a("roof", w.roof);
}

template <class Archive>
void fields(Archive& a, is<row> auto& r) {
  a("path", r.path);
  a("label", r.label);
  a.unless("index", r.index, no_index);
  a("kind", r.kind);
  a("phase", r.phase);
  a("model", r.model);
  a("device", r.device);
  a("batch", r.batch);
  a.unless("parent", r.parent, none);
  a("depth", r.depth);
  a("inclusive", r.inclusive);
  a("exclusive", r.exclusive);
  a("per_call", r.per_call);
  a("launch_latency", r.launch_latency);
  a("queue_delay", r.queue_delay);
  a("per_pass", r.per_pass);
  a("main_kernel", r.main_kernel);
  a("shape", r.shape);
  a("shapes", r.shapes);
  a("occupied", r.occupied);
  a("verdict", r.verdict);
  a("counted", r.counted);
  a("rated", r.rated);
}

template <class Archive>
void fields(Archive& a, is<pass_samples> auto& s) {
  a("stride", s.stride);
  a("step", s.step);
  a("gpu_time", s.gpu_time);
  a("held_bytes", s.held_bytes);
}

template <class Archive>
void fields(Archive& a, is<phase_row> auto& p) {
  a("phase", p.phase);
  a("model", p.model);
  a("device", p.device);
  a("batch", p.batch);
  a("passes", p.passes);
  a("wall", p.wall);
  a("step", p.step);
  a("samples", p.samples);
  a("partition", p.partition);
  a("gpu_span", p.gpu_span);
  a("event_span", p.event_span);
  a("prefill_tokens", p.prefill_tokens);
  a("decode_tokens", p.decode_tokens);
  a("sequences", p.sequences);
  a("emitted_tokens", p.emitted_tokens);
  a("total", p.total);
  a("launch_latency", p.launch_latency);
  a("queue_delay", p.queue_delay);
  a("verdict", p.verdict);
  a("gauges", p.gauges);
  a("counted", p.counted);
  a("rated", p.rated);
}

template <class Archive>
void fields(Archive& a, is<collective_row> auto& c) {
  a("name", c.name);
  a("ranks", c.ranks);
  a("phase", c.phase);
  a("model", c.model);
  a("device", c.device);
  a("batch", c.batch);
  a("calls", c.calls);
  a("sized_calls", c.sized_calls);
  a("bytes", c.bytes);
  a("gpu_time", c.gpu_time);
  a("exposed_time", c.exposed_time);
  a("sized_time", c.sized_time);
  a("algorithm_bandwidth", c.algorithm_bandwidth);
  a("bus_bandwidth", c.bus_bandwidth);
}

template <class Archive>
void fields(Archive& a, is<device_info> auto& d) {
  a("id", d.id);
  a("name", d.name);
  a("multiprocessors", d.multiprocessors);
  a("compute_capability", d.compute_capability);
  a("memory_bytes", d.memory_bytes);
  a("clock", d.clock);
  a("memory_clock", d.memory_clock);
  a("memory_bus", d.memory_bus);
  a("l2_bytes", d.l2_bytes);
}

template <class Archive>
void fields(Archive& a, is<stream_info> auto& s) {
  a("device", s.device);
  a("context", s.context);
  a("stream", s.stream);
}

template <class Archive>
void fields(Archive& a, is<device_row::stream> auto& s) {
  a("stream", s.stream);
  a("kernels", s.kernels);
  a("kernel_time", s.kernel_time);
  a("kernel_union", s.kernel_union);
}

template <class Archive>
void fields(Archive& a, is<ceilings> auto& c) {
  a("name", c.name);
  a.template by<math_pipe>("flops", c.flops);
  a("bandwidth", c.bandwidth);
  a("l2_bytes", c.l2_bytes);
  a("l2_bandwidth", c.l2_bandwidth);
  a("link_bandwidth", c.link_bandwidth);
  a("host_bandwidth", c.host_bandwidth);
  a("multiprocessors", c.multiprocessors);
  a("compute_capability", c.compute_capability);
  a("clock", c.clock);
  a("top_clock", c.top_clock);
  a("measured", c.measured);
  a("source", c.source);
}

template <class Archive>
void fields(Archive& a, is<device_row> auto& d) {
  a("device", d.device);
  a("ceilings", d.ceilings);
  a("partition", d.partition);
  a("busy", d.busy);
  a("kernel_time", d.kernel_time);
  a("kernel_union", d.kernel_union);
  a("gpu_span", d.gpu_span);
  a("kernels", d.kernels);
  a("streams", d.streams);
  a("gauges", d.gauges);
  a("first_start", d.first_start);
  a("passes_begin", d.passes_begin);
  a("passes_end", d.passes_end);
}

template <class Archive>
void fields(Archive& a, is<request_row> auto& r) {
  a("label", r.label);
  a.unless("index", r.index, no_index);
  a("passes", r.passes);
  a("total", r.total);
  a("queue_wait", r.queue_wait);
  a("time_to_first_token", r.time_to_first_token);
  a("time_per_output_token", r.time_per_output_token);
}

template <class Archive>
void fields(Archive& a, is<loss> auto& l) {
  a("what", l.what);
  a("where", l.where);
  a("count", l.count);
}

template <class Archive>
void fields(Archive& a, is<collector_status> auto& c) {
  a("name", c.name);
  a("version", c.version);
  a("state", c.state);
  a("detail", c.detail);
}

template <class Archive>
void fields(Archive& a, is<report_quality> auto& q) {
  a("attributed", q.attributed);
  a.template by<work_source>("work_known", q.work_known);
  a("activities", q.activities);
  a("matched", q.matched);
  a("unmatched", q.unmatched);
  a("unmatched_kernels", q.unmatched_kernels);
  a("event_spans", q.event_spans);
  a("untimed", q.untimed);
  a("negative_delays", q.negative_delays);
  a("duplicate_correlations", q.duplicate_correlations);
  a("unlabelled_nodes", q.unlabelled_nodes);
  a("stale_nodes", q.stale_nodes);
  a("lent_nodes", q.lent_nodes);
  a("inferred_nodes", q.inferred_nodes);
  a("positioned_nodes", q.positioned_nodes);
  a("graph_launches_without_kernels", q.graph_launches_without_kernels);
  a("graph_launches_short", q.graph_launches_short);
  a("graph_launches_short_by_look", q.graph_launches_short_by_look);
  a("clipped_ranges", q.clipped_ranges);
  a("calls_by_operator", q.calls_by_operator);
  a("calls_by_forward", q.calls_by_forward);
  a("calls_backward", q.calls_backward);
  a("calls_by_pass", q.calls_by_pass);
  a("activities_by_operator", q.activities_by_operator);
  a("activities_by_flow", q.activities_by_flow);
  a("implicit_pass", q.implicit_pass);
  a("inferred_passes", q.inferred_passes);
  a("inferred_prefills", q.inferred_prefills);
  a("steady", q.steady);
  a("ramp_passes", q.ramp_passes);
  a("unsized_kinds", q.unsized_kinds);
  a("unsized_names", q.unsized_names);
  a("captures_given", q.captures_given);
  a("live_cpu", q.live_cpu);
  a("losses", q.losses);
  a("collectors", q.collectors);
  a("clock", q.clock);
  a("clock_error", q.clock_error);
  a("own_overhead", q.own_overhead);
}

template <class Archive>
void fields(Archive& a, is<operator_row> auto& r) {
  a("name", r.name);
  a("shapes", r.shapes);
  a("annotation", r.annotation);
  a("on_device", r.on_device);
  a("calls", r.calls);
  a("cpu_total", r.cpu_total);
  a("cpu_self", r.cpu_self);
  a("gpu_total", r.gpu_total);
  a("gpu_self", r.gpu_self);
  a("cpu_memory", r.cpu_memory);
  a("cpu_memory_self", r.cpu_memory_self);
  a("gpu_memory", r.gpu_memory);
  a("gpu_memory_self", r.gpu_memory_self);
  a("declared", r.declared);
  a("calls_with_work", r.calls_with_work);
  a("roof", r.roof);
  a("verdict", r.verdict);
}

template <class Archive>
void fields(Archive& a, is<operator_tables> auto& o) {
  a("by_name", o.by_name);
  a("by_shape", o.by_shape);
  a("work_share", o.work_share);
}

template <class Archive>
void fields(Archive& a, is<finding> auto& f) {
  a("what", f.what);
  a.unless("phase", f.phase, none);
  a.unless("layer", f.layer, none);
  a("value", f.value);
  a("threshold", f.threshold);
  a("text", f.text);
  a("next_step", f.next_step);
}

template <class Archive>
void fields(Archive& a, is<prediction> auto& p) {
  a("what", p.what);
  a.unless("phase", p.phase, none);
  a.unless("layer", p.layer, none);
  a("now", p.now);
  a("at_best", p.at_best);
  a("expected", p.expected);
  a("at_worst", p.at_worst);
  a("helps", p.helps);
  a("text", p.text);
  a("model", p.model);
}

template <class Archive>
void fields(Archive& a, is<report> auto& r) {
  a("source", r.source);
  a("rank", r.rank);
  a("world_size", r.world_size);
  a("backend", r.backend);
  a("begin", r.begin);
  a("end", r.end);
  a("unprofiled_wall", r.unprofiled_wall);
  a("devices", r.devices);
  a("phases", r.phases);
  a("layers", r.layers);
  a("labels", r.labels);
  a("kernels", r.kernels);
  a("categories", r.categories);
  a("collectives", r.collectives);
  a("requests", r.requests);
  a("operators", r.operators);
  a("findings", r.findings);
  a("predictions", r.predictions);
  a("quality", r.quality);
  a("held_bytes", r.held_bytes);
}

}  // namespace varve::json

#endif  // VARVE_FORMATS_JSON_FIELDS_HPP
