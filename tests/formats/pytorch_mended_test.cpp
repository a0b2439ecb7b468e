// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Traces that end early or are no JSON in some small way: read as far as they go, and what is missing is
// said.
#include "formats/hostile_traces.hpp"

#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

using pytorch_mended_test = hostile_traces;

TEST_F(pytorch_mended_test, reads_up_to_the_last_whole_event_wherever_a_trace_is_cut_off) {
  const std::vector<std::size_t> begins{small.find("{\"ph\""), small.find("{\"ph\"", 100),
                                        small.find("{\"ph\"", 300)};
  const std::vector<std::size_t> ends{small.find("3}}") + 3, small.find("6]}}") + 4, small.find("20}\n") + 3};
  const std::string file = write("t.json", small);
  for (std::size_t size = small.size() - 1; size > 0; --size) {
    std::filesystem::resize_file(file, size);
    const auto whole = static_cast<std::size_t>(
        std::count_if(ends.begin(), ends.end(), [&](std::size_t end) { return end <= size; }));
    const std::string at = "at byte " + std::to_string(size);
    if (whole == 0) {
      const std::string message = error_of([&] { static_cast<void>(varve::read_pytorch(file)); });
      EXPECT_THAT(message, HasSubstr("t.json: byte " + std::to_string(size) + ": the JSON ends here "))
          << size;
      EXPECT_THAT(message, HasSubstr("the file is incomplete; copy it again, or record again")) << size;
      continue;
    }
    const varve::trace t = varve::read_pytorch(file);
    EXPECT_EQ(t.calls.size(), 1U) << size;
    EXPECT_EQ(t.activities.size(), whole >= 2 ? 1U : 0U) << size;
    EXPECT_EQ(t.ranges.size(), whole >= 3 ? 1U : 0U) << size;
    EXPECT_EQ(t.calls.begin[0], 1500) << size;  // the base time is never read whole
    const bool inside = whole < 3 && size > begins[whole];
    EXPECT_THAT(losses(t), ElementsAre(Pair(
                               inside ? "the file ends in the middle of event " + std::to_string(whole + 1) +
                                            ", " + at + ": what follows is missing"
                                      : "the file ends after event " + std::to_string(whole) + ", " + at +
                                            ", without closing its brackets: what follows, if anything, is "
                                            "missing",
                               1U)))
        << size;
  }
  EXPECT_THAT(error_of_reading(small.substr(0, 40)), HasSubstr("ends here with 2 brackets open"));
  EXPECT_THAT(error_of_reading(small.substr(0, 60)),
              HasSubstr("ends here inside the string that begins at byte 59"));
}

TEST_F(pytorch_mended_test, reads_a_list_of_events_that_is_never_closed) {
  // As Chrome and others write while they record: the bracket may never come.
  const std::string one = event("kernel", R"("ts": 1, "dur": 1)");
  for (const std::string& text : {"[" + one, "[" + one + ",", "[" + one + ",\n"}) {
    const varve::trace t = read(text);
    EXPECT_EQ(t.activities.size(), 1U);
    EXPECT_THAT(losses(t),
                ElementsAre(Pair("the file ends after event 1, at byte " + std::to_string(text.size()) +
                                     ", without closing its brackets: what follows, if anything, is missing",
                                 1U)));
  }
  // What stands behind the list is used as far as it is whole.
  const varve::trace t =
      read("{\"traceEvents\": [" + one + "], \"baseTimeNanoseconds\": 5, \"traceName\": \"/tm");
  EXPECT_THAT(t.activities.begin, ElementsAre(1005));
  EXPECT_EQ(t.losses.size(), 1U);
  EXPECT_THAT(error_of_reading("[5, 6, "), HasSubstr("byte 7: the JSON ends here with 1 bracket open"));
}

TEST_F(pytorch_mended_test, reads_as_much_as_a_cut_gzip_stream_holds) {
  std::string events;
  for (int i = 0; i < 1000; ++i) {
    events +=
        (i == 0 ? "" : ",") + event("kernel", "\"ts\": " + std::to_string(i * 7919 % 1000) + ", \"dur\": 1");
  }
  const std::string whole = gzip("{\"traceEvents\": [" + events + "]}");
  const varve::trace half = varve::read_pytorch(write("t.json.gz", whole.substr(0, whole.size() / 2)));
  EXPECT_GT(half.activities.size(), 100U);
  EXPECT_LT(half.activities.size(), 1000U);
  ASSERT_EQ(half.losses.size(), 1U);
  EXPECT_THAT(half.losses[0].what, HasSubstr(" of the unpacked text: what follows is missing"));
  // Only the checksum is cut off.
  const varve::trace all = varve::read_pytorch(write("u.json.gz", whole.substr(0, whole.size() - 1)));
  EXPECT_EQ(all.activities.size(), 1000U);
  EXPECT_THAT(
      losses(all),
      ElementsAre(Pair("byte " + std::to_string(whole.size() - 1) +
                           ": unexpected end of gzip stream: the file is incomplete; copy or record it again",
                       1U)));
  EXPECT_EQ(
      error_of([&] { static_cast<void>(varve::read_pytorch(write("v.json.gz", whole.substr(0, 30)))); }),
      "v.json.gz: byte 30: unexpected end of gzip stream: the file is incomplete; copy or record it again");
}

TEST_F(pytorch_mended_test, ignores_and_counts_trailing_commas) {
  const std::string one =
      event("kernel", R"("ts": 1, "dur": 1, "args": {"grid": [1, 2, 3,], "block": [1, 1, 1], },)");
  for (const auto& [text, count] : std::vector<std::pair<std::string, std::uint64_t>>{
           {"{\"traceEvents\": [" + one + "]}", 3},
           {"{\"traceEvents\": [" + one + ",]}", 4},
           {"{\"deviceProperties\": [{\"id\": 0},], \"traceEvents\": [" + one + " , ] , }", 6},
           {"[" + one + ", ]", 4},
           {"[" + event("kernel", R"("ts": 1, "dur": 1, "args": {"grid": [1, 2, 3], "block": [1, 1, 1]})") +
                ",]",
            1},
       }) {
    const varve::trace t = read(text);
    ASSERT_EQ(t.activities.size(), 1U) << text;
    EXPECT_EQ(t.shapes.at(t.activities.detail[0]).grid[2], 3U) << text;
    EXPECT_THAT(losses(t),
                ElementsAre(Pair("commas after the last member of an object or array: ignored", count)))
        << text;
  }
  EXPECT_THAT(error_of_reading("{\"traceEvents\": [" + event("kernel", "\"ts\": 1, \"dur\": 1") + ",,]}"),
              HasSubstr("expected a value"));
}

TEST_F(pytorch_mended_test, mends_commas_texts_and_a_cut_tail_of_one_file) {
  const std::string cut =
      "[{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"a\xFFz\", \"pid\": 0, \"tid\": 7, \"ts\": 1, "
      "\"dur\": 1,}, {\"ph\": \"X\", \"name\": \"\xFF";
  const varve::trace t = read(cut);
  ASSERT_EQ(t.activities.size(), 1U);
  EXPECT_EQ(t.strings[t.activities.name[0]], "a\xEF\xBF\xBDz");
  EXPECT_THAT(losses(t), ElementsAre(Pair("bytes that are not UTF-8: replaced by U+FFFD", 1U),
                                     Pair("commas after the last member of an object or array: ignored", 1U),
                                     Pair("the file ends in the middle of event 2, at byte " +
                                              std::to_string(cut.size()) + ": what follows is missing",
                                          1U)));
}

TEST_F(pytorch_mended_test, takes_bare_words_where_a_number_has_no_value) {
  // As old Kineto wrote bandwidths and occupancies; a text that has to be mended is no obstacle.
  for (const char* const end : {"]", ",]"}) {
    std::string events;
    for (const char* const word :
         {"inf", "-inf", "nan", "-nan", "NaN", "Infinity", "-Infinity", "-nan(ind)"}) {
      const std::string bandwidth = "\"memory bandwidth (GB/s)\": " + std::string{word};
      events += (events.empty() ? "" : ",") +
                event("gpu_memcpy", R"("ts": 1, "dur": 1, "args": {)" + bandwidth + R"(, "bytes": 64})");
    }
    const varve::trace t = read("[" + events + end);
    EXPECT_EQ(t.activities.size(), 8U);
    EXPECT_EQ(t.bytes, std::vector<std::int64_t>{64});
    EXPECT_EQ(t.losses.size(), std::string{end}.size() - 1);
  }
  EXPECT_THAT(error_of_reading("{\"traceEvents\": [nonsense,]"), HasSubstr("byte 17: expected a value"));
}

}  // namespace
