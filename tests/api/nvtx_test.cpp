// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A tool attached to this process through NVTX sees the markers' ranges: exactly, balanced, in the domain
// "varve", with the index as payload. ctest runs each test in a process of its own.
#include <varve/varve.hpp>

#include "support/nvtx_tool.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

class nvtx : public testing::Test {
 protected:
  // NVTX looks for a tool at the first marker of the process.
  static void SetUpTestSuite() { ::setenv("NVTX_INJECTION64_PATH", VARVE_NVTX_TOOL, 1); }
  void SetUp() override { take(); }

  static std::vector<nvtx_event> take() {
    std::vector<nvtx_event> events;
    void* tool = ::dlopen(VARVE_NVTX_TOOL, RTLD_NOW | RTLD_LOCAL);
    if (tool == nullptr) {
      ADD_FAILURE() << ::dlerror();
      return events;
    }
    reinterpret_cast<nvtx_tool_take_function*>(::dlsym(tool, nvtx_tool_take_name))(events);
    return events;
  }

  static std::string line(const nvtx_event& event) {
    switch (event.kind) {
      case nvtx_event::push:
        return "push " + event.text;
      case nvtx_event::pop:
        return "pop";
      case nvtx_event::start:
        return "start " + event.text;
      case nvtx_event::end:
        return "end " + event.text;
    }
    return {};
  }

  // What the tool saw since the last call, all of it in the domain "varve".
  static std::vector<std::string> seen() {
    const std::vector<nvtx_event> events = take();
    EXPECT_THAT(events, Each(Field(&nvtx_event::domain, "varve")));
    std::vector<std::string> lines;
    for (const nvtx_event& event : events) {
      lines.push_back(line(event));
    }
    return lines;
  }
};

void forward_pass() {
  const varve::phase pass{varve::decode};
  for (int i = 0; i < 2; ++i) {
    const varve::layer layer{"layer", i};
    const varve::op norm{"norm"};
  }
}

constexpr auto forward_pass_lines = [] {
  return ElementsAre("push decode", "push layer 0", "push norm", "pop", "pop", "push layer 1", "push norm",
                     "pop", "pop", "pop");
};

TEST_F(nvtx, sees_nested_ranges_without_a_session) {
  forward_pass();
  EXPECT_THAT(seen(), forward_pass_lines());
}

TEST_F(nvtx, sees_the_same_with_a_session_and_the_session_sees_them_too) {
  varve::session session;
  ASSERT_TRUE(session) << session.status().error;
  forward_pass();
  const varve::trace trace = session.stop();
  EXPECT_THAT(seen(), forward_pass_lines());
  EXPECT_EQ(trace.ranges.size(), 5U);  // 1 pass + 2 layers + 2 ops
}

TEST_F(nvtx, sees_balanced_ranges_across_the_beginning_and_end_of_a_session) {
  {
    const varve::layer before{"before", 1};
    varve::session session;
    ASSERT_TRUE(session) << session.status().error;
    const varve::layer during{"during", 2};
    [[maybe_unused]] const varve::trace trace = session.stop();
  }
  EXPECT_THAT(seen(), ElementsAre("push before 1", "push during 2", "pop", "pop"));
}

TEST_F(nvtx, sees_a_pop_and_a_push_at_each_step_of_a_sequence) {
  {
    varve::sequence step{"attention", 7};
    step.next("mlp", 7);
  }
  EXPECT_THAT(seen(), ElementsAre("push attention 7", "pop", "push mlp 7", "pop"));
}

TEST_F(nvtx, sees_handles_as_ranges_that_end_in_any_order) {
  varve::handle first = varve::begin_layer("attention", 3);
  varve::handle second = varve::begin_layer("mlp", 4);
  first.end();
  second.end();
  EXPECT_THAT(seen(), ElementsAre("start attention 3", "start mlp 4", "end attention 3", "end mlp 4"));
}

TEST_F(nvtx, sees_a_range_of_c_end_and_another_start_at_each_step) {
  varve_end(varve_next(varve_layer_begin("attention", 7), "mlp", 7));
  EXPECT_THAT(seen(), ElementsAre("start attention 7", "end attention 7", "start mlp 7", "end mlp 7"));
}

TEST_F(nvtx, sees_the_text_of_a_label_made_at_run_time) {
  { const varve::layer layer{varve::label::parse("ffn_out-12")}; }
  EXPECT_THAT(seen(), ElementsAre("push ffn_out 12", "pop"));
}

TEST_F(nvtx, sees_each_thread_balanced) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back(forward_pass);
  }
  std::vector<std::thread::id> ids;
  for (std::thread& thread : threads) {
    ids.push_back(thread.get_id());
    thread.join();
  }
  const std::vector<nvtx_event> events = take();
  for (const std::thread::id id : ids) {
    std::vector<std::string> lines;
    for (const nvtx_event& event : events) {
      if (event.thread == id) {
        lines.push_back(line(event));
      }
    }
    EXPECT_THAT(lines, forward_pass_lines());
  }
  EXPECT_EQ(events.size(), 20U);  // two passes of 5 pushes and 5 pops
}

TEST_F(nvtx, sees_nothing_of_arming_and_disarming) {
  varve::arm();
  varve::disarm();
  EXPECT_THAT(seen(), IsEmpty());
}

}  // namespace
