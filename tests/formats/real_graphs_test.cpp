// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Replayed graphs of a real trace. It has no ids of graph nodes; every launch of a graph has all its work.
#include "formats/real_traces.hpp"

#include <varve/io.hpp>
#include <varve/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using varve::time_ns;

using real_graphs = real_traces;

TEST_F(real_graphs, v100_has_two_graphs_of_six_replays_each) {
  const varve::trace t = read("v100-cuda-graphs");
  struct launch {
    std::int64_t kernels = 0, copies = 0, sets = 0;
    time_ns kernel_time = 0;
    std::string graph;  // path of its row
    std::set<std::uint64_t> nodes;
  };
  std::map<std::uint32_t, time_ns> begins;  // of graph launches, by correlation
  for (std::size_t c = 0; c < t.calls.size(); ++c) {
    if (t.calls.kind[c] == varve::call_kind::graph_launch) {
      begins[t.calls.correlation[c]] = t.calls.begin[c];
    }
  }
  std::map<time_ns, launch> launches;
  for (std::size_t i = 0; i < t.activities.size(); ++i) {
    const auto begin = begins.find(t.activities.correlation[i]);
    ASSERT_EQ(begin != begins.end(), t.activities.node[i] != varve::none);
    if (begin == begins.end()) {
      continue;
    }
    launch& l = launches[begin->second];
    const bool is_kernel = t.activities.kind[i] == varve::activity_kind::kernel;
    l.kernels += is_kernel ? 1 : 0;
    l.copies += t.activities.kind[i] == varve::activity_kind::copy ? 1 : 0;
    l.sets += t.activities.kind[i] == varve::activity_kind::set ? 1 : 0;
    l.kernel_time += is_kernel ? t.activities.end[i] - t.activities.begin[i] : 0;
    const varve::graph_node& node = t.graph_nodes.at(t.activities.node[i]);
    EXPECT_TRUE(l.nodes.insert(node.id).second) << "a node ran twice";
    const std::string path = varve::label_text(t, node.label);
    const std::string graph = path.substr(0, path.find(')', path.find("graph ")) + 1);
    EXPECT_TRUE(l.graph.empty() || l.graph == graph) << l.graph << " and " << graph;
    l.graph = graph;
  }
  ASSERT_EQ(launches.size(), 12U);
  std::vector<time_ns> forward;
  std::vector<time_ns> backward;
  const launch* first_forward = nullptr;
  const launch* first_backward = nullptr;
  for (const auto& [begin, l] : launches) {
    const bool is_forward = forward.size() == backward.size();  // they take turns
    (is_forward ? forward : backward).push_back(l.kernel_time);
    EXPECT_EQ(l.kernels, is_forward ? 315 : 429);
    EXPECT_EQ(l.sets, is_forward ? 24 : 72);
    EXPECT_EQ(l.copies, is_forward ? 0 : 1);
    const launch*& first = is_forward ? first_forward : first_backward;
    first = first == nullptr ? &l : first;
    EXPECT_THAT(l.graph, HasSubstr(is_forward ? "graph 1 (339 nodes)" : "graph 2 (502 nodes)"));
    EXPECT_EQ(l.nodes, first->nodes);
  }
  EXPECT_THAT(forward, ElementsAre(15'667'000, 15'895'000, 16'005'000, 16'175'000, 15'845'000, 15'931'000));
  EXPECT_THAT(backward, ElementsAre(28'791'000, 28'520'000, 28'129'000, 28'171'000, 28'546'000, 28'072'000));

  const varve::report r = varve::analyze(t);
  EXPECT_EQ(r.quality.graph_launches_without_kernels, 0);
  EXPECT_EQ(r.quality.graph_launches_short, 0);
  EXPECT_EQ(r.quality.unlabelled_nodes, 0);
  EXPECT_EQ(r.quality.inferred_nodes + r.quality.positioned_nodes, 6 * (339 + 502));
  std::map<std::string, std::int64_t> nodes;  // rows below each graph that are no layer
  for (const varve::row& row : r.layers) {
    if (row.label.rfind("graph ", 0) == 0) {
      // The other one is launched by the thread of the backward pass.
      EXPECT_TRUE(row.phase == "ProfilerStep" || row.label != "graph 1 (339 nodes)");
      EXPECT_EQ(row.inclusive.calls, 6);
      EXPECT_EQ(row.inclusive.kernel_time, row.label == "graph 1 (339 nodes)" ? 95'518'000 : 170'229'000);
    }
    const std::size_t graph = row.path.find("graph ");
    if (graph != std::string::npos && row.label.rfind("graph ", 0) != 0 &&
        row.kind == varve::range_kind::op) {
      EXPECT_EQ(row.inclusive.calls, 6) << row.path;
      ++nodes[row.path.substr(graph, 19)];
    }
  }
  EXPECT_THAT(nodes,
              ElementsAre(std::pair{"graph 1 (339 nodes)", 339}, std::pair{"graph 2 (502 nodes)", 502}));
}

}  // namespace
