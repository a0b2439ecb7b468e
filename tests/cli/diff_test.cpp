// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// `varve diff` and `varve baseline`.
#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/process.hpp"
#include "compare/made_report.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::folder;
using testing_support::made_report;
using testing_support::outcome;
using testing_support::run;

std::string report_of(varve::time_ns mlp, const std::string& device = "GPU X") {
  made_report r;
  r.raw().devices[0].device.name = device;
  return to_json(r.add("layer 0").add("layer 0 / attention", 100'000).add("layer 0 / mlp", mlp).make());
}

class diff : public testing::Test {
 protected:
  folder files_;
  std::string base_ = files_.write("base.json", report_of(200'000));
  std::string slow_ = files_.write("slow.json", report_of(220'000));
};

// 100 + 200 + 100 µs starved are 400 a pass; 20 more are 5 %.
TEST_F(diff, prints_what_changed) {
  const outcome o = run({"diff", base_, slow_, "--width", "120"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  EXPECT_THAT(o.out, AllOf(HasSubstr("decode: step +5.0 %, worse. 2 layers worse, 0 better, 1 the same."),
                           HasSubstr("layer 0 / mlp"), HasSubstr("+10.0 %")));
}

TEST_F(diff, of_a_file_with_itself_tells_no_difference) {
  EXPECT_THAT(run({"diff", base_, base_}).out, HasSubstr("\nNo difference.\n"));
}

TEST_F(diff, noise_and_confidence_can_be_set) {
  EXPECT_THAT(run({"diff", base_, slow_, "--noise", "12%"}).out, HasSubstr("No difference."));
  EXPECT_THAT(run({"diff", base_, slow_, "--confidence", "99"}).out, HasSubstr("99.0 % interval"));
  EXPECT_THAT(run({"diff", base_, slow_, "--confidence", "99.9"}).out,
              HasSubstr("99.9 % interval of 3,999 resamples"));  // two beyond each end
  const outcome sure = run({"diff", base_, slow_, "--confidence", "99.99"});
  EXPECT_EQ(sure.code, 2);
  EXPECT_THAT(sure.err, HasSubstr("\"99.99\" is no percentage from 50 to 99.9"));
  EXPECT_EQ(run({"diff", base_, slow_, "--noise", "100"}).code, 2);
  EXPECT_EQ(run({"diff", base_, slow_, "--confidence", "40"}).code, 2);
}

TEST_F(diff, writes_json_and_markdown) {
  const std::string to = files_.path("out.json");
  EXPECT_EQ(run({"diff", base_, slow_, "--format", "json", "--output", to}).code, 0);
  const nlohmann::json c = nlohmann::json::parse(testing_support::content_of(to));
  EXPECT_EQ(c.at("varve_comparison"), 1);
  EXPECT_EQ(c.at("no_difference"), false);
  EXPECT_EQ(c.at("result"), "difference");
  ASSERT_EQ(c.at("rows").size(), 3U);
  EXPECT_EQ(c.at("rows")[2].at("path"), "layer 0 / mlp");
  EXPECT_EQ(c.at("rows")[2].at("gpu_time").at("verdict"), "worse");
  EXPECT_NEAR(c.at("rows")[2].at("gpu_time").at("relative"), 0.1, 1e-3);
  EXPECT_THAT(run({"diff", base_, slow_, "--format", "markdown"}).out,
              HasSubstr("| layer 0 / mlp | 200 µs | 220 µs |"));
}

TEST_F(diff, refuses_other_devices_with_a_code_of_its_own) {
  const std::string other = files_.write("other.json", report_of(200'000, "GPU Y"));
  const outcome o = run({"diff", base_, other});
  EXPECT_EQ(o.code, 4);
  EXPECT_THAT(o.out, IsEmpty());
  EXPECT_THAT(o.err, AllOf(HasSubstr("not comparable: device: GPU X against GPU Y"), HasSubstr("--force")));
  const outcome forced = run({"diff", base_, other, "--force"});
  EXPECT_EQ(forced.code, 0);
  EXPECT_THAT(forced.out, HasSubstr("! not comparable: device: GPU X against GPU Y"));
}

TEST_F(diff, takes_folders_of_repeated_runs) {
  std::filesystem::create_directory(files_.path("runs"));
  for (const int i : {1, 2, 3}) {
    files_.write("runs/" + std::to_string(i) + ".json", report_of(220'000 + i * 500));
  }
  files_.write("runs/notes.txt", "no run");
  const outcome o = run({"diff", base_, files_.path("runs")});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("and 2 more runs"), HasSubstr("worse")));
  std::filesystem::create_directory(files_.path("empty"));
  const outcome empty = run({"diff", base_, files_.path("empty")});
  EXPECT_EQ(empty.code, 1);
  EXPECT_THAT(empty.err, HasSubstr("has no runs"));
}

TEST_F(diff, says_what_is_wrong_with_the_command_line_or_a_file) {
  EXPECT_EQ(run({"diff", base_}).code, 2);
  EXPECT_EQ(run({"diff", base_, slow_, "--baseline", "main"}).code, 2);
  EXPECT_EQ(run({"diff", base_, slow_, base_}).code, 2);
  const outcome missing = run({"diff", base_, files_.path("missing.json")});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("missing.json"));
  EXPECT_EQ(run({"diff", base_, slow_, "--output", files_.path("no/such/folder")}).code, 3);
}

TEST_F(diff, of_a_comparison_says_that_it_is_one) {
  const std::string c = files_.path("comparison.json");
  EXPECT_EQ(run({"diff", base_, slow_, "--format", "json", "--output", c}).code, 0);
  const std::string budget =
      files_.write("budget.json", R"({"varve_budget": 1, "entries": [{"figure": "losses", "at_most": 0}]})");
  for (const auto& [arguments, code] : {std::pair{std::vector<std::string>{"diff", base_, c}, 1},
                                        {std::vector<std::string>{"report", c}, 1},
                                        {std::vector<std::string>{"check", c, "--budget", budget}, 2}}) {
    const outcome o = run(arguments);
    EXPECT_EQ(o.code, code);
    EXPECT_THAT(o.err, HasSubstr("comparison.json: is a comparison, as varve diff writes it, and no report"));
  }
}

class baseline : public diff {
 protected:
  outcome in_home(const std::vector<std::string>& arguments) {
    testing_support::surroundings around;
    around.variables.push_back("XDG_DATA_HOME=" + files_.path("data"));
    return run(arguments, around);
  }
};

TEST_F(baseline, is_kept_under_its_name_and_compared_with) {
  EXPECT_EQ(in_home({"baseline", "save", "main", base_}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(files_.path("data/varve/baselines/main/run-001.json")));
  EXPECT_EQ(in_home({"baseline", "list"}).out, "main\n");
  EXPECT_THAT(in_home({"diff", "--baseline", "main", base_}).out, HasSubstr("No difference."));
  EXPECT_THAT(in_home({"diff", "--baseline", "main", slow_}).out, HasSubstr("worse"));
  const outcome unknown = in_home({"diff", "--baseline", "other", slow_});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("there is no baseline \"other\"; there are main"));
}

TEST_F(baseline, is_replaced_only_by_force_and_then_as_a_whole) {
  const std::string at = files_.path("kept");
  EXPECT_EQ(run({"baseline", "save", "main", base_, slow_, "--baselines", at}).code, 0);
  const outcome again = run({"baseline", "save", "main", slow_, "--baselines", at});
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("--force replaces it"));
  EXPECT_EQ(run({"baseline", "save", "main", slow_, "--baselines", at, "--force"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(at + "/main/run-002.json"));
  EXPECT_EQ(varve::to_json(varve::read_report(at + "/main/run-001.json")),
            testing_support::content_of(slow_));
}

TEST_F(baseline, has_a_name_that_stays_in_its_folder) {
  for (const char* name : {"../up", "a/b", ".hidden", "", "a b"}) {
    EXPECT_EQ(run({"baseline", "save", name, base_, "--baselines", files_.path("kept")}).code, 2) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(files_.path("up")));
  EXPECT_THAT(run({"baseline", "list"}).err, HasSubstr("name a folder with --baselines"));
}

}  // namespace
