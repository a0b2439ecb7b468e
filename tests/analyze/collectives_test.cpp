// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/collectives.hpp"

#include "analyze/trace_builder.hpp"

#include <gtest/gtest.h>

namespace {

using varve::none;
using varve_test::row_of;
using varve_test::trace_builder;

class collectives : public testing::Test {
 protected:
  /// What the activity that was last added was called for.
  void record(std::string_view name, std::int64_t in, std::int64_t out, std::uint32_t ranks) {
    b.t.collectives.push_back({static_cast<std::uint32_t>(b.t.activities.size() - 1),
                               name.empty() ? none : b.t.strings.intern(name), in, out, ranks});
  }

  trace_builder b;
};

TEST_F(collectives, have_one_name_whoever_writes_it) {
  using varve::analysis::collective_name;
  for (const char* text :
       {"allreduce", "allreduce_coalesced", "nccl:all_reduce", "c10d::allreduce_",
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", "vllm::cross_device_reduce_2stage"}) {
    EXPECT_EQ(collective_name(text), "all-reduce") << text;
  }
  EXPECT_EQ(collective_name("_allgather_base"), "all-gather");
  EXPECT_EQ(collective_name("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"), "reduce-scatter");
  EXPECT_EQ(collective_name("all_to_allv"), "all-to-all");
  EXPECT_EQ(collective_name("deep_ep::internode_ll::dispatch<false>"), "all-to-all");
  EXPECT_EQ(collective_name("ncclDevKernel_SendRecv"), "send/recv");
  EXPECT_EQ(collective_name("gather"), "gather");
  EXPECT_EQ(collective_name("reduce"), "reduce");
  EXPECT_EQ(collective_name("42"), "");
}

TEST_F(collectives, add_up_their_bytes_and_what_no_compute_hides) {
  const std::uint16_t other = b.stream(0, 8);
  const std::uint32_t pass = b.phase("decode", 0, 100);
  const std::uint32_t layer = b.layer(pass, "mlp", 0, 0, 100);
  b.launched_kernel(layer, 1, 2, 10, 30, "ncclDevKernel_AllReduce_Sum_f32(x)");
  record("allreduce", 1000, 1000, 4);
  b.launched_kernel(layer, 3, 4, 20, 40, "gemm", other);
  b.launched_kernel(layer, 5, 6, 50, 60, "ncclDevKernel_AllReduce_Sum_f32(x)");
  record("allreduce", -1, -1, 4);  // of this one nothing is known
  const varve::report r = b.analyze();
  ASSERT_EQ(r.collectives.size(), 1U);
  const varve::collective_row& c = r.collectives[0];
  EXPECT_EQ(c.name, "all-reduce");
  EXPECT_EQ(c.ranks, 4);
  EXPECT_EQ(c.phase, "decode");
  EXPECT_EQ(c.calls, 2);
  EXPECT_EQ(c.sized_calls, 1);
  EXPECT_EQ(c.bytes, 1000);
  EXPECT_EQ(c.gpu_time, 20 + 10);
  EXPECT_EQ(c.exposed_time, 10 + 10);  // [20, 30) is hidden by "gemm"
  EXPECT_EQ(c.sized_time, 20);
  EXPECT_DOUBLE_EQ(c.algorithm_bandwidth, 50e9);  // 1000 bytes in 20 ns
  EXPECT_DOUBLE_EQ(c.bus_bandwidth, 75e9);        // × 2 · (4 − 1) ÷ 4
  EXPECT_EQ(r.phases.at(0).partition.exposed_communication, 20);

  EXPECT_EQ(row_of(r.layers, "mlp 0", "decode").inclusive.collective_bytes, 1000);
  EXPECT_EQ(row_of(r.labels, "mlp", "decode").inclusive.collective_bytes, 1000);
  EXPECT_EQ(row_of(r.categories, "collective", "decode").inclusive.collective_bytes, 1000);
  EXPECT_EQ(row_of(r.kernels, "ncclDevKernel_AllReduce_Sum_f32(x)", "decode").inclusive.collective_bytes,
            1000);
  EXPECT_EQ(r.phases.at(0).total.collective_bytes, 1000);
}

TEST_F(collectives, that_overlap_count_once) {
  const std::uint16_t other = b.stream(0, 8);
  const std::uint32_t pass = b.phase("decode", 0, 100);
  b.launched_kernel(pass, 1, 2, 10, 30, "nccl_AllReduce");
  b.launched_kernel(pass, 3, 4, 20, 50, "nccl_AllReduce", other);
  b.launched_kernel(pass, 5, 6, 25, 60, "nccl_AllGather", b.stream(0, 9));
  const varve::report r = b.analyze();
  ASSERT_EQ(r.collectives.size(), 2U);
  EXPECT_EQ(r.collectives[0].gpu_time, 40);      // [10, 50)
  EXPECT_EQ(r.collectives[0].exposed_time, 40);  // other collectives hide nothing
  EXPECT_EQ(r.collectives[1].gpu_time, 35);
  EXPECT_EQ(r.collectives[0].algorithm_bandwidth, 0);
  EXPECT_EQ(r.collectives[0].sized_calls, 0);
}

TEST_F(collectives, are_called_what_the_record_says_and_not_the_kernel) {
  const std::uint32_t pass = b.phase("decode", 0, 100);
  b.launched_kernel(pass, 1, 2, 10, 20, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)");
  record("nccl:all_to_all", 100, 400, 2);
  b.launched_kernel(pass, 3, 4, 30, 40, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)");
  b.launched_kernel(pass, 5, 6, 50, 58, "nvshmem_something");
  b.launched_kernel(pass, 7, 8, 60, 67, "ncclDevKernel_Generic(x)");
  record("wonder", 1, 1, 0);
  const varve::report r = b.analyze();
  ASSERT_EQ(r.collectives.size(), 4U);
  EXPECT_EQ(r.collectives[0].name, "all-to-all");
  EXPECT_EQ(r.collectives[0].bytes, 400);                  // the larger side
  EXPECT_DOUBLE_EQ(r.collectives[0].bus_bandwidth, 20e9);  // 400 bytes in 10 ns × 1/2
  EXPECT_EQ(r.collectives[1].name, "send/recv");           // nothing else is known
  EXPECT_EQ(r.collectives[2].name, "other");
  EXPECT_EQ(r.collectives[3].name, "wonder");
}

TEST_F(collectives, have_the_whole_message_of_all_ranks) {
  const std::uint32_t pass = b.phase("decode", 0, 100);
  b.launched_kernel(pass, 1, 2, 10, 20, "nccl_AllGather");
  record("all_gather", 100, -1, 8);  // what it got is 8 × 100
  b.launched_kernel(pass, 3, 4, 30, 39, "nccl_AllGather");
  record("all_gather", 100, -1, 0);  // by how many it was given is not known
  b.launched_kernel(pass, 5, 6, 50, 58, "nccl_ReduceScatter");
  record("reduce_scatter", -1, 50, 2);
  const varve::report r = b.analyze();
  ASSERT_EQ(r.collectives.size(), 3U);
  EXPECT_EQ(r.collectives[0].bytes, 800);
  EXPECT_DOUBLE_EQ(r.collectives[0].bus_bandwidth, 70e9);  // 800 bytes in 10 ns × 7/8
  EXPECT_EQ(r.collectives[1].sized_calls, 0);
  EXPECT_EQ(r.collectives[2].bytes, 100);
}

TEST_F(collectives, in_a_random_order_keep_their_messages) {
  // The analysis sorts activities that are as scattered as these. 9973 is prime, so that every time from 0 to
  // 9972 occurs twice, as 7919·i modulo 9973.
  constexpr varve::time_ns prime = 9973;
  const std::uint32_t pass = b.phase("decode", 0, 20 * prime);
  for (varve::time_ns i = 0; i < 2 * prime; ++i) {
    const varve::time_ns at = 7919 * i % prime * 20 + i % 2 * 10;
    b.launched_kernel(pass, at, at + 1, at + 2, at + 5, i % 3 == 0 ? "nccl_AllGather" : "gemm");
    if (i % 3 == 0) {
      record("all_gather", 100, 800, 8);
    }
  }
  const varve::report r = b.analyze();
  ASSERT_EQ(r.collectives.size(), 1U);
  EXPECT_EQ(r.collectives[0].sized_calls, 6649);  // 0, 3, … 19944
  EXPECT_EQ(r.collectives[0].bytes, 800 * 6649);
}

TEST_F(collectives, stand_apart_by_phase_and_are_ordered_as_those) {
  const std::uint32_t prefill = b.phase("prefill", 0, 50);
  const std::uint32_t decode = b.phase("decode", 50, 100);
  b.launched_kernel(decode, 51, 52, 60, 90, "nccl_AllReduce");
  b.launched_kernel(prefill, 1, 2, 10, 20, "nccl_AllReduce");
  b.launched_kernel(none, 101, 102, 110, 120, "nccl_AllReduce");
  const varve::report r = b.analyze();
  ASSERT_EQ(r.collectives.size(), 3U);
  EXPECT_EQ(r.collectives[0].phase, "prefill");
  EXPECT_EQ(r.collectives[1].phase, "decode");
  EXPECT_EQ(r.collectives[2].phase, "");
}

TEST_F(collectives, with_records_that_point_nowhere_change_nothing) {
  b.launched_kernel(b.phase("decode", 0, 100), 1, 2, 10, 20, "gemm");
  b.t.collectives.push_back({7, b.t.strings.intern("allreduce"), 10, 10, 2});
  const varve::report r = b.analyze();
  EXPECT_TRUE(r.collectives.empty());
  EXPECT_EQ(r.phases.at(0).total.collective_bytes, 0);
}

}  // namespace
