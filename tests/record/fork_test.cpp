// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Processes that fork while varve is at work.
#include <varve/marker.hpp>
#include <varve/session.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/ranges.hpp"

namespace {

TEST(process, forked_from_one_with_a_session_may_start_its_own) {
  varve::session session;
  { const varve::layer before{"before"}; }
  const pid_t child = fork();
  if (child == 0) {
    { const varve::layer layer{"unrecorded"}; }
    varve::session own;
    { const varve::layer layer{"in the child"}; }
    const varve::trace t = own.stop();
    const bool recorded = varve_test::paths(t) == std::vector<std::string>{"in the child"};
    const varve::trace parents = session.stop();
    const bool said =
        varve_test::lost(parents, "left with the parent process") == 1 && parents.ranges.empty();
    _exit(recorded && said ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  { const varve::layer after{"after"}; }
  EXPECT_THAT(varve_test::paths(session.stop()), testing::ElementsAre("before", "after"));
}

TEST(process, forks_while_threads_mark) {
  varve::session session;
  std::atomic<bool> go{true};
  std::thread worker{[&] {
    while (go) {
      std::thread{[] { const varve::layer layer{varve::label{"made", 1}}; }}.join();
    }
  }};
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      varve::session own;
      { const varve::layer layer{varve::label{"child", i}}; }
      _exit(own.stop().ranges.size() == 1 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  go = false;
  worker.join();
}

TEST(process, kills_no_child_that_exits_with_a_session) {
  varve::session session;
  const pid_t child = fork();
  if (child == 0) {
    std::exit(session ? 3 : 4);  // runs destructors
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
}

}  // namespace
