// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the tests of a session on a GPU share: the skip where there is none, the checks.
#ifndef VARVE_TESTS_GPU_SESSION_TEST_HPP
#define VARVE_TESTS_GPU_SESSION_TEST_HPP

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <varve/varve.hpp>
#include <vector>

#include "gpu/marking_stage.hpp"

namespace varve_gpu {

/// Skips, saying why, where there is no device.
class on_gpu : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_no_device(); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
  }
};

inline testing::AssertionResult collects(const varve::session& session) {
  std::string states;
  for (const varve::collector_status& c : session.status().collectors) {
    if (c.name == "cupti" && c.state == varve::collector_state::running) {
      return testing::AssertionSuccess();
    }
    states += c.name + ": " + c.detail + "\n";
  }
  return testing::AssertionFailure() << "the collector of GPU records does not run:\n" << states;
}

inline counts kernels_by_layer(const varve::report& r) {
  counts out{};
  for (const varve::row& row : r.layers) {
    if (row.label == "layer" && row.index >= 0 && row.index < layers) {
      out[static_cast<std::size_t>(row.index)] += static_cast<int>(row.inclusive.kernels);
    }
  }
  return out;
}

/// Everything that ran belongs to a layer, and each layer has its kernels.
inline void expect_all_attributed(const varve::report& r, const counts& kernels) {
  SCOPED_TRACE(varve::to_table(r));
  EXPECT_EQ(kernels_by_layer(r), kernels);
  EXPECT_EQ(r.quality.unmatched, 0);
  EXPECT_EQ(r.quality.untimed, 0);
  EXPECT_EQ(r.quality.unlabelled_nodes, 0);
  if (r.quality.activities > 0) {
    EXPECT_DOUBLE_EQ(r.quality.attributed, 1.0);
  }
}

}  // namespace varve_gpu

#endif  // VARVE_TESTS_GPU_SESSION_TEST_HPP
