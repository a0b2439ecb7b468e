// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What graph callbacks leave, where a stand-in for libcupti makes none of this order.
#include "cupti/graphs.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using namespace varve::cupti;

// Handles are their ids.
result id_of_node(graph_node_handle n, std::uint64_t* id) {
  *id = reinterpret_cast<std::uintptr_t>(n);
  return result::success;
}
result id_of_graph(graph_handle g, std::uint32_t* id) {
  *id = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(g));
  return result::success;
}

class graph_book_test : public testing::Test {
 protected:
  graph_book_test() {
    lib.call.get_graph_node_id = id_of_node;
    lib.call.get_graph_id = id_of_graph;
  }
  static graph_data about(std::uintptr_t graph, std::uintptr_t node = 0) {
    graph_data d{};
    d.graph = reinterpret_cast<graph_handle>(graph);
    d.node = reinterpret_cast<graph_node_handle>(node);
    d.node_type = graph_node_type::kernel;
    return d;
  }
  void make(std::uintptr_t graph, std::uintptr_t first, std::uintptr_t count) {
    for (std::uintptr_t n = first; n < first + count; ++n) {
      book.happened(resource_event::graph_node_created, about(graph, n));
    }
  }
  void instantiate(std::uintptr_t graph, std::uintptr_t exec, std::uintptr_t first, std::uintptr_t count) {
    graph_data d = about(graph);
    d.graph_exec = reinterpret_cast<graph_exec_handle>(exec);
    book.happened(resource_event::graph_exec_create_starting, d);
    for (std::uintptr_t n = first; n < first + count; ++n) {
      graph_data clone = about(graph, n + 1000);
      clone.original_node = reinterpret_cast<graph_node_handle>(n);
      book.happened(resource_event::graph_node_cloned, clone);
    }
    book.happened(resource_event::graph_exec_created, d);
    book.instantiated();
  }
  void update(std::uintptr_t exec, std::uintptr_t graph) {
    book.updated(reinterpret_cast<graph_exec_handle>(exec), reinterpret_cast<graph_handle>(graph), 1);
  }

  library lib;
  graph_book book{lib};
};

TEST_F(graph_book_test, nodes_that_go_one_by_one_leave_the_others_in_their_order) {
  make(1, 100, 5);
  instantiate(1, 50, 100, 5);
  EXPECT_EQ(book.size(), 10U);
  make(2, 200, 7);
  // The first two and, since five are left, the update matches.
  book.happened(resource_event::graph_node_destroy_starting, about(2, 200));
  book.happened(resource_event::graph_node_destroy_starting, about(2, 201));
  EXPECT_EQ(book.size(), 15U);
  update(50, 2);
  EXPECT_EQ(book.counted().stale_updates, 0U);
  book.happened(resource_event::graph_node_destroy_starting, about(2, 204));
  update(50, 2);  // four are left
  EXPECT_EQ(book.counted().stale_updates, 1U);
  for (const std::uintptr_t n : {202U, 203U, 205U, 206U}) {
    book.happened(resource_event::graph_node_destroy_starting, about(2, n));
  }
  book.happened(resource_event::graph_destroy_starting, about(2));
  EXPECT_EQ(book.size(), 10U);
}

TEST_F(graph_book_test, an_executable_whose_end_was_not_told_makes_room_for_the_next_of_its_handle) {
  make(1, 100, 3);
  instantiate(1, 50, 100, 3);
  make(2, 200, 2);
  instantiate(2, 50, 200, 2);
  EXPECT_EQ(book.size(), 7U);  // 3 + 2, and the clones of the second
  EXPECT_EQ(book.counted().updates, 0U);
  update(50, 2);
  update(50, 1);
  EXPECT_EQ(book.counted().updates, 2U);
  EXPECT_EQ(book.counted().stale_updates, 1U);  // of another number of nodes
}

}  // namespace
