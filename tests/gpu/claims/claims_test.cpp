// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "gpu/claims/claims.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace {

using testing::HasSubstr;
using varve_gpu::claim;

/// Passes of decode, of so many nanoseconds each, half of it busy.
varve::report decode(std::int64_t passes, varve::time_ns each) {
  varve::report r;
  varve::phase_row& p = r.phases.emplace_back();
  p.phase = "decode";
  p.passes = passes;
  p.wall = passes * each;
  p.partition.compute = p.wall / 2;
  p.partition.starved.other = p.wall - p.partition.compute;
  return r;
}

/// By path in decode: calls and kernels.
varve::report with_rows(const std::vector<std::pair<std::string, std::pair<int, int>>>& rows) {
  varve::report r;
  for (const auto& [path, work] : rows) {
    varve::row& row = r.layers.emplace_back();
    row.path = path;
    row.label = path.substr(path.rfind(' ') + 1);
    row.phase = "decode";
    row.inclusive.calls = work.first;
    row.inclusive.kernels = work.second;
  }
  return r;
}

TEST(claims, all_but_a_thousandth_must_be_attributed_and_nothing_unmatched) {
  varve::report r =
      with_rows({{"layer 0", {1, 900}}, {"layer 0 / mlp", {1, 800}}, {"head", {1, 99}}, {"", {1, 1}}});
  r.kernels.resize(2);  // 900 + 99 of 1000 are in layers
  r.kernels[0].inclusive.kernels = 600;
  r.kernels[1].inclusive.kernels = 400;
  r.quality.activities = 1000;
  r.quality.attributed = 0.999;
  EXPECT_TRUE(varve_gpu::attributed(r).holds);
  EXPECT_THAT(varve_gpu::attributed(r).text, HasSubstr("99.900 % of GPU time and 99.900 % of kernels"));
  r.kernels[1].inclusive.kernels = 401;
  EXPECT_FALSE(varve_gpu::attributed(r).holds) << "999 of 1001 kernels";
  r.kernels[1].inclusive.kernels = 400;
  r.quality.attributed = 0.9989;
  EXPECT_FALSE(varve_gpu::attributed(r).holds);
  r.quality.attributed = 1;
  r.quality.unmatched = 1;
  EXPECT_FALSE(varve_gpu::attributed(r).holds);
  EXPECT_FALSE(varve_gpu::attributed({}).holds) << "nothing ran";
}

TEST(claims, a_verdict_must_be_the_one_and_else_says_why_not) {
  varve::report r = decode(1, 1000);
  r.phases[0].verdict.by = varve::bound::memory;
  EXPECT_TRUE(varve_gpu::bound_by(r, "decode", varve::bound::memory).holds);
  EXPECT_FALSE(varve_gpu::bound_by(r, "prefill", varve::bound::memory).holds);
  r.phases[0].verdict.by = varve::bound::latency;
  r.phases[0].verdict.memory_share = 0.5;
  r.phases[0].verdict.why = "neither side is near";
  const claim other = varve_gpu::bound_by(r, "decode", varve::bound::memory);
  EXPECT_FALSE(other.holds);
  EXPECT_EQ(other.text,
            "decode is memory-bound: latency, 0.00 % of compute, 50.00 % of memory; neither side is near");
}

TEST(claims, graphs_must_take_what_was_predicted_to_within_a_quarter_or_the_bounds) {
  varve::report eager = decode(10, 100'000);
  eager.phases[0].partition.compute /= 2;  // a ratio of 4
  const varve::report replayed = decode(5, 60'000);
  EXPECT_FALSE(varve_gpu::graphs_as_predicted(eager, replayed).holds) << "nothing was predicted";
  varve::prediction& p = eager.predictions.emplace_back();
  p.phase = 0;
  p.now = 100'000;
  p.expected = 48'000;  // 60 is a quarter more
  p.at_best = 47'000;
  p.at_worst = 49'000;
  const claim near = varve_gpu::graphs_as_predicted(eager, replayed);
  EXPECT_TRUE(near.holds) << near.text;
  EXPECT_THAT(near.text,
              HasSubstr("takes 100.00 µs eagerly, predicted were 48.00 (47.00 to 49.00), as graphs it "
                        "takes 60.00; ratio 4.00 and 2.00"));
  eager.predictions[0].expected = 47'900;
  EXPECT_FALSE(varve_gpu::graphs_as_predicted(eager, replayed).holds);
  eager.predictions[0].at_worst = 60'000;
  EXPECT_TRUE(varve_gpu::graphs_as_predicted(eager, replayed).holds);
  eager.phases[0].partition.compute *= 2;  // ratios alike
  EXPECT_FALSE(varve_gpu::graphs_as_predicted(eager, replayed).holds);
}

TEST(claims, reports_of_one_work_have_the_same_rows) {
  const varve::report own = with_rows({{"layer 0", {3, 7}}, {"layer 0 / mlp", {3, 6}}});
  varve::report other = own;
  EXPECT_TRUE(varve_gpu::same_work(own, other).holds);
  other.layers[1].inclusive.declared.flops = 1;  // counted twice, say
  EXPECT_THAT(
      varve_gpu::same_work(own, other).text,
      HasSubstr(
          "layer 0 / mlp: 3 calls, 6 kernels, 0 FLOPs in the engine's own report, 3 calls, 6 kernels, 1 "
          "FLOPs in the other"));
  EXPECT_FALSE(varve_gpu::same_work(own, other).holds);
  other.layers.pop_back();
  EXPECT_FALSE(varve_gpu::same_work(own, other).holds);
  EXPECT_FALSE(varve_gpu::same_work(other, own).holds);
  EXPECT_FALSE(varve_gpu::same_work({}, {}).holds);
  const varve::report idle = with_rows({{"layer 0", {3, 0}}});
  EXPECT_FALSE(varve_gpu::same_work(idle, idle).holds);
}

TEST(claims, each_outermost_layer_must_be_counted_and_those_with_weights_move_bytes) {
  varve::report r =
      with_rows({{"layer 0", {3, 7}}, {"layer 0 / mlp", {3, 6}}, {"inputs", {3, 7}}, {"", {1, 1}}});
  r.layers[0].label = "layer";
  r.layers[0].counted.emplace().dram_read = 1000;
  EXPECT_FALSE(varve_gpu::counted(r).holds);
  r.layers[2].counted.emplace().dram_read = 0;
  EXPECT_TRUE(varve_gpu::counted(r).holds);
  r.layers[0].counted->dram_read = 0;
  EXPECT_FALSE(varve_gpu::counted(r).holds);
  EXPECT_FALSE(varve_gpu::counted({}).holds);
}

TEST(claims, each_counted_layer_must_say_how_its_bytes_differ_from_the_declared_ones) {
  varve::report r = with_rows({{"layer 0", {3, 7}}, {"layer 1", {3, 7}}, {"inputs", {3, 7}}});
  r.layers[0].label = r.layers[1].label = "layer";
  varve::counted_work counted;
  counted.dram_read = 1000;
  counted.used = true;
  counted.why = "DRAM moved 2 times the declared bytes";
  r.layers[0].counted = r.layers[1].counted = counted;
  const claim all = varve_gpu::explained(r);
  EXPECT_TRUE(all.holds);
  EXPECT_THAT(all.text, HasSubstr("decode / layer 0: DRAM moved 2 times the declared bytes; 2 of 2 layers"));
  r.layers[1].counted->used = false;
  EXPECT_FALSE(varve_gpu::explained(r).holds);
  r.layers[1].counted = counted;
  r.layers[1].counted->why = "operations are 2 times the declared ones";
  EXPECT_FALSE(varve_gpu::explained(r).holds);
  r.layers[1].counted.reset();
  EXPECT_FALSE(varve_gpu::explained(r).holds);
  EXPECT_FALSE(varve_gpu::explained({}).holds) << "nothing was counted";
}

}  // namespace
