// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Forks of a process whose GPU is recorded.
#include "cuda/standin_session.hpp"
#include "support/ranges.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

namespace {

using testing::HasSubstr;
using varve_test::cupti_in;
using varve_test::on_standin;

class forked : public varve_test::over_standin {
 protected:
  forked() { standin::reset(varve_test::standin_config()); }
};

int exit_code_of(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// What a child does, with its first failing step as the exit code.
int live_as_a_child(varve::session& parents, standin::stream s) {
  {
    const varve::layer layer{"unrecorded"};
    standin::launch(s, "gemm");
  }
  varve::session own{on_standin()};
  if (!own) {
    return 1;
  }
  const varve::collector_status told = cupti_in(own.status());
  if (told.state != varve::collector_state::unavailable ||
      told.detail.find("the GPU stays with its parent") == std::string::npos) {
    return 2;
  }
  {
    const varve::layer layer{"in the child"};
    standin::launch(s, "gemm");
  }
  const varve::trace t = own.stop();
  if (varve_test::paths(t) != std::vector<std::string>{"in the child"} || t.activities.size() != 0) {
    return 3;
  }
  varve::arm_devices();
  varve::disarm();
  if (parents.stop().activities.size() != 0) {
    return 4;
  }
  return standin::misuses().empty() ? 0 : 5;
}

TEST_F(forked, child_has_markers_and_its_parent_the_gpu) {
  const standin::stream s = standin::create_stream();
  varve::session session{on_standin()};
  const standin::done before = standin::launch(s, "gemm");
  const pid_t child = fork();
  if (child == 0) {
    std::_Exit(live_as_a_child(session, s));
  }
  const standin::done after = standin::launch(s, "gemm");
  EXPECT_EQ(exit_code_of(child), 0);
  const varve::trace t = session.stop();
  EXPECT_THAT(varve_test::work_of(t, before), testing::SizeIs(1));
  EXPECT_THAT(varve_test::work_of(t, after), testing::SizeIs(1));
}

TEST_F(forked, children_of_a_process_whose_threads_launch_do_not_hang) {
  varve::arm_devices();
  varve::session session{on_standin()};
  std::atomic<bool> go{true};
  std::vector<std::thread> engine;
  for (int i = 0; i < 2; ++i) {
    engine.emplace_back([&] {
      const standin::stream s = standin::create_stream();
      while (go) {
        const varve::layer layer{"attention"};
        standin::launch(s, "gemm");
        standin::begin_capture(s);
        standin::launch(s, "gemm");
        const standin::graph g = standin::end_capture(s);
        standin::destroy(standin::instantiate(g));
        standin::destroy(g);
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      varve::session own{on_standin()};
      { const varve::layer layer{"in the child"}; }
      std::_Exit(own.stop().ranges.size() == 1 ? 0 : 1);
    }
    EXPECT_EQ(exit_code_of(child), 0);
  }
  go = false;
  for (std::thread& t : engine) {
    t.join();
  }
  EXPECT_GT(session.stop().activities.size(), 0U);
}

TEST_F(forked, child_may_exit_with_what_its_parent_left_it) {
  varve::session session{on_standin()};
  standin::launch({}, "gemm");
  const pid_t child = fork();
  if (child == 0) {
    { const varve::session gone{std::move(session)}; }
    std::exit(standin::misuses().empty() ? 3 : 4);
  }
  EXPECT_EQ(exit_code_of(child), 3);
}

/// In a process of its own, since a child has no GPU once its parent has used CUDA.
int record_as_a_child() {
  const standin::stream s = standin::create_stream();
  standin::launch(s, "gemm");  // of no session: costs no buffer
  if (standin::buffers_requested() != 0 && standin::records_dropped() == 0) {
    return 1;
  }
  varve::session own{on_standin()};
  if (cupti_in(own.status()).state != varve::collector_state::running) {
    return 2;
  }
  const standin::done work = [&] {
    const varve::layer layer{"in the child"};
    return standin::launch(s, "gemm");
  }();
  const varve::trace t = own.stop();
  if (varve_test::work_of(t, work).size() != 1 || t.activities.size() != 1 ||
      varve_test::range_of(t, work.outer_correlation) != "in the child") {
    return 3;
  }
  return standin::misuses().empty() ? 0 : 4;
}

using fork_DeathTest = forked;

TEST_F(fork_DeathTest, leaves_the_gpu_to_a_child_whose_parent_recorded_and_had_not_used_cuda) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        varve::session session{on_standin()};
        const pid_t child = fork();
        if (child == 0) {
          if (cupti_in(session.status()).state != varve::collector_state::unavailable) {
            std::_Exit(9);
          }
          std::_Exit(record_as_a_child());
        }
        const int code = exit_code_of(child);
        const standin::done work = standin::launch({}, "gemm");
        std::_Exit(code != 0 ? code : varve_test::work_of(session.stop(), work).size() == 1 ? 0 : 8);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(fork_DeathTest, leaves_children_armed_and_their_graphs_labelled) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        varve::arm_devices();
        const pid_t child = fork();
        if (child == 0) {
          const standin::stream s = standin::create_stream();
          standin::begin_capture(s);
          {
            const varve::layer layer{"attention"};
            standin::launch(s, "gemm");
          }
          const standin::executable e = standin::instantiate(standin::end_capture(s));
          varve::session own{on_standin()};
          const standin::done replay = standin::launch(s, e);
          const bool labelled =
              varve_test::labels_of(own.stop(), replay) == std::vector<std::string>{"attention"};
          varve::disarm();
          std::_Exit(!labelled ? 1 : standin::subscribed() ? 2 : standin::misuses().empty() ? 0 : 3);
        }
        std::_Exit(exit_code_of(child));
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(fork_DeathTest, leaves_cupti_alone_until_cuda_starts_where_it_will_be_told) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        varve_cuda_(0);
        varve::arm();
        varve::session session{on_standin()};
        const bool alone = standin::call_count("cuptiSubscribe") == 0;
        const pid_t child = fork();
        if (child == 0) {
          varve::session own{on_standin()};
          const bool waits =
              cupti_in(own.status()).detail.find("CUDA has not been initialised") != std::string::npos;
          varve_cuda_(1);
          const standin::done work = standin::launch({}, "gemm");
          const bool records = cupti_in(own.status()).state == varve::collector_state::running;
          const bool has = varve_test::work_of(own.stop(), work).size() == 1;
          std::_Exit(!waits ? 1 : !records ? 2 : !has ? 3 : 0);
        }
        const int code = exit_code_of(child);
        const bool nothing = session.stop().activities.size() == 0;
        std::_Exit(!alone ? 9 : !nothing || standin::call_count("cuptiSubscribe") != 0 ? 8 : code);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(fork_DeathTest, leaves_the_gpu_to_a_child_whose_parent_never_used_it) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        { const varve::layer marker{"before"}; }
        varve::session_options hosts;
        hosts.gpu.enabled = false;
        varve::session session{hosts};
        const pid_t child = fork();
        if (child == 0) {
          varve::session own{on_standin()};
          std::_Exit(cupti_in(own.status()).state == varve::collector_state::running ? 0 : 1);
        }
        std::_Exit(exit_code_of(child));
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
