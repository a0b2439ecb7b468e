// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Order, errors and graphs of the CPU device. No test waits for time to pass: what must not have run yet is
// held back by a latch.
#include "cpu_stream.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using decoder::cpu_device;
using decoder::cpu_event;
using decoder::cpu_executable;
using decoder::cpu_graph;
using decoder::cpu_stream;
using decoder::task;

task kernel(std::function<void()> run, const char* name = "kernel") {
  return {name, varve::activity_kind::kernel, 0, std::move(run)};
}

/// What tasks did, in order.
class journal {
 public:
  task note(const char* entry) {
    return kernel([this, entry] {
      const std::lock_guard lock{mutex_};
      entries_.emplace_back(entry);
    });
  }
  std::vector<std::string> entries() {
    const std::lock_guard lock{mutex_};
    return entries_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> entries_;
};

using entries = std::vector<std::string>;

TEST(cpu_stream, runs_its_work_in_order) {
  cpu_device device;
  cpu_stream stream{device};
  std::vector<int> seen;
  for (int i = 0; i < 100; ++i) {
    stream.launch(kernel([&seen, i] { seen.push_back(i); }));
  }
  stream.synchronise();
  ASSERT_EQ(seen.size(), 100U);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
  }
}

TEST(cpu_stream, runs_what_is_queued_before_it_ends) {
  cpu_device device;
  int ran = 0;
  {
    cpu_stream stream{device};
    for (int i = 0; i < 100; ++i) {
      stream.launch(kernel([&ran] { ++ran; }));
    }
  }
  EXPECT_EQ(ran, 100);
}

TEST(cpu_event, holds_back_the_stream_that_waits_and_no_other) {
  cpu_device device;
  cpu_stream first{device};
  cpu_stream second{device};
  cpu_stream third{device};
  cpu_event done{device};
  journal log;
  std::latch gate{1};
  first.launch(kernel([&gate] { gate.wait(); }));
  first.launch(log.note("first"));
  first.record(done);
  second.wait(done);
  second.launch(log.note("second"));
  third.launch(log.note("third"));
  third.synchronise();  // though the first stream stands still
  gate.count_down();
  second.synchronise();
  EXPECT_EQ(log.entries(), (entries{"third", "first", "second"}));
}

// Two streams take turns with a number that nothing else guards: a wait that is not honoured loses
// increments, and the thread sanitizer sees it in any case.
TEST(cpu_event, orders_two_streams_that_take_turns) {
  cpu_device device;
  cpu_stream streams[2] = {cpu_stream{device}, cpu_stream{device}};
  cpu_event turns[2] = {cpu_event{device}, cpu_event{device}};
  int number = 0;
  for (int i = 0; i < 500; ++i) {
    for (const int self : {0, 1}) {
      streams[self].wait(turns[1 - self]);
      streams[self].launch(kernel([&number] { number = number + 1; }));
      streams[self].record(turns[self]);
    }
  }
  turns[1].synchronise();
  EXPECT_EQ(number, 1000);
}

TEST(cpu_event, that_was_never_recorded_holds_back_nothing) {
  cpu_device device;
  cpu_stream stream{device};
  cpu_event never{device};
  stream.wait(never);
  never.synchronise();
  stream.synchronise();
}

TEST(cpu_event, stands_for_its_last_record) {
  cpu_device device;
  cpu_stream first{device};
  cpu_stream second{device};
  cpu_event done{device};
  journal log;
  std::latch gate{1};
  first.record(done);
  first.launch(kernel([&gate] { gate.wait(); }));
  first.launch(log.note("first"));
  first.record(done);
  second.wait(done);
  second.launch(log.note("second"));
  gate.count_down();
  done.synchronise();
  second.synchronise();
  EXPECT_EQ(log.entries(), (entries{"first", "second"}));
}

TEST(cpu_event, tells_the_time_between_two_that_were_reached) {
  cpu_device device;
  cpu_stream stream{device};
  cpu_event first{device};
  cpu_event second{device};
  EXPECT_THROW((void)second.seconds_since(first), std::logic_error);
  using clock = std::chrono::steady_clock;
  stream.record(first);
  first.synchronise();
  const clock::time_point after_first = clock::now();
  clock::time_point before_second;
  stream.launch(kernel([&] { before_second = clock::now(); }));
  stream.record(second);
  stream.synchronise();
  EXPECT_GE(second.seconds_since(first), std::chrono::duration<double>(before_second - after_first).count());
  EXPECT_EQ(second.seconds_since(first), -first.seconds_since(second));
}

TEST(cpu_device, surfaces_an_exception_and_runs_nothing_after_it) {
  cpu_device device;
  cpu_stream first{device};
  cpu_stream second{device};
  cpu_event done{device};
  bool ran = false;
  first.launch(kernel([] { throw std::out_of_range{"position 7"}; }));
  first.launch(kernel([&ran] { ran = true; }));
  first.record(done);
  second.wait(done);  // reached all the same: nobody hangs
  second.launch(kernel([&ran] { ran = true; }));
  EXPECT_THROW(second.synchronise(), std::out_of_range);
  EXPECT_THROW(first.synchronise(), std::out_of_range);
  EXPECT_THROW(done.synchronise(), std::out_of_range);
  EXPECT_FALSE(ran);
}

std::unique_ptr<decoder::graph> capture(cpu_stream& stream, std::vector<task> tasks) {
  stream.begin_capture();
  for (task& t : tasks) {
    stream.launch(std::move(t));
  }
  return stream.end_capture();
}

const cpu_graph& captured(const std::unique_ptr<decoder::graph>& g) {
  return static_cast<const cpu_graph&>(*g);
}

TEST(cpu_graph, runs_at_each_launch_and_not_when_it_is_captured) {
  cpu_device device;
  cpu_stream stream{device};
  journal log;
  const auto graph = capture(stream, {log.note("a"), log.note("b")});
  EXPECT_EQ(graph->size(), 2U);
  const cpu_executable pass{device, captured(graph)};
  stream.synchronise();
  EXPECT_EQ(log.entries(), entries{});
  stream.launch(pass);
  stream.launch(log.note("c"));
  stream.launch(pass);
  stream.synchronise();
  EXPECT_EQ(log.entries(), (entries{"a", "b", "c", "a", "b"}));
}

TEST(cpu_executable, outlives_its_graph_and_a_launch_outlives_the_executable) {
  cpu_device device;
  cpu_stream stream{device};
  journal log;
  std::latch gate{1};
  stream.launch(kernel([&gate] { gate.wait(); }));
  {
    auto graph = capture(stream, {log.note("a")});
    const cpu_executable pass{device, captured(graph)};
    graph.reset();
    stream.launch(pass);
  }
  gate.count_down();
  stream.synchronise();
  EXPECT_EQ(log.entries(), entries{"a"});
}

TEST(cpu_executable, takes_new_parameters_for_the_launches_that_follow) {
  cpu_device device;
  cpu_stream stream{device};
  journal log;
  std::latch gate{1};
  const auto old_graph = capture(stream, {log.note("old")});
  const auto new_graph = capture(stream, {log.note("new")});
  cpu_executable pass{device, captured(old_graph)};
  stream.launch(kernel([&gate] { gate.wait(); }));
  stream.launch(pass);
  EXPECT_TRUE(pass.update(*new_graph));
  stream.launch(pass);
  gate.count_down();
  stream.synchronise();
  EXPECT_EQ(log.entries(), (entries{"old", "new"}));
}

TEST(cpu_executable, refuses_a_graph_of_other_kernels_and_stays_as_it_is) {
  cpu_device device;
  cpu_stream stream{device};
  journal log;
  const auto graph = capture(stream, {log.note("a")});
  const auto longer = capture(stream, {log.note("b"), log.note("b")});
  const auto renamed = capture(stream, {kernel([] {}, "another")});
  const auto copy = capture(stream, {{"kernel", varve::activity_kind::copy, 4, [] {}}});
  cpu_executable pass{device, captured(graph)};
  EXPECT_FALSE(pass.update(*longer));
  EXPECT_FALSE(pass.update(*renamed));
  EXPECT_FALSE(pass.update(*copy));
  stream.launch(pass);
  stream.synchronise();
  EXPECT_EQ(log.entries(), entries{"a"});
}

TEST(cpu_stream, refuses_while_capturing_what_a_graph_cannot_hold) {
  cpu_device device;
  cpu_stream stream{device};
  cpu_event mark{device};
  const auto empty = capture(stream, {});
  const cpu_executable pass{device, captured(empty)};
  EXPECT_THROW(stream.end_capture(), std::logic_error);
  stream.begin_capture();
  EXPECT_THROW(stream.begin_capture(), std::logic_error);
  EXPECT_THROW(stream.synchronise(), std::logic_error);
  EXPECT_THROW(stream.record(mark), std::logic_error);
  EXPECT_THROW(stream.wait(mark), std::logic_error);
  EXPECT_THROW(stream.launch(pass), std::logic_error);
  EXPECT_EQ(stream.end_capture()->size(), 0U);
  stream.synchronise();
}

}  // namespace
