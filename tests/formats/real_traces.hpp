// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Traces that others recorded on real GPUs.
#ifndef VARVE_TESTS_FORMATS_REAL_TRACES_HPP
#define VARVE_TESTS_FORMATS_REAL_TRACES_HPP

#include <varve/io.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

/// Skipped where the folder of traces is not there; a file that misses in it fails its test.
class real_traces : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(VARVE_REAL_DATA)) {
      GTEST_SKIP() << "there are no real traces in " VARVE_REAL_DATA;
    }
  }

  static std::string file(const std::string& name) {
    return (std::filesystem::path{VARVE_REAL_DATA} / name).string();
  }
  static std::string path(const std::string& name) { return file(name + ".pt.trace.json.gz"); }
  static varve::trace read(const std::string& name, const varve::read_options& options = {}) {
    return varve::read_pytorch(path(name), options);
  }
};

#endif  // VARVE_TESTS_FORMATS_REAL_TRACES_HPP
