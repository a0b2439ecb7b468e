// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Files that a test writes and reads back, gone when it ends.
#ifndef VARVE_TESTS_FORMATS_INPUT_FILES_HPP
#define VARVE_TESTS_FORMATS_INPUT_FILES_HPP

#include <varve/io.hpp>

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

class input_files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "varve-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  [[nodiscard]] std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream{path(name), std::ios::binary} << bytes;
    return path(name);
  }

  /// `text` as one gzip member.
  static std::string gzip(const std::string& text) {
    z_stream s{};
    EXPECT_EQ(deflateInit2(&s, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
    std::string out(deflateBound(&s, text.size()), '\0');
    s.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
    s.avail_in = static_cast<uInt>(text.size());
    s.next_out = reinterpret_cast<unsigned char*>(out.data());
    s.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&s, Z_FINISH), Z_STREAM_END);
    out.resize(s.total_out);
    deflateEnd(&s);
    return out;
  }

  /// What the error says that `f` throws, without the path; fails the test when it throws none.
  [[nodiscard]] std::string error_of(const std::function<void()>& f) const {
    try {
      f();
    } catch (const varve::error& e) {
      const std::string text = e.what();
      const std::string prefix = folder_.string() + "/";
      EXPECT_EQ(text.substr(0, prefix.size()), prefix) << "names the file";
      return text.substr(prefix.size());
    }
    ADD_FAILURE() << "no error";
    return {};
  }

 private:
  std::filesystem::path folder_;
};

#endif  // VARVE_TESTS_FORMATS_INPUT_FILES_HPP
