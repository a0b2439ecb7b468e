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

namespace {

TEST(event_spans_in_a_child, are_left_to_the_parent) {
  standin::config taken;
  taken.other_subscriber = true;
  standin::reset(taken);
  standin_cuda::reset();
  standin_cuda::create_context();
  const standin_cuda::handle stream = standin_cuda::create_stream();
  varve::session_options options;
  options.gpu.cupti_library = "libcupti.so.13";
  varve::session session{options};
  varve::phase open{varve::decode};
  open.stream(stream);
  const pid_t child = fork();
  if (child == 0) {
    const std::size_t calls = standin_cuda::calls();
    open.end();
    {
      varve::session own{options};
      {
        varve::phase pass{varve::decode};
        pass.stream(stream);
      }
      static_cast<void>(own.stop());
    }
    _exit(standin_cuda::calls() == calls ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  open.end();
  EXPECT_EQ(session.stop().event_spans.size(), 1U);
}

}  // namespace
