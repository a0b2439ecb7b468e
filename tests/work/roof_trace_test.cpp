// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/model.hpp>
#include <varve/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "work/small_model.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

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

/// Qwen3-30B-A3B: 128 experts, 8 a token.
varve::model mixture_of_experts() {
  varve::model m;
  m.width = 2048;
  m.vocabulary = 151'936;
  varve::model_layer layer;
  layer.attention.heads = {32, 4, 128, 128};
  layer.experts.count = 128;
  layer.experts.chosen = 8;
  layer.experts.width = 768;
  m.layers.assign(48, layer);
  return m;
}

varve::report predicted_mixture(const varve::pass_sequence& each, std::size_t sequences,
                                double rarest = varve::rarest_expert) {
  varve::ceilings c;
  c.name = "H200";
  c.bandwidth = 4.8e12;
  c.flops[static_cast<std::size_t>(varve::math_pipe::bf16_tensor)] = 989e12;
  varve::analyze_options options;
  options.ceilings = c;
  varve::work_options how;
  how.rarest_expert = rarest;
  return analyze(roof_trace(mixture_of_experts(), std::vector<varve::pass_sequence>(sequences, each), c, how),
                 options);
}

// The mixture of a layer by 4096 tokens: 2·32768·3·2048·768 = 309 GFLOP, 313 µs; 128·3·2048·768·2
// bytes = 1.2 GB of experts, 252 µs, and activations for 154 µs: memory, 406 µs. Of the 8 experts of one
// token it would be 16 + 154 µs: compute.
TEST(roof_trace, of_a_prefilled_mixture_has_a_verdict) {
  const varve::report r = predicted_mixture({4096, 4096, false}, 1);
  const varve::row* const experts = r.find({"moe"});
  ASSERT_NE(experts, nullptr);
  EXPECT_EQ(experts->verdict.by, varve::bound::memory) << experts->verdict.why;
  EXPECT_NEAR(static_cast<double>(experts->inclusive.gpu_time), 406'000, 1'000);
  EXPECT_EQ(r.phases.at(0).verdict.by, varve::bound::compute) << r.phases.at(0).verdict.why;

  const varve::report any = predicted_mixture({4096, 4096, false}, 1, 0);
  EXPECT_THAT(any.find({"moe"})->verdict.why,
              testing::HasSubstr("bound by compute if the fewest, memory as expected, memory if the most"));
}

TEST(roof_trace, of_a_decoding_mixture_is_bound_by_memory) {
  for (std::size_t sequences = 1; sequences <= 64; sequences *= 2) {
    const varve::report r = predicted_mixture({1, 1024, true}, sequences);
    EXPECT_EQ(r.phases.at(0).verdict.by, varve::bound::memory) << r.phases.at(0).verdict.why;
  }
}

/// The device has a rate for this pipe alone.
varve::ceilings only(varve::math_pipe pipe) {
  varve::ceilings c = slow();
  c.flops = {};
  c.flops[static_cast<std::size_t>(pipe)] = 1e5;
  return c;
}

varve::report predicted_on(const varve::model& m, const varve::ceilings& device) {
  varve::analyze_options options;
  options.ceilings = device;
  return analyze(roof_trace(m, {{1, 5, true}}, device), options);
}

TEST(roof_trace, counts_flops_on_a_pipe_that_the_device_has_and_says_so) {
  const varve::report usual = predicted({{1, 5, true}});
  EXPECT_EQ(usual.quality.collectors[0].detail, "nothing ran");
  for (const varve::math_pipe pipe :
       {varve::math_pipe::fp16_tensor, varve::math_pipe::fp16, varve::math_pipe::fp32}) {
    const varve::report r = predicted_on(small(), only(pipe));
    EXPECT_EQ(r.phases[0].wall, usual.phases[0].wall);  // the rate is the same
    EXPECT_EQ(r.phases[0].total.declared.pipe, pipe);
    EXPECT_EQ(r.phases[0].total.roof.unrated_flops, 0);
    EXPECT_EQ(r.phases[0].verdict.by, usual.phases[0].verdict.by);
    EXPECT_THAT(r.quality.collectors[0].detail, testing::StartsWith("nothing ran; BF16 tensor counts as FP"));
    EXPECT_THAT(r.quality.collectors[0].detail, testing::EndsWith(", abacus has no rate for it"));
  }
}

TEST(roof_trace, widens_what_the_device_has_no_narrow_pipe_for) {
  varve::model m = small();
  m.factors = varve::dtype::fp8;
  for (varve::model_layer& layer : m.layers) {
    layer.mlp.weights.type = varve::dtype::fp8;
  }
  varve::ceilings device = slow();
  const varve::report wide = predicted_on(m, device);
  EXPECT_EQ(wide.phases[0].total.declared.pipe, varve::math_pipe::bf16_tensor);
  EXPECT_EQ(wide.quality.collectors[0].detail,
            "nothing ran; FP8 tensor counts as BF16 tensor, abacus has no rate for it");
  device.flops[static_cast<std::size_t>(varve::math_pipe::fp8_tensor)] = 2e5;
  EXPECT_EQ(predicted_on(m, device).quality.collectors[0].detail, "nothing ran");
}

TEST(roof_trace, says_which_weights_are_widened_and_where_they_count) {
  varve::model m = small();
  m.layers[0].mlp.weights.type = varve::dtype::fp4;  // in BF16 factors, as MXFP4
  EXPECT_EQ(predicted_on(m, slow()).quality.collectors[0].detail,
            "nothing ran; weights in FP4 are widened and count on BF16 tensor");
  m.layers[0].attention.in.type = varve::dtype::int4;
  EXPECT_EQ(
      predicted_on(m, slow()).quality.collectors[0].detail,
      "nothing ran; weights in INT4 are widened and count on BF16 tensor; weights in FP4 are widened and "
      "count on BF16 tensor");
}

// A prompt of 2^35 tokens has 2^69 pairs of a token and a key.
TEST(roof_trace, refuses_a_pass_that_63_bits_do_not_count) {
  constexpr std::int64_t many = std::int64_t{1} << 35U;
  EXPECT_THROW(static_cast<void>(roof_trace(small(), {{many, many, false}}, slow())), std::overflow_error);
  varve::ceilings slowest = slow();
  slowest.bandwidth = 1e-9;  // a pass of some 1000 bytes takes 10^12 s
  EXPECT_THROW(static_cast<void>(roof_trace(small(), {{1, 5, true}}, slowest)), std::overflow_error);
}

// 8 experts of which a token takes 2: 2 of them for one token, 3.5 for two, 5.4687… for four.
TEST(roof_trace, predicts_of_twice_the_batch_what_twice_the_batch_takes) {
  varve::model m = small();
  for (varve::model_layer& layer : m.layers) {
    layer.experts.count = 8;
    layer.experts.chosen = 2;
    layer.experts.width = 64;
  }
  for (const std::size_t sequences : {1U, 2U, 8U}) {
    const std::vector<varve::pass_sequence> batch(sequences, {1, 5, true});
    const std::vector<varve::pass_sequence> twice(2 * sequences, {1, 5, true});
    varve::analyze_options options;
    options.ceilings = slow();
    options.ceilings->flops[static_cast<std::size_t>(varve::math_pipe::bf16_tensor)] = 1e9;  // memory decides
    const varve::report r = analyze(roof_trace(m, batch, *options.ceilings), options);
    const varve::report of_twice = analyze(roof_trace(m, twice, *options.ceilings), options);
    const auto predicted = std::find_if(
        r.predictions.begin(), r.predictions.end(),
        [](const varve::prediction& p) { return p.what == varve::prediction::change::double_batch; });
    ASSERT_NE(predicted, r.predictions.end());
    // Bytes of expected experts are rounded for each operator: a byte is a microsecond.
    EXPECT_NEAR(predicted->expected, static_cast<double>(of_twice.phases[0].wall), 4e3);
    EXPECT_GT(predicted->expected, 1.1 * static_cast<double>(r.phases[0].wall));
  }
}

TEST(roof_trace, refuses_a_device_whose_rates_do_not_do) {
  const auto why = [](const varve::ceilings& device) -> std::string {
    try {
      static_cast<void>(roof_trace(small(), {{1, 5, true}}, device));
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(why(only(varve::math_pipe::fp64)),
            "abacus: no rate is known for BF16 tensor, nor for a pipe that stands in for it");
  varve::ceilings no_memory = slow();
  no_memory.bandwidth = 0;
  EXPECT_EQ(why(no_memory), "abacus: the bandwidth of its memory is not known");
  EXPECT_EQ(why(slow()), "");
}

// 70.6 billion parameters, most in 4 bits with a scale of 16 bits for 128: 35 GB and more. Of an RTX 5090's
// 1.79 TB/s that takes 20 ms, its 141 GFLOPs on tensor cores less than one. The least even of pipes is the
// P4: 5.5 TFLOP/s on FP32 cores take 26 ms, 192 GB/s for the bytes 180.
TEST(roof_trace, of_70_billion_parameters_in_4_bits_is_memory_bound_on_every_gpu) {
  varve::model m;
  m.width = 8192;
  m.vocabulary = 128256;
  const varve::weight_format four{varve::dtype::int4, 128, 1, 16, 4};
  varve::model_layer layer;
  layer.attention.heads = {64, 8, 128, 128};
  layer.attention.in = layer.attention.output = layer.mlp.weights = four;
  layer.mlp.width = 28672;
  m.layers.assign(80, layer);
  for (const varve::dtype type : {varve::dtype::f16, varve::dtype::bf16}) {
    m.type = m.cache = m.factors = type;
    for (const varve::ceilings& device : varve::all_ceilings()) {
      varve::analyze_options options;
      options.ceilings = device;
      const varve::report r = analyze(roof_trace(m, {{1, 1024, true}}, device), options);
      ASSERT_EQ(r.phases.size(), 1U);
      EXPECT_EQ(r.phases[0].verdict.by, varve::bound::memory) << device.name << r.phases[0].verdict.why;
      EXPECT_GT(r.phases[0].total.declared.weight_bytes, 35'000'000'000);
    }
  }
}

}  // namespace
