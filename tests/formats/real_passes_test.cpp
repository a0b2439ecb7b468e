// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Passes in traces that other people recorded.
#include "formats/real_traces.hpp"

#include <varve/io.hpp>
#include <varve/report.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

class real_passes : public real_traces {
 protected:
  static varve::trace read(const std::string& name, const std::string& ignored = "") {
    varve::read_options options;
    if (!ignored.empty()) {
      varve::naming_rule rule;
      rule.pattern = ignored;
      rule.as = varve::naming_rule::kind::ignore;
      options.rules.push_back(rule);
    }
    return real_traces::read(name, options);
  }
};

TEST_F(real_passes, b200_vllm_is_one_prefill_of_888_tokens) {
  const varve::trace t = read("b200-vllm-prefill");
  const varve::report r = varve::analyze(t);
  ASSERT_EQ(r.phases.size(), 1U);
  EXPECT_EQ(r.phases[0].phase, "prefill");
  EXPECT_EQ(r.phases[0].passes, 1);
  EXPECT_EQ(r.phases[0].prefill_tokens, 888);  // of (888_788544), where 788544 is 888²
  EXPECT_EQ(r.phases[0].decode_tokens, 0);
  EXPECT_EQ(r.phases[0].sequences, 1);
  EXPECT_EQ(r.phases[0].total.kernels, 768);
  // The annotation lasts 87412.863 µs, and the device is done before.
  EXPECT_EQ(r.phases[0].step.total, 87412863);
  EXPECT_EQ(r.quality.inferred_passes, varve::pass_inference::not_inferred);
}

TEST_F(real_passes, steps_of_the_profiler_are_passes) {
  const varve::report block = varve::analyze(read("h100-transformer-block"));
  ASSERT_EQ(block.phases.size(), 1U);
  EXPECT_EQ(block.phases[0].phase, "ProfilerStep");
  EXPECT_EQ(block.phases[0].passes, 3);
}

TEST_F(real_passes, are_inferred_where_they_are_not_marked) {
  const varve::report block = varve::analyze(read("h100-transformer-block", "^ProfilerStep"));
  ASSERT_EQ(block.phases.size(), 1U);
  EXPECT_EQ(block.phases[0].phase, "Model Forward Pass");
  EXPECT_EQ(block.phases[0].passes, 3);
  EXPECT_EQ(block.quality.inferred_passes, varve::pass_inference::module_calls);

  const varve::report qwen = varve::analyze(read("h100-qwen1.5-0.5b", "^ProfilerStep"));
  ASSERT_EQ(qwen.phases.size(), 1U);
  EXPECT_EQ(qwen.phases[0].phase, "forward");
  EXPECT_EQ(qwen.phases[0].passes, 1);
  ASSERT_NE(qwen.find({"Qwen2DecoderLayer", 23, "forward"}), nullptr);
}

}  // namespace
