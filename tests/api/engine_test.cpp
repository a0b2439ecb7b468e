// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Engines in C17 and C++17, built against the library and run; the reports that they leave are read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace {

using testing::AllOf;
using testing::HasSubstr;

// Runs an engine and gives the report that it left.
std::string report_of(const std::string& engine) {
  const std::string path = testing::TempDir() + "engine." + std::to_string(::getpid()) + ".txt";
  const int status = std::system(('"' + engine + "\" \"" + path + '"').c_str());
  EXPECT_EQ(status, 0) << engine;
  std::stringstream text;
  text << std::ifstream{path}.rdbuf();
  ::unlink(path.c_str());
  return text.str();
}

// What both engines do: prefill and decode, attention and more; what takes under 1 % of a slow pass has no
// row.
TEST(an_engine_in_c17, leaves_a_report_of_its_layers) {
  EXPECT_THAT(report_of(VARVE_ENGINE_C17),
              AllOf(HasSubstr("prefill"), HasSubstr("decode"), HasSubstr("target"), HasSubstr("attention")));
}

TEST(an_engine_in_c17, leaves_a_report_that_others_cannot_read) {
  const std::string path = testing::TempDir() + "mode." + std::to_string(::getpid()) + ".txt";
  ASSERT_EQ(std::system((std::string{"\"" VARVE_ENGINE_C17 "\" \""} + path + '"').c_str()), 0);
  struct stat file {};
  ASSERT_EQ(::stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777U, 0600U);
  ::unlink(path.c_str());
}

TEST(an_engine_in_c17, is_told_why_a_report_could_not_be_written) {
  EXPECT_NE(std::system("\"" VARVE_ENGINE_C17 "\" /no/such/directory/report.txt 2>/dev/null"), 0);
}

TEST(an_engine_in_cxx17, finds_its_layers_in_the_report_and_prints_it) {
  EXPECT_THAT(report_of(VARVE_ENGINE_CXX17),
              AllOf(HasSubstr("prefill"), HasSubstr("decode"), HasSubstr("attention")));
}

}  // namespace
