// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/process.hpp"
#include "formats/small_report.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing_support::content_of;
using testing_support::folder;
using testing_support::outcome;
using testing_support::run;
using testing_support::small_report;

/// One pass that ran nothing at all.
constexpr const char* empty_trace = R"({"schemaVersion": 1, "traceEvents": []})";

class budget_tool : public testing::Test {
 protected:
  folder files;
  std::string report = files.write("report.json", varve::to_json(small_report()));

  /// A budget of one entry.
  [[nodiscard]] std::string budget_of(const std::string& entry) const {
    return files.write("budget.json", R"({"varve_budget": 1, "entries": [)" + entry + "]}");
  }
  [[nodiscard]] outcome check(const std::string& entry, std::vector<std::string> more = {}) const {
    std::vector<std::string> all{"check", report, "--budget", budget_of(entry)};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  }
};

TEST_F(budget_tool, a_run_keeps_the_budget_that_is_written_of_it) {
  const std::string file = files.path("budget.json");
  const outcome written = run({"budget", report, "--output", file});
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_EQ(written.err, "");
  const outcome o = run({"check", report, "--budget", file});
  EXPECT_EQ(o.code, 0) << o.out;
  EXPECT_EQ(o.err, "");
  // 8 entries (tests/compare/budget_test.cpp); the launches are at their limit of 700, so they come first.
  EXPECT_THAT(o.out, StartsWith(report + " against " + file + ": 8 within the budget\n\n"));
  EXPECT_THAT(o.out, HasSubstr("\nok  100 %      700      ≤ 700  launches        decode\n"));
  EXPECT_THAT(o.out, HasSubstr("layer 0 / attention (decode)\n"));
  EXPECT_THAT(run({"budget", report}).out, content_of(file));
}

TEST_F(budget_tool, an_exceeded_budget_is_1_and_names_the_layer) {
  const outcome o = check(R"({"layer": "layer * / attention", "figure": "gpu_time", "at_most": "600us"},
               {"figure": "step.p50", "at_most": "5 ms"})");
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_THAT(o.out, HasSubstr(": 1 exceeded, 1 within the budget\n"));
  // 750 of 600 µs; 4.9 of 5 ms.
  EXPECT_THAT(o.out,
              HasSubstr("\nexceeded  125 %   750 µs   ≤ 600 µs  gpu_time  layer 0 / attention (decode)\n"
                        "ok         98 %  4.90 ms  ≤ 5.00 ms  step.p50  decode\n"
                        "\n! layer 0 / attention (decode): gpu_time 750 µs a call, at most 600 µs: 25.0 % "
                        "more; 1 of 2 rows exceed it\n"));
}

TEST_F(budget_tool, what_is_far_beyond_a_limit_is_told_so) {
  // 700 launches of 10^-17 are 7 · 10^21 %, which no integer holds.
  const outcome o = check(R"({"figure": "launches", "at_most": "0.00000000000000001"})");
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_THAT(o.out, HasSubstr("\nexceeded  >1,000,000 %  "));
}

TEST_F(budget_tool, what_cannot_be_checked_is_2) {
  const outcome layer = check(R"({"layer": "layer * / atention", "figure": "gpu_time", "at_most": "600us"})");
  EXPECT_EQ(layer.code, 2);
  EXPECT_THAT(layer.out, AllOf(HasSubstr("1 wrong"), HasSubstr("! no layer fits \"layer * / atention\""),
                               HasSubstr("layer 0 / attention")));
  const outcome bare = check(R"({"layer": "attention", "figure": "gpu_time", "at_most": "600us"})");
  EXPECT_EQ(bare.code, 2);
  EXPECT_THAT(bare.out, HasSubstr("no layer fits \"attention\"; patterns are of whole paths: "
                                  "\"** / attention\" is it wherever it stands"));
  EXPECT_THAT(check(R"({"layer": "** / mpl", "figure": "gpu_time", "at_most": "600us"})").out,
              HasSubstr("no layer fits \"** / mpl\"; the nearest are \"layer 0 / mlp\""));
  const outcome share = check(R"({"figure": "efficiency", "at_least": 60})");
  EXPECT_EQ(share.code, 2);
  EXPECT_THAT(share.err, HasSubstr("\"60\" is no share: it looks like a percentage, and has no %"));
  const outcome unit = check(R"({"figure": "step.p50", "at_most": "300 GB/s"})");
  EXPECT_EQ(unit.code, 2);
  EXPECT_EQ(unit.out, "");
  EXPECT_THAT(unit.err, HasSubstr("budget.json: entries[0].at_most: \"300 GB/s\" is no time"));
  const outcome figure = check(R"({"figure": "stp", "at_most": "1 ms"})");
  EXPECT_EQ(figure.code, 2);
  EXPECT_THAT(figure.err,
              HasSubstr("entries[0].figure: there is no figure \"stp\" of phases or the whole run; "
                        "the nearest are \"step\""));
  const outcome withheld = check(R"({"figure": "efficiency", "at_least": "60 %"})");
  EXPECT_EQ(withheld.code, 2);
  EXPECT_THAT(withheld.out, AllOf(HasSubstr("1 not measurable"), HasSubstr("efficiency is not measurable")));
  const outcome baseline = check(R"({"figure": "step", "max_change": "+5 %"})");
  EXPECT_EQ(baseline.code, 2);
  EXPECT_THAT(baseline.out, HasSubstr("needs a baseline"));
  const std::string good = budget_of(R"({"figure": "step.p50", "at_most": "5 ms"})");
  const outcome file = run({"check", files.path("nowhere.json"), "--budget", good});
  EXPECT_EQ(file.code, 2);
  EXPECT_THAT(file.err, HasSubstr("nowhere.json"));
  EXPECT_EQ(run({"check", report, "--budget", files.path("nowhere.json")}).code, 2);
  EXPECT_EQ(run({"check", report}).code, 2) << "no budget is named";
  EXPECT_EQ(run({"check", report, "--budget", good, "--junit", files.path("no/folder.xml")}).code, 3);
}

TEST_F(budget_tool, an_empty_trace_is_an_error) {
  const std::string trace = files.write("empty.pt.trace.json", empty_trace);
  const outcome o =
      run({"check", trace, "--budget", budget_of(R"({"layer": "**", "figure": "launches", "at_most": 9})")});
  EXPECT_EQ(o.code, 2);
  EXPECT_THAT(o.out + o.err, HasSubstr("empty"));
  const outcome drafted = run({"budget", trace});
  EXPECT_EQ(drafted.code, 1);
  EXPECT_EQ(drafted.out, "");
  EXPECT_THAT(drafted.err, HasSubstr("nothing to limit"));
}

TEST_F(budget_tool, compares_with_a_baseline) {
  varve::report before = small_report();
  before.phases[0].step.p50 = 4'500'000;  // now 4.9 ms: 8.9 % more
  const std::string baseline = files.write("before.json", varve::to_json(before));
  EXPECT_EQ(check(R"({"figure": "step.p50", "max_change": "+9 %"})", {"--baseline", baseline}).code, 0);
  const outcome o = check(R"({"figure": "step.p50", "max_change": "+8 %"})", {"--baseline", baseline});
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.out, HasSubstr("(4.50 ms before, +8.00 % allowed)"));
}

TEST_F(budget_tool, compares_with_a_baseline_of_other_clocks_by_force_alone) {
  varve::report before = small_report();
  before.devices[0].device.clock = 1'980'000'000;
  varve::report now = before;
  now.devices[0].device.clock = 1'410'000'000;
  const std::string baseline = files.write("before.json", varve::to_json(before));
  report = files.write("now.json", varve::to_json(now));
  const char* const entry = R"({"figure": "step.p50", "max_change": "+5 %"})";
  const outcome o = check(entry, {"--baseline", baseline});
  EXPECT_EQ(o.code, 2);
  EXPECT_THAT(o.out, HasSubstr("1,980 MHz against 1,410 MHz"));
  EXPECT_EQ(check(entry, {"--baseline", baseline, "--force"}).code, 0);
}

TEST_F(budget_tool, compares_with_a_folder_and_with_a_name) {
  varve::report before = small_report();
  before.phases[0].step.p50 = 4'500'000;  // now 4.9 ms: 8.9 % more
  const std::string baseline = files.write("before.json", varve::to_json(before));
  const std::string kept = files.path("baselines");
  ASSERT_EQ(run({"baseline", "save", "main", baseline, baseline, "--baselines", kept}).code, 0);
  const char* const entry = R"({"figure": "step.p50", "max_change": "+8 %"})";
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--baseline", kept + "/main"},
                                               {"--baseline", "main", "--baselines", kept}}) {
    const outcome o = check(entry, more);
    EXPECT_EQ(o.code, 1) << o.err;
    EXPECT_THAT(o.out, HasSubstr("(4.50 ms before, +8.00 % allowed)"));
  }
  const outcome other = check(entry, {"--baseline", "mian", "--baselines", kept});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("there is no baseline \"mian\"; there are main"));
}

TEST_F(budget_tool, writes_junit) {
  const std::string xml = files.path("junit.xml");
  const outcome o = check(R"({"name": "a < b", "figure": "step.p50", "at_most": "1 ms"},
                             {"label": "none", "figure": "gpu_time", "at_most": "1 ms"})",
                          {"--junit", xml});
  EXPECT_EQ(o.code, 1) << "exceeded, whatever else is wrong";
  EXPECT_THAT(content_of(xml), AllOf(HasSubstr("tests=\"2\" failures=\"1\" errors=\"1\""),
                                     HasSubstr("name=\"a &lt; b\""), HasSubstr("<failure type=\"exceeded\""),
                                     HasSubstr("<error type=\"error\" message=\"no label fits")));
}

TEST_F(budget_tool, takes_headroom_figures_and_layers) {
  const outcome o = run(
      {"budget", report, "--headroom", "50%", "--figures", "gpu_time.max,launches", "--layers", "layer 1"});
  EXPECT_EQ(o.code, 0) << o.err;
  // layer 1: the longer call has 60 % of 2.94 ms, 1.764; half more 2.646. 680 launches in 2 calls.
  EXPECT_THAT(o.out, AllOf(HasSubstr("\"layer\": \"layer 1\""), HasSubstr("\"at_most\": \"2.65 ms\""),
                           HasSubstr("\"at_most\": 340"), Not(HasSubstr("\"attributed\""))));
  EXPECT_EQ(run({"budget", report, "--layers", "nothing *"}).code, 2);
  const outcome named = run({"budget", report, "--layers", "mlp"});
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_THAT(named.out, AllOf(HasSubstr("\"layer\": \"layer 0 / mlp\""),
                               HasSubstr("\"layer\": \"layer 1 / mlp\""), Not(HasSubstr("attention"))));
  const outcome unknown = run({"budget", report, "--layers", "mpl"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no layer fits \"mpl\", or it has none of the figures; the nearest are "
                                     "\"mlp\""));
  const outcome figure = run({"budget", report, "--figures", "gpu_time.max,lunches"});
  EXPECT_EQ(figure.code, 2);
  EXPECT_THAT(figure.err, HasSubstr("lunches"));
  EXPECT_EQ(run({"budget", report, "--headroom", "a lot"}).code, 2);
}

TEST_F(budget_tool, nothing_in_a_name_reaches_the_terminal) {
  const outcome o = check("{\"name\": \"\\u001b[31mred\", \"figure\": \"step.p50\", \"at_most\": \"1 ms\"}");
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.out, AllOf(HasSubstr("[31mred"), Not(HasSubstr("\x1b"))));
}

}  // namespace
