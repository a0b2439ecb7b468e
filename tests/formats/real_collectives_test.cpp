// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Collectives and work of other threads in traces of real GPUs, against numbers that a script of its own took
// from the events: sizes from the annotation and operator around the launch, exposed time as what no other
// kernel's interval covers.
#include "formats/real_traces.hpp"

#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace {

using testing::HasSubstr;

class real_collectives : public real_traces {
 protected:
  static const varve::collective_row& of(const varve::report& r, const std::string& name,
                                         const std::string& phase) {
    static const varve::collective_row nothing;
    for (const varve::collective_row& c : r.collectives) {
      if (c.name == name && c.phase == phase) {
        return c;
      }
    }
    ADD_FAILURE() << "no " << name;
    return nothing;
  }
  static void expect(const varve::collective_row& c, std::int64_t calls, std::int64_t bytes,
                     varve::time_ns gpu_time, varve::time_ns exposed) {
    EXPECT_EQ(c.calls, calls) << c.name;
    EXPECT_EQ(c.sized_calls, calls) << c.name;
    EXPECT_EQ(c.bytes, bytes) << c.name;
    EXPECT_EQ(c.gpu_time, gpu_time) << c.name;
    EXPECT_EQ(c.exposed_time, exposed) << c.name;
  }
  /// Kernel time of the rows of one name.
  static varve::time_ns of_label(const varve::report& r, const std::string& name) {
    varve::time_ns sum = 0;
    for (const varve::row& row : r.labels) {
      sum += row.label == name ? row.inclusive.kernel_time : 0;
    }
    return sum;
  }
};

TEST_F(real_collectives, b200_prefill_reduces_by_a_custom_kernel_and_gathers_by_nccl) {
  const varve::report r = varve::analyze(read("b200-vllm-prefill"));
  EXPECT_EQ(r.rank, 0);
  EXPECT_EQ(r.world_size, 8);
  EXPECT_EQ(r.backend, "nccl");
  ASSERT_EQ(r.collectives.size(), 2U);
  // 37 messages of 2557440 elements and 36 of 2727936, 2 bytes each.
  expect(r.collectives[0], 73, 385'661'952, 2'119'548, 2'119'548);
  EXPECT_EQ(r.collectives[0].name, "all-reduce");
  EXPECT_EQ(r.collectives[0].ranks, 0);  // its kernel does not say
  // 25136 elements in, 201088 out, 2 bytes each.
  expect(r.collectives[1], 1, 402'176, 21'953, 21'953);
  EXPECT_EQ(r.collectives[1].name, "all-gather");
  EXPECT_EQ(r.collectives[1].ranks, 8);
  EXPECT_NEAR(r.collectives[1].algorithm_bandwidth, 402'176 / 21.953e-6, 1.0);
  EXPECT_NEAR(r.collectives[1].bus_bandwidth, 402'176 / 21.953e-6 * 7 / 8, 1.0);
  // 19.51 % of the sum of all kernels is all-reduce.
  EXPECT_NEAR(static_cast<double>(r.collectives[0].gpu_time) / 10'862'916, 0.1951, 0.00005);
  for (const varve::row& c : r.categories) {
    if (c.path == "collective") {
      EXPECT_EQ(c.inclusive.kernel_time, 2'119'548 + 21'953);
      EXPECT_EQ(c.inclusive.collective_bytes, 385'661'952 + 402'176);
    }
  }
}

TEST_F(real_collectives, v100_training_reduces_on_the_autograd_thread) {
  const varve::trace t = read("v100-cuda-graphs");
  const varve::report r = varve::analyze(t);
  EXPECT_EQ(r.world_size, 2);
  expect(of(r, "all-to-all", "ProfilerStep"), 42, 3'843'365'920, 148'554'000, 69'835'000);
  expect(of(r, "all-reduce", "ProfilerStep"), 18, 1'200'223'224, 80'480'000, 1'003'000);
  // 4 more were launched before the recording began: nothing but the kernels' names is known.
  EXPECT_EQ(of(r, "all-reduce", "").calls + of(r, "send/recv", "").calls, 4);
  EXPECT_EQ(of(r, "all-reduce", "").sized_calls, 0);

  // All 5784 launches, copies and sets of the autograd thread are in the pass.
  EXPECT_EQ(t.elsewhere.by_forward + t.elsewhere.backward, 5784U);
  EXPECT_EQ(t.elsewhere.by_operator + t.elsewhere.by_pass, 0U);
  // 308772 µs of kernels under numbered operators, 15715 under others, 57460 + 80480 in annotations there.
  EXPECT_EQ(of_label(r, "backward"), 462'427'000);
  // What stays outside was launched before the recording began: 56071 µs.
  varve::time_ns outside = 0;
  for (const varve::row& row : r.layers) {
    outside += row.phase.empty() ? row.exclusive.kernel_time : 0;
  }
  EXPECT_EQ(outside, 56'071'000);
}

TEST_F(real_collectives, two_ranks_whose_kernels_all_have_one_name) {
  const varve::trace t0 = read("two-ranks.rank0");
  const varve::trace t1 = read("two-ranks.rank1");
  const varve::report r0 = varve::analyze(t0);
  const varve::report r1 = varve::analyze(t1);
  EXPECT_EQ(r0.rank, 0);
  EXPECT_EQ(r1.rank, 1);
  EXPECT_EQ(r0.world_size, 128);
  ASSERT_EQ(r0.collectives.size(), 3U);
  expect(of(r0, "all-to-all", "ProfilerStep"), 4, 850'250'752, 182'403'000, 162'411'000);
  expect(of(r0, "all-reduce", "ProfilerStep"), 4, 314'195'708, 107'656'000, 68'432'000);
  expect(of(r0, "all-gather", "ProfilerStep"), 2, 2'147'483'648, 106'140'000, 106'140'000);
  EXPECT_EQ(of(r0, "all-gather", "ProfilerStep").ranks, 64);  // 16 MiB in, 1 GiB out
  expect(of(r1, "all-to-all", "ProfilerStep"), 4, 787'596'032, 229'700'000, 191'972'000);
  expect(of(r1, "all-reduce", "ProfilerStep"), 4, 284'846'792, 44'446'000, 6'644'000);
  expect(of(r1, "all-gather", "ProfilerStep"), 2, 2'147'483'648, 104'907'000, 104'907'000);

  EXPECT_EQ(t0.elsewhere.by_forward + t0.elsewhere.backward, 529U);
  EXPECT_EQ(t1.elsewhere.by_forward + t1.elsewhere.backward, 503U);
  // 93027 + 34883 + 290 µs, and 107656 + 10025 in annotations; rank 1 likewise.
  EXPECT_EQ(of_label(r0, "backward"), 245'881'000);
  EXPECT_EQ(of_label(r1, "backward"), (134'430 + 33'941 + 327 + 44'446 + 100'036) * 1000);
  EXPECT_EQ(r0.quality.attributed, 1.0);
  EXPECT_EQ(r1.quality.attributed, 1.0);

  const std::string table = varve::to_ranks_table({r1, r0});
  EXPECT_THAT(table, HasSubstr("Ranks side by side · 2 of 128 · backend nccl"));
  // 182.403 and 229.700 ms: 1.26 times as long on rank 1, which may have waited. 187 ms and 135 ms are unions
  // of 186.922 and 134.514 ms of kernels with their copies.
  EXPECT_THAT(
      table,
      HasSubstr("nccl:all_to_all                                           182 ms   230 ms       1.26\n"));
  EXPECT_THAT(
      table,
      HasSubstr(
          "## forward ##                                             187 ms   135 ms       1.39   rank 0\n"));
}

}  // namespace
