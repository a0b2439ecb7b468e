// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Roofs and verdicts of a prefill of Qwen1.5-0.5B on an H100: 989.4 TFLOP/s dense in BF16, 3.35 TB/s.
#include "real_traces.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace {

using testing::HasSubstr;
using testing::StartsWith;
using varve::bound;

constexpr double bf16 = 989.4e12;
constexpr double memory = 3.35e12;

class real_roofs : public real_traces {
 protected:
  static const varve::report& qwen() {
    static const varve::report r = varve::analyze(read("h100-qwen1.5-0.5b"));
    return r;
  }
  static const varve::row& label(std::string_view name) {
    const auto found = std::find_if(qwen().labels.begin(), qwen().labels.end(),
                                    [&](const varve::row& r) { return r.label == name; });
    EXPECT_NE(found, qwen().labels.end()) << name;
    return *found;
  }
};

TEST_F(real_roofs, know_the_ceilings_of_the_gpu) {
  ASSERT_EQ(qwen().devices.size(), 1U);
  ASSERT_TRUE(qwen().devices[0].ceilings);
  EXPECT_NEAR(qwen().devices[0].ceilings->peak(varve::math_pipe::bf16_tensor), bf16, 0.001 * bf16);
  EXPECT_NEAR(qwen().devices[0].ceilings->bandwidth, memory, 0.001 * memory);
}

// 8,944 tokens by the gate's and the up projection's 1,024 × 2,816 in each of 24 layers, without bias:
// 48 · 2 · 8944 · 1024 · 2816 FLOPs, and (8944 · 1024 + 1024 · 2816 + 8944 · 2816) · 2 bytes each.
TEST_F(real_roofs, give_each_matrix_product_its_efficiency) {
  const auto& rows = qwen().operators.by_shape;
  const auto mm = std::find_if(rows.begin(), rows.end(), [](const varve::operator_row& r) {
    return r.name == "aten::mm" && r.shapes == "[[8944, 1024], [1024, 2816]]";
  });
  ASSERT_NE(mm, rows.end());
  ASSERT_EQ(mm->calls, 48);
  const double seconds = static_cast<double>(mm->gpu_total) / 1e9;
  const double flops = 48.0 * 2 * 8944 * 1024 * 2816;
  const double bytes = 48.0 * 2 * (8944.0 * 1024 + 1024.0 * 2816 + 8944.0 * 2816);
  EXPECT_NEAR(mm->verdict.compute_share, flops / bf16 / seconds, 0.001);
  EXPECT_NEAR(mm->verdict.memory_share, bytes / memory / seconds, 0.001);
  EXPECT_EQ(mm->verdict.by, flops / bf16 / seconds >= 0.6 ? bound::compute : bound::latency);
  EXPECT_THAT(mm->verdict.why, HasSubstr("of 989 TFLOP/s BF16 tensor"));
}

// What the thresholds say of the sums that the report holds.
TEST_F(real_roofs, judge_layers_by_the_thresholds) {
  const varve::row& linear = label("Linear");
  const auto time = static_cast<double>(linear.inclusive.gpu_time);
  EXPECT_EQ(linear.inclusive.unknown_work_time, 0);
  EXPECT_NEAR(linear.verdict.compute_share,
              static_cast<double>(linear.inclusive.declared.flops) / bf16 * 1e9 / time, 0.001);
  EXPECT_GE(linear.verdict.compute_share, 0.6);
  EXPECT_EQ(linear.verdict.by, bound::compute);
  // Nothing but additions, products and conversions: far below the ridge of FP32 cores.
  const varve::row& norm = label("Qwen2RMSNorm");
  EXPECT_GE(norm.verdict.memory_share, 0.6);
  EXPECT_EQ(norm.verdict.by, bound::memory);
}

// 6 % of its time joins tensors (aten::cat) whose elements only the kernels' names tell: in each of 24 layers
// two halves [16, 16, 559, 32] of 2 bytes for queries and for keys, and once [1, 559, 32] twice, of 4 bytes.
TEST_F(real_roofs, know_what_joining_tensors_moves) {
  const auto& rows = qwen().operators.by_name;
  const auto cat = std::find_if(rows.begin(), rows.end(),
                                [](const varve::operator_row& r) { return r.name == "aten::cat"; });
  ASSERT_NE(cat, rows.end());
  EXPECT_EQ(cat->calls, 49);
  EXPECT_EQ(cat->calls_with_work, 49);
  EXPECT_EQ(cat->declared.bytes(), 48LL * 2 * (2 * 16 * 16 * 559 * 32) * 2 + 2 * (2 * 559 * 32) * 4);
  EXPECT_EQ(cat->declared.flops, 0);
  EXPECT_GT(qwen().phases.at(0).total.gpu_time / 10, cat->gpu_total);
  EXPECT_LT(qwen().phases.at(0).total.gpu_time / 20, cat->gpu_total);
}

TEST_F(real_roofs, judge_the_prefill_by_the_thresholds) {
  ASSERT_FALSE(qwen().phases.empty());
  const varve::phase_row& pass = qwen().phases[0];
  const auto time = static_cast<double>(pass.total.gpu_time);
  EXPECT_LT(static_cast<double>(pass.total.unknown_work_time), 0.001 * time);  // arange
  const varve::verdict& v = pass.verdict;
  EXPECT_NEAR(v.memory_share, static_cast<double>(pass.total.declared.bytes()) / memory * 1e9 / time, 0.001);
  EXPECT_NEAR(v.roof_share, pass.total.roof.total / time, 0.001);
  EXPECT_EQ(v.side, bound::memory);
  // Neither side, nor the sum over operators, reaches 60 %, and it starves for less than half of the wall.
  EXPECT_LT(std::max({v.compute_share, v.memory_share, v.roof_share}), 0.6);
  EXPECT_LT(pass.partition.starved.total(), pass.partition.wall() / 2);
  EXPECT_EQ(v.by, bound::latency);
  EXPECT_THAT(v.why, StartsWith("latency-bound: "));
  EXPECT_THAT(v.why, HasSubstr(" of 3.35 TB/s ("));
  EXPECT_THAT(v.why, HasSubstr("neither reaches 60 %"));
}

}  // namespace
