// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "standin_cupti/client.hpp"

#include <gmock/gmock.h>

#include <map>

namespace {

using namespace standin;
using cupti::record_kind;
using cupti::resource_event;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

graph capture(stream s, std::initializer_list<const char*> names) {
  begin_capture(s);
  for (const char* name : names) {
    EXPECT_TRUE(launch(s, name).captured);
  }
  return end_capture(s);
}

std::vector<seen_record> flushed(client& c, record_kind kind = record_kind::concurrent_kernel) {
  EXPECT_EQ(cuptiActivityFlushAll(0), cupti::result::success);
  return c.records(kind);
}

std::vector<std::string> names(const std::vector<seen_record>& records) {
  std::vector<std::string> all;
  for (const seen_record& r : records) {
    all.push_back(r.name);
  }
  return all;
}

std::vector<std::uint64_t> nodes(const std::vector<seen_record>& records) {
  std::vector<std::uint64_t> all;
  for (const seen_record& r : records) {
    all.push_back(r.get(cupti::kernel::graph_node_id));
  }
  return all;
}

TEST(standin_graphs, capturing_makes_nodes_and_no_work) {
  client c;
  c.enable({record_kind::concurrent_kernel});
  const graph g = capture(create_stream(), {"a", "b"});
  EXPECT_THAT(flushed(c), IsEmpty());
  std::vector<std::uint64_t> created;
  for (const seen_callback& seen : c.events(resource_event::graph_node_created)) {
    created.push_back(seen.node_id);
    EXPECT_EQ(seen.graph.graph, g.handle);
  }
  EXPECT_EQ(created, node_ids(g));
  EXPECT_THAT(created, SizeIs(2));
  EXPECT_THAT(c.events(resource_event::graph_created), SizeIs(1));
}

TEST(standin_graphs, a_launch_has_a_record_for_each_node_with_the_clones_ids_and_one_correlation) {
  client c;
  c.enable({record_kind::concurrent_kernel});
  const stream s = create_stream();
  const graph g = capture(s, {"a", "b", "c"});
  const executable e = instantiate(g);
  std::map<std::uint64_t, std::uint64_t> clone_of;
  for (const seen_callback& seen : c.events(resource_event::graph_node_cloned)) {
    clone_of[seen.original_id] = seen.node_id;
  }
  const done launched = launch(s, e);
  const auto records = flushed(c);
  EXPECT_THAT(names(records), ElementsAre("a", "b", "c"));
  const auto sources = node_ids(g);
  EXPECT_THAT(nodes(records),
              ElementsAre(clone_of.at(sources[0]), clone_of.at(sources[1]), clone_of.at(sources[2])));
  EXPECT_EQ(nodes(records), launched.node_ids);
  for (const seen_record& r : records) {
    EXPECT_EQ(r.get(cupti::kernel::correlation_id), launched.correlation);
    EXPECT_EQ(r.get(cupti::kernel::graph_id), exec_id(e));
  }
}

TEST(standin_graphs, children_and_conditional_bodies_run_at_their_place) {
  client c;
  c.enable({record_kind::concurrent_kernel});
  const graph child = create_graph();
  add_kernel(child, "in child");
  const graph g = create_graph();
  add_kernel(g, "first");
  add_child(g, child);
  const graph body = add_conditional(g, 2);
  add_kernel(body, "in body");
  add_empty(g);
  add_kernel(g, "last");
  const executable e = instantiate(g);
  launch({}, e);
  const auto records = flushed(c);
  EXPECT_THAT(names(records), ElementsAre("first", "in child", "in body", "in body", "last"));
  const auto ids = node_ids(e);
  EXPECT_THAT(nodes(records), ElementsAre(ids[0], ids[1], ids[2], ids[2], ids[3]));
  destroy(child);
  launch({}, e);
  EXPECT_THAT(flushed(c), SizeIs(10)) << "the child was cloned";
}

TEST(standin_graphs, an_update_takes_over_new_kernels_and_says_so_from_13_0_on) {
  for (const std::uint32_t version : {cupti::cuda_12_8, cupti::cuda_13_0}) {
    config settings;
    settings.version = version;
    client c{settings};
    c.enable({record_kind::concurrent_kernel});
    const stream s = create_stream();
    const graph first = capture(s, {"a", "b"});
    const executable e = instantiate(first);
    const auto ids = node_ids(e);
    destroy(first);
    const graph second = capture(s, {"c", "d"});
    EXPECT_EQ(update(e, second), 0);
    launch(s, e);
    const auto records = flushed(c);
    EXPECT_THAT(names(records), ElementsAre("c", "d"));
    EXPECT_EQ(nodes(records), ids) << "nodes keep their ids";
    EXPECT_THAT(c.events(resource_event::graph_node_updated), SizeIs(version >= cupti::cuda_13_0 ? 2 : 0));
    EXPECT_EQ(update(e, capture(s, {"c"})), 910);
  }
}

TEST(standin_graphs, parameters_of_a_node_change_in_the_executable_alone) {
  client c;
  c.enable({record_kind::concurrent_kernel});
  const graph g = create_graph();
  const auto node = add_kernel(g, "a");
  const executable e = instantiate(g);
  set_kernel(e, node, "b");
  launch({}, e);
  launch({}, instantiate(g));
  set_kernel(g, node, "c");
  launch({}, instantiate(g));
  EXPECT_THAT(names(flushed(c)), ElementsAre("b", "a", "c"));
  EXPECT_THAT(c.events(resource_event::graph_node_set_params), SizeIs(1));
}

TEST(standin_graphs, graph_trace_suppresses_the_records_of_nodes_if_it_was_on_in_time) {
  client c;
  c.enable({record_kind::concurrent_kernel});
  const graph g = capture(create_stream(), {"a", "b"});
  const executable before = instantiate(g);
  c.enable({record_kind::graph_trace});
  const executable after = instantiate(g);
  launch({}, before);
  EXPECT_THAT(flushed(c), SizeIs(2));
  const done launched = launch({}, after);
  EXPECT_THAT(flushed(c), SizeIs(2));
  const auto traces = flushed(c, record_kind::graph_trace);
  ASSERT_THAT(traces, SizeIs(1));
  EXPECT_EQ(traces[0].get(cupti::graph_trace::correlation_id), launched.correlation);
  EXPECT_EQ(traces[0].get(cupti::graph_trace::graph_id), exec_id(after));
}

TEST(standin_graphs, a_launch_from_the_device_has_no_call_and_no_correlation) {
  client c;
  c.enable({record_kind::concurrent_kernel});
  const executable e = instantiate(capture(create_stream(), {"a"}));
  const std::size_t callbacks = callbacks_made();
  work w;
  w.from_device = true;
  launch({}, e, w);
  EXPECT_EQ(callbacks_made(), callbacks);
  const auto records = flushed(c);
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].get(cupti::kernel::correlation_id), cupti::unknown_correlation);
  EXPECT_EQ(records[0].get(cupti::kernel::is_device_launched), 1U);
}

TEST(standin_graphs, handles_are_used_again_and_ids_are_not) {
  client c;
  const graph first = create_graph();
  add_kernel(first, "a");
  const auto id = node_ids(first)[0];
  destroy(first);
  EXPECT_THAT(c.events(resource_event::graph_destroy_starting), SizeIs(1));
  EXPECT_THAT(c.events(resource_event::graph_node_destroy_starting), SizeIs(1));
  const graph second = create_graph();
  add_kernel(second, "b");
  EXPECT_EQ(second.handle, first.handle);
  EXPECT_NE(node_ids(second)[0], id);
}

TEST(standin_graphs, a_second_stream_joins_a_capture_through_an_event) {
  client c;
  const stream s = create_stream();
  const stream other = create_stream();
  const std::uint64_t event = create_event();
  begin_capture(s);
  record_event(event, s);
  wait_event(other, event);
  EXPECT_TRUE(launch(other, "a").captured);
  EXPECT_THAT(node_ids(end_capture(s)), SizeIs(1));
  EXPECT_FALSE(launch(other, "b").captured);
}

TEST(standin_graphs, ids_of_what_is_gone_are_a_misuse) {
  client c;
  const graph g = create_graph();
  const auto node = add_kernel(g, "a");
  destroy(g);
  std::uint64_t id = 0;
  EXPECT_EQ(cuptiGetGraphNodeId(node, &id), cupti::result::invalid_parameter);
  EXPECT_THAT(misuses(), SizeIs(1));
}

}  // namespace
