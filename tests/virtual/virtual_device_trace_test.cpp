// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The trace that a virtual recording becomes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/virtual_device.hpp"
#include "support/virtual_scenarios.hpp"

namespace virtual_device {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAreArray;

TEST(virtual_device_trace, holds_ranges_calls_activities_and_nodes) {
  machine m;
  m.device(4);
  const stream s = m.new_stream(4);
  host& h = m.new_host();
  {
    scope pass = h.phase("decode", "draft");
    pass.attribute(VARVE_DECODE_TOKENS, 16).serves(m.request("chat", 9, 0, 500'000));
    h.begin_capture(s);
    scope layer = h.layer("mlp", 3);
    layer.work({10, 20, 0, 0});
    h.launch(s, {"a", 1'000, 0, -1, "other", 7});
    layer.end();
    h.launch(s, h.instantiate(h.end_capture(s)));
    h.copy(s, 64, 500);
  }
  const varve::trace t = to_trace(m.run());
  ASSERT_EQ(t.ranges.size(), 3U);  // pass, request, layer
  EXPECT_EQ(varve::label_text(t, t.ranges[0].label), "decode");
  EXPECT_EQ(varve::label_text(t, t.ranges[2].label), "decode / mlp 3");
  EXPECT_EQ(t.ranges[1].kind, varve::range_kind::request);
  EXPECT_EQ(t.ranges[1].thread, varve::narrow_none);
  EXPECT_EQ(t.ranges[2].parent, 0U);
  ASSERT_EQ(t.attributes.size(), 1U);
  EXPECT_EQ(t.attributes[0].value, 16);
  ASSERT_EQ(t.models.size(), 1U);
  EXPECT_EQ(t.strings[t.models[0].name], "draft");
  ASSERT_EQ(t.works.size(), 1U);
  EXPECT_EQ(t.works[0].range, 2U);
  ASSERT_EQ(t.requests.size(), 1U);
  EXPECT_EQ(t.requests[0].request, 1U);
  EXPECT_EQ(t.requests[0].pass, 0U);

  EXPECT_THAT(t.calls.kind, ElementsAre(varve::call_kind::launch, varve::call_kind::graph_build,
                                        varve::call_kind::graph_launch, varve::call_kind::copy));
  EXPECT_THAT(t.calls.captured, ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(t.calls.range, ElementsAre(2U, 0U, 0U, 0U));
  EXPECT_THAT(t.calls.begin, ElementsAre(0, 1'500, 51'500, 61'500));
  EXPECT_THAT(t.calls.correlation, ElementsAre(1U, 2U, 3U, 4U));

  EXPECT_THAT(t.activities.begin, ElementsAre(61'500, 67'500));
  EXPECT_THAT(t.activities.end, ElementsAre(62'500, 68'000));
  EXPECT_THAT(t.activities.correlation, ElementsAre(3U, 4U));
  ASSERT_EQ(t.graph_nodes.size(), 1U);
  EXPECT_THAT(t.activities.node, ElementsAre(0U, varve::none));
  EXPECT_EQ(t.graph_nodes[0].label, t.ranges[2].label);
  EXPECT_EQ(t.shapes[t.activities.detail[0]].grid[0], 7U);
  EXPECT_EQ(t.bytes[t.activities.detail[1]], 64);
  EXPECT_EQ(t.streams[t.activities.stream[0]].device, 4U);
}

std::vector<std::string> records(const varve::trace& t) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < t.calls.size(); ++i) {
    const std::uint32_t range = t.calls.range[i];
    out.push_back("call " + std::to_string(t.calls.begin[i]) + " " + std::to_string(t.calls.correlation[i]) +
                  " in " + (range == none ? "" : varve::label_text(t, t.ranges[range].label)));
  }
  for (std::size_t i = 0; i < t.activities.size(); ++i) {
    const std::uint32_t node = t.activities.node[i];
    out.push_back("activity " + std::to_string(t.activities.begin[i]) + " " +
                  std::string{t.strings[t.activities.name[i]]} + " " +
                  std::to_string(t.streams[t.activities.stream[i]].stream) + " " +
                  (node == none ? "" : varve::label_text(t, t.graph_nodes[node].label)));
  }
  for (const varve::range& r : t.ranges) {
    out.push_back("range " + std::to_string(r.begin) + " " + varve::label_text(t, r.label));
  }
  return out;
}

TEST(virtual_device_trace, has_the_same_records_in_any_order_and_parents_first) {
  random_source random{7};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const recording r = random_scenario(seed);
    const varve::trace t = to_trace(r, &random);
    EXPECT_THAT(records(t), UnorderedElementsAreArray(records(to_trace(r)))) << seed;
    for (std::size_t i = 0; i < t.ranges.size(); ++i) {
      EXPECT_TRUE(t.ranges[i].parent == none || t.ranges[i].parent < i) << seed;
    }
  }
}

}  // namespace
}  // namespace virtual_device
