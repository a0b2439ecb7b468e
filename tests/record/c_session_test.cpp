// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Sessions of C: a report in a file.
#include <varve/varve.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

using testing::HasSubstr;

class c_session_test : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/varve-c-session-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    folder = pattern;
    path = folder / "report.txt";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
  std::filesystem::path path;
  char why[200] = "";
};

TEST_F(c_session_test, leaves_the_table_in_a_file_that_only_its_owner_reads) {
  {
    std::ofstream before{path};
    before << std::string(100'000, 'x');
  }
  std::filesystem::permissions(path, std::filesystem::perms{0644});
  ASSERT_EQ(varve_session_start(why, sizeof why), 0);
  varve_end(varve_layer_begin("attention", 3));
  ASSERT_EQ(varve_session_stop(path.c_str(), why, sizeof why), 0) << why;
  std::ifstream file{path};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_THAT(text, HasSubstr("attention 3"));
  EXPECT_THAT(text, testing::Not(HasSubstr("xxx")));
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms{0600});
}

TEST_F(c_session_test, goes_on_when_the_file_cannot_be_opened) {
  ASSERT_EQ(varve_session_start(nullptr, 0), 0);
  varve_end(varve_layer_begin("attention", 3));
  const std::string nowhere = folder / "missing" / "report.txt";
  EXPECT_EQ(varve_session_stop(nowhere.c_str(), why, sizeof why), -1);
  EXPECT_THAT(why, HasSubstr("cannot be written: No such file or directory; the session still runs"));
  EXPECT_EQ(varve_session_stop(path.c_str(), why, sizeof why), 0);
}

TEST_F(c_session_test, names_wrong_use) {
  EXPECT_EQ(varve_session_stop(path.c_str(), why, sizeof why), -1);
  EXPECT_THAT(why, HasSubstr("no session is running"));
  ASSERT_EQ(varve_session_start(nullptr, 0), 0);
  char little[10];
  EXPECT_EQ(varve_session_start(little, sizeof little), -1);
  EXPECT_STREQ(little, "a session");  // cut, and ended
  EXPECT_EQ(varve_session_stop(nullptr, why, sizeof why), -1);
  EXPECT_THAT(why, HasSubstr("no file given"));
  EXPECT_EQ(varve_session_stop(path.c_str(), nullptr, 0), 0);
}

}  // namespace
