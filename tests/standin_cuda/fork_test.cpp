// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A fork of a process with a driver. The first tests begin before it has used CUDA, which is not forgotten.
#include "standin_cuda/control.hpp"
#include "standin_cupti/control.hpp"

#include <varve/varve.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace {

class in_a_child : public testing::Test {
 protected:
  in_a_child() {
    standin::config taken;
    taken.other_subscriber = true;
    standin::reset(taken);
    standin_cuda::reset();
    options.gpu.cupti_library = "libcupti.so.13";
  }
  static varve::collector_status events_in(const varve::session& session) {
    for (varve::collector_status& c : session.status().collectors) {
      if (c.name == "cuda events") {
        return c;
      }
    }
    return {};
  }
  static int exit_code_of(pid_t child) {
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  varve::session_options options;
};

TEST_F(in_a_child, event_spans_are_its_own_where_its_parent_had_not_used_cuda) {
  varve::session session{options};
  const pid_t child = fork();
  if (child == 0) {
    standin_cuda::create_context();
    const standin_cuda::handle stream = standin_cuda::create_stream();
    varve::session own{options};
    const bool runs = events_in(own).state == varve::collector_state::running;
    {
      varve::phase pass{varve::decode};
      pass.stream(stream);
    }
    const varve::trace t = own.stop();
    _exit(runs && t.event_spans.size() == 1 && standin_cuda::misuses().empty() ? 0 : 1);
  }
  EXPECT_EQ(exit_code_of(child), 0);
}

/// Of a child's own session, where CUPTI is free: 0 where the GPU is its parent's.
int gpu_of_a_child(const varve::session_options& options) {
  const varve::session own{options};
  for (const varve::collector_status& c : own.status().collectors) {
    if (c.name == "cupti") {
      const bool told = c.detail.find("the GPU stays with its parent") != std::string::npos;
      return c.state == varve::collector_state::unavailable && told ? 0 : 1;
    }
  }
  return 2;
}

// The driver's initialisation may itself fork, for what makes the device files: it must not be asked then.
TEST_F(in_a_child, gpu_is_known_to_be_in_use_without_asking_the_driver) {
  standin::reset();
  const varve::session session{options};
  standin_cuda::on_initialise([] {
    const pid_t helper = fork();
    if (helper == 0) {
      _exit(5);
    }
    EXPECT_EQ(exit_code_of(helper), 5);
  });
  standin_cuda::create_context();
  EXPECT_TRUE(standin_cuda::misuses().empty());
  const std::size_t before = standin_cuda::calls();
  const pid_t child = fork();
  if (child == 0) {
    _exit(gpu_of_a_child(options));
  }
  EXPECT_EQ(standin_cuda::calls() - before, 0U);
  EXPECT_EQ(exit_code_of(child), 0);
}

TEST_F(in_a_child, event_spans_are_left_to_a_parent_that_uses_cuda) {
  standin_cuda::create_context();
  const standin_cuda::handle stream = standin_cuda::create_stream();
  varve::session session{options};
  varve::phase open{varve::decode};
  open.stream(stream);
  const pid_t child = fork();
  if (child == 0) {
    const std::size_t calls = standin_cuda::calls();
    open.end();
    bool told = false;
    {
      varve::session own{options};
      {
        varve::phase pass{varve::decode};
        pass.stream(stream);
      }
      const varve::collector_status events = events_in(own);
      told = events.state == varve::collector_state::unavailable &&
             events.detail.find("the GPU stays with its parent") != std::string::npos;
      static_cast<void>(own.stop());
    }
    _exit(standin_cuda::calls() != calls ? 1 : told ? 0 : 2);
  }
  EXPECT_EQ(exit_code_of(child), 0);
  open.end();
  EXPECT_EQ(session.stop().event_spans.size(), 1U);
}

TEST_F(in_a_child, gpu_is_left_to_a_parent_that_uses_cuda_and_does_not_record_it) {
  standin::reset();
  { const varve::layer marker{"before"}; }
  varve::session_options hosts;
  hosts.gpu.enabled = false;
  const varve::session session{hosts};
  standin_cuda::create_context();
  const pid_t child = fork();
  if (child == 0) {
    _exit(gpu_of_a_child(options));
  }
  EXPECT_EQ(exit_code_of(child), 0);
}

TEST_F(in_a_child, gpu_is_not_asked_for_where_the_driver_tells) {
  standin::reset();
  varve_cuda_(0);
  const varve::session session{options};
  int asked = 0;  // by this thread, since the recorder's looks after the session that waits
  standin_cuda::on_device_count(
      [&asked, here = std::this_thread::get_id()] { asked += std::this_thread::get_id() == here ? 1 : 0; });
  const pid_t first = fork();
  if (first == 0) {
    _exit(0);
  }
  EXPECT_EQ(exit_code_of(first), 0);
  varve_cuda_(1);
  const pid_t second = fork();
  if (second == 0) {
    _exit(gpu_of_a_child(options));
  }
  EXPECT_EQ(exit_code_of(second), 0);
  EXPECT_EQ(asked, 0);
}

}  // namespace
