// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A fork while GPU spans are measured.
#include "standin_cuda/control.hpp"
#include "standin_cupti/control.hpp"

#include <varve/varve.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace {

class event_spans_in_a_child : public testing::Test {
 protected:
  event_spans_in_a_child() {
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
  varve::session_options options;
};

TEST_F(event_spans_in_a_child, are_its_own_where_its_parent_had_not_used_cuda) {
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
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(event_spans_in_a_child, are_left_to_a_parent_that_uses_cuda) {
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
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  open.end();
  EXPECT_EQ(session.stop().event_spans.size(), 1U);
}

}  // namespace
