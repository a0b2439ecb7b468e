// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Collectives as profilers of different years tell of them.
#include "formats/event_text.hpp"
#include "formats/input_files.hpp"

#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace {

using namespace event_text;
using testing::ElementsAre;
using testing::IsEmpty;

class pytorch_collectives : public input_files {
 protected:
  varve::trace read(std::initializer_list<std::string> events, const std::string& beside = "") {
    std::string all;
    for (const std::string& e : events) {
      all += (all.empty() ? "" : ",") + e;
    }
    return varve::read_pytorch(write("t.json", "{" + beside + R"("traceEvents": [)" + all + "]}"));
  }
  /// The only collective of a trace as "name in out ranks".
  static std::string only(const varve::trace& t) {
    EXPECT_EQ(t.collectives.size(), 1U);
    if (t.collectives.size() != 1) {
      return {};
    }
    const varve::collective& c = t.collectives[0];
    return std::string{t.strings[c.name]} + ' ' + std::to_string(c.bytes_in) + ' ' +
           std::to_string(c.bytes_out) + ' ' + std::to_string(c.ranks);
  }
  static std::string sized(const std::string& shapes, const std::string& types) {
    return R"("Input Dims": )" + shapes + R"(, "Input type": )" + types;
  }

  const std::string old_kernel = kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)", 500, 600, 5);
};

TEST_F(pytorch_collectives, of_a_kernel_that_says_it_itself) {
  const varve::trace t =
      read({kernel("gemm", 10, 20, 4), kernel("ncclDevKernel_AllGather_RING_LL(x)", 500, 600, 5,
                                              R"("Collective name": "_allgather_base", )"
                                              R"("In msg nelems": 25136, "Out msg nelems": 201088, )"
                                              R"("Group size": 8, "dtype": "BFloat16")")});
  EXPECT_EQ(only(t), "_allgather_base 50272 402176 8");  // × 2 bytes
  EXPECT_EQ(t.collectives[0].activity, 1U);
  EXPECT_THAT(t.losses, IsEmpty());
  const varve::report r = varve::analyze(t);
  ASSERT_EQ(r.collectives.size(), 1U);
  EXPECT_EQ(r.collectives[0].name, "all-gather");
  EXPECT_EQ(r.collectives[0].ranks, 8);
  EXPECT_EQ(r.collectives[0].bytes, 402176);
}

TEST_F(pytorch_collectives, of_an_older_kernel_whose_sizes_have_other_names) {
  EXPECT_EQ(
      only(read({kernel("ncclKernel_AllReduce_RING_LL_Sum_float", 500, 600, 5,
                        R"("In msg size": 10, "Out msg size": 10, "Group size": 2, "dtype": "Float")")})),
      " 40 40 2");
}

TEST_F(pytorch_collectives, of_the_annotation_around_the_launch_whatever_the_kernel_is_called) {
  const varve::trace t =
      read({op("c10d::allreduce_", 51, 100, 200, sized("[[], []]", R"(["TensorList", ""])")),
            op("record_param_comms", 51, 105, 195, sized("[[], []]", R"(["TensorList", ""])")),
            annotation("nccl:all_reduce", 51, 110, 190, sized("[[1000, 3]]", R"(["float"])")),
            launch(51, 120, 130, 5), old_kernel});
  EXPECT_EQ(only(t), "nccl:all_reduce 12000 -1 0");
  EXPECT_EQ(varve::analyze(t).collectives.at(0).name, "all-reduce");
  EXPECT_EQ(varve::analyze(t).collectives.at(0).bytes, 12000);
}

TEST_F(pytorch_collectives, of_the_operator_that_has_result_and_input) {
  // Each of 64 ranks gives 100 bytes and gets 6400.
  EXPECT_EQ(
      only(read({op("c10d::_allgather_base_", 51, 100, 200,
                    sized("[[6400], [100], []]", R"(["signed char", "signed char", ""])")),
                 annotation("nccl:_all_gather_base", 51, 110, 190, sized("[[100]]", R"(["signed char"])")),
                 launch(51, 120, 130, 5), old_kernel})),
      "nccl:_all_gather_base 100 6400 64");
}

TEST_F(pytorch_collectives, of_an_operator_that_records_what_its_kernel_does_not) {
  EXPECT_EQ(only(read({op("record_param_comms", 51, 100, 200,
                          R"("Collective name": "allreduce", "In msg nelems": 7, "Out msg nelems": 7, )"
                          R"("Group size": 4, "dtype": "Half")"),
                       launch(51, 120, 130, 5), old_kernel})),
            "allreduce 14 14 4");
}

TEST_F(pytorch_collectives, of_custom_kernels_by_their_operator) {
  EXPECT_EQ(
      only(read({op("vllm::all_reduce", 51, 100, 200, sized("[[8, 16], []]", R"(["c10::BFloat16", ""])")),
                 op("symm_mem::multimem_all_reduce_", 51, 110, 190,
                    sized("[[8, 16], [], []]", R"(["c10::BFloat16", "", ""])")),
                 launch(51, 120, 130, 5),
                 kernel("void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(x)", 500,
                        600, 5)})),
      "symm_mem::multimem_all_reduce_ 256 -1 0");
}

TEST_F(pytorch_collectives, on_another_thread_or_beside_the_launch_tells_nothing) {
  EXPECT_THAT(read({annotation("nccl:all_reduce", 52, 110, 190, sized("[[1000]]", R"(["float"])")),
                    annotation("nccl:all_reduce", 51, 10, 90, sized("[[1000]]", R"(["float"])")),
                    launch(51, 120, 130, 5), old_kernel})
                  .collectives,
              IsEmpty());
}

TEST_F(pytorch_collectives, with_sizes_that_cannot_be_are_counted) {
  const varve::trace t =
      read({kernel("ncclDevKernel_AllReduce", 500, 600, 5,
                   R"("Collective name": "allreduce", "In msg nelems": -1, )"
                   R"("Out msg nelems": 99999999999999999999, "Group size": "x", "dtype": "Half")")});
  EXPECT_EQ(only(t), "allreduce -1 -1 0");
  ASSERT_EQ(t.losses.size(), 1U);
  EXPECT_EQ(t.losses[0].what, "invalid sizes of collectives' messages or groups: taken as unknown");
  EXPECT_EQ(t.losses[0].count, 3U);
}

TEST_F(pytorch_collectives, with_sizes_of_types_that_are_not_known_have_no_bytes) {
  EXPECT_EQ(
      only(read({kernel("ncclDevKernel_AllReduce", 500, 600, 5,
                        R"("Collective name": "allreduce", "In msg nelems": 10, "dtype": "Quaternion")")})),
      "allreduce -1 -1 0");
}

TEST_F(pytorch_collectives, know_their_rank) {
  const varve::trace t =
      read({old_kernel}, R"("distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},)");
  EXPECT_EQ(t.rank, 3);
  EXPECT_EQ(t.world_size, 8);
  EXPECT_EQ(t.backend, "nccl");
  const varve::report r = varve::analyze(t);
  EXPECT_EQ(r.rank, 3);
  EXPECT_EQ(r.world_size, 8);
  EXPECT_EQ(r.backend, "nccl");
  const varve::trace alone = read({old_kernel});
  EXPECT_EQ(alone.rank, -1);
  EXPECT_EQ(alone.world_size, 0);
  const varve::trace strange =
      read({old_kernel}, R"("distributedInfo": {"rank": -5, "world_size": 99999999999},)");
  EXPECT_EQ(strange.rank, -1);
  EXPECT_EQ(strange.world_size, 0);
}

}  // namespace
