// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Traces that varve writes, and what comes back.
#include "formats/chrome_traces.hpp"

#include <varve/io.hpp>
#include <varve/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/virtual_device.hpp"
#include "support/virtual_scenarios.hpp"

namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::dump;
using varve::none;
using varve::range_kind;

class chrome : public chrome_traces {};

TEST_F(chrome, every_field_of_a_trace_comes_back) { comes_back(full_trace()); }

TEST_F(chrome, an_empty_trace_comes_back) { comes_back({}); }

TEST_F(chrome, traces_of_the_virtual_device_come_back_whatever_the_order_of_their_records) {
  for (std::uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    virtual_device::recording r = virtual_device::random_scenario(seed);
    virtual_device::random_source random{seed};
    comes_back(virtual_device::to_trace(r));
    comes_back(virtual_device::to_trace(r, &random));
    virtual_device::damage(r, random);
    comes_back(virtual_device::to_trace(r));
  }
}

TEST_F(chrome, graphs_on_several_devices_and_streams_with_nested_ops_come_back) {
  using namespace virtual_device;
  machine m;
  m.device(0);
  m.device(3);
  const virtual_device::stream first = m.new_stream(0);
  const virtual_device::stream second = m.new_stream(3);
  host& h = m.new_host();
  host& other = m.new_host();
  h.begin_capture(first);
  {
    scope layer = h.layer("attention", 0);
    layer.work({1'000, 200, 30, 4});
    const scope op = h.op("softmax");
    h.launch(first, "softmax", 3'000);
  }
  const executable e = h.instantiate(h.end_capture(first));
  for (int i = 0; i < 3; ++i) {
    scope pass = h.phase("decode", "target");
    pass.attribute(VARVE_DECODE_TOKENS, 16).attribute(VARVE_DECODE_TOKENS, 17);
    pass.serves(m.request("chat", i, 0, 900'000));
    h.launch(first, e);
    h.synchronise(first);
  }
  {
    const scope pass = other.phase("prefill");
    const scope layer = other.layer("mlp", 2);
    other.copy(second, 4096, 2'000);
    other.launch(second, "gemm", 7'000);
  }
  const varve::trace t = to_trace(m.run());
  comes_back(t);
  // Three replays of a node labelled attention 0 / softmax, each with the work noted at capture.
  const varve::report r = varve::analyze(read(write_file(t)));
  const varve::row* const row = r.find({.label = "softmax", .phase = "decode"});
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->inclusive.calls, 3);
  EXPECT_EQ(row->inclusive.kernels, 3);
  EXPECT_EQ(row->inclusive.gpu_time, 9'000);
}

TEST_F(chrome, events_are_those_of_the_pytorch_profiler) {
  const varve::trace t = full_trace();
  const json document = json::parse(text_of(t));
  EXPECT_EQ(document["schemaVersion"], 1);
  EXPECT_EQ(document["baseTimeNanoseconds"], 1'000'000'000);
  EXPECT_EQ(document["deviceProperties"][0]["name"], "GPU \"A\"");
  EXPECT_EQ(document["deviceProperties"][0]["computeMajor"], 9);
  EXPECT_EQ(document["distributedInfo"]["rank"], 1);

  const json kernel = event_of(document, "kernel", "gemm<float>");
  // 1'000'012'345 ns is 12.345 µs after the base, and 1'001 ns are 1.001 µs.
  EXPECT_THAT(text_of(t), HasSubstr(R"("name":"gemm<float>","pid":0,"tid":7,"ts":12.345,"dur":1.001)"));
  EXPECT_EQ(kernel["args"]["device"], 0);
  EXPECT_EQ(kernel["args"]["context"], 1);
  EXPECT_EQ(kernel["args"]["stream"], 7);
  EXPECT_EQ(kernel["args"]["correlation"], 11);
  EXPECT_EQ(kernel["args"]["grid"], json({4, 2, 1}));
  EXPECT_EQ(kernel["args"]["block"], json({128, 1, 1}));
  EXPECT_EQ(kernel["args"]["registers per thread"], 32);
  EXPECT_EQ(kernel["args"]["shared memory"], 1024 + 4096);  // static and dynamic together
  EXPECT_EQ(kernel["args"]["graph node id"], 4294967301);
  EXPECT_EQ(kernel["args"]["varve"]["label"], "decode / attention 3");
  EXPECT_EQ(event_of(document, "gpu_memcpy", "Memcpy HtoD")["args"]["bytes"], 65536);

  const json launch = event_of(document, "cuda_runtime", "cudaLaunchKernel");
  EXPECT_EQ(launch["pid"], 4242);
  EXPECT_EQ(launch["tid"], 4243);
  EXPECT_EQ(launch["args"]["correlation"], 11);
  EXPECT_EQ(event_of(document, "cuda_driver", "cuLaunchKernel")["args"]["varve"]["captured"], true);

  const json pass = event_of(document, "user_annotation", "decode");
  EXPECT_EQ(pass["args"]["varve"]["kind"], "phase");
  EXPECT_EQ(pass["args"]["varve"]["decode tokens"], 16);
  EXPECT_EQ(event_of(document, "user_annotation", "attention 3")["args"]["varve"]["kind"], "layer");

  std::vector<std::string> rows;
  for (const json& e : document["traceEvents"]) {
    if (e["ph"] == "M" && e["name"] != "process_sort_index") {
      rows.push_back(e["args"]["name"]);
    }
  }
  EXPECT_THAT(rows, ElementsAre("CPU", "engine", "thread 4244", "requests", "GPU 0, GPU \"A\"", "GPU 1",
                                "stream 7", "stream 7"));
}

// Readings are events too, for who looks at them, and come back once.
TEST_F(chrome, gauges_are_tracks_of_counters) {
  varve::trace t = full_trace();
  t.gauges.push_back({1'000'023'000, 0x20, 1, varve::gauge_kind::clock_limits});  // thermal, no power cap
  const json document = json::parse(text_of(t));
  std::vector<json> events;
  for (const json& e : document["traceEvents"]) {
    if (e["ph"] == "C") {
      events.push_back({e["name"], e["pid"], e["ts"], e["args"]});
    }
  }
  EXPECT_THAT(events, ElementsAre(json({"SM clock", 0, 3.0, {{"Hz", 1'980'000'000}}}),
                                  json({"clock limits", 1, 3.0, {{"power cap", 1}, {"thermal", 0}}}),
                                  json({"involuntary switches", 4242, 13.0, {{"switches", -77}}}),
                                  json({"clock limits", 1, 23.0, {{"power cap", 0}, {"thermal", 1}}})));
  EXPECT_EQ(read(write_file(t)).gauges.size(), 4U);
  comes_back(t);
}

// Read as a trace of the PyTorch profiler, which knows no such events, they say nothing and harm nothing.
TEST_F(chrome, gauges_of_a_file_without_its_header_are_passed_over) {
  varve::trace t = full_trace();
  const auto losses = [&] {
    json document = json::parse(text_of(t));
    document.erase("varve");
    std::uint64_t sum = 0;
    for (const varve::loss& l : read(write("foreign.json", document.dump())).losses) {
      sum += l.count;
    }
    return sum;
  };
  const std::uint64_t with = losses();
  t.gauges.clear();
  EXPECT_EQ(with, losses());
}

TEST_F(chrome, an_arrow_leads_from_each_launch_to_what_it_launched) {
  const json document = json::parse(text_of(full_trace()));
  std::vector<std::string> arrows;
  for (const json& e : document["traceEvents"]) {
    if (e["ph"] == "s" || e["ph"] == "f") {
      arrows.push_back(e["ph"].get<std::string>() + " " + e["id"].dump() + " at " + e["ts"].dump());
    }
  }
  // The captured call launched nothing; the copy's call is not in the trace.
  EXPECT_THAT(arrows, ElementsAre("s 11 at 10.0", "f 11 at 12.345", "f 12 at 20.0"));
}

TEST_F(chrome, requests_that_overlap_are_on_rows_of_their_own) {
  varve::trace t;
  for (const auto& [begin, end] : {std::pair{0, 100}, {50, 150}, {100, 200}}) {
    varve::range r;
    r.begin = begin;
    r.end = end;
    r.kind = range_kind::request;
    r.label = t.labels.intern({none, t.strings.intern("chat"), begin, range_kind::request});
    t.ranges.push_back(r);
  }
  const json document = json::parse(text_of(t));
  // The third begins when the first has ended: it follows it.
  EXPECT_EQ(event_of(document, "user_annotation", "chat 0")["tid"], 1'000'000'001);
  EXPECT_EQ(event_of(document, "user_annotation", "chat 50")["tid"], 1'000'000'002);
  EXPECT_EQ(event_of(document, "user_annotation", "chat 100")["tid"], 1'000'000'001);
  comes_back(t);
}

TEST_F(chrome, a_row_of_a_process_is_none_of_a_device) {
  varve::trace t = full_trace();
  t.threads[0].process = 0;  // as the device
  const json document = json::parse(text_of(t));
  EXPECT_NE(event_of(document, "kernel", "gemm<float>")["pid"], 0);
  EXPECT_EQ(event_of(document, "kernel", "gemm<float>")["args"]["device"], 0);
  comes_back(t);
}

TEST_F(chrome, threads_with_the_same_number_stay_apart) {
  varve::trace t = full_trace();
  t.threads[1].id = t.threads[0].id;  // the system gives numbers again
  comes_back(t);
}

TEST_F(chrome, records_without_times_or_that_end_before_they_begin_are_drawn_at_hand_and_come_back) {
  varve::trace t = full_trace();
  t.activities.begin[0] = t.activities.end[0] = 0;
  t.activities.end[1] = t.activities.begin[1] - 5;
  t.calls.end[0] = t.calls.begin[0] - 1;
  EXPECT_THAT(text_of(t), HasSubstr(R"("name":"gemm<float>","pid":0,"tid":7,"ts":0.000,"dur":0.000)"));
  comes_back(t);
  EXPECT_EQ(varve::analyze(read(write_file(t))).quality.untimed, 2);
}

TEST_F(chrome, times_before_the_window_and_far_from_it_come_back) {
  varve::trace t = full_trace();
  t.calls.begin[0] = t.begin - 1;  // 0.001 µs before the base
  EXPECT_THAT(text_of(t), HasSubstr(R"("ts":-0.001)"));
  for (const std::size_t i : {0U, 1U, 2U}) {
    t.activities.begin[i] = -((varve::time_ns{1} << 62) - 1);
    t.activities.end[i] = (varve::time_ns{1} << 62) - 1;
  }
  comes_back(t);
}

TEST_F(chrome, absurd_times_are_cut_to_what_can_be_subtracted) {
  varve::trace t = full_trace();
  t.activities.begin[1] = std::numeric_limits<varve::time_ns>::min();
  t.activities.end[1] = std::numeric_limits<varve::time_ns>::max();
  const varve::trace back = read(write_file(t));
  EXPECT_EQ(back.activities.begin[1], -((varve::time_ns{1} << 62) - 1));
  EXPECT_EQ(back.activities.end[1], (varve::time_ns{1} << 62) - 1);
  EXPECT_EQ(text_of(back), text_of(t));
}

TEST_F(chrome, the_largest_numbers_come_back) {
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  varve::trace t = full_trace();
  t.attributes[0].value = least;
  t.works[0].declared = {most, least, 0, -1};
  t.graph_nodes[0].id = std::numeric_limits<std::uint64_t>::max();
  t.streams[0].context = t.streams[0].stream = std::numeric_limits<std::uint64_t>::max();
  t.threads[0].id = std::numeric_limits<std::uint64_t>::max();
  t.shapes[0].static_shared_memory = t.shapes[0].dynamic_shared_memory = 0xFFFFFFFF;
  t.calls.correlation[0] = 0xFFFFFFFF;
  t.activities.detail[1] = t.activities.detail[2] = t.intern_bytes(most);
  comes_back(t);
}

TEST_F(chrome, hostile_names_come_back_as_they_were) {
  using std::string_literals::operator""s;
  for (const std::string& name :
       {"quote \" backslash \\ slash / \\u0041"s, "\x01\x02\b\f\n\r\t\x1F\x7F"s, "a\0b"s,
        "}]},{\"ph\":\"X\",\"traceEvents\":["s, "ü → \xF0\x9F\x98\x80 \xE2\x80\xA8"s, ""s, "none"s,
        std::string(65536, 'n')}) {
    comes_back(named(name));
  }
}

TEST_F(chrome, bytes_that_are_no_utf_8_become_the_replacement_character) {
  const std::string bad = "a\xFF\xC0\x80z\xED\xA0\x80";  // each byte after a, and after z
  const std::string good = "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD";
  EXPECT_EQ(dump(read(write_file(named(bad)))), dump(named(good)));
  EXPECT_EQ(text_of(named(bad)), text_of(named(good)));
  EXPECT_TRUE(json::accept(text_of(named(bad))));
}

TEST_F(chrome, names_are_cut_to_64_kib_between_characters) {
  const std::string name = std::string(65535, 'n') + "ü";  // 65537 bytes
  EXPECT_EQ(dump(read(write_file(named(name)))), dump(named(std::string(65535, 'n'))));
  EXPECT_EQ(text_of(named(name)), text_of(named(std::string(65535, 'n'))));
}

TEST_F(chrome, labels_that_a_repair_makes_equal_are_one) {
  varve::trace t;
  t.threads.push_back({1, 2, {}});
  for (const char* const name : {"\xFE", "\xFF"}) {
    varve::range r;
    r.end = 10;
    r.thread = 0;
    r.label = t.labels.intern({none, t.strings.intern(name), varve::no_index, range_kind::layer});
    t.ranges.push_back(r);
  }
  const varve::trace back = read(write_file(t));
  EXPECT_EQ(back.labels.size(), 1U);
  EXPECT_EQ(back.ranges[0].label, back.ranges[1].label);
  EXPECT_EQ(text_of(back), text_of(t));
}

TEST_F(chrome, labels_too_deep_to_be_told_become_the_one_around_them_and_are_counted) {
  varve::trace t;
  t.threads.push_back({1, 2, {}});
  std::uint32_t label = none;
  for (std::uint32_t depth = 0; depth < 130; ++depth) {
    varve::range r;
    r.end = 1'000 - depth;
    r.thread = 0;
    r.parent = depth == 0 ? none : depth - 1;
    r.label = label = t.labels.intern({label, t.strings.intern("l"), varve::no_index, range_kind::op});
    t.ranges.push_back(r);
  }
  const varve::trace back = read(write_file(t));
  EXPECT_EQ(back.labels.size(), 128U);
  EXPECT_EQ(back.ranges.size(), 130U);
  EXPECT_EQ(back.ranges[129].label, 127U);
  EXPECT_THAT(back.losses,
              ElementsAre(testing::AllOf(testing::Field(&varve::loss::what, HasSubstr("deeper than 128")),
                                         testing::Field(&varve::loss::count, 2U))));
  EXPECT_EQ(text_of(back), text_of(t));
}

TEST_F(chrome, references_to_nothing_are_written_as_none) {
  varve::trace t = full_trace();
  t.ranges[1].parent = 1;  // itself
  t.ranges[2].label = 99;
  t.calls.range[0] = 77;
  t.calls.thread[0] = 40;
  t.activities.node[0] = 5;
  t.activities.detail[0] = 50;
  t.activities.stream[0] = 65534;  // beyond the table: a meaning of its own
  t.attributes[0].range = none;
  t.requests[0].request = 1000;
  const varve::trace back = read(write_file(t));
  EXPECT_EQ(back.ranges[1].parent, none);
  EXPECT_EQ(back.ranges[2].label, none);
  EXPECT_EQ(back.calls.range[0], none);
  EXPECT_EQ(back.calls.thread[0], varve::narrow_none);
  EXPECT_EQ(back.activities.node[0], none);
  EXPECT_EQ(back.activities.detail[0], none);
  EXPECT_EQ(back.activities.stream[0], 65534);
  EXPECT_EQ(back.requests.size(), t.requests.size() - 1);
  EXPECT_EQ(text_of(back), text_of(read(write_file(back))));
}

TEST_F(chrome, naming_rules_and_pass_inference_leave_it_as_it_is) {
  const varve::trace t = full_trace();
  varve::read_options options;
  options.rules.push_back({"decode|attention", varve::naming_rule::kind::ignore, ""});
  options.layers = 7;
  EXPECT_EQ(dump(varve::read_pytorch(write_file(t), options)), dump(t));
}

TEST_F(chrome, a_stream_that_fails_is_an_error) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_THROW(varve::write_chrome_trace(full_trace(), out), varve::error);
}

}  // namespace
