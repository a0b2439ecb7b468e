// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// OPT-125M generating 20 tokens by an eager engine, from the launches to what the report advises: 58 ms of
// GPU work in 2.35 s.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <varve/model.hpp>

#include "proof.hpp"
#include "support/virtual_device.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace virtual_device {
namespace {

constexpr int generated = 20;
constexpr int blocks = 12;
constexpr int prompt = 32;

/// Tables of 50272 and 2050 rows; a block has 4 · 768² + 4 · 768 in attention, 2 · 768 · 3072 + 3072 + 768 in
/// its feed-forward block and two norms of 2 · 768: 7,087,872.
varve::model opt_125m() {
  varve::model m;
  m.name = "opt";
  m.width = 768;
  m.vocabulary = 50272;
  m.positions = 2048 + 2;
  m.tied = true;
  m.norms = varve::norm_kind::layer;
  varve::model_layer block;
  block.attention.heads = {12, 12, 64, 64};
  block.attention.bias = block.attention.output_bias = true;
  block.mlp.width = 3072;
  block.mlp.gated = false;
  block.mlp.bias = true;
  m.layers.assign(blocks, block);
  return unquantised(m, varve::dtype::f16);
}

/// One launch at a time, each after 785 µs of the engine's own code.
class eager_engine {
 public:
  eager_engine(host& h, stream s) : h_{h}, s_{s} {}

  /// 72 products of blocks for 20 µs each, the head's for 54, 74 other kernels for 19: 1440 + 54 + 1406 =
  /// 2900 µs. The host needs 147 · (785 + 5) = 116,130 µs to launch them, waits 54 for the last one, and
  /// takes 1316 for sampling: 117,500 µs.
  void generate(int token) {
    scope pass = h_.phase("decode");
    pass.attribute(VARVE_DECODE_TOKENS, 1).attribute(VARVE_DECODE_CONTEXT_TOKENS, prompt + token + 1);
    run("embed_tokens", "embedding_kernel", other);
    for (int i = 0; i < blocks; ++i) {
      const scope block = h_.layer("layer", i);
      run("ln1", "layer_norm_kernel", other);
      run("q_proj", gemm, linear);
      run("k_proj", gemm, linear);
      run("v_proj", gemm, linear);
      run("sdpa", "fmha_kernel", other);
      run("out_proj", gemm, linear);
      launch("add_kernel", other);
      run("ln2", "layer_norm_kernel", other);
      run("fc1", gemm, linear);
      run("act", "relu_kernel", other);
      run("fc2", gemm, linear);
      launch("add_kernel", other);
    }
    run("final_norm", "layer_norm_kernel", other);
    run("lm_head", gemm, head);
    h_.synchronise(s_);
    h_.spend(1'316 * us);
  }

 private:
  static constexpr time_ns linear = 20 * us;
  static constexpr time_ns head = 54 * us;
  static constexpr time_ns other = 19 * us;
  static constexpr const char* gemm = "ampere_fp16_s16816gemm_fp16_64x64_nn";

  void launch(const char* kernel, time_ns duration) {
    h_.spend(785 * us);
    h_.launch(s_, kernel, duration);
  }
  void run(const char* label, const char* kernel, time_ns duration) {
    const scope op = h_.op(label);
    launch(kernel, duration);
  }

  host& h_;
  stream s_;
};

varve::report opt_report() {
  machine m;
  m.device(0);
  const stream s = m.new_stream(0);
  eager_engine engine{m.new_host(), s};
  for (int token = 0; token < generated; ++token) {
    engine.generate(token);
  }
  varve::trace t = to_trace(m.run());
  describe(t, opt_125m());
  EXPECT_TRUE(t.losses.empty());
  varve::analyze_options options;
  options.ceilings = varve::ceilings_named("a100-sxm4-80gb");  // 2.039 TB/s
  return analyze(t, options);
}

const varve::prediction& prediction_of(const varve::report& r, varve::prediction::change what) {
  const auto found = std::find_if(r.predictions.begin(), r.predictions.end(),
                                  [&](const varve::prediction& p) { return p.what == what; });
  static const varve::prediction nothing;
  EXPECT_NE(found, r.predictions.end());
  return found != r.predictions.end() ? *found : nothing;
}

TEST(virtual_device_opt, generating_eagerly_is_launch_bound) {
  const varve::report r = opt_report();
  const varve::phase_row& decode = phase_of(r);
  EXPECT_EQ(decode.tokens(), generated);
  EXPECT_EQ(decode.wall, 2'350 * ms);           // 20 · 117.5
  EXPECT_EQ(decode.partition.busy(), 58 * ms);  // 20 · 2.9
  EXPECT_EQ(decode.partition.starved.total(), 2'292 * ms);
  EXPECT_NEAR(decode.overhead_ratio(), 40.5, 0.05);  // 2350 ÷ 58
  EXPECT_EQ(decode.total.launches, generated * 147);
  // 12 blocks of q, k, v, out, fc1 and fc2, and the head: 73 a token.
  std::int64_t linear_calls = 0;
  for (const varve::row& label : r.labels) {
    for (const char* const name : {"q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2", "lm_head"}) {
      linear_calls += label.label == name ? label.inclusive.calls : 0;
    }
  }
  EXPECT_EQ(linear_calls, generated * 73);
  const auto linear = std::find_if(r.categories.begin(), r.categories.end(),
                                   [](const varve::row& c) { return c.path == "linear"; });
  ASSERT_NE(linear, r.categories.end());
  EXPECT_EQ(linear->inclusive.kernels, generated * 73);
  EXPECT_EQ(decode.verdict.by, varve::bound::starved);
  EXPECT_THAT(decode.verdict.why, testing::HasSubstr("starved (launch-bound)"));
}

// All parameters but the tables are read once a token, the head's table too: 85,054,464 of blocks, 1,536 of
// the last norm, 38,608,896 of the head, and a row of each table, 1,536: 123,666,432 of two bytes.
TEST(virtual_device_opt, its_work_is_known) {
  const varve::report r = opt_report();
  EXPECT_EQ(count_parameters(opt_125m()).total, 125'239'296);
  const varve::phase_row& decode = phase_of(r);
  EXPECT_DOUBLE_EQ(r.quality.work_known[static_cast<std::size_t>(varve::work_source::description)], 1);
  EXPECT_EQ(decode.total.declared.weight_bytes, generated * std::int64_t{2} * 123'666'432);
  EXPECT_EQ(decode.verdict.side, varve::bound::memory);
  // Keys and values: 12 · 2 · 768 · 2 bytes a key, of 33 to 52 keys and as many again written once a token.
  EXPECT_EQ(decode.total.declared.kv_bytes, std::int64_t{36'864} * ((33 + 52) * 10 + generated));
  // Memory gives the head's 77.2 MB of weights and 0.1 of logits in 37.9 of 54 µs.
  EXPECT_NEAR(layer_of(r, "lm_head").verdict.memory_share, 0.702, 0.001);
}

TEST(virtual_device_opt, graphs_help_and_smaller_weights_do_not) {
  using change = varve::prediction::change;
  const varve::report r = opt_report();
  // Of 114.6 ms that the device starves all but one launch of 5 µs goes: 117.5 to 2.905 ms.
  const varve::prediction& graphs = prediction_of(r, change::graphs);
  EXPECT_TRUE(graphs.helps);
  EXPECT_NEAR(graphs.now, 117.5e6, 1);
  EXPECT_NEAR(graphs.expected, 2.905e6, 1);
  // Starved for 97.5 % the device only waits longer. Were all 2.9 ms weights and the host kept up, three
  // quarters, 2.2 ms, would go: 1.9 %, where a twentieth would help.
  const varve::prediction& quarter = prediction_of(r, change::quarter_weight_bytes);
  EXPECT_FALSE(quarter.helps);
  EXPECT_DOUBLE_EQ(quarter.expected, quarter.now);
  EXPECT_LT(quarter.now - quarter.at_best, 2.175e6);
  EXPECT_FALSE(prediction_of(r, change::half_weight_bytes).helps);
  EXPECT_FALSE(prediction_of(r, change::half_kv_bytes).helps);
  // Twice the tokens for the same launches.
  EXPECT_TRUE(prediction_of(r, change::double_batch).helps);
}

TEST(virtual_device_opt, the_report_says_so_plainly) {
  const varve::report r = opt_report();
  const auto overhead = std::find_if(r.findings.begin(), r.findings.end(), [](const varve::finding& f) {
    return f.what == varve::finding::kind::overhead;
  });
  ASSERT_NE(overhead, r.findings.end());
  EXPECT_EQ(overhead->text,
            "decode is launch-bound: the device worked 58.0 ms of 2.35 s and had nothing to do for 97.5 % of "
            "it, overhead ratio 40.5: quantisation won't help, CUDA graphs or larger batches will");
  const std::string table = to_table(r);
  EXPECT_THAT(table, testing::HasSubstr("decode with weights in a quarter of the bytes gains little"));
  EXPECT_THAT(table, testing::HasSubstr("one CUDA graph in place of 147 launches: 118 ms to 2.91 ms"));
}

}  // namespace
}  // namespace virtual_device
