// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/device.hpp>
#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

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
using testing_support::surroundings;

surroundings with(const std::string& variable) {
  surroundings out;
  out.variables.push_back(variable);
  return out;
}

class devices : public testing::Test {
 protected:
  folder files;
  /// Quick: what is measured is of no interest here.
  [[nodiscard]] outcome calibrate(std::vector<std::string> more, const surroundings& around = {}) const {
    std::vector<std::string> all{"calibrate", "--samples", "5", "--memory", "2", "--order", "48"};
    all.insert(all.end(), more.begin(), more.end());
    return run(all, around);
  }
};

TEST_F(devices, lists_the_table_with_its_sources) {
  const outcome o = run({"devices"});
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.err, "");
  for (const varve::ceilings& c : varve::all_ceilings()) {
    EXPECT_THAT(o.out, AllOf(HasSubstr(c.name), HasSubstr(c.source)));
  }
  // 989.4 TFLOPS, 3350 GB/s, their quotient.
  EXPECT_THAT(o.out,
              testing::ContainsRegex("H100 SXM5 80GB +9\\.0 +132 +3350 +66\\.9 +989 +1979 +1979 +295"));
}

TEST_F(devices, shows_every_precision_of_one) {
  const outcome o = run({"devices", "rtx 4090"});
  EXPECT_EQ(o.code, 0);
  EXPECT_THAT(o.out, StartsWith("GeForce RTX 4090\n"));
  EXPECT_THAT(o.out, testing::ContainsRegex("FP16 tensor +165 +164\n"));
  EXPECT_THAT(o.out, testing::ContainsRegex("FP16 tensor \\(FP16 sums\\) +330 +328\n"));
  EXPECT_THAT(o.out, AllOf(HasSubstr("published: "), HasSubstr("Ada white paper"), Not(HasSubstr("FP4"))));
}

TEST_F(devices, shows_rates_at_the_highest_clock_beside_the_published) {
  const outcome o = run({"devices", "h100-sxm5-80gb"});
  EXPECT_THAT(o.out, HasSubstr("1830 MHz, at most 1980"));
  EXPECT_THAT(o.out, testing::ContainsRegex("BF16 tensor +989 +295 +1070\n"));  // 989.4 · 1980 ÷ 1830
}

TEST_F(devices, names_that_fit_none_or_several_list_others) {
  const outcome several = run({"devices", "h100"});
  EXPECT_EQ(several.code, 2);
  EXPECT_EQ(several.out, "");
  EXPECT_THAT(several.err, AllOf(StartsWith("varve: \"h100\" may be any of"), HasSubstr("H100 NVL 94GB")));
  EXPECT_THAT(run({"devices", "rtx 4099"}).err, HasSubstr("the nearest names are GeForce RTX 4090"));
}

TEST_F(devices, shows_a_file) {
  const std::string file =
      files.write("mine.json", R"({"name": "mine", "flops": {"fp32": 2e12}, "bandwidth": 1e11})");
  const outcome o = run({"devices", file});
  EXPECT_EQ(o.code, 0);
  EXPECT_THAT(o.out, AllOf(StartsWith("mine\n"), testing::ContainsRegex("FP32 +2\\.00 +20\\.0\n")));
  // Each clock is what was measured at it: no rate holds at another.
  const std::string measured = files.write("gpu.json", R"({"name": "gpu", "flops": {"fp16_tensor": 7e14},
      "clock": 1.4e9, "top_clock": 1.95e9, "measured": true, "source": "so"})");
  EXPECT_THAT(run({"devices", measured}).out,
              AllOf(testing::ContainsRegex("clock +1400 MHz, of FP32 1950\n"), HasSubstr("measured: so"),
                    Not(HasSubstr("published")), Not(HasSubstr("at 1950 MHz"))));
  const outcome wrong = run({"devices", files.write("wrong.json", R"({"name": "x", "bandwidth": -1})")});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("wrong.json: bandwidth: is negative"));
}

TEST_F(devices, a_report_takes_a_device_by_name_or_file) {
  const std::string report = files.write("small.json", varve::to_json(testing_support::small_report()));
  const std::string file = files.write("mine.json", R"({"name": "mine", "bandwidth": 1e11})");
  for (const std::string& device : {std::string{"h200"}, file}) {
    const outcome o = run({"report", report, "--device", device});
    EXPECT_EQ(o.code, 0) << device;
    EXPECT_THAT(o.err, HasSubstr("is a report already, so --device changes nothing"));
  }
  const outcome unknown = run({"report", report, "--device", "h300"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("--device"), HasSubstr("not in the table")));
  const outcome damaged =
      run({"report", report, "--device", files.write("x.json", R"({"name": "x", "clock": 0})")});
  EXPECT_EQ(damaged.code, 2);
  EXPECT_THAT(damaged.err, HasSubstr("clock: is 0; leave out what is unknown"));
}

TEST_F(devices, calibrate_keeps_the_medians_of_its_samples) {
  const std::string file = files.path("machine.json");
  const outcome o = calibrate({"--output", file, "--name", "box"});
  ASSERT_EQ(o.code, 0) << o.err;
  const varve::ceilings c = varve::read_ceilings(file);
  EXPECT_EQ(c.name, "box");
  EXPECT_TRUE(c.measured);
  EXPECT_THAT(c.source, HasSubstr("median of 5 runs"));
  const auto json = nlohmann::json::parse(content_of(file));
  double triad = 0;
  for (const auto& m : json["measurements"]) {
    auto samples = m["samples"].get<std::vector<double>>();
    ASSERT_EQ(samples.size(), 5U);
    std::sort(samples.begin(), samples.end());
    EXPECT_TRUE(std::isfinite(samples.back()) && samples.front() > 0);
    EXPECT_EQ(m["median"].get<double>(), samples[2]);
    EXPECT_GE(m["threads"].get<int>(), 1);
    triad = m["what"] == "triad" ? std::max(triad, samples[2]) : triad;
  }
  EXPECT_EQ(c.bandwidth, triad);
  struct stat about {};
  ASSERT_EQ(::stat(file.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

TEST_F(devices, calibrate_measures_the_threads_that_an_engine_has) {
  const std::string file = files.path("machine.json");
  const outcome o = calibrate({"--output", file, "--threads", "3"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(varve::read_ceilings(file).source, HasSubstr("median of 5 runs on 3 threads"));
  const auto json = nlohmann::json::parse(content_of(file));
  EXPECT_EQ(std::count_if(json["measurements"].begin(), json["measurements"].end(),
                          [](const auto& m) { return m["what"] == "triad"; }),
            1);
  EXPECT_EQ(json["measurements"][0]["threads"], 3);
}

TEST_F(devices, calibrate_prints_what_it_measured) {
  const outcome o = calibrate({"--output", files.path("machine.json"), "--name", "box\x1b[1m"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(StartsWith("box\xEF\xBF\xBD"),
                           HasSubstr("threads     median      least       most  spread"),
                           testing::ContainsRegex("triad +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9]+ %  GB/s"),
                           HasSubstr("ceilings: "), HasSubstr("kept in " + files.path("machine.json"))));
}

TEST_F(devices, calibrate_says_that_small_arrays_measure_the_cache) {
  EXPECT_THAT(calibrate({"--output", files.path("x.json")}).err, HasSubstr("measures the cache"));
}

TEST_F(devices, calibrate_keeps_its_file_where_settings_are_and_a_report_finds_it) {
  const surroundings xdg = with("XDG_CONFIG_HOME=" + files.path("settings"));
  const outcome o = calibrate({}, xdg);
  ASSERT_EQ(o.code, 0) << o.err;
  const std::size_t from = o.out.find(files.path("settings/varve/devices/"));
  ASSERT_NE(from, std::string::npos) << o.out;
  const std::string file = o.out.substr(from, o.out.find(';', from) - from);
  EXPECT_TRUE(varve::read_ceilings(file).measured);
  const std::string name = file.substr(file.rfind('/') + 1, file.size() - file.rfind('/') - 6);
  EXPECT_EQ(run({"devices", name}, xdg).code, 0) << name;
  EXPECT_EQ(run({"devices", name}).code, 2) << "no folder";
  // Without $XDG_CONFIG_HOME below $HOME, and nowhere without either.
  EXPECT_THAT(calibrate({}, with("HOME=" + files.path("home"))).out,
              HasSubstr(files.path("home/.config/varve/devices/")));
  const outcome nowhere = calibrate({});
  EXPECT_EQ(nowhere.code, 3);
  EXPECT_THAT(nowhere.err, HasSubstr("name a file with --output"));
}

TEST_F(devices, calibrate_tells_what_it_cannot_do) {
  const outcome library = calibrate({"--output", files.path("x.json"), "--blas", "/none/libblas.so"});
  EXPECT_EQ(library.code, 1);
  EXPECT_THAT(library.err, AllOf(HasSubstr("/none/libblas.so"), HasSubstr("--blas")));
  const outcome no_blas = calibrate({"--output", files.path("x.json"), "--blas", "libm.so.6"});
  EXPECT_EQ(no_blas.code, 1);
  EXPECT_THAT(no_blas.err, HasSubstr("libm.so.6: has no cblas_sgemm"));
  EXPECT_EQ(calibrate({"--output", files.path("no/such/folder.json")}).code, 3);
  for (const char* option : {"--samples", "--order", "--memory", "--threads"}) {
    const outcome o = run({"calibrate", option, "0"});
    EXPECT_EQ(o.code, 2) << option;
    EXPECT_THAT(o.err, HasSubstr("no number from 1")) << option;
  }
}

}  // namespace
