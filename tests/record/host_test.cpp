// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/collector.hpp>
#include <varve/marker.hpp>
#include <varve/session.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <thread>

#include "support/ranges.hpp"

namespace {

using testing::HasSubstr;
using varve_test::find_range;

class host_test : public testing::Test {
 protected:
  varve::host_device device{{3, "accelerator", 4, 0, 1 << 20}};
};

TEST_F(host_test, joins_a_call_to_the_innermost_range_and_its_activity_by_correlation) {
  varve::session session;
  std::uint32_t correlation = 0;
  {
    const varve::phase pass{varve::decode};
    const varve::layer layer{"layer", 1};
    const varve::host_call call{device, varve::call_kind::launch};
    correlation = call.correlation();
  }
  ASSERT_NE(correlation, 0U);
  const std::uint64_t begin = varve::clock_ticks();
  const std::uint64_t end = varve::clock_ticks();
  std::thread{[&] { device.report({7, correlation, "gemm", begin, end}); }}.join();
  const varve::trace t = session.stop();

  ASSERT_EQ(t.calls.size(), 1U);
  EXPECT_EQ(t.calls.correlation[0], correlation);
  EXPECT_EQ(t.calls.range[0], find_range(t, "decode / layer 1"));
  EXPECT_EQ(t.calls.kind[0], varve::call_kind::launch);
  EXPECT_EQ(t.calls.captured[0], 0);
  EXPECT_LE(t.calls.begin[0], t.calls.end[0]);
  EXPECT_LE(t.ranges[t.calls.range[0]].begin, t.calls.begin[0]);
  EXPECT_LE(t.calls.end[0], t.ranges[t.calls.range[0]].end);

  ASSERT_EQ(t.activities.size(), 1U);
  EXPECT_EQ(t.activities.correlation[0], correlation);
  EXPECT_EQ(t.strings[t.activities.name[0]], "gemm");
  EXPECT_EQ(t.activities.node[0], varve::none);
  EXPECT_LE(t.calls.end[0], t.activities.begin[0]);
  EXPECT_LE(t.activities.begin[0], t.activities.end[0]);
  const varve::stream_info& stream = t.streams[t.activities.stream[0]];
  EXPECT_EQ(stream.device, 3U);
  EXPECT_EQ(stream.stream, 7U);
  const auto known =
      std::find_if(t.devices.begin(), t.devices.end(), [](const auto& d) { return d.id == 3; });
  ASSERT_NE(known, t.devices.end());
  EXPECT_EQ(known->name, "accelerator");
}

TEST_F(host_test, costs_nothing_and_records_nothing_without_a_session) {
  const varve::host_call call{device, varve::call_kind::launch};
  EXPECT_EQ(call.correlation(), 0U);
  device.report({0, 1, "gemm", 1, 2});
  varve::session session;
  EXPECT_EQ(session.stop().activities.size(), 0U);
}

TEST_F(host_test, keeps_kind_bytes_and_captured_calls) {
  varve::session session;
  { const varve::host_call call{device, varve::call_kind::graph_build, true}; }
  device.report({0, 0, "copy", 10, 20, varve::activity_kind::copy, 0, 4096});
  const varve::trace t = session.stop();
  ASSERT_EQ(t.calls.size(), 1U);
  EXPECT_EQ(t.calls.kind[0], varve::call_kind::graph_build);
  EXPECT_EQ(t.calls.captured[0], 1);
  EXPECT_EQ(t.calls.range[0], varve::none);
  ASSERT_EQ(t.activities.size(), 1U);
  EXPECT_EQ(t.activities.kind[0], varve::activity_kind::copy);
  EXPECT_EQ(t.bytes.at(t.activities.detail[0]), 4096);
}

TEST_F(host_test, ends_calls_that_nest_or_are_open_at_the_stop) {
  varve::session session;
  const varve::host_call open{device, varve::call_kind::synchronise};
  {
    const varve::host_call outer{device, varve::call_kind::launch};
    const varve::host_call inner{device, varve::call_kind::allocate};
  }
  const varve::trace t = session.stop();
  ASSERT_EQ(t.calls.size(), 3U);
  EXPECT_EQ(t.calls.end[0], t.end);
  EXPECT_LE(t.calls.begin[1], t.calls.begin[2]);
  EXPECT_LE(t.calls.end[2], t.calls.end[1]);
}

TEST_F(host_test, remembers_the_label_path_of_a_captured_node) {
  varve::session session;
  std::uint64_t node = 0;
  {
    const varve::phase pass{varve::capture};
    const varve::layer layer{"layer", 5};
    node = device.capture_node();
  }
  const std::uint64_t clone = device.clone_node(node);
  const std::uint64_t nobody = device.capture_node();
  for (const std::uint64_t id : {node, clone, nobody, clone}) {
    device.report({0, 1, "gemm", 10, 20, varve::activity_kind::kernel, id});
  }
  const varve::trace t = session.stop();
  ASSERT_EQ(t.graph_nodes.size(), 3U);
  const auto label = [&](std::size_t a) {
    return varve::label_text(t, t.graph_nodes[t.activities.node[a]].label);
  };
  EXPECT_EQ(label(0), "capture / layer 5");
  EXPECT_EQ(label(1), "capture / layer 5");
  EXPECT_EQ(label(2), "");
  EXPECT_EQ(t.activities.node[1], t.activities.node[3]);
}

TEST_F(host_test, keeps_labels_of_nodes_captured_while_armed_before_the_session) {
  ASSERT_TRUE(varve::arm());
  std::uint64_t node = 0;
  {
    const varve::phase pass{varve::capture};
    const varve::layer layer{"layer", 5};
    node = device.capture_node();
  }
  for (int round = 0; round < 2; ++round) {  // sessions do not use the labels up
    varve::session session;
    device.report({0, 1, "gemm", 10, 20, varve::activity_kind::kernel, node});
    const varve::trace t = session.stop();
    ASSERT_EQ(t.graph_nodes.size(), 1U);
    EXPECT_EQ(varve::label_text(t, t.graph_nodes[0].label), "capture / layer 5");
    EXPECT_THAT(t.losses, testing::IsEmpty());  // its work was not to be had, and was not asked for
  }
  varve::disarm();
  varve::session session;
  device.report({0, 1, "gemm", 10, 20, varve::activity_kind::kernel, node});
  EXPECT_EQ(session.stop().graph_nodes.at(0).label, varve::none);
}

TEST_F(host_test, sees_ranges_open_at_the_start_of_a_session_when_armed) {
  ASSERT_TRUE(varve::arm());
  const varve::phase pass{varve::decode};
  varve::session session;
  { const varve::host_call call{device, varve::call_kind::launch}; }
  { const varve::layer layer{"layer", 1}; }
  const varve::trace t = session.stop();
  varve::disarm();
  EXPECT_THAT(varve_test::paths(t), testing::Contains("decode / layer 1"));
  ASSERT_EQ(t.calls.size(), 1U);
  EXPECT_EQ(t.calls.range[0], find_range(t, "decode"));
  EXPECT_TRUE(t.ranges[find_range(t, "decode")].clipped_begin);
}

TEST_F(host_test, updates_and_forgets_nodes) {
  varve::session session;
  std::uint64_t old_node = 0;
  std::uint64_t new_node = 0;
  {
    const varve::layer layer{"old"};
    old_node = device.capture_node();
  }
  {
    const varve::layer layer{"new"};
    new_node = device.capture_node();
  }
  const std::uint64_t executable = device.clone_node(old_node);
  device.update_node(executable, new_node);
  device.destroy_node(old_node);
  device.destroy_node(new_node);  // takes nothing from the executable
  const varve::host_call launch{device, varve::call_kind::graph_launch};
  device.report({0, launch.correlation(), "gemm", 10, 20, varve::activity_kind::kernel, executable});
  device.report(
      {0, launch.correlation(), "gemm", 10, 20, varve::activity_kind::kernel, old_node});  // still known
  const varve::trace t = session.stop();
  EXPECT_EQ(varve::label_text(t, t.graph_nodes.at(0).label), "new");
  EXPECT_EQ(varve::label_text(t, t.graph_nodes.at(1).label), "old");
}

TEST_F(host_test, gives_work_declared_at_capture_to_the_first_node_of_its_range) {
  varve::session session;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  {
    varve::layer layer{"layer", 0};
    a = device.capture_node();
    b = device.capture_node();
    layer.work([] { return varve::work{100, 20, 3, 4}; });
  }
  for (const std::uint64_t id : {a, b}) {
    device.report({0, 1, "gemm", 10, 20, varve::activity_kind::kernel, id});
  }
  const varve::trace t = session.stop();
  EXPECT_EQ(t.graph_nodes.at(0).declared, (varve::work{100, 20, 3, 4}));
  EXPECT_TRUE(t.graph_nodes.at(1).declared.empty());
}

TEST_F(host_test, gives_each_operator_declared_at_capture_a_node_as_far_as_there_are_some) {
  using varve::math_pipe;
  varve::session session;
  std::vector<std::uint64_t> ids;
  const auto capture = [&](int index, int nodes) {
    varve::layer layer{"layer", index};
    for (int n = 0; n < nodes; ++n) {
      ids.push_back(device.capture_node());
    }
    layer.work([] { return varve::work{100, 1, 0, 0, math_pipe::int8_tensor}; });
    layer.work([] { return varve::work{50, 2, 0, 0, math_pipe::bf16_tensor}; });
    layer.work([] { return varve::work{10, 4, 0, 0, math_pipe::bf16_tensor}; });
    layer.work([] { return varve::work{0, 0, 8, 0}; });
  };
  capture(0, 5);
  capture(1, 2);
  capture(2, 1);
  ids.push_back(device.clone_node(ids[6]));  // of layer 1
  for (const std::uint64_t id : ids) {
    device.report({0, 1, "gemm", 10, 20, varve::activity_kind::kernel, id});
  }
  const varve::trace t = session.stop();
  std::vector<varve::work> declared;
  for (const varve::graph_node& n : t.graph_nodes) {
    declared.push_back(n.declared);
  }
  EXPECT_THAT(
      declared,
      testing::ElementsAre(
          varve::work{100, 1, 0, 0, math_pipe::int8_tensor}, varve::work{50, 2, 0, 0, math_pipe::bf16_tensor},
          varve::work{10, 4, 0, 0, math_pipe::bf16_tensor}, varve::work{0, 0, 8, 0}, varve::work{},
          // Two nodes: what computes nothing adds to the first, what runs on one pipe to its like.
          varve::work{100, 1, 8, 0, math_pipe::int8_tensor}, varve::work{60, 6, 0, 0, math_pipe::bf16_tensor},
          // One: all of it.
          varve::work{160, 7, 8, 0, math_pipe::mixed}, varve::work{60, 6, 0, 0, math_pipe::bf16_tensor}));
}

TEST_F(host_test, attributes_calls_of_handed_over_work) {
  varve::session session;
  {
    const varve::layer layer{"layer", 2};
    std::thread{[this, where = varve::here()] {
      const varve::adopt adopted{where};
      const varve::host_call call{device, varve::call_kind::launch};
      static_cast<void>(device.capture_node());
    }}.join();
  }
  const varve::trace t = session.stop();
  EXPECT_EQ(t.calls.range.at(0), find_range(t, "layer 2"));
}

TEST_F(host_test, says_when_the_work_runs_on_the_hosts_own_cores) {
  const auto record = [](varve::host_device& d) {
    varve::session session;
    d.report({0, 0, "gemm", 10, 20});
    return session.stop().live_cpu;
  };
  EXPECT_FALSE(record(device));
  varve::host_device threads{{4, "worker threads"}, true};
  EXPECT_TRUE(record(threads));
}

/// A source of the user's: one that works, one that cannot.
class counting_source : public varve::collector {
 public:
  explicit counting_source(bool usable) : usable_{usable} {}
  void start() noexcept override { running_ = usable_; }
  void stop() noexcept override { running_ = false; }
  void drain(varve::trace& out) noexcept override {
    if (usable_) {
      varve::activity a;
      a.begin = out.begin;
      a.end = out.end;
      out.add_activity(a);
    }
  }
  [[nodiscard]] varve::collector_status status() const override {
    if (!usable_) {
      return {"counting", "1", varve::collector_state::unavailable, "no permission: ask your administrator"};
    }
    return {"counting", "1", running_ ? varve::collector_state::running : varve::collector_state::stopped,
            ""};
  }

 private:
  bool usable_;
  bool running_ = false;
};

class failing_source : public counting_source {
 public:
  failing_source() : counting_source{true} {}
  [[nodiscard]] varve::collector_status status() const override { throw std::runtime_error{"boom"}; }
};

/// Reads the clock when it is stopped: after recording has, and before anything of it is read.
class stop_clock : public counting_source {
 public:
  stop_clock() : counting_source{false} {}
  void stop() noexcept override { stopped = varve::clock_ticks(); }
  std::uint64_t stopped = 0;
};

TEST_F(host_test, ends_the_window_when_the_session_is_told_to_stop) {
  const auto clock = std::make_shared<stop_clock>();
  varve::session_options options;
  options.collectors = {clock};
  varve::session session{options};
  for (int i = 0; i < 20000; ++i) {
    const varve::layer layer{"layer", i & 7};
  }
  const std::uint64_t asked = varve::clock_ticks();
  const varve::trace t = session.stop();
  EXPECT_LE(varve::clock_nanoseconds(asked), t.end);
  EXPECT_LE(t.end, varve::clock_nanoseconds(clock->stopped));
  EXPECT_EQ(t.ranges.size(), 20000U);
  EXPECT_LE(t.ranges.back().end, varve::clock_nanoseconds(asked));
}

TEST_F(host_test, survives_a_collector_whose_status_throws) {
  varve::session_options options;
  options.collectors = {std::make_shared<failing_source>()};
  varve::session session{options};
  EXPECT_THAT(session.status().collectors.back().detail, HasSubstr("threw"));
  EXPECT_EQ(session.stop().activities.size(), 1U);
  EXPECT_TRUE(varve::session{});  // nothing of it is left
}

TEST_F(host_test, skips_and_names_collectors_that_are_null) {
  varve::session_options options;
  options.collectors = {nullptr, std::make_shared<counting_source>(true), nullptr};
  varve::session session{options};
  ASSERT_TRUE(session);
  const varve::session_status status = session.status();
  EXPECT_EQ(status.collectors.back().state, varve::collector_state::running);
  const varve::collector_status& skipped = status.collectors.at(status.collectors.size() - 2);
  EXPECT_EQ(skipped.state, varve::collector_state::unavailable);
  EXPECT_THAT(skipped.detail, HasSubstr("null pointer in session_options::collectors"));
  ASSERT_EQ(status.losses.size(), 1U);
  EXPECT_EQ(status.losses[0].count, 2U);
  EXPECT_EQ(varve_test::lost(session.snapshot(), "null pointer"), 2U);
  const varve::trace t = session.stop();
  EXPECT_EQ(varve_test::lost(t, "null pointer"), 2U);
  EXPECT_EQ(t.activities.size(), 1U);  // of the other one
}

TEST_F(host_test, drives_collectors_of_the_users) {
  varve::session_options options;
  options.collectors = {std::make_shared<counting_source>(true), std::make_shared<counting_source>(false)};
  varve::session session{options};
  const auto status = [&](std::size_t from_end) {
    const auto all = session.status().collectors;
    return all.at(all.size() - from_end);
  };
  EXPECT_EQ(status(2).state, varve::collector_state::running);
  EXPECT_EQ(status(1).state, varve::collector_state::unavailable);
  EXPECT_THAT(status(1).detail, HasSubstr("no permission"));
  const varve::trace t = session.stop();
  EXPECT_EQ(t.activities.size(), 1U);
  EXPECT_EQ(t.collectors.back().state, varve::collector_state::unavailable);
  EXPECT_EQ(status(2).state, varve::collector_state::stopped);
}

}  // namespace
