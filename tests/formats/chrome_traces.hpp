// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Traces to write and to read back.
#ifndef VARVE_TESTS_FORMATS_CHROME_TRACES_HPP
#define VARVE_TESTS_FORMATS_CHROME_TRACES_HPP

#include "formats/input_files.hpp"
#include "formats/report_fields.hpp"
#include "formats/trace_fields.hpp"

#include <varve/io.hpp>
#include <varve/report.hpp>

#include <nlohmann/json.hpp>

#include <sstream>
#include <string>

class chrome_traces : public input_files {
 protected:
  static std::string text_of(const varve::trace& t) {
    std::ostringstream out;
    varve::write_chrome_trace(t, out);
    return out.str();
  }
  [[nodiscard]] std::string write_file(const varve::trace& t) const {
    varve::write_chrome_trace(t, path("t.json"));
    return path("t.json");
  }
  static varve::trace read(const std::string& file) { return varve::read_pytorch(file); }

  /// Written and read, `t` is the same in every record, in every line of its reports, and in its text.
  void comes_back(const varve::trace& t) const {
    const std::string text = text_of(t);
    const varve::trace back = read(write("t.json", text));
    EXPECT_EQ(testing_support::dump(back), testing_support::dump(t));
    EXPECT_EQ(text_of(back), text);
    for (const bool apart : {false, true}) {
      varve::analyze_options options;
      options.by_batch = options.steady = apart;
      EXPECT_EQ(testing_support::dump(varve::analyze(back, options)),
                testing_support::dump(varve::analyze(t, options)));
    }
    EXPECT_EQ(varve::identify(path("t.json")), varve::file_kind::pytorch);
  }

  static nlohmann::json event_of(const nlohmann::json& document, const std::string& category,
                                 const std::string& name) {
    for (const nlohmann::json& e : document["traceEvents"]) {
      if (e.value("cat", "") == category && e["name"] == name) {
        return e;
      }
    }
    ADD_FAILURE() << "no " << category << " " << name;
    return {};
  }

  /// A pass with a layer, a request that it serves, a launch and a captured one, a kernel of a graph, a copy,
  /// an operator: each field with a value of its own.
  static varve::trace full_trace();
  /// A trace in which everything is called `name`.
  static varve::trace named(const std::string& name);
};

inline varve::trace chrome_traces::full_trace() {
  using namespace varve;
  trace t;
  t.source = "session of \"engine\"";
  t.rank = 1;
  t.world_size = 8;
  t.backend = "nccl";
  t.clock = "invariant TSC";
  t.clock_error = 250;
  t.begin = 1'000'000'000;
  t.end = 1'000'090'000;
  t.own_overhead = 4'321;
  t.inferred_passes = pass_inference::repeated_annotations;
  t.inferred_prefills = 2;
  t.captures_given = true;
  t.live_cpu = true;
  t.elsewhere = {1, 2, 3, 4, 5, 6};
  t.threads = {{4243, 4242, "engine"}, {4244, 4242, ""}};
  t.streams = {{0, 1, 7}, {0, 2, 7}};
  t.devices = {{0, "GPU \"A\"", 132, 90, 85'000'000'000, 1'980'000'000, 2'619'000'000, 5120, 52'428'800},
               {1, "", 0, 0, 0}};
  t.losses = {{"marker ranges dropped: buffer full", "thread 4244", 17}};
  t.collectors = {{"markers", "0.1", collector_state::stopped, "found\nnothing"},
                  {"cupti", "13.0", collector_state::unavailable, "no driver: install one"},
                  {"host", "", collector_state::running, ""}};

  const auto label = [&](std::uint32_t parent, const char* name, std::int32_t index, range_kind kind) {
    return t.labels.intern({parent, t.strings.intern(name), index, kind});
  };
  const std::uint32_t decode = label(none, "decode", no_index, range_kind::phase);
  const std::uint32_t attention = label(decode, "attention", 3, range_kind::layer);
  const std::uint32_t unused = label(attention, "softmax", -5, range_kind::op);
  const std::uint32_t chat = label(none, "chat", 9, range_kind::request);
  t.ranges = {
      {1'000'001'000, 1'000'060'000, decode, none, 0, range_kind::phase, true, false, false},
      {1'000'002'000, 1'000'050'000, attention, 0, 0, range_kind::layer, false, true, false},
      {1'000'002'001, 1'000'049'999, unused, 1, 1, range_kind::op, false, false, true},
      {1'000'000'500, 1'000'080'000, chat, none, narrow_none, range_kind::request, false, false, false}};
  t.attributes = {{0, VARVE_DECODE_TOKENS, 16}, {0, VARVE_ACCEPTED_TOKENS, 3}};
  t.sequences = {{0, true, 1, 900}, {0, false, 512, 512}};
  t.models = {{0, t.strings.intern("target")}};
  t.works = {{1, {1'000, 200, 30, 4, math_pipe::bf16_tensor, 50, 60, 70}, work_source::counters},
             {1, {5, 6, 7, 8, math_pipe::mixed}, work_source::shapes},
             {2, {1, 0, 0, 0, math_pipe::int8_dp4a}, work_source::description}};
  t.path_works = {{0, attention, {7, 6, 5, 4, math_pipe::fp8_tensor, 3, 2, 1}},
                  {0, unused, {8, 0, 0, 1, math_pipe::unknown}}};
  t.requests = {{3, 0}};

  t.operator_kinds = {
      {t.strings.intern("aten::mm"),
       t.strings.intern("[[16, 64], [64, 8]]"),
       t.strings.intern("[\"float\",\"float\"]"),
       operator_source::operation,
       {9, 8, 7, 6, math_pipe::tf32_tensor, 5, 4, 3}},
      {t.strings.intern("my step"), none, none, operator_source::annotation, {}},
      {t.strings.intern("Activity Buffer Request"), none, none, operator_source::overhead, {}},
      {t.strings.intern("my step"), none, none, operator_source::device_annotation, {}}};
  t.operators.begin = {1'000'002'100, 1'000'003'000, 1'000'070'000, 1'000'012'345};
  t.operators.end = {1'000'040'000, 1'000'039'000, 1'000'071'000, 1'000'022'000};
  t.operators.kind = {1, 0, 2, 3};
  t.operators.parent = {none, 0, none, none};
  t.operators.range = {1, 1, none, none};
  t.operators.thread = {0, 0, narrow_none, narrow_none};
  t.memory_events = {{1'000'004'000, 4'096, true}, {1'000'005'000, -4'096, false}};

  t.add_call({1'000'010'000, 1'000'011'500, 11, 1, 0, call_kind::launch, false});
  t.add_call({1'000'015'000, 1'000'016'000, 13, 2, 1, call_kind::launch, true});
  t.add_call({1'000'017'000, 1'000'017'500, 0, none, narrow_none, call_kind::graph_build, false});
  t.call_names = {t.strings.intern("cudaLaunchKernel"), t.strings.intern("cuLaunchKernel"),
                  t.strings.intern("an engine's own")};  // whose kind no name tells
  t.operator_of_call = {1, none, 0};

  t.graph_nodes = {{4'294'967'301,
                    attention,
                    true,
                    {11, 22, 33, 44, math_pipe::fp16_tensor_fp16, 5, 6, 7},
                    label_source::inferred,
                    true,
                    work_source::engine},
                   {0, none, false, {}, label_source::captured, false, work_source::shapes}};
  const std::uint32_t shape = t.intern_shape({{4, 2, 1}, {128, 1, 1}, 32, 1024, 4096});
  t.add_activity({1'000'012'345, 1'000'013'346, 11, t.strings.intern("gemm<float>"), 0, shape, 0,
                  activity_kind::kernel});
  t.add_activity({1'000'020'000, 1'000'022'000, 12, t.strings.intern("Memcpy HtoD"), none,
                  t.intern_bytes(65'536), 1, activity_kind::copy});
  t.add_activity(
      {1'000'023'000, 1'000'024'000, 0, t.strings.intern("Memset"), none, none, 1, activity_kind::set});
  t.add_activity(
      {1'000'025'000, 1'000'026'000, 0, t.strings.intern("graph 5"), 1, none, 0, activity_kind::graph});
  t.add_activity(
      {1'000'026'000, 1'000'027'000, 0, t.strings.intern("else"), none, none, 65534, activity_kind::other});
  t.operator_of_activity = {1, none, none, 0, none};
  t.range_of_activity = {none, 2, none, none, 0};
  t.event_spans = {{1'000'012'000, 1'000'019'000, 0, 1}, {1, 2, none, narrow_none}};
  t.collectives = {{0, t.strings.intern("allreduce"), 1'024, -1, 8}};
  t.gauges = {{1'000'003'000, 1'980'000'000, 0, gauge_kind::sm_clock},
              {1'000'003'000, 4, 1, gauge_kind::clock_limits},
              {1'000'013'000, -77, none, gauge_kind::involuntary_switches}};
  t.counts = {{1, 0, 4'096, count_kind::dram_written, math_pipe::unknown, 0},
              {none, 1, 65'536, count_kind::operations, math_pipe::fp8_tensor, 2}};
  t.earlier_services = {{1, 3, 999'000'000, 999'000'500, 999'999'999}, {none, 1, 2, 3, 4}};
  return t;
}

inline varve::trace chrome_traces::named(const std::string& name) {
  using namespace varve;
  trace t;
  const std::uint32_t text = t.strings.intern(name);
  t.source = t.backend = t.clock = name;
  t.threads = {{2, 1, name}};
  t.streams = {{0, 0, 7}};
  t.devices = {{0, name, 0, 0, 0}};
  t.losses = {{name, name, 1}};
  t.collectors = {{name, name, collector_state::stopped, name}};
  t.ranges = {{10, 90, t.labels.intern({none, text, no_index, range_kind::phase}), none, 0, range_kind::phase,
               false, false, false}};
  t.models = {{0, text}};
  t.operator_kinds = {{text, text, text, operator_source::operation, {}}};
  t.operators.begin = {10};
  t.operators.end = {90};
  t.operators.kind = {0};
  t.operators.parent = {none};
  t.operators.range = {0};
  t.operators.thread = {0};
  t.add_call({20, 30, 1, 0, 0, call_kind::launch, false});
  t.call_names = {text};
  t.operator_of_call = {0};
  t.add_activity({40, 50, 1, text, none, none, 0, activity_kind::kernel});
  t.operator_of_activity = {0};
  t.collectives = {{0, text, 1, 1, 1}};
  return t;
}

#endif  // VARVE_TESTS_FORMATS_CHROME_TRACES_HPP
