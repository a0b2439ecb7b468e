// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Processes that fork while varve is at work.
#include <varve/marker.hpp>
#include <varve/running_report.hpp>
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

TEST(process, leaves_a_running_report_alone_in_a_child_forked_while_it_takes) {
  for (int i = 0; i < 20; ++i) {
    varve::session session;
    varve::running_report running{session, {1'000, {}}};  // takes all the time
    for (int k = 0; k < 2000; ++k) {
      const varve::phase pass{varve::decode};
    }
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // ends a child that waits for what only its parent can do
      const bool nothing = running.so_far().phases.empty() && session.take().ranges.empty() &&
                           session.snapshot().ranges.empty() && running.stop().phases.empty();
      static_cast<void>(session.status());
      static_cast<void>(session.stop());
      std::exit(nothing ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    const varve::report all = running.stop();
    ASSERT_EQ(all.phases.size(), 1U);
    EXPECT_EQ(all.phases[0].passes, 2000);
  }
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
