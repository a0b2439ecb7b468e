// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Code with markers and code compiled with VARVE_DISABLE live in one program. Built twice, with either of
// the two first on the linker's line.
#include "mixed.hpp"

#include <varve/varve.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::UnorderedElementsAre;

std::vector<std::string> labels(const varve::trace& t) {
  std::vector<std::string> out;
  for (const varve::range& r : t.ranges) {
    out.push_back(varve::label_text(t, r.label));
  }
  return out;
}

TEST(disabled_markers, record_nothing_beside_enabled_ones_that_do) {
  varve::session session;
  ASSERT_TRUE(session) << session.status().error;
  EXPECT_EQ(mixed_off(), 0);
  EXPECT_TRUE(session.snapshot().ranges.empty());
  EXPECT_EQ(mixed_on(), 3);  // of the pass, the layer and the handle
  const varve::trace trace = session.stop();
  EXPECT_THAT(labels(trace), UnorderedElementsAre("request 0", "mixed", "mixed / layer 0",
                                                  "mixed / layer 0 / op 0", "mixed / attention 0",
                                                  "mixed / mlp 0", "mixed / handle 0", "mixed / c 0"));
  EXPECT_EQ(trace.requests.size(), 1U);
  EXPECT_EQ(trace.models.size(), 1U);
}

TEST(disabled_markers, evaluate_no_work_without_a_session_either) {
  EXPECT_EQ(mixed_off(), 0);
  EXPECT_EQ(mixed_on(), 0);
}

}  // namespace
