// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A host that knows nothing of varve loads plugins that bring it along, shared or as a copy of their own, and
// drops them again. This program is not linked against the library.
#include "support/shared_object.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace {

class brought_along : public testing::TestWithParam<const char*> {};

// Threads end after the plugin has gone; what runs at their end must still be there.
TEST_P(brought_along, survives_a_thread_that_ends_after_its_plugin) {
  for (int round = 0; round < 3; ++round) {
    std::thread{[&] {
      const shared_object plugin{GetParam(), shared_object::may_stay};
      plugin.function<int()>("plugin_arm")();
      plugin.function<void(int)>("plugin_run")(round);
    }}.join();
  }
}

TEST_P(brought_along, survives_a_fork_after_its_plugin_has_gone) {
  {
    const shared_object plugin{GetParam(), shared_object::may_stay};
    plugin.function<void(int)>("plugin_run")(0);
  }
  EXPECT_EXIT(std::exit(0), testing::ExitedWithCode(0), "");  // forks
}

TEST_P(brought_along, records_again_for_a_plugin_that_comes_back) {
  for (int round = 0; round < 3; ++round) {
    const shared_object plugin{GetParam(), shared_object::may_stay};
    EXPECT_EQ(plugin.function<int(int)>("plugin_ranges")(round), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(plugins, brought_along,
                         testing::Values(VARVE_PLUGIN_WITH_SESSION, VARVE_SECOND_COPY),
                         [](const auto& kind) { return kind.index == 0 ? "shared_library" : "own_copy"; });

}  // namespace
