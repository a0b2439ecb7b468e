// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A comparison as JSON; docs/compare.md has the fields.
#include <varve/io.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace varve {
inline namespace v0 {

namespace {

using nlohmann::ordered_json;

constexpr int comparison_schema = 1;

template <class Enum, std::size_t N>
const char* name_in(const std::array<const char*, N>& names, Enum value) {
  const auto i = static_cast<std::size_t>(value);
  return i < N ? names[i] : "unknown";
}

ordered_json index_of(std::uint32_t i) { return i == none ? ordered_json{} : ordered_json(i); }

ordered_json json_of(const time_change& t) {
  static constexpr std::array outcomes{"inconclusive", "same", "better", "worse"};
  ordered_json out{{"verdict", name_in(outcomes, t.verdict)},
                   {"base", t.base},
                   {"new", t.fresh},
                   {"base_mean", t.base_mean},
                   {"new_mean", t.fresh_mean},
                   {"relative", t.relative},
                   {"mean_relative", t.mean_relative}};
  if (t.has_interval) {
    out["low"] = t.low;
    out["high"] = t.high;
    out["mean_low"] = t.mean_low;
    out["mean_high"] = t.mean_high;
    out["p"] = t.p;
    out["mean_p"] = t.mean_p;
    out["q"] = t.q;
    out["paired"] = t.paired;
    out["inflation"] = t.inflation;
  }
  out["base_runs"] = t.base_runs;
  out["new_runs"] = t.fresh_runs;
  out["base_passes"] = t.base_passes;
  out["new_passes"] = t.fresh_passes;
  return out;
}

ordered_json json_of(const pass_work& w) {
  return {{"flops", w.flops},
          {"weight_bytes", w.weight_bytes},
          {"kv_bytes", w.kv_bytes},
          {"activation_bytes", w.activation_bytes}};
}

ordered_json json_of(const launch_shape& s) { return {{"grid", s.grid}, {"block", s.block}}; }

ordered_json json_of(const phase_change& p) {
  static constexpr std::array kinds{"layer",      "other_work", "starved",
                                    "device_gap", "unrecorded", "outside_layer"};
  ordered_json parts = ordered_json::array();
  for (const contribution& c : p.contributions) {
    parts.push_back(
        {{"kind", name_in(kinds, c.what)}, {"row", index_of(c.row)}, {"base", c.base}, {"new", c.fresh}});
  }
  return {{"phase", p.phase},
          {"model", p.model},
          {"batch", p.batch},
          {"device", p.device},
          {"base_phase", index_of(p.base_phase)},
          {"new_phase", index_of(p.fresh_phase)},
          {"base_passes", p.base_passes},
          {"new_passes", p.fresh_passes},
          {"base_tokens", p.base_tokens},
          {"new_tokens", p.fresh_tokens},
          {"step", json_of(p.step)},
          {"gpu_time", json_of(p.gpu_time)},
          {"base_wall", p.base_wall},
          {"new_wall", p.fresh_wall},
          {"contributions", std::move(parts)}};
}

ordered_json json_of(const row_change& r) {
  static constexpr std::array kinds{"matched", "renamed", "added", "removed"};
  ordered_json out{{"kind", name_in(kinds, r.what)},
                   {"phase", r.phase},
                   {"path", r.path},
                   {"new_path", r.fresh_path},
                   {"label", r.label},
                   {"base_row", index_of(r.base_row)},
                   {"new_row", index_of(r.fresh_row)},
                   {"parent", index_of(r.parent)},
                   {"gpu_time", json_of(r.gpu_time)},
                   {"base_calls", r.base_calls},
                   {"new_calls", r.fresh_calls},
                   {"base_launches", r.base_launches},
                   {"new_launches", r.fresh_launches},
                   {"base_kernels", r.base_kernels},
                   {"new_kernels", r.fresh_kernels},
                   {"base_kernel", r.base_kernel},
                   {"new_kernel", r.fresh_kernel},
                   {"work_changed", r.work_changed}};
  out["base_work"] = json_of(r.base_work);
  out["new_work"] = json_of(r.fresh_work);
  out["base_inside"] = r.base_inside;
  out["new_inside"] = r.fresh_inside;
  out["inside"] = r.inside;
  return out;
}

ordered_json json_of(const label_change& l) {
  return {{"phase", l.phase},
          {"label", l.label},
          {"rows", l.rows},
          {"gpu_time", json_of(l.gpu_time)},
          {"work_changed", l.work_changed},
          {"base_work", json_of(l.base_work)},
          {"new_work", json_of(l.fresh_work)}};
}

ordered_json json_of(const kernel_change& k) {
  static constexpr std::array kinds{"added", "removed", "count", "shape"};
  return {{"kind", name_in(kinds, k.what)},
          {"phase", k.phase},
          {"name", k.name},
          {"base_count", k.base_count},
          {"new_count", k.fresh_count},
          {"base_time", k.base_time},
          {"new_time", k.fresh_time},
          {"base_shape", json_of(k.base_shape)},
          {"new_shape", json_of(k.fresh_shape)}};
}

ordered_json json_of(const comparability_reason& r) {
  return {{"refuses", r.refuses}, {"weight", r.weight}, {"what", r.what}, {"text", r.text}};
}

ordered_json json_of(const prediction_check& p) {
  static constexpr std::array results{"undecided", "held", "faster", "slower"};
  static constexpr std::array changes{"graphs",        "half_weight_bytes", "quarter_weight_bytes",
                                      "half_kv_bytes", "double_batch",      "fused",
                                      "left_out"};
  return {{"change", name_in(changes, p.what)},
          {"phase", p.phase},
          {"now", p.now},
          {"at_best", p.at_best},
          {"expected", p.expected},
          {"at_worst", p.at_worst},
          {"measured", p.measured},
          {"low", p.low},
          {"high", p.high},
          {"outcome", name_in(results, p.outcome)},
          {"text", p.text}};
}

ordered_json json_of(const hypothesis_check& h) {
  static constexpr std::array results{"undecided", "bound", "not_bound"};
  static constexpr std::array bounds{"unknown", "compute", "memory", "communication",
                                     "copy",    "starved", "latency"};
  return {{"phase", h.phase},
          {"label", h.label},
          {"bytes", h.kv_cache ? "kv" : "weights"},
          {"speedup", h.speedup},
          {"low", h.low},
          {"high", h.high},
          {"expected", name_in(bounds, h.expected)},
          {"outcome", name_in(results, h.outcome)},
          {"text", h.text}};
}

template <class T>
ordered_json list_of(const std::vector<T>& all) {
  ordered_json out = ordered_json::array();
  for (const T& one : all) {
    out.push_back(json_of(one));
  }
  return out;
}

}  // namespace

std::string to_json(const comparison& c) {
  ordered_json out{{"varve_comparison", comparison_schema},
                   {"base", c.base},
                   {"new", c.fresh},
                   {"base_runs", c.base_runs},
                   {"new_runs", c.fresh_runs}};
  out["options"] = {{"confidence", c.options.confidence},
                    {"noise", c.options.noise},
                    {"resamples", c.options.resamples},
                    {"seed", c.options.seed}};
  out["score"] = c.score;
  out["comparable"] = c.comparable();
  out["no_difference"] = c.no_difference();
  out["result"] = c.no_difference() ? "no_difference" : c.inconclusive() ? "inconclusive" : "difference";
  out["reasons"] = list_of(c.reasons);
  out["phases"] = list_of(c.phases);
  out["rows"] = list_of(c.rows);
  out["labels"] = list_of(c.labels);
  out["kernels"] = list_of(c.kernels);
  out["predictions"] = list_of(c.predictions);
  out["hypotheses"] = list_of(c.hypotheses);
  return out.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace v0
}  // namespace varve
