// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Sessions over the stand-in libcupti, and what was launched in them.
#ifndef VARVE_TESTS_CUDA_COLLECTOR_FIXTURE_HPP
#define VARVE_TESTS_CUDA_COLLECTOR_FIXTURE_HPP

#include "standin_cupti/control.hpp"

#include <varve/varve.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "support/device_work.hpp"
#include "support/ranges.hpp"

namespace collector_tests {

using varve_test::device_work;
using varve_test::find_collector;
using varve_test::lines_of;
using varve_test::lost;
using varve_test::piece_of_work;

class collector_test : public testing::Test {
 protected:
  collector_test() {
    ++made;
    options.gpu.cupti_library = "libcupti.so.13";
  }

  /// Version and names of a libcupti are read once in a process: tests that need their own want a process of
  /// their own, as ctest gives each of them.
  static bool first_in_process() { return made == 1; }

  void SetUp() override { standin::reset(); }
  void TearDown() override {
    EXPECT_THAT(standin::misuses(), testing::IsEmpty());
    standin::reset();
  }

  /// Launches `kernels` kernels in each of `layers` layers of a pass, and notes what a trace is to tell.
  void run_layers(standin::stream s, int layers, int kernels, const std::string& name = "block") {
    const varve::phase pass{varve::decode};
    for (int i = 0; i < layers; ++i) {
      const std::string text = name + std::to_string(i);
      const varve::layer layer{"layer", i};
      for (int k = 0; k < kernels; ++k) {
        note(text, "decode / layer " + std::to_string(i), standin::launch(s, text));
      }
    }
  }
  void note(const std::string& name, const std::string& layer, const standin::done& what) {
    const std::lock_guard lock{mutex_};
    for (const standin::interval& t : what.times) {
      expected_.push_back(varve_test::line_of(name, layer, what.outer_correlation,
                                              static_cast<varve::time_ns>(t.begin),
                                              static_cast<varve::time_ns>(t.end)));
    }
  }
  /// All that was noted, sorted.
  std::vector<std::string> expected() {
    std::sort(expected_.begin(), expected_.end());
    return expected_;
  }
  void forget() { expected_.clear(); }

  static std::string detail(const varve::trace& t) {
    const varve::collector_status* const cupti = find_collector(t.collectors, "cupti");
    return cupti != nullptr ? cupti->detail : "no such collector";
  }
  varve::session_options options;

 private:
  static inline int made = 0;
  std::mutex mutex_;
  std::vector<std::string> expected_;
};

}  // namespace collector_tests

#endif  // VARVE_TESTS_CUDA_COLLECTOR_FIXTURE_HPP
