// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/model.hpp>
#include <varve/report.hpp>

#include <gtest/gtest.h>

#include "work/small_model.hpp"

#include <algorithm>
#include <cmath>

namespace {

using varve_test::small;

/// A byte takes a microsecond, a FLOP ten: the slower device that there is.
varve::ceilings slow() {
  varve::ceilings c;
  c.name = "abacus";
  c.bandwidth = 1e6;
  c.flops[static_cast<std::size_t>(varve::math_pipe::bf16_tensor)] = 1e5;
  return c;
}

varve::report predicted(const std::vector<varve::pass_sequence>& batch) {
  varve::analyze_options options;
  options.ceilings = slow();
  return analyze(roof_trace(small(), batch, slow()), options);
}

TEST(roof_trace, takes_the_sum_of_the_operators_roofs) {
  const std::vector<varve::pass_sequence> batch{{1, 5, true}};
  // By hand, with the same operators: of those that run in one kernel the sums count.
  double ns = 0;
  varve::work kernel;
  const auto end_kernel = [&] {
    ns += std::max(static_cast<double>(kernel.flops) * 1e4, static_cast<double>(kernel.bytes()) * 1e3);
    kernel = {};
  };
  for (const varve::operator_work& o : work_of_pass(small(), batch)) {
    if (!o.with_previous) {
      end_kernel();
    }
    kernel += o.declared;
  }
  end_kernel();
  const varve::report r = predicted(batch);
  ASSERT_EQ(r.phases.size(), 1U);
  const varve::phase_row& decode = r.phases[0];
  EXPECT_EQ(decode.phase, "decode");
  EXPECT_EQ(decode.decode_tokens, 1);
  EXPECT_EQ(decode.wall, std::llround(ns));
  EXPECT_EQ(decode.total.gpu_time, decode.wall);
  EXPECT_EQ(decode.partition.starved.total(), 0);
  EXPECT_NEAR(decode.verdict.roof_share, 1, 1e-6);
}

TEST(roof_trace, has_a_row_for_each_block_of_each_layer) {
  const varve::report r = predicted({{1, 5, true}});
  // o_proj is 8 by 8: 2 · 64 FLOPs in 1,280 µs; it moves 128 bytes of weights and 2 · 16 of activations.
  const varve::row* const attention = r.find({"attention"});
  ASSERT_NE(attention, nullptr);
  EXPECT_EQ(attention->path, "layer 0 / attention");
  const auto kernel = std::find_if(r.kernels.begin(), r.kernels.end(),
                                   [](const varve::row& k) { return k.path == "o_proj"; });
  ASSERT_NE(kernel, r.kernels.end());
  EXPECT_EQ(kernel->inclusive.kernels, 2);
  EXPECT_EQ(kernel->inclusive.kernel_time, 2 * 1'280'000);
  EXPECT_EQ(attention->verdict.by, varve::bound::compute);
}

TEST(roof_trace, prefill_is_a_phase_of_its_own) {
  const varve::report r = predicted({{4, 4, false}, {4, 4, false}});
  ASSERT_EQ(r.phases.size(), 1U);
  EXPECT_EQ(r.phases[0].phase, "prefill");
  EXPECT_EQ(r.phases[0].prefill_tokens, 8);
  EXPECT_EQ(r.phases[0].sequences, 2);
}

TEST(roof_trace, of_nothing_is_an_empty_pass) {
  EXPECT_TRUE(predicted({}).layers.empty());
  EXPECT_TRUE(varve::analyze(varve::roof_trace({}, {{1, 1, true}}, {})).kernels.size() < 8);
}

}  // namespace
