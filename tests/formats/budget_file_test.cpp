// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/budget.hpp>
#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "formats/input_files.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using varve::budget;
using varve::budget_of;
using varve::budget_outcome;
using varve::budget_status;

class budget_file : public input_files {
 protected:
  [[nodiscard]] budget read(const std::string& text) const {
    return varve::read_budget(write("budget.json", text));
  }
  [[nodiscard]] std::string error_in(const std::string& text) const {
    const std::string file = write("budget.json", text);
    const std::string whole = error_of([&] { static_cast<void>(varve::read_budget(file)); });
    EXPECT_THAT(whole, StartsWith("budget.json: "));
    return whole.substr(std::min<std::size_t>(whole.size(), 13));
  }
  /// Of a budget whose second entry is this.
  [[nodiscard]] std::string error_of_entry(const std::string& entry) const {
    return error_in(R"({"varve_budget": 1, "entries": [{"figure": "step", "at_most": "1 ms"}, )" + entry +
                    "]}");
  }
};

TEST_F(budget_file, written_by_hand_is_read) {
  const budget b = read(R"({
    "varve_budget": 1,
    "source": "by hand",
    "least_attributed": "90 %",
    "entries": [
      {"name": "decode step", "phase": "decode", "figure": "step.p95", "at_most": "12 ms", "least_passes": 8},
      {"layer": "layer * / attention", "model": "draft", "device": 1, "figure": "gpu_time", "at_most": "200us"},
      {"kernel": "*gemm*", "figure": "efficiency", "at_least": 0.6},
      {"layer": "**", "figure": "allocations", "at_most": 0},
      {"figure": "tokens_per_second", "max_change": "-5 %"},
      {"figure": "attributed", "at_least": "95 %", "at_most": 1}
    ]
  })");
  EXPECT_EQ(b.source, "by hand");
  EXPECT_EQ(b.least_attributed, 0.9);
  ASSERT_EQ(b.entries.size(), 6U);
  EXPECT_EQ(b.entries[0].name, "decode step");
  EXPECT_EQ(b.entries[0].where.of, budget_of::phase);
  EXPECT_EQ(b.entries[0].where.phase, "decode");
  EXPECT_EQ(b.entries[0].at_most, 12e6);
  EXPECT_EQ(b.entries[0].least_passes, 8);
  EXPECT_EQ(b.entries[1].where.of, budget_of::layer);
  EXPECT_EQ(b.entries[1].where.pattern, "layer * / attention");
  EXPECT_EQ(b.entries[1].where.model, "draft");
  EXPECT_EQ(b.entries[1].where.device, 1U);
  EXPECT_EQ(b.entries[1].at_most, 200e3);
  EXPECT_EQ(b.entries[2].where.of, budget_of::kernel);
  EXPECT_EQ(b.entries[2].at_least, 0.6);
  EXPECT_EQ(b.entries[3].at_most, 0);
  EXPECT_EQ(b.entries[4].where.of, budget_of::phase);
  EXPECT_EQ(b.entries[4].max_change, -0.05);
  EXPECT_EQ(b.entries[5].where.of, budget_of::report);
  EXPECT_EQ(b.entries[5].at_least, 0.95);
  EXPECT_EQ(b.entries[5].at_most, 1);
}

TEST_F(budget_file, comes_back_as_it_was_written) {
  budget b;
  b.source = "run \"7\"\n";
  b.least_attributed = 0.61;
  for (std::uint8_t of = 0; of < 7; ++of) {
    varve::budget_entry e;
    e.where.of = static_cast<budget_of>(of);
    e.where.pattern = of < 5 ? "a \\* / **" : "";
    e.name = of % 2 == 0 ? "name" : "";
    e.figure = of == 6 ? "duration" : "gpu_time";
    e.at_most = 1234567.25 * of;
    if (of != 6) {
      e.where.phase = "decode";
      e.where.device = of;
      e.max_change = of % 2 == 0 ? 0.125 : -0.0;
      e.least_passes = of;
    }
    b.entries.push_back(e);
  }
  b.entries[5].at_least = 3;
  const std::string text = varve::to_json(b);
  const budget back = read(text);
  EXPECT_EQ(varve::to_json(back), text);
  EXPECT_EQ(back.source, b.source);
  EXPECT_EQ(back.least_attributed, b.least_attributed);
  ASSERT_EQ(back.entries.size(), b.entries.size());
  for (std::size_t i = 0; i < b.entries.size(); ++i) {
    const varve::budget_entry& x = b.entries[i];
    const varve::budget_entry& y = back.entries[i];
    EXPECT_EQ(y.name, x.name);
    EXPECT_EQ(y.where.of, x.where.of);
    EXPECT_EQ(y.where.pattern, x.where.pattern);
    EXPECT_EQ(y.where.phase, x.where.phase);
    EXPECT_EQ(y.where.device, x.where.device);
    EXPECT_EQ(y.figure, x.figure);
    EXPECT_EQ(y.at_most, x.at_most);
    EXPECT_EQ(y.at_least, x.at_least);
    EXPECT_EQ(y.max_change, x.max_change);
    EXPECT_EQ(y.max_change && std::signbit(*y.max_change), x.max_change && std::signbit(*x.max_change));
    EXPECT_EQ(y.least_passes, x.least_passes);
  }
  std::ostringstream streamed;
  varve::write_json(streamed, b);
  EXPECT_EQ(streamed.str(), text);
}

TEST_F(budget_file, with_wrong_units_is_refused_by_its_place) {
  EXPECT_THAT(error_of_entry(R"({"figure": "step.p50", "at_most": "300 GB/s"})"),
              AllOf(StartsWith("entries[1].at_most: \"300 GB/s\" is no time"), HasSubstr("1.5 ms")));
  EXPECT_THAT(error_of_entry(R"({"figure": "step.p50", "at_most": 12})"),
              StartsWith("entries[1].at_most: \"12\" is no time: it has no unit"));
  EXPECT_THAT(error_of_entry(R"({"figure": "launches", "at_most": "12 ms"})"),
              StartsWith("entries[1].at_most: \"12 ms\" is no count"));
  EXPECT_THAT(error_of_entry(R"({"figure": "launches", "at_least": -1})"), HasSubstr("it is negative"));
  EXPECT_THAT(error_of_entry(R"({"figure": "launches", "at_least": 1e300})"),
              StartsWith("entries[1].at_least: "));
  EXPECT_THAT(error_of_entry(R"({"figure": "launches", "at_most": [1]})"),
              StartsWith("entries[1].at_most: must be a text"));
  EXPECT_THAT(error_of_entry(R"({"figure": "step", "max_change": "5 %"})"),
              AllOf(StartsWith("entries[1].max_change: "), HasSubstr("sign")));
  EXPECT_THAT(error_of_entry(R"({"figure": "step", "max_change": 0.05})"),
              StartsWith("entries[1].max_change: must be a text such as \"+5 %\""));
}

TEST_F(budget_file, with_unknown_or_missing_fields_is_refused) {
  EXPECT_THAT(error_of_entry(R"({"figure": "step", "at_mst": "1 ms"})"),
              AllOf(StartsWith("entries[1].at_mst: there is no such field"), HasSubstr("at_most")));
  EXPECT_THAT(error_of_entry(R"({"figure": "stp", "at_most": "1 ms"})"),
              StartsWith("entries[1].figure: there is no figure \"stp\""));
  EXPECT_THAT(error_of_entry(R"({"layer": "*", "figure": "step", "at_most": "1 ms"})"),
              StartsWith("entries[1].figure: there is no figure \"step\" of such rows"));
  EXPECT_EQ(error_of_entry(R"({"figure": "step"})"),
            "entries[1]: has no limit: give at_most, at_least or max_change");
  EXPECT_THAT(error_of_entry(R"({"layer": "*", "at_most": 1})"), StartsWith("entries[1].figure: is missing"));
  EXPECT_THAT(error_of_entry(R"({"layer": "", "figure": "calls", "at_most": 1})"),
              StartsWith("entries[1].layer: is empty"));
  EXPECT_THAT(error_of_entry(R"({"layer": "a", "label": "b", "figure": "calls", "at_most": 1})"),
              StartsWith("entries[1].label: an entry is of one kind of row"));
  EXPECT_THAT(error_of_entry(R"({"phase": "decode", "figure": "attributed", "at_least": 1})"),
              HasSubstr("is of the whole run"));
  EXPECT_EQ(error_of_entry(R"({"figure": "step", "at_most": "1 ms", "at_most": "2 ms"})"),
            "entries[1].at_most: is there twice");
  EXPECT_EQ(error_of_entry(R"({"figure": "step", "at_most": "1 ms", "device": -1})"),
            "entries[1].device: must be an integer from 0 to 65535");
  EXPECT_EQ(error_of_entry("7"), "entries[1]: must be an object");
  EXPECT_THAT(error_of_entry(R"({"figure": ")" + std::string(600, 'x') + R"(", "at_most": 1})"),
              StartsWith("entries[1].figure: must be a text of at most 512 bytes"));
  EXPECT_THAT(error_of_entry("{\"" + std::string(600, 'x') + "\": 1}"),
              AllOf(StartsWith("entries[1].xxx"), HasSubstr("x…: there is no such field")));
}

TEST_F(budget_file, that_is_none_is_refused) {
  EXPECT_THAT(error_in("{}"), StartsWith("varve_budget: is missing"));
  EXPECT_THAT(error_in(R"({"varve_budget": 2})"), StartsWith("varve_budget: this varve reads version 1"));
  EXPECT_THAT(error_in(R"({"varve_budget": 1})"), StartsWith("entries: is missing or empty"));
  EXPECT_THAT(error_in(R"({"varve_budget": 1, "entries": {}})"), StartsWith("entries: must be a list"));
  EXPECT_THAT(error_in(R"({"varve_budget": 1, "limits": []})"), StartsWith("limits: there is no such field"));
  EXPECT_THAT(error_in(R"({"varve_budget": 1, "least_attributed": "120 %"})"),
              StartsWith("least_attributed: is more than 100 %"));
  EXPECT_THAT(error_in("[]"), StartsWith("is JSON but no budget"));
  EXPECT_THAT(error_in(R"({"varve_budget": 1, )"), StartsWith("byte "));
  EXPECT_THAT(error_in(std::string(100, '[') + std::string(100, ']')), HasSubstr("is no budget"));
  EXPECT_THAT(error_in(std::string(std::size_t{2} << 20U, ' ')), HasSubstr("1"));
  EXPECT_THAT(error_of([&] { static_cast<void>(varve::read_budget(path("nowhere.json"))); }),
              StartsWith("nowhere.json: "));
}

TEST_F(budget_file, of_too_many_entries_is_refused) {
  std::string text = R"({"varve_budget": 1, "entries": [)";
  for (int i = 0; i < 4097; ++i) {
    text += i == 0 ? "1" : ",1";
  }
  EXPECT_THAT(error_in(text + "]}"), StartsWith("entries: must be a list of at most 4096 entries"));
}

// --- JUnit ---

budget_outcome outcome(budget_status status, std::string name, std::string message) {
  budget_outcome out;
  out.status = status;
  out.name = std::move(name);
  out.message = std::move(message);
  return out;
}

std::string junit_of(std::vector<budget_outcome> entries) {
  varve::budget_result result;
  result.entries = std::move(entries);
  std::ostringstream out;
  varve::write_junit(out, result, "varve budget");
  return out.str();
}

TEST(junit, has_a_test_case_for_each_entry) {
  EXPECT_EQ(
      junit_of({outcome(budget_status::ok, "a", "fine"), outcome(budget_status::exceeded, "b", "too slow"),
                outcome(budget_status::not_measurable, "c", "withheld"),
                outcome(budget_status::error, "d", "no layer")}),
      R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" errors="2" time="0">
  <testsuite name="varve budget" tests="4" failures="1" errors="2" time="0">
    <testcase classname="varve budget" name="a" time="0">
      <system-out>fine</system-out>
    </testcase>
    <testcase classname="varve budget" name="b" time="0">
      <failure type="exceeded" message="too slow">too slow</failure>
    </testcase>
    <testcase classname="varve budget" name="c" time="0">
      <error type="not measurable" message="withheld">withheld</error>
    </testcase>
    <testcase classname="varve budget" name="d" time="0">
      <error type="error" message="no layer">no layer</error>
    </testcase>
  </testsuite>
</testsuites>
)");
}

TEST(junit, escapes_what_xml_does_not_take) {
  const std::string name = "f<T>(a&b) \"x\"\t\n\r\x01\x1b[31m\x7f\xff \xEF\xBF\xBE µ";
  const std::string text = junit_of({outcome(budget_status::ok, name, "]]>")});
  const std::string replaced = "\xEF\xBF\xBD";
  EXPECT_THAT(text, HasSubstr("name=\"f&lt;T&gt;(a&amp;b) &quot;x&quot;&#9;&#10;&#13;" + replaced + replaced +
                              "[31m" + replaced + replaced + ' ' + replaced + " µ\""));
  EXPECT_THAT(text, HasSubstr("]]&gt;"));
  for (const char c : text) {
    EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n') << static_cast<int>(c);
  }
}

}  // namespace
