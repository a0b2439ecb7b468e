// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// An engine that captures and updates its graph anew before each pass: what is told of a node has one row,
// and each pass has the work that its capture declared.
#include <varve/collector.hpp>
#include <varve/marker.hpp>
#include <varve/session.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "support/ranges.hpp"

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class updated_graph : public testing::Test {
 protected:
  updated_graph() {
    options.gpu.enabled = false;
    for (int i = 0; i < 2; ++i) {
      executable.push_back(device.clone_node(device.capture_node()));
    }
  }

  /// Both nodes in layer 0, or the first one in layer 1; `flops` are those of layer 0.
  void capture_and_update(std::int64_t flops, bool apart = false) {
    std::vector<std::uint64_t> nodes;
    {
      const varve::phase pass{varve::capture};
      if (apart) {
        const varve::layer layer{"layer", 1};
        nodes.push_back(device.capture_node());
      }
      varve::layer layer{"layer", 0};
      if (flops != 0) {
        layer.work([&] { return varve::work{flops}; });
      }
      while (nodes.size() < 2) {
        nodes.push_back(device.capture_node());
      }
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      device.update_node(executable[i], nodes[i]);
      device.destroy_node(nodes[i]);
    }
  }
  void replay() {
    const varve::phase pass{varve::decode};
    const varve::host_call call{device, varve::call_kind::graph_launch};
    for (const std::uint64_t node : executable) {
      device.report({0, call.correlation(), "gemm", 10, 20, varve::activity_kind::kernel, node});
    }
  }
  /// Work of each replay, of both nodes.
  static std::vector<std::int64_t> flops_of_replays(const varve::trace& t) {
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i + 1 < t.activities.size(); i += 2) {
      EXPECT_EQ(t.activities.correlation[i], t.activities.correlation[i + 1]);
      out.push_back(t.graph_nodes[t.activities.node[i]].declared.flops +
                    t.graph_nodes[t.activities.node[i + 1]].declared.flops);
    }
    return out;
  }
  static std::string label(const varve::trace& t, std::size_t activity) {
    return varve::label_text(t, t.graph_nodes[t.activities.node[activity]].label);
  }

  varve::host_device device{{0, "device"}};
  varve::session_options options;
  std::vector<std::uint64_t> executable;
};

TEST_F(updated_graph, has_one_row_a_node_over_a_thousand_equal_updates) {
  varve::session session{options};
  for (int i = 0; i < 1000; ++i) {
    capture_and_update(100);
    replay();
  }
  const varve::trace t = session.stop();
  EXPECT_THAT(t.losses, IsEmpty());
  ASSERT_EQ(t.activities.size(), 2000U);
  EXPECT_EQ(t.graph_nodes.size(), 2U);
  EXPECT_EQ(label(t, 1999), "capture / layer 0");
  EXPECT_THAT(flops_of_replays(t), testing::Each(100));
}

TEST_F(updated_graph, has_a_row_for_each_work_that_its_captures_declared) {
  varve::session session{options};
  for (const std::int64_t flops : {100, 200, 0, 100, 200}) {
    capture_and_update(flops);
    replay();
  }
  const varve::trace t = session.stop();
  ASSERT_EQ(t.activities.size(), 10U);
  EXPECT_THAT(flops_of_replays(t), ElementsAre(100, 200, 0, 100, 200));
  // One of the two nodes carries the work: a row for each of its three values, and one of the other node.
  EXPECT_EQ(t.graph_nodes.size(), 3U + 1U);
}

// The work of layer 0 is the first node's, until that node is in another layer.
TEST_F(updated_graph, has_its_work_also_where_the_node_that_carried_it_went_elsewhere) {
  varve::session session{options};
  for (const bool apart : {false, true, false}) {
    capture_and_update(100, apart);
    replay();
  }
  const varve::trace t = session.stop();
  ASSERT_EQ(t.activities.size(), 6U);
  EXPECT_THAT(flops_of_replays(t), ElementsAre(100, 100, 100));
  EXPECT_EQ(label(t, 2), "capture / layer 1");
  EXPECT_EQ(t.graph_nodes[t.activities.node[2]].declared.flops, 0);
}

// Each capture is told apart while work may still be declared for it.
TEST_F(updated_graph, has_the_work_that_a_layer_declares_after_its_replay) {
  varve::session session{options};
  for (const std::int64_t flops : {100, 200}) {
    const varve::phase pass{varve::capture};
    varve::layer layer{"layer", 0};
    const std::uint64_t node = device.capture_node();
    device.update_node(executable[0], node);
    {
      const varve::host_call call{device, varve::call_kind::graph_launch};
      device.report({0, call.correlation(), "gemm", 10, 20, varve::activity_kind::kernel, executable[0]});
      device.report({0, call.correlation(), "gemm", 10, 20, varve::activity_kind::kernel, executable[1]});
    }
    layer.work([&] { return varve::work{flops}; });
  }
  EXPECT_THAT(flops_of_replays(session.stop()), ElementsAre(100, 200));
}

}  // namespace
