// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Graphs of the model, on schedules worked out by hand. Default costs: captured call 1500 ns, graph
// construction 50000, graph launch 10000, launch 5000, event 1000.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

#include "support/virtual_device.hpp"

namespace virtual_device {
namespace {

using testing::ElementsAre;
using testing::Pair;
using varve::call_kind;

std::vector<std::pair<time_ns, time_ns>> activities(const recording& r) {
  std::vector<std::pair<time_ns, time_ns>> out;
  for (const activity_record& a : r.activities) {
    out.emplace_back(a.begin, a.end);
  }
  return out;
}

std::string text(const std::vector<step>& path) {
  std::string out;
  for (const step& s : path) {
    out += "/" + s.name + (s.index == varve::no_index ? "" : std::to_string(s.index));
  }
  return out;
}

/// The label that each activity's node carries.
std::vector<std::string> labels(const recording& r) {
  std::vector<std::string> out;
  for (const activity_record& a : r.activities) {
    out.push_back(a.node == none ? "eager" : text(r.nodes[a.node].path));
  }
  return out;
}

struct virtual_device_graph : testing::Test {
  machine m;
  stream s = (m.device(0), m.new_stream(0));
  host& h = m.new_host();
};

TEST_F(virtual_device_graph, replays_run_the_nodes_one_after_another_with_their_labels) {
  const auto capture = [&] {
    const scope pass = h.phase("capture");
    h.begin_capture(s);
    {
      const scope layer = h.layer("attention", 0);
      h.launch(s, "a", 3'000);  // call 0–1500
    }
    const scope layer = h.layer("mlp", 0);
    h.launch(s, "b", 4'000);  // call 1500–3000
    return h.end_capture(s);
  };
  const executable e = h.instantiate(capture());  // 3000–53000
  h.launch(s, "before", 20'000);                  // call 53000–58000, runs 58000–78000
  h.launch(s, e);               // call 58000–68000, behind "before": 78000–81000–85000
  h.launch(s, "after", 1'000);  // call 68000–73000, runs 85000–86000
  h.launch(s, e);               // call 73000–83000, 86000–89000–93000
  const recording r = m.run();
  EXPECT_THAT(activities(r), ElementsAre(Pair(58'000, 78'000), Pair(78'000, 81'000), Pair(81'000, 85'000),
                                         Pair(85'000, 86'000), Pair(86'000, 89'000), Pair(89'000, 93'000)));
  EXPECT_THAT(labels(r), ElementsAre("eager", "/capture/attention0", "/capture/mlp0", "eager",
                                     "/capture/attention0", "/capture/mlp0"));
  EXPECT_EQ(r.activities[1].node, r.activities[4].node);
  EXPECT_EQ(r.activities[1].call, r.activities[2].call);
  EXPECT_NE(r.activities[1].call, r.activities[4].call);
  EXPECT_TRUE(r.calls[0].captured);
  EXPECT_TRUE(r.calls[1].captured);
  EXPECT_EQ(r.calls[2].kind, call_kind::graph_build);
}

TEST_F(virtual_device_graph, an_event_forks_a_capture_and_joins_it_again) {
  const stream side = m.new_stream(0);
  const event fork = m.new_event();
  const event join = m.new_event();
  h.begin_capture(s);
  h.launch(s, "a", 1'000);                               // 0–1500
  h.record(fork, s);                                     // 1500–2500
  h.wait(side, fork);                                    // 2500–3500
  h.launch(side, "b", 7'000);                            // 3500–5000
  h.launch(s, "c", 2'000);                               // 5000–6500
  h.record(join, side);                                  // 6500–7500
  h.wait(s, join);                                       // 7500–8500
  h.launch(s, "d", 1'000);                               // 8500–10000
  const executable e = h.instantiate(h.end_capture(s));  // 10000–60000
  h.launch(side, "other", 50'000);  // 60000–65000: the graph does not wait for this stream
  h.launch(s, e);                   // 65000–75000
  const recording r = m.run();
  // a 75000–76000, then b and c side by side, 76000–83000 and 76000–78000, then d when both are done.
  EXPECT_THAT(activities(r), ElementsAre(Pair(65'000, 115'000), Pair(75'000, 76'000), Pair(76'000, 83'000),
                                         Pair(76'000, 78'000), Pair(83'000, 84'000)));
  EXPECT_EQ(r.activities[1].stream, s.id);
  EXPECT_EQ(r.activities[3].stream, s.id);
  EXPECT_EQ(r.activities[4].stream, s.id);
  EXPECT_GT(r.activities[2].stream, side.id);  // one of the graph's own
  EXPECT_EQ(r.streams[r.activities[2].stream].device, 0U);
}

TEST_F(virtual_device_graph, executables_have_nodes_of_their_own) {
  h.begin_capture(s);
  h.launch(s, "a", 1'000);
  const graph g = h.end_capture(s);
  const executable one = h.instantiate(g);
  const executable two = h.instantiate(g);
  h.launch(s, one);
  h.launch(s, two);
  const recording r = m.run();
  ASSERT_EQ(r.activities.size(), 2U);
  EXPECT_NE(r.nodes[r.activities[0].node].id, r.nodes[r.activities[1].node].id);
}

TEST_F(virtual_device_graph, an_update_keeps_node_ids_and_changes_labels_and_work) {
  const auto capture = [&](int layer, time_ns duration) {
    h.begin_capture(s);
    const scope l = h.layer("mlp", layer);
    h.launch(s, "a", duration);
    return h.end_capture(s);
  };
  const graph first = capture(1, 1'000);
  const graph second = capture(2, 9'000);
  const executable e = h.instantiate(first);  // 3000–53000
  h.launch(s, e);                             // 53000–63000, runs 63000–64000
  h.update(e, second, true);                  // 63000–113000
  h.launch(s, e);                             // 113000–123000, runs 123000–132000
  const recording r = m.run();
  EXPECT_THAT(activities(r), ElementsAre(Pair(63'000, 64'000), Pair(123'000, 132'000)));
  EXPECT_THAT(labels(r), ElementsAre("/mlp1", "/mlp2"));
  EXPECT_EQ(r.nodes[r.activities[0].node].id, r.nodes[r.activities[1].node].id);
  EXPECT_FALSE(r.nodes[r.activities[0].node].stale);
  EXPECT_TRUE(r.nodes[r.activities[1].node].stale);
}

TEST_F(virtual_device_graph, an_update_by_another_number_of_nodes_is_an_error) {
  h.begin_capture(s);
  h.launch(s, "a", 1'000);
  const executable e = h.instantiate(h.end_capture(s));
  h.begin_capture(s);
  h.update(e, h.end_capture(s));
  EXPECT_THROW(m.run(), std::logic_error);
}

TEST_F(virtual_device_graph, a_child_graph_runs_as_a_whole_where_it_was_added) {
  const stream side = m.new_stream(0);
  const event fork = m.new_event();
  h.begin_capture(s);
  graph child{};
  {
    const scope layer = h.layer("experts");
    h.launch(s, "x", 2'000);
    h.record(fork, s);
    h.wait(side, fork);
    h.launch(side, "y", 8'000);
    h.launch(s, "z", 3'000);
    child = h.end_capture(s);  // its two last nodes are not joined
  }
  h.begin_capture(s);
  h.launch(s, "a", 1'000);
  h.launch(s, child);
  h.launch(s, "b", 1'000);
  const executable e = h.instantiate(h.end_capture(s));
  h.spend(1'000'000 - 111'500);
  // Calls: 3 x 1500 + 2 x 1000 = 6500 for the child, 4500 for the parent, 50000 to build: at 61000;
  // spend to 61000 + 888500 = 949500; the launch ends at 959500.
  h.launch(s, e);
  const recording r = m.run();
  const time_ns t = 959'500;
  EXPECT_THAT(activities(r), ElementsAre(Pair(t, t + 1'000),              // a
                                         Pair(t + 1'000, t + 3'000),      // x
                                         Pair(t + 3'000, t + 11'000),     // y, on a stream of the graph's own
                                         Pair(t + 3'000, t + 6'000),      // z
                                         Pair(t + 11'000, t + 12'000)));  // b, when y and z are done
  EXPECT_THAT(labels(r), ElementsAre("", "/experts", "/experts", "/experts", ""));
}

TEST_F(virtual_device_graph, nodes_may_begin_early_too) {
  h.begin_capture(s);
  h.launch(s, "a", 10'000);                              // 0–1500
  h.launch(s, {"b", 5'000, 0, 3'000});                   // 1500–3000
  h.launch(s, "c", 1'000);                               // 3000–4500
  const executable e = h.instantiate(h.end_capture(s));  // 4500–54500
  h.launch(s, e);                                        // 54500–64500
  const time_ns t = 64'500;
  EXPECT_THAT(activities(m.run()),
              ElementsAre(Pair(t, t + 10'000), Pair(t + 7'000, t + 12'000), Pair(t + 12'000, t + 13'000)));
}

TEST_F(virtual_device_graph, several_graphs_queue_on_their_streams) {
  const stream other = m.new_stream(0);
  const auto one_kernel = [&](stream on, time_ns duration) {
    h.begin_capture(on);
    h.launch(on, "k", duration);
    return h.instantiate(h.end_capture(on));
  };
  const executable a = one_kernel(s, 40'000);     // 0–51500
  const executable b = one_kernel(other, 5'000);  // 51500–103000
  h.launch(s, a);                                 // 103000–113000: runs 113000–153000
  h.launch(other, b);                             // 113000–123000: runs 123000–128000
  h.launch(s, b);                                 // 123000–133000: behind a on s, 153000–158000
  const recording r = m.run();
  EXPECT_THAT(activities(r),
              ElementsAre(Pair(113'000, 153'000), Pair(123'000, 128'000), Pair(153'000, 158'000)));
  EXPECT_EQ(r.activities[2].stream, s.id);
}

}  // namespace
}  // namespace virtual_device
