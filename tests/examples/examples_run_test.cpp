// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The examples as programs: what they print, and how they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace {

using testing::HasSubstr;
using testing::Not;

struct outcome {
  int code;
  std::string output;  ///< both streams
};

outcome run(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) {
    return {-1, "popen failed"};
  }
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

TEST(engine_c, leaves_its_report_in_a_file) {
  const std::string path = testing::TempDir() + "varve_engine_c_report.txt";
  std::remove(path.c_str());
  const outcome done = run(VARVE_ENGINE_C " " + path);
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.output, "");
  const std::string report = contents(path);
  for (const char* text : {"prefill", "decode", "mix", "feed"}) {
    EXPECT_THAT(report, HasSubstr(text));
  }
}

TEST(engine_c, says_when_its_report_cannot_be_written) {
  const outcome done = run(VARVE_ENGINE_C " /nowhere/report.txt");
  EXPECT_EQ(done.code, 1);
  EXPECT_THAT(done.output, HasSubstr("/nowhere/report.txt"));
}

TEST(engine_cpp17, prints_its_report_and_a_layer_of_it) {
  const outcome done = run(VARVE_ENGINE_CPP17);
  EXPECT_EQ(done.code, 0);
  for (const char* text : {"prefill", "decode", "attention", "mlp 3 took "}) {
    EXPECT_THAT(done.output, HasSubstr(text));
  }
}

#if defined(VARVE_DECODER)

std::string tokens(const std::string& output) { return output.substr(0, output.find("===")); }

TEST(decoder, prints_tokens_and_a_report_for_each_way_to_launch) {
  const outcome both = run(VARVE_DECODER " --preset tiny");
  EXPECT_EQ(both.code, 0);
  EXPECT_THAT(both.output, HasSubstr("sequence 3:"));
  EXPECT_THAT(both.output, HasSubstr("=== eager launches"));
  EXPECT_THAT(both.output, HasSubstr("=== decode passes replayed as graphs"));
  EXPECT_THAT(both.output, HasSubstr("qkv"));

  const outcome eager = run(VARVE_DECODER " --preset tiny --eager");
  EXPECT_EQ(eager.code, 0);
  EXPECT_EQ(tokens(eager.output), tokens(both.output));
  EXPECT_THAT(eager.output, Not(HasSubstr("replayed as graphs")));
  EXPECT_NE(tokens(run(VARVE_DECODER " --preset tiny --eager --seed 2").output), tokens(eager.output));
}

#if defined(VARVE_DECODER_JSON)
TEST(decoder, writes_its_report_as_json) {
  const std::string path = testing::TempDir() + "varve_decoder_report.json";
  std::remove(path.c_str());
  EXPECT_EQ(run(VARVE_DECODER " --preset tiny --graph --json " + path).code, 0);
  EXPECT_THAT(contents(path), HasSubstr("\"varve_report\""));
  const outcome unwritable = run(VARVE_DECODER " --preset tiny --graph --json /nowhere/report.json");
  EXPECT_EQ(unwritable.code, 1);
  EXPECT_THAT(unwritable.output, HasSubstr("/nowhere/report.json"));
}
#endif

TEST(decoder, answers_as_often_as_it_is_told) {
  const outcome once = run(VARVE_DECODER " --preset tiny --tokens 4 --eager");
  EXPECT_THAT(once.output, HasSubstr("prefill · 1 pass"));
  const outcome thrice = run(VARVE_DECODER " --preset tiny --tokens 4 --eager --repeat 3");
  EXPECT_EQ(thrice.code, 0) << thrice.output;
  EXPECT_EQ(tokens(thrice.output), tokens(once.output));
  EXPECT_THAT(thrice.output, HasSubstr("prefill · 3 passes"));
  EXPECT_THAT(thrice.output, HasSubstr("decode · 9 passes"));
}

TEST(decoder, sets_what_graphs_gain_beside_its_prediction) {
  const char* const heading = "predicted from eager launches and measured";
  const outcome both = run(VARVE_DECODER " --preset tiny --tokens 6");
  EXPECT_EQ(both.code, 0) << both.output;
  EXPECT_THAT(both.output, HasSubstr(heading));
  EXPECT_THAT(both.output, HasSubstr("Measured is "));
  EXPECT_THAT(run(VARVE_DECODER " --preset tiny --tokens 6 --graph").output, Not(HasSubstr(heading)));
}

TEST(decoder, says_that_counters_need_a_gpu_and_reports_all_the_same) {
  const outcome done = run(VARVE_DECODER " --preset tiny --tokens 4 --eager --counters");
  EXPECT_EQ(done.code, 0) << done.output;
  EXPECT_THAT(done.output,
              HasSubstr("nothing is counted: only GPUs have these counters: add --backend cuda\n"));
  EXPECT_THAT(done.output, HasSubstr("=== eager launches"));
}

TEST(decoder, names_what_is_wrong_and_ends_with_2) {
  const outcome unknown = run(VARVE_DECODER " --frobnicate");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.output, HasSubstr("--frobnicate"));
  EXPECT_EQ(run(VARVE_DECODER " --heads 7").code, 2);
  EXPECT_EQ(run(VARVE_DECODER " --help").code, 0);
}

TEST(decoder, shows_what_recording_costs) {
  const outcome table = run(VARVE_DECODER " --preset tiny --prompt 4 --tokens 3 --overhead 2");
  EXPECT_EQ(table.code, 0) << table.output;
  EXPECT_THAT(table.output, HasSubstr("2 passes of each of 2 repetitions"));
  EXPECT_THAT(table.output, HasSubstr("graphs as a whole"));
  const outcome none = run(VARVE_DECODER " --preset tiny --tokens 1 --overhead 2");
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.output, HasSubstr("--tokens"));
}

#if defined(VARVE_DECODER_CUDA)
TEST(decoder, names_why_there_is_no_gpu_and_ends_with_3) {
  const outcome hidden = run("CUDA_VISIBLE_DEVICES= " VARVE_DECODER " --preset tiny --backend cuda");
  EXPECT_EQ(hidden.code, 3) << hidden.output;
  EXPECT_THAT(hidden.output, testing::AnyOf(HasSubstr("no NVIDIA driver on this machine"),
                                            HasSubstr("CUDA_VISIBLE_DEVICES")));
}
#else
TEST(decoder, says_that_it_was_built_without_cuda) {
  const outcome without = run(VARVE_DECODER " --preset tiny --backend cuda");
  EXPECT_EQ(without.code, 1);
  EXPECT_THAT(without.output, HasSubstr("configure again where nvcc"));
}
#endif

#endif

}  // namespace
