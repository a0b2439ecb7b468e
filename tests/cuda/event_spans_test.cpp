// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// GPU spans where there is neither CUPTI nor, mostly, a driver.
#include <varve/varve.hpp>

#include <gtest/gtest.h>

namespace {

TEST(event_spans_without_cuda, are_counted_as_missing_and_the_session_runs_on) {
  varve::session_options options;
  options.gpu.cupti_library = "/nonexistent/libcupti.so.13";
  varve::session session{options};
  {
    varve::phase pass{varve::decode};
    pass.stream(nullptr);
  }
  const varve::trace t = session.stop();
  EXPECT_EQ(t.ranges.size(), 1U);
  EXPECT_TRUE(t.event_spans.empty());
  // Without a driver, or with one that nobody has initialised.
  ASSERT_EQ(t.losses.size(), 1U);
  EXPECT_EQ(t.losses[0].what.rfind("passes without a GPU span", 0), 0U) << t.losses[0].what;
  EXPECT_EQ(t.losses[0].where, "cuda events");
  EXPECT_EQ(t.losses[0].count, 1U);
}

}  // namespace
