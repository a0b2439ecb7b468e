// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Traces longer than the window that they are read through: the same comes out as of the same text taken as a
// whole. A comma too many makes the reader do that, and that it says.
#include "formats/event_text.hpp"
#include "formats/hostile_traces.hpp"
#include "formats/input/window.hpp"

#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using varve::input::last_seam;

TEST(last_seam, lies_between_two_objects_and_in_no_string) {
  const auto seam = last_seam(R"([{"a": 1}, {"b": 2},  {"c": 3)");
  ASSERT_TRUE(seam);
  EXPECT_EQ(seam->end, 19U);
  EXPECT_EQ(seam->next, 22U);
  // What looks like one in a string is followed by the quote that ends the string, or by an escaped one.
  EXPECT_FALSE(last_seam(R"([{"a": "}, {", "b": "}, {\"c\""}])"));
  EXPECT_FALSE(last_seam(R"([{"a": 1}, {)"));
  EXPECT_FALSE(last_seam(R"([{"a": 1}, {")"));
  EXPECT_FALSE(last_seam(R"([{"a": 1} {"b": 1}])"));
  EXPECT_FALSE(last_seam(R"({"a": {"b": 1}})"));
  EXPECT_FALSE(last_seam(R"(,{"b": 1})"));
  EXPECT_FALSE(last_seam(""));
}

class pytorch_long_test : public hostile_traces {
 protected:
  /// Launches, kernels and annotations, `bytes` of them or a little more.
  static std::string events(std::size_t bytes, const std::string& args = "") {
    std::string out;
    for (int i = 1; out.size() < bytes; ++i) {
      const int at = 10 * i;
      out += (i == 1 ? "" : ",\n") + event_text::annotation("layer_" + std::to_string(i % 7), 51, at, at + 9);
      out += ", " + event_text::launch(51, at + 1, at + 2, i);
      out += ",\n\t" + event_text::kernel("gemm_" + std::to_string(i % 5), at + 3, at + 8, i, args);
    }
    return out;
  }

  struct read_result {
    varve::trace trace;
    std::vector<std::uint64_t> progress;
  };
  read_result read(const std::string& text) {
    read_result out;
    varve::read_options options;
    options.progress = [&](std::uint64_t done, std::uint64_t) { out.progress.push_back(done); };
    out.trace = varve::read_pytorch(write("t.json", text), options);
    return out;
  }

  /// `text` holds one '~', which stands for a place where a comma is too many.
  void expect_same(const std::string& text, bool in_pieces = true,
                   std::size_t most_at_once = 5 * window / 2) {
    std::string piecewise = text;
    piecewise.erase(piecewise.find('~'), 1);
    std::string whole = text;
    whole[whole.find('~')] = ',';
    const read_result a = read(piecewise);
    const read_result b = read(whole);
    EXPECT_THAT(losses(b.trace),
                ElementsAre(Pair("commas after the last member of an object or array: ignored", 1U)));
    EXPECT_THAT(a.trace.losses, IsEmpty());
    // Who takes all at once has nothing to tell between the first window and three quarters.
    std::uint64_t gap = 0;
    for (std::size_t i = 1; i < a.progress.size(); ++i) {
      gap = std::max(gap, a.progress[i] - a.progress[i - 1]);
    }
    EXPECT_EQ(gap <= most_at_once, in_pieces) << gap;
    ASSERT_GT(a.trace.activities.size(), 1000U);
    EXPECT_EQ(a.trace.activities.begin, b.trace.activities.begin);
    EXPECT_EQ(a.trace.activities.correlation, b.trace.activities.correlation);
    EXPECT_EQ(a.trace.calls.begin, b.trace.calls.begin);
    EXPECT_EQ(a.trace.calls.range, b.trace.calls.range);
    ASSERT_EQ(a.trace.ranges.size(), b.trace.ranges.size());
    ASSERT_EQ(a.trace.activities.size(), b.trace.activities.size());
    for (std::size_t i = 0; i < a.trace.activities.size(); ++i) {
      ASSERT_EQ(a.trace.strings[a.trace.activities.name[i]], b.trace.strings[b.trace.activities.name[i]])
          << i;
    }
    EXPECT_EQ(a.trace.rank, b.trace.rank);
    ASSERT_EQ(a.trace.devices.size(), b.trace.devices.size());
    EXPECT_EQ(a.trace.devices[0].name, b.trace.devices[0].name);
    EXPECT_EQ(a.trace.collectors[0].version, b.trace.collectors[0].version);
  }

  static constexpr std::size_t window = varve::input::window::usual;
  const std::string about =
      R"("schemaVersion": 1, "baseTimeNanoseconds": 1000, "distributedInfo": {"rank": 3},
    "deviceProperties": [{"id": 0, "name": "A"}, {"id": 1, "name": "B"}])";
};

TEST_F(pytorch_long_test, an_object_with_its_list_in_the_middle) {
  expect_same("{" + about + R"(, "traceEvents": [)" + events(3 * window) + R"(], "traceName": "x"~})");
}

TEST_F(pytorch_long_test, wherever_the_end_of_the_list_falls_into_the_window) {
  const std::string begin = "{" + about + R"(, "traceEvents": [)";
  const std::string list = events(2 * window - begin.size() - 600);
  for (std::size_t more = 0; more < 1200; more += 43) {
    expect_same(begin + list + std::string(more, ' ') +
                R"(], "a": [{"b": 1}, {"c": 2}] , "traceName": "x"~})");
  }
}

TEST_F(pytorch_long_test, an_array) {
  expect_same("[" + events(3 * window) + "~]");
  expect_same("\xEF\xBB\xBF \n[" + events(2 * window) + "~]");
}

TEST_F(pytorch_long_test, a_list_after_much_else) {
  const std::string filler = R"({"note": [{"text": ")" + std::string(2 * window, 'x') + R"("}, {"n": 1}], )";
  expect_same(filler + about + R"(, "traceEvents": [)" + events(2 * window) + "~]}");
  // Where the key of the list stands in a text, before the list itself.
  const std::string decoy = R"({"note": [{"text": "\"traceEvents\""}, {"x": "traceEvents"}], "more": [)";
  std::string objects = R"({"n": 1})";
  while (objects.size() < 2 * window) {
    objects += R"(, {"n": 1, "traceEvents": 2})";
  }
  expect_same(decoy + objects + "], " + about + R"(, "traceEvents": [)" + events(8 * window) + "~]}", false);
}

TEST_F(pytorch_long_test, much_else_after_the_list) {
  std::string objects = R"({"n": 1})";
  while (objects.size() < 2 * window) {
    objects += R"(, {"ph": "X", "cat": "kernel", "name": "none", "ts": 1, "dur": 1})";
  }
  expect_same(R"({"traceEvents": [)" + events(window / 2 + 400000) + R"(], "others": [)" + objects + "], " +
              about + "~}");
  expect_same(R"({"traceEvents": [)" + events(3 * window) + R"(], "others": [)" + objects + "], " + about +
              "~}");
}

TEST_F(pytorch_long_test, objects_in_lists_in_events) {
  // A seam inside an event: the text is taken as a whole.
  std::string nested = R"("stack": [{"f": "}, {\"a\""}, {"g": [{"h": 1}, {"i": "}]}"}]})";
  for (int i = 0; i < 100; ++i) {
    nested += R"(, {"f": 1})";
  }
  nested += "]";
  expect_same("{" + about + R"(, "traceEvents": [)" + events(8 * window, nested) + "~]}", false);
}

TEST_F(pytorch_long_test, an_event_longer_than_the_window) {
  expect_same("{" + about + R"(, "traceEvents": [)" + events(2 * window) + "," +
                  event_text::op("long", 51, 1, 2, R"("text": ")" + std::string(5 * window, 'x') + '"') +
                  "," + events(window) + "~]}",
              true, 4 * window);
}

TEST_F(pytorch_long_test, a_text_after_the_end_is_damage) {
  const std::string good = R"({"traceEvents": [)" + events(2 * window) + "]}";
  EXPECT_EQ(error_of_reading(good + " x"),
            "t.json: byte " + std::to_string(good.size() + 1) +
                ": text after the end of the JSON; cut the file here or record it again");
  EXPECT_EQ(error_of_reading("[" + events(2 * window) + "]]"),
            "t.json: byte " + std::to_string(2 + events(2 * window).size()) +
                ": text after the end of the JSON; cut the file here or record it again");
}

}  // namespace
