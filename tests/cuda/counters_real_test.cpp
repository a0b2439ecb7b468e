// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The metrics of each chip, as the real CUPTI's host library knows them: it needs no driver.
#include "counters/library.hpp"
#include "counters/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace varve::counters;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using varve::count_kind;
using varve::math_pipe;

class chips : public testing::Test {
 protected:
  void SetUp() override {
    loaded = load(VARVE_REAL_CUPTI);
    if (!loaded.error.empty()) {
      GTEST_SKIP() << loaded.error;
    }
    EXPECT_NE(loaded.call.availability, nullptr);
    auto first = make_params<initialize_params>();
    static_cast<void>(loaded.call.initialize(&first));  // fails where there is no driver; the host part works
  }

  [[nodiscard]] static std::vector<std::string> metrics_of(const std::vector<quantity>& all, count_kind what,
                                                           math_pipe pipe = math_pipe::unknown) {
    std::vector<std::string> out;
    for (const quantity& q : all) {
      for (const quantity::term& t : q.terms) {
        if (q.what == what && q.pipe == pipe) {
          out.push_back(t.metric);
        }
      }
    }
    return out;
  }
  /// Every turn takes one pass; together they count everything once, DRAM bytes more often.
  void covers_all_in_single_passes(const std::string& chip, std::size_t turns) const {
    const host h{loaded.call, chip};
    ASSERT_EQ(h.error(), result::success) << chip;
    const std::vector<quantity> all = quantities_of(h, true);
    const std::vector<turn> plans = plan(h, all);
    EXPECT_EQ(plans.size(), turns) << chip;
    std::multiset<std::tuple<count_kind, math_pipe, int>> counted;
    for (const turn& t : plans) {
      EXPECT_EQ(h.passes(t.metrics), 1U) << chip;
      for (const quantity& q : t.counts) {
        counted.emplace(q.what, q.pipe, q.part);
      }
    }
    for (const quantity& q : all) {
      const auto times = counted.count({q.what, q.pipe, q.part});
      if (q.what == count_kind::operations) {
        EXPECT_EQ(times, 1U) << chip << ' ' << q.terms.front().metric;
      } else {
        EXPECT_GE(times, 1U) << chip << ' ' << q.terms.front().metric;
      }
    }
    ASSERT_FALSE(plans.empty()) << chip;
    EXPECT_EQ(plans.front().counts.front().what, count_kind::dram_read) << chip;
    EXPECT_EQ(plan(h, quantities_of(h, false)).size(), 1U) << chip;  // DRAM bytes alone
  }

  load_result loaded;
};

TEST_F(chips, tell_dram_bytes_by_names_of_their_own) {
  for (const char* const chip : {"GH100", "GA100", "AD102"}) {
    const std::vector<quantity> all = quantities_of(host{loaded.call, chip}, false);
    EXPECT_THAT(metrics_of(all, count_kind::dram_read), ElementsAre("dram__bytes_read.sum")) << chip;
    EXPECT_THAT(metrics_of(all, count_kind::dram_written), ElementsAre("dram__bytes_write.sum")) << chip;
  }
  const std::vector<quantity> all = quantities_of(host{loaded.call, "GB202"}, false);
  EXPECT_THAT(metrics_of(all, count_kind::dram_read), ElementsAre("dram__bytes_op_read.sum"));
  EXPECT_THAT(metrics_of(all, count_kind::dram_written), ElementsAre("dram__bytes_op_write.sum"));
}

TEST_F(chips, tell_tensor_operations_by_names_of_their_own) {
  const auto of = [&](const char* chip, math_pipe pipe) {
    return metrics_of(quantities_of(host{loaded.call, chip}, true), count_kind::operations, pipe);
  };
  for (const char* const chip : {"GH100", "GA100", "AD102", "GB202"}) {
    EXPECT_THAT(of(chip, math_pipe::bf16_tensor), ElementsAre("sm__ops_path_tensor_src_bf16_dst_fp32.sum"))
        << chip;
  }
  EXPECT_THAT(of("GA100", math_pipe::fp16_tensor), ElementsAre("sm__ops_path_tensor_src_fp16_dst_fp32.sum"));
  EXPECT_THAT(of("GA100", math_pipe::fp16_tensor_fp16),
              ElementsAre("sm__ops_path_tensor_src_fp16_dst_fp16.sum"));
  // As a whole these take two passes: in parts each takes one.
  EXPECT_THAT(of("GH100", math_pipe::fp16_tensor),
              testing::UnorderedElementsAre("sm__ops_path_tensor_op_hgmma_src_fp16.sum",
                                            "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32.sum",
                                            "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp16.sum"));
  EXPECT_THAT(of("AD102", math_pipe::int8_tensor),
              testing::UnorderedElementsAre("sm__ops_path_tensor_src_int8_sparsity_off.sum",
                                            "sm__ops_path_tensor_src_int8_sparsity_on.sum"));
  EXPECT_THAT(of("GH100", math_pipe::fp8_tensor), ElementsAre("sm__ops_path_tensor_src_fp8.sum"));
  EXPECT_THAT(of("AD102", math_pipe::fp8_tensor), ElementsAre("sm__ops_path_tensor_src_fp8.sum"));
  EXPECT_THAT(of("GA100", math_pipe::fp8_tensor), IsEmpty());  // it has none
  EXPECT_THAT(of("GB202", math_pipe::fp4_tensor), Not(IsEmpty()));
}

TEST_F(chips, tell_operations_of_other_cores_by_three_metrics_each) {
  for (const char* const chip : {"GH100", "GA100", "AD102", "GB202"}) {
    const std::vector<quantity> all = quantities_of(host{loaded.call, chip}, true);
    const auto fp32 =
        std::find_if(all.begin(), all.end(), [](const quantity& q) { return q.pipe == math_pipe::fp32; });
    ASSERT_NE(fp32, all.end()) << chip;
    ASSERT_EQ(fp32->terms.size(), 3U) << chip;
    EXPECT_EQ(fp32->terms[2].metric, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum") << chip;
    EXPECT_EQ(fp32->terms[0].weight + fp32->terms[1].weight, 2) << chip;
    EXPECT_EQ(fp32->terms[2].weight, 2) << chip;
  }
}

TEST_F(chips, count_everything_in_turns_of_one_pass) {
  covers_all_in_single_passes("GH100", 7);
  covers_all_in_single_passes("GA100", 7);
  covers_all_in_single_passes("AD102", 8);
  covers_all_in_single_passes("GB202", 11);
}

// On GH100 the first pass has the products of either type that its own instructions make; elsewhere a pass
// has room for one type alone.
TEST_F(chips, count_bf16_first_and_fp16_with_it_or_next) {
  for (const char* const chip : {"GH100", "GA100", "AD102", "GB202"}) {
    const host h{loaded.call, chip};
    const std::vector<turn> plans = plan(h, quantities_of(h, true));
    ASSERT_GE(plans.size(), 2U) << chip;
    const bool together = std::string{chip} == "GH100";
    EXPECT_THAT(metrics_of(plans[0].counts, count_kind::operations, math_pipe::bf16_tensor),
                ElementsAre("sm__ops_path_tensor_src_bf16_dst_fp32.sum"))
        << chip;
    EXPECT_THAT(metrics_of(plans[together ? 0 : 1].counts, count_kind::operations, math_pipe::fp16_tensor),
                ElementsAre(together ? "sm__ops_path_tensor_op_hgmma_src_fp16.sum"
                                     : "sm__ops_path_tensor_src_fp16_dst_fp32.sum"))
        << chip;
    const char* const dram = std::string{chip} == "GB202" ? "dram__bytes_op_" : "dram__bytes_";
    const std::size_t both = h.passes({dram + std::string{"read.sum"}, dram + std::string{"write.sum"},
                                       "sm__ops_path_tensor_src_bf16_dst_fp32.sum",
                                       together ? "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32.sum"
                                                : "sm__ops_path_tensor_src_fp16_dst_fp32.sum"});
    EXPECT_EQ(both, 2U) << chip << ": one pass may hold more than docs/counters.md says";
  }
}

TEST_F(chips, that_nobody_has_looked_at_are_counted_too) {
  for (const char* const chip : {"GV100", "TU102", "GA102", "GB100"}) {
    const host h{loaded.call, chip};
    ASSERT_EQ(h.error(), result::success) << chip;
    const std::vector<turn> plans = plan(h, quantities_of(h, true));
    EXPECT_THAT(plans, Not(IsEmpty())) << chip;
    for (const turn& t : plans) {
      EXPECT_EQ(h.passes(t.metrics), 1U) << chip;
    }
  }
}

TEST_F(chips, that_do_not_exist_are_refused) {
  const host h{loaded.call, "XX999"};
  EXPECT_NE(h.error(), result::success);
  EXPECT_THAT(quantities_of(h, true), IsEmpty());
}

TEST_F(chips, do_not_count_what_they_do_not_know) {
  const host h{loaded.call, "GB202"};
  EXPECT_EQ(h.passes({"dram__bytes_read.sum"}), 0U);
  EXPECT_EQ(h.passes({"dram__bytes_op_read.sum"}), 1U);
}

}  // namespace
