// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The recorder's reading of buffers, with the real libcupti, which walks buffers without a driver. Only
// records whose layout no version has changed are followed by another.
#include "gpu/tape/read_callbacks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace {

using testing::SizeIs;

constexpr const char* kernel_name = "_Z5saxpyv";

struct hand_laid {
  alignas(8) std::uint8_t memory[1024] = {};
  std::size_t used = 0;

  template <class Value>
  void put(std::size_t at, Value value) {
    std::memcpy(memory + at, &value, sizeof value);
  }
  void add(CUpti_ActivityKind kind, std::size_t size) {
    put(used, static_cast<std::int32_t>(kind));
    used += size;
  }
};

/// A call (40 bytes), an external id (24) and, in 512 bytes, a kernel, after which nothing but zeros comes.
hand_laid three_records() {
  hand_laid b;
  b.add(CUPTI_ACTIVITY_KIND_RUNTIME, sizeof(CUpti_ActivityAPI));
  b.add(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, sizeof(CUpti_ActivityExternalCorrelation));
  b.put(b.used + 104, kernel_name);
  b.add(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 512);
  return b;
}

TEST(tape_recorder, takes_buffers_apart_as_cupti_does) {
  hand_laid b = three_records();
  const varve_tape::buffer read = varve_tape::buffer_of(nullptr, 7, b.memory, b.used);
  EXPECT_EQ(read.size, 576U);  // 40 + 24 + 512
  EXPECT_EQ(read.stream, 7U);
  EXPECT_EQ(read.walked, 21);  // CUPTI_ERROR_INVALID_KIND: zeros behind the kernel
  ASSERT_THAT(read.records, SizeIs(3));
  EXPECT_EQ(read.records[0].offset, 0U);
  EXPECT_THAT(read.records[0].data, SizeIs(40));
  EXPECT_EQ(read.records[1].offset, 40U);
  EXPECT_THAT(read.records[1].data, SizeIs(24));
  EXPECT_EQ(read.records[2].offset, 64U);
  EXPECT_THAT(read.records[2].data, SizeIs(512));
  EXPECT_EQ(read.records[2].kind, 10U);
  EXPECT_EQ(read.records[2].name, kernel_name);
}

TEST(tape_recorder, gives_back_the_bytes_that_cupti_gave) {
  hand_laid b = three_records();
  const varve_tape::buffer read = varve_tape::buffer_of(nullptr, 0, b.memory, b.used);
  varve_tape::bytes again = varve_tape::memory_of(read);
  ASSERT_THAT(again, SizeIs(576));
  const char* name = nullptr;
  std::memcpy(&name, &again[64 + 104], sizeof name);
  EXPECT_STREQ(name, kernel_name);
  std::memcpy(&again[64 + 104], b.memory + 64 + 104, sizeof name);  // all but that pointer is the same
  EXPECT_EQ(std::memcmp(again.data(), b.memory, again.size()), 0);
}

TEST(tape_recorder, keeps_what_cannot_be_walked_over) {
  hand_laid b;
  b.add(CUPTI_ACTIVITY_KIND_INVALID, 48);
  const varve_tape::buffer read = varve_tape::buffer_of(nullptr, 0, b.memory, b.used);
  ASSERT_THAT(read.records, SizeIs(1));
  EXPECT_EQ(read.records[0].kind, 0U);
  EXPECT_THAT(read.records[0].data, SizeIs(48));
  EXPECT_THAT(varve_tape::buffer_of(nullptr, 0, b.memory, 0).records, SizeIs(0));
}

TEST(tape_recorder, survives_callbacks_without_data) {
  EXPECT_EQ(varve_tape::resource_of(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, nullptr).event, 5U);
  const CUpti_ResourceData empty{};
  EXPECT_TRUE(varve_tape::resource_of(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &empty).null);
}

TEST(tape_recorder, takes_the_members_that_a_graph_callback_fills) {
  varve_tape::ask_for_ids(false);  // the handles below are made up
  CUpti_GraphData graph{};
  graph.graph = reinterpret_cast<CUgraph>(0x10);
  graph.node = reinterpret_cast<CUgraphNode>(0x20);
  graph.originalNode = reinterpret_cast<CUgraphNode>(0x30);
  graph.graphExec = reinterpret_cast<CUgraphExec>(0x40);
  graph.nodeType = CU_GRAPH_NODE_TYPE_MEMCPY;
  CUpti_ResourceData data{};
  data.resourceDescriptor = &graph;
  const varve_tape::resource cloned = varve_tape::resource_of(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, &data);
  EXPECT_FALSE(cloned.null);
  EXPECT_EQ(cloned.graph, 0x10U);
  EXPECT_EQ(cloned.node, 0x20U);
  EXPECT_EQ(cloned.original_node, 0x30U);
  EXPECT_EQ(cloned.exec, 0U);  // not its member
  EXPECT_EQ(cloned.type, 1U);
  const varve_tape::resource made = varve_tape::resource_of(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, &data);
  EXPECT_EQ(made.exec, 0x40U);
  EXPECT_EQ(made.node, 0U);
  varve_tape::ask_for_ids(true);
}

}  // namespace
