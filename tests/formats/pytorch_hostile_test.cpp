// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Traces that are damaged or mean harm: a clear error, or a trace whose losses say what is missing.
#include "formats/hostile_traces.hpp"

#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

using pytorch_hostile_test = hostile_traces;

// --- Not JSON ---------------------------------------------------------------------------------------------

TEST_F(pytorch_hostile_test, does_not_look_at_values_that_it_skips) {
  // What SECURITY.md says: of skipped values only strings and the number of brackets are checked.
  const std::string skipped = R"("args": {"x": [1 2}, "y": nonsense : 3, "z" "\q"})";
  const varve::trace t = read_events(event("kernel", R"("ts": 1, "dur": 1)") +
                                     R"(,{"ph": "X", "cat": "cuda_sync", )" + skipped + "}");
  EXPECT_EQ(t.activities.size(), 1U);
  EXPECT_THAT(t.losses, IsEmpty());
  // The encoding of the whole file is checked, and repaired where it is wrong.
  const varve::trace repaired = read_events(event("kernel", R"("ts": 1, "dur": 1)") +
                                            ",{\"ph\": \"X\", \"cat\": \"cuda_sync\", \"name\": \"\xFF\"}");
  EXPECT_THAT(losses(repaired), ElementsAre(Pair("bytes that are not UTF-8: replaced by U+FFFD", 1U)));
}

TEST_F(pytorch_hostile_test, refuses_what_is_beyond_the_parser_before_reading_it) {
  const std::string file = write("t.json", "[");
  std::filesystem::resize_file(file, std::uintmax_t{1} << 32U);  // a hole, that takes no space
  varve::read_options options;
  options.max_unpacked = std::uint64_t{1} << 40U;
  EXPECT_EQ(error_of([&] { static_cast<void>(varve::read_pytorch(file, options)); }),
            "t.json: holds more than 4294967295 bytes, beyond what can be parsed; record fewer steps");
}

TEST_F(pytorch_hostile_test, names_the_byte_of_damaged_json) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"traceEvents": [{"ph": "X"} {"ph": "X"}]})", "byte 29: expected ',' or ']'"},
      {R"({"traceEvents": [{"ph": "X"}}])", "byte 28: unexpected '}'"},
      {R"({"traceEvents": [{"ph" "X"}]})", "byte 23: expected ':'"},
      {R"({"traceEvents": [{7: "X"}]})", "byte 18: expected a key in quotes"},
      {R"({"traceEvents": [{"ph": "X"},]]})", "byte 30: unexpected ']'"},
      {R"({"traceEvents": []} {})", "byte 20: text after the end of the JSON; cut the file here"},
      {R"({"traceEvents": []}])", "byte 19: text after the end of the JSON"},
      {R"({"traceEvents": []} x)", "byte 20: text after the end of the JSON"},
      {"{\"traceEvents\": [1, 2\f3]}", "byte 20: expected a value"},
      {R"({"traceEvents": [tr)", "byte 19: the JSON ends here with 2 brackets open"},
      {"   ", "byte 3: holds no JSON"},
      {"}", "byte 0: unexpected '}'"},
  };
  for (const auto& [json, expected] : cases) {
    EXPECT_THAT(error_of_reading(json), HasSubstr("t.json: " + expected)) << json;
  }
  const std::string packed = write("t.json.gz", gzip(small.substr(0, 100)));
  EXPECT_THAT(error_of([&] { static_cast<void>(varve::read_pytorch(packed)); }),
              HasSubstr("t.json.gz: byte 100 of the unpacked text: the JSON ends here"));
}

TEST_F(pytorch_hostile_test, refuses_json_that_is_no_trace) {
  for (const char* const json : {"{}", "[]", "[1, 2]", "123", "\"text\"", "null", R"({"traceEvents": 5})",
                                 R"({"traceEvents": {"ph": "X"}})", R"({"results": [{"ph": "X"}]})"}) {
    EXPECT_EQ(
        error_of_reading(json),
        "t.json: is JSON but no PyTorch profiler trace: it has no list of \"traceEvents\"; export one with "
        "torch.profiler's export_chrome_trace()")
        << json;
  }
  for (const char* const text : {"SQLite format 3", "hello", "+0", "\x01\x02\x03"}) {
    EXPECT_EQ(error_of_reading(text), "t.json: byte 0: expected a value") << text;
  }
  EXPECT_EQ(error_of_reading("\xFF\xFE{"),
            "t.json: byte 0: a byte-order mark stands before the JSON; save the file as UTF-8 without one");
}

TEST_F(pytorch_hostile_test, survives_any_changed_byte) {
  const std::string path = write("t.json", small);
  std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
  const auto put = [&](std::size_t at, char c) {
    file.seekp(static_cast<std::streamoff>(at)).put(c).flush();
  };
  for (std::size_t at = 0; at < small.size(); ++at) {
    for (const char c : {'\0', '"', '\\', '[', '}', ',', ':', ' ', '-', '9', '\xFF'}) {
      put(at, c);
      try {
        EXPECT_LE(varve::read_pytorch(path).activities.size(), 1U);
      } catch (const varve::error& e) {
        EXPECT_THAT(e.what(), HasSubstr("t.json: ")) << at << ": " << c;
      }
    }
    put(at, small[at]);
  }
}

TEST_F(pytorch_hostile_test, skips_deep_nesting_in_constant_stack) {
  const std::size_t depth = 1'000'000;
  const std::string deep = std::string(depth, '[') + std::string(depth, ']');
  const varve::trace t =
      read_events(event("kernel", "\"ts\": 1, \"dur\": 1, \"args\": {\"x\": " + deep + "}, \"y\": " + deep));
  EXPECT_EQ(t.activities.size(), 1U);
  EXPECT_THAT(error_of_reading(R"({"traceEvents": )" + std::string(depth, '[')),
              HasSubstr("the JSON ends here with 1000001 brackets open"));
}

TEST_F(pytorch_hostile_test, survives_the_seeds_of_the_fuzzer_and_what_it_found) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator{VARVE_FUZZ_SEEDS}) {
    try {
      static_cast<void>(varve::read_pytorch(entry.path().string()));
    } catch (const varve::error& e) {
      EXPECT_THAT(e.what(), HasSubstr(entry.path().filename().string()));
    }
    ++count;
  }
  EXPECT_GE(count, 5U);
}

// --- Texts
// ------------------------------------------------------------------------------------------------

TEST_F(pytorch_hostile_test, repairs_names_that_are_not_utf8) {
  const auto name_of = [&](const std::string& raw) {
    const varve::trace t = read_events(R"({"ph": "X", "cat": "kernel", "name": ")" + raw +
                                       R"(", "pid": 0, "tid": 7, "ts": 1, "dur": 1})");
    return std::pair{std::string{t.strings[t.activities.name.at(0)]}, losses(t)};
  };
  const std::string u = "\xEF\xBF\xBD";
  const std::vector<std::tuple<std::string, std::string, std::uint64_t>> cases{
      {"a\xFFz", "a" + u + "z", 1},
      {"a\xC3", "a" + u, 1},                        // cut off in the middle of a character
      {"\xC0\xAF", u + u, 2},                       // an overlong '/'
      {"\xE0\x80\x80", u + u + u, 3},               // overlong
      {"\xED\xA0\x80", u + u + u, 3},               // half of a surrogate pair
      {"\xF4\x90\x80\x80", u + u + u + u, 4},       // beyond U+10FFFF
      {"\xFE\xE2\x82\xAC", u + "\xE2\x82\xAC", 1},  // a good one follows
      {"\xFE\xF0\x9F\x98\x80", u + "\xF0\x9F\x98\x80", 1},
  };
  for (const auto& [raw, repaired, count] : cases) {
    const auto [name, lost] = name_of(raw);
    EXPECT_EQ(name, repaired);
    EXPECT_THAT(lost, ElementsAre(Pair("bytes that are not UTF-8: replaced by U+FFFD", count)));
  }
  const auto [name, lost] = name_of("tab\there\nand \\\"quotes\\\\");
  EXPECT_EQ(name, "tab here and \"quotes\\");
  EXPECT_THAT(lost, ElementsAre(Pair("bare control characters in strings: replaced by spaces", 2U)));
}

TEST_F(pytorch_hostile_test, names_the_byte_in_the_file_though_texts_were_repaired) {
  EXPECT_THAT(error_of_reading("{\"\xFF\xFF\xFF\": 1, \"traceEvents\": [} "),
              HasSubstr("t.json: byte 27: unexpected '}'"));
}

TEST_F(pytorch_hostile_test, repairs_escapes_that_mean_nothing) {
  const varve::trace t = read_events(
      R"({"ph": "X", "cat": "kernel", "name": "a\ud800z", "pid": 0, "tid": 7, "ts": 1, "dur": 1},
         {"ph": "X", "cat": "kernel", "name": "\udc00\ud83d\u0041", "pid": 0, "tid": 7, "ts": 1, "dur": 1},
         {"ph": "X", "cat": "kernel", "name": "\q\u12", "pid": 0, "tid": 7, "ts": 1, "dur": 1})");
  const std::string u = "\xEF\xBF\xBD";
  EXPECT_EQ(t.strings[t.activities.name.at(0)], "a" + u + "z");
  EXPECT_EQ(t.strings[t.activities.name.at(1)], u + u + "A");
  EXPECT_EQ(t.strings[t.activities.name.at(2)], u + "q" + u + "u12");
  EXPECT_THAT(losses(t), ElementsAre(Pair("names with invalid escapes: repaired", 3U)));
}

TEST_F(pytorch_hostile_test, keeps_control_characters_for_the_writers_to_strip) {
  const varve::trace t = read_events(
      R"({"ph": "X", "cat": "kernel", "name": "\u001b[31mred\u0000", "pid": 0, "tid": 7, "ts": 1, "dur": 1})");
  EXPECT_EQ(t.strings[t.activities.name.at(0)], std::string("\x1B[31mred\0", 9));
  EXPECT_THAT(t.losses, IsEmpty());
}

TEST_F(pytorch_hostile_test, cuts_long_names_between_characters) {
  // 65535 letters and a character of 3 bytes, which does not fit into 65536.
  const std::string letters(65'535, 'x');
  const varve::trace t = read_events(R"({"ph": "X", "cat": "kernel", "name": ")" + letters + "\xE2\x82\xAC" +
                                     R"(", "pid": 0, "tid": 7, "ts": 1, "dur": 1})");
  EXPECT_EQ(t.strings[t.activities.name.at(0)], letters);
  EXPECT_THAT(losses(t), ElementsAre(Pair("names cut to 65536 bytes", 1U)));
}

TEST_F(pytorch_hostile_test, ignores_a_byte_order_mark) {
  EXPECT_EQ(read("\xEF\xBB\xBF" + small).activities.size(), 1U);
}

// --- Values
// -----------------------------------------------------------------------------------------------

TEST_F(pytorch_hostile_test, skips_and_counts_what_is_no_event) {
  const varve::trace t = read_events(R"(5, "x", null, [1], true, {}, {"ph": "X"}, {"cat": "kernel"})");
  EXPECT_EQ(t.activities.size(), 0U);
  EXPECT_THAT(losses(t), ElementsAre(Pair("events skipped: a phase (\"ph\") other than X", 1U),
                                     Pair("events skipped: not a JSON object", 5U)));
}

TEST_F(pytorch_hostile_test, counts_phases_that_it_does_not_read) {
  const varve::trace t = read_events(
      R"({"ph": "B", "cat": "user_annotation", "name": "n", "pid": 0, "tid": 7, "ts": 1},
         {"ph": "E", "cat": "user_annotation", "name": "n", "pid": 0, "tid": 7, "ts": 2},
         {"ph": 7, "cat": "kernel", "name": "n", "pid": 0, "tid": 7, "ts": 2})");
  EXPECT_THAT(losses(t), ElementsAre(Pair("events skipped: a phase (\"ph\") other than X", 3U)));
}

TEST_F(pytorch_hostile_test, skips_and_counts_events_without_a_valid_time) {
  std::string events;
  std::uint64_t count = 0;
  for (const char* const bad : {"NaN", "Infinity", "-Infinity", "null", "true", "\"12\"", "[1]", "{}",
                                "1.2.3", "12abc", "-", "1.", ".5", "+1", "1e", "1e+", "0x10", "1,2"}) {
    if (std::string{bad} != "1,2") {  // that one is no JSON
      events += event("kernel", std::string{"\"ts\": "} + bad + ", \"dur\": 1") + ",";
      events += event("kernel", std::string{"\"ts\": 1, \"dur\": "} + bad) + ",";
      count += 2;
    }
  }
  events += event("kernel", "\"ts\": 1") + "," + event("kernel", "\"dur\": 1") + "," +
            event("cuda_runtime", "\"ts\": \"x\", \"dur\": 1") + "," + event("user_annotation", "\"ts\": 1");
  count += 4;
  const varve::trace t = read_events(events);
  EXPECT_EQ(t.activities.size() + t.calls.size() + t.ranges.size(), 0U);
  EXPECT_THAT(losses(t), ElementsAre(Pair("events skipped: no valid time", count)));
}

TEST_F(pytorch_hostile_test, skips_and_counts_times_out_of_range) {
  std::string events;
  for (const char* const bad : {"1e300", "-1e300", "99999999999999999999999999", "9223372036854775.807",
                                "4611686018427387.904", "-4611686018427387.904", "1e16"}) {
    events += event("kernel", std::string{"\"ts\": "} + bad + ", \"dur\": 0") + ",";
  }
  // The begin and the duration fit, their sum does not; then an extreme pair that does.
  events += event("kernel", R"("ts": 4611686018427387.903, "dur": 0.001)") + "," +
            event("kernel", R"("ts": 1, "dur": 1e300)") + "," +
            event("kernel", R"("ts": -4611686018427387.903, "dur": 0)");
  const varve::trace t = read_events(events);
  EXPECT_THAT(t.activities.begin, ElementsAre(-4'611'686'018'427'387'903));
  EXPECT_THAT(losses(t), ElementsAre(Pair("events skipped: time out of range", 9U)));
}

TEST_F(pytorch_hostile_test, durations_never_add_up_to_an_overflow) {
  // 2^60 ns each: three add up to less than 2^62, the fourth would reach it.
  const std::string long_one = event("kernel", R"("ts": 0, "dur": 1152921504606846.976)");
  const varve::trace t = read_events(long_one + "," + long_one + "," + long_one + "," + long_one);
  EXPECT_EQ(t.activities.size(), 3U);
  EXPECT_THAT(losses(t), ElementsAre(Pair("events skipped: time out of range", 1U)));
}

TEST_F(pytorch_hostile_test, skips_and_counts_negative_durations) {
  const varve::trace t = read_events(event("kernel", R"("ts": 5, "dur": -1)") + "," +
                                     event("user_annotation", R"("ts": 5, "dur": -0.001)") + "," +
                                     event("kernel", R"("ts": -5, "dur": 1)"));
  EXPECT_THAT(t.activities.begin, ElementsAre(-5000));  // before the base: odd, but a time
  EXPECT_THAT(losses(t), ElementsAre(Pair("events skipped: negative duration", 2U)));
}

TEST_F(pytorch_hostile_test, leaves_times_relative_to_a_base_that_cannot_be) {
  for (const char* const base :
       {"\"x\"", "null", "1e40", "9223372036854775807", "-9223372036854775807", "[]"}) {
    const varve::trace t = read(R"({"baseTimeNanoseconds": )" + std::string{base} + R"(, "traceEvents": [)" +
                                event("kernel", R"("ts": 1, "dur": 1)") + "]}");
    EXPECT_THAT(t.activities.begin, ElementsAre(1000)) << base;
    EXPECT_THAT(losses(t), ElementsAre(Pair("invalid baseTimeNanoseconds: times stay relative", 1U))) << base;
  }
}

TEST_F(pytorch_hostile_test, skips_activities_without_a_place) {
  const std::string head = R"({"ph": "X", "cat": "kernel", "name": "n", "ts": 1, "dur": 1, )";
  const varve::trace t = read_events(
      head + R"("pid": "Spans", "tid": 7},)" + head + R"("pid": -1, "tid": 7},)" + head + R"("tid": 7},)" +
      head + R"("pid": 0},)" + head + R"("pid": 0, "tid": 7, "args": {"device": "x", "stream": 7}},)" + head +
      R"("pid": 0, "tid": 7, "args": {"device": 4294967295, "stream": 7}},)" + head +
      R"("pid": 0, "tid": 7, "args": {"device": 0, "stream": [7]}},)" + head +
      R"("pid": 0, "tid": 7, "args": {"device": 0, "stream": 7, "context": 1.5}})");
  EXPECT_EQ(t.activities.size(), 0U);
  EXPECT_THAT(losses(t), ElementsAre(Pair("events skipped: no valid device and stream", 8U)));
}

TEST_F(pytorch_hostile_test, keeps_calls_of_unknown_threads_but_joins_them_to_nothing) {
  const std::string head =
      R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 1, "dur": 1, )";
  const varve::trace t = read_events(
      head + R"("pid": 0},)" + head + R"("pid": [0], "tid": 7},)" + head + R"("pid": 0, "tid": 1.5},)" +
      R"({"ph": "X", "cat": "user_annotation", "name": "a", "ts": 0, "dur": 9},)" +
      R"({"ph": "X", "cat": "user_annotation", "name": "b", "ts": 0, "dur": 9})");
  EXPECT_EQ(t.calls.size(), 3U);
  EXPECT_THAT(t.calls.range, testing::Each(varve::none));
  ASSERT_EQ(t.ranges.size(), 2U);
  EXPECT_EQ(t.ranges[1].parent, varve::none);
  EXPECT_THAT(
      losses(t),
      ElementsAre(Pair("calls and annotations without a valid process and thread: joined to nothing", 5U)));
}

TEST_F(pytorch_hostile_test, keeps_events_without_a_name) {
  const varve::trace t = read_events(
      R"({"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "ts": 1, "dur": 1},
         {"ph": "X", "cat": "kernel", "name": 5, "pid": 0, "tid": 7, "ts": 1, "dur": 1},
         {"ph": "X", "cat": "cuda_runtime", "name": [], "pid": 0, "tid": 7, "ts": 1, "dur": 1},
         {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": 5}})");
  ASSERT_EQ(t.activities.size(), 2U);
  EXPECT_EQ(t.strings[t.activities.name[0]], "(unnamed)");
  EXPECT_EQ(t.calls.kind.at(0), varve::call_kind::other);
  EXPECT_THAT(losses(t), ElementsAre(Pair("events without a valid name: named \"(unnamed)\"", 4U)));
}

TEST_F(pytorch_hostile_test, takes_no_frame_without_a_name_for_a_module) {
  const varve::trace t = read_events(
      R"({"ph": "X", "cat": "python_function", "pid": 1, "tid": 1, "ts": 1, "dur": 1},
         {"ph": "X", "cat": "python_function", "name": 5, "pid": 1, "tid": 1, "ts": 1, "dur": 1},
         {"ph": "X", "cat": "python_function", "name": "nn.Module: ", "pid": 1, "tid": 1, "ts": 1, "dur": 1})");
  EXPECT_EQ(t.ranges.size(), 1U);
  EXPECT_THAT(t.losses, IsEmpty());
}

TEST_F(pytorch_hostile_test, repairs_and_counts_invalid_arguments) {
  const std::string when = "\"ts\": 1, \"dur\": 1, \"args\": ";
  const varve::trace t = read_events(
      event("kernel", when + R"({"correlation": "x", "graph node id": "y"})") + "," +
      event("kernel", when + R"({"correlation": 1.5})") + "," +
      event("kernel", when + R"({"grid": [1, 2]})") + "," +
      event("kernel", when + R"({"grid": [1, 2, 3, 4], "block": [1, 1, 1]})") + "," +
      event("kernel", when + R"({"grid": [1, 2, -3], "block": [1, 1, 1]})") + "," +
      event("kernel", when + R"({"grid": [1, 2, 4294967296], "block": [1, 1, 1]})") + "," +
      event("kernel", when + R"({"grid": "1,2,3", "block": [1, 1, 1]})") + "," +
      event("kernel", when + R"({"grid": [1, 2, 3], "block": [1, 1, 1], "registers per thread": -1})") + "," +
      event("kernel", when + "[]") + "," + event("gpu_memcpy", when + R"({"bytes": -1})") + "," +
      event("gpu_memcpy", when + R"({"bytes": 4611686018427387904})") + "," +
      event("gpu_memcpy", when + R"({"bytes": "big"})"));
  EXPECT_EQ(t.activities.size(), 12U);
  EXPECT_THAT(t.activities.detail, testing::Each(varve::none));
  EXPECT_THAT(t.activities.correlation, testing::Each(0U));
  EXPECT_THAT(losses(t),
              ElementsAre(Pair("copies and sets with an invalid size: taken as unknown", 3U),
                          Pair("events whose \"args\" are not a JSON object: taken as none", 1U),
                          Pair("invalid correlation ids: taken as none", 2U),
                          Pair("invalid graph node ids: taken as none", 1U),
                          Pair("kernels with an invalid grid, block or resources: taken as unknown", 6U)));
}

TEST_F(pytorch_hostile_test, takes_the_first_of_repeated_keys_and_counts_the_others) {
  const varve::trace t = read(
      R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "first", "name": "second", "pid": 0, "tid": 7,
          "ts": 1, "ts": 2, "dur": 1, "cat": "cpu_op", "args": {"correlation": 1, "correlation": 2,
          "grid": [1, 1, 1], "grid": [2, 2, 2], "block": [1, 1, 1]}}], "traceEvents": []})");
  ASSERT_EQ(t.activities.size(), 1U);
  EXPECT_EQ(t.strings[t.activities.name[0]], "first");
  EXPECT_EQ(t.activities.begin[0], 1000);
  EXPECT_EQ(t.activities.correlation[0], 1U);
  EXPECT_EQ(t.shapes.at(t.activities.detail[0]).grid[0], 1U);
  EXPECT_THAT(losses(t), ElementsAre(Pair("repeated keys: the first one counts", 6U)));
}

TEST_F(pytorch_hostile_test, leaves_out_devices_that_make_no_sense) {
  const varve::trace t = read(
      R"({"deviceProperties": [5, {}, {"id": -1}, {"id": "0"}, {"id": 4294967295},
          {"id": 2, "name": 7, "numSms": 99999999999, "computeMajor": "x", "totalGlobalMem": -5},
          {"id": 2, "name": "again"}], "distributedInfo": 5, "schemaVersion": {}, "traceEvents": []})");
  ASSERT_EQ(t.devices.size(), 1U);
  EXPECT_EQ(t.devices[0].id, 2U);
  EXPECT_EQ(t.devices[0].name, "");
  EXPECT_EQ(t.devices[0].multiprocessors, 0);
  EXPECT_EQ(t.devices[0].compute_capability, 0);
  EXPECT_EQ(t.devices[0].memory_bytes, 0);
  EXPECT_EQ(t.collectors.at(0).version, "");
  EXPECT_THAT(losses(t), ElementsAre(Pair("invalid entries of deviceProperties: left out", 6U)));
}

// --- Masses
// -----------------------------------------------------------------------------------------------

TEST_F(pytorch_hostile_test, keeps_128_levels_of_a_hundred_thousand_nested_annotations) {
  std::string events;
  const int depth = 100'000;
  for (int i = 0; i < depth; ++i) {
    events += event("user_annotation",
                    "\"ts\": " + std::to_string(i) + ", \"dur\": " + std::to_string(2 * (depth - i) + 1)) +
              ",";
  }
  events += event("cuda_runtime", "\"ts\": " + std::to_string(depth) + ", \"dur\": 0");
  const varve::trace t = read_events(events);
  EXPECT_EQ(t.ranges.size(), 128U);
  EXPECT_EQ(t.calls.range.at(0), 127U);  // the innermost that is kept
  EXPECT_THAT(
      losses(t),
      ElementsAre(Pair("annotations nested deeper than 128, or in paths of more than 4096 bytes: left out",
                       depth - 128U)));
}

TEST_F(pytorch_hostile_test, bounds_the_length_of_paths) {
  // Names of 2000 bytes: two levels make 4000, a third one would pass 4096.
  const std::string name(2000, 'x');
  std::string events;
  for (int i = 0; i < 5; ++i) {
    events +=
        R"({"ph": "X", "cat": "user_annotation", "name": ")" + name + R"(", "pid": 0, "tid": 7, "ts": )";
    events += std::to_string(i) + R"(, "dur": )" + std::to_string(100 - 2 * i) + "},";
  }
  const varve::trace t = read_events(events + event("cuda_runtime", R"("ts": 50, "dur": 0)"));
  EXPECT_EQ(t.ranges.size(), 2U);
  EXPECT_EQ(t.calls.range.at(0), 1U);
  EXPECT_THAT(losses(t),
              ElementsAre(Pair("annotations nested deeper than 128, or in paths of more than 4096 bytes: "
                               "left out",
                               3U)));
}

TEST_F(pytorch_hostile_test, reads_a_hundred_thousand_crossing_annotations) {
  std::string events;
  const int count = 100'000;
  for (int i = 0; i < count; ++i) {
    events +=
        (i == 0 ? "" : ",") + event("user_annotation", "\"ts\": " + std::to_string(i) + ", \"dur\": 1000.5");
  }
  const varve::trace t = read_events(events);
  EXPECT_EQ(t.ranges.size(), static_cast<std::size_t>(count));
  EXPECT_THAT(losses(t),
              ElementsAre(Pair("annotations that overlap another without nesting: taken as its siblings",
                               count - 1U)));
}

TEST_F(pytorch_hostile_test, counts_threads_and_streams_beyond_its_tables) {
  std::string events;
  for (int i = 0; i < 65'537; ++i) {
    const std::string place = R"("pid": 0, "tid": )" + std::to_string(i) + R"(, "ts": 1, "dur": 1},)";
    events.append(R"({"ph": "X", "cat": "cuda_runtime", "name": "f", )").append(place);
    events.append(R"({"ph": "X", "cat": "kernel", "name": "k", )").append(place);
  }
  events += event("cuda_runtime", R"("ts": 1, "dur": 1)");
  const varve::trace t = read_events(events);
  EXPECT_EQ(t.calls.size(), 65'538U);
  EXPECT_EQ(t.activities.size(), 65'537U);
  EXPECT_EQ(t.threads.size(), 65'534U);
  EXPECT_EQ(t.streams.size(), 65'534U);
  EXPECT_EQ(std::count(t.calls.thread.begin(), t.calls.thread.end(), varve::narrow_none), 3);
  EXPECT_EQ(t.calls.thread.back(), 7);  // known ones are still found
  EXPECT_THAT(
      losses(t),
      ElementsAre(Pair("activities of streams beyond the first 65534: taken as one stream", 3U),
                  Pair("calls and annotations of threads beyond the first 65534: joined to nothing", 3U)));
}

}  // namespace
