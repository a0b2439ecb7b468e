// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What happens at a process's end: each case in a process of its own.
#include <varve/collector.hpp>
#include <varve/marker.hpp>
#include <varve/session.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/ranges.hpp"

namespace {

struct marks_when_destroyed {
  ~marks_when_destroyed() {
    const varve::phase pass{varve::decode};
    const varve::layer layer{"static", 1};
    std::fputs("marked\n", stderr);
  }
};

TEST(process, may_mark_in_static_destructors_with_a_session_running) {
  EXPECT_EXIT(
      {
        static const marks_when_destroyed late;
        static varve::session session;  // destroyed before `late`
        const varve::layer layer{"layer"};
        std::exit(7);
      },
      testing::ExitedWithCode(7), "marked");
}

TEST(process, may_mark_in_static_destructors_after_its_session_leaked) {
  EXPECT_EXIT(
      {
        static const marks_when_destroyed late;
        static auto* const leaked = new varve::session;  // still running at the exit
        static_cast<void>(leaked);
        const varve::layer layer{"layer"};
        std::exit(7);
      },
      testing::ExitedWithCode(7), "marked");
}

TEST(process, may_stop_its_session_in_a_static_destructor) {
  struct stops {
    varve::session session;
    ~stops() {
      const marks_when_destroyed mark;
      const varve::trace t = session.stop();
      std::fprintf(stderr, "%zu ranges\n", t.ranges.size());
    }
  };
  EXPECT_EXIT(
      {
        static stops s;
        { const varve::layer layer{"layer"}; }
        std::exit(7);
      },
      testing::ExitedWithCode(7), "1 ranges");
}

}  // namespace
