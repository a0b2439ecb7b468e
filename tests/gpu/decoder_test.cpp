// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The example engine on a GPU: its logits against double and the CPU back end, and what a session sees of it.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>

#include "cpu_backend.hpp"
#include "cuda_backend.hpp"
#include "gpu/session_test.hpp"
#include "one_sequence.hpp"

namespace varve_gpu {
namespace {

using decoder::generator;
using decoder::launch_mode;
using varve::dtype;

class gpu_decoder : public on_gpu, public testing::WithParamInterface<dtype> {
 protected:
  void SetUp() override {
    on_gpu::SetUp();
    if (!IsSkipped()) {
      device_ = decoder::make_cuda_backend(GetParam());
    }
  }
  [[nodiscard]] double roundoff() const {
    return GetParam() == dtype::f32 ? 0x1p-24 : GetParam() == dtype::f16 ? 0x1p-11 : 0x1p-8;
  }
  std::unique_ptr<decoder::backend> device_;
};

INSTANTIATE_TEST_SUITE_P(types, gpu_decoder, testing::Values(dtype::f32, dtype::f16, dtype::bf16),
                         [](const auto& test) {
                           return test.param == dtype::f32   ? "f32"
                                  : test.param == dtype::f16 ? "f16"
                                                             : "bf16";
                         });

TEST_P(gpu_decoder, gives_the_logits_of_double_in_prefill_and_over_its_cache) {
  for (const decoder::model_config& config : reference::shapes) {
    const decoder::token_list tokens = reference::prompts(config, {9}, 3).front();
    reference::one_sequence at_once{*device_, config};
    const std::vector<float> prefilled = at_once.forward(tokens, 0);
    reference::one_sequence stepwise{*device_, config};
    stepwise.forward({tokens.begin(), tokens.begin() + 8}, 0);
    const std::vector<float> decoded = stepwise.forward({tokens[8]}, 8);
    const reference::row expected = at_once.exact(tokens);
    const double tolerance = reference::tolerance_of_logits(config, roundoff());
    EXPECT_LE(reference::distance(prefilled, expected), tolerance);
    EXPECT_LE(reference::distance(decoded, expected), tolerance);
  }
}

// The CPU's weights are not rounded to the type, the GPU's are: one more rounding of each product's factors.
TEST_P(gpu_decoder, gives_the_logits_of_the_cpu_back_end_at_a_larger_size) {
  const decoder::model_config config = decoder::preset("small");
  const auto cpu = decoder::make_cpu_backend();
  const decoder::token_list tokens = reference::prompts(config, {16}, 5).front();
  const std::vector<float> expected = reference::one_sequence{*cpu, config}.forward(tokens, 0);
  const std::vector<float> logits = reference::one_sequence{*device_, config}.forward(tokens, 0);
  EXPECT_LE(reference::distance(logits, {expected.begin(), expected.end()}),
            2 * reference::tolerance_of_logits(config, roundoff()));
}

const decoder::engine_limits limits{3, 64, 64};

TEST_P(gpu_decoder, makes_the_same_tokens_eager_and_from_graphs) {
  const decoder::model_config& config = reference::shapes[1];
  generator eager{*device_, config, limits, launch_mode::eager, 2};
  generator replayed{*device_, config, limits, launch_mode::graphs, 2};
  replayed.warm_up();
  const auto lists = reference::prompts(config, {5, 20, 11}, 2);
  EXPECT_EQ(eager.generate(lists, 30), replayed.generate(lists, 30));
  EXPECT_EQ(replayed.captures(), 2);  // contexts up to 32, then up to 64
}

TEST_P(gpu_decoder, surfaces_what_fails_in_a_kernel) {
  generator engine{*device_, reference::shapes[0], {1, 8, 10}, launch_mode::graphs, 1};
  EXPECT_THROW(engine.generate({{61}}, 2), std::out_of_range);  // tokens are 0 to 60
}

varve::report record(decoder::backend& device, launch_mode mode) {
  decoder::model_config config = decoder::preset("small");
  config.layers = 4;
  varve::session session;
  std::optional<varve::phase> load{varve::load};
  generator engine{device, config, limits, mode, 1};
  load.reset();
  engine.warm_up();
  engine.generate(reference::prompts(config, {4, 6}, 1), 40);  // 39 decode passes
  return varve::analyze(session.stop());
}

std::set<std::string> paths(const varve::report& r, std::string_view phase) {
  std::set<std::string> out;
  for (const varve::row& row : r.layers) {
    if (row.phase == phase) {
      out.insert(row.path);
    }
  }
  return out;
}

class gpu_decoder_session : public on_gpu {};

// CUPTI of CUDA 13.0 gives launches of graphs wrong ids in sessions after a process's first: one a test.
class gpu_decoder_attribution : public on_gpu, public testing::WithParamInterface<launch_mode> {};

INSTANTIATE_TEST_SUITE_P(modes, gpu_decoder_attribution,
                         testing::Values(launch_mode::eager, launch_mode::graphs), [](const auto& test) {
                           return test.param == launch_mode::eager ? "eager" : "graphs";
                         });

TEST_P(gpu_decoder_attribution, is_of_all_kernels_to_the_layers_of_the_cpu_back_end) {
  const auto device = decoder::make_cuda_backend(dtype::f16);
  const auto cpu = decoder::make_cpu_backend();
  const varve::report gpu = record(*device, GetParam());
  const varve::report host = record(*cpu, GetParam());
  EXPECT_GE(gpu.quality.attributed, 0.999) << varve::to_table(gpu);
  EXPECT_EQ(gpu.quality.unmatched, 0);
  EXPECT_EQ(gpu.quality.stale_nodes, 0);
  EXPECT_EQ(gpu.quality.unlabelled_nodes, 0);
  for (const char* const phase : {"prefill", "decode"}) {
    EXPECT_EQ(paths(gpu, phase), paths(host, phase)) << phase;
    EXPECT_FALSE(paths(gpu, phase).empty()) << phase;
  }
  varve::row_query query;
  query.path = "layer 3 / mlp";
  query.phase = varve::decode;
  const varve::row* const mlp = gpu.find(query);
  ASSERT_NE(mlp, nullptr);
  EXPECT_EQ(mlp->inclusive.launches > 0, GetParam() == launch_mode::eager);
  EXPECT_EQ(mlp->inclusive.calls, 39);
  EXPECT_GE(mlp->inclusive.kernels, 39 * 5);  // gate, up, swiglu, down and add, each pass
}

// The first event is recorded before the engine begins, the last after it has waited for its tokens: what is
// between them and the first and last activity is small beside 300 passes.
TEST_F(gpu_decoder_session, has_as_much_busy_and_idle_time_as_cuda_events_say) {
  const auto device = decoder::make_cuda_backend(dtype::f16);
  const decoder::model_config config = decoder::preset("small");
  for (const launch_mode mode : {launch_mode::eager, launch_mode::graphs}) {
    SCOPED_TRACE(mode == launch_mode::eager ? "eager" : "graphs");
    varve::session session;
    ASSERT_TRUE(collects(session));
    generator engine{*device, config, {2, 64, 384}, mode, 1};
    engine.warm_up();
    const auto prompts = reference::prompts(config, {20, 30}, 1);
    engine.generate(prompts, 2);  // captures
    (void)session.stop();

    varve::session measured;
    ASSERT_TRUE(collects(measured));
    const stream on = make_stream();
    const gpu_event first = make_event();
    const gpu_event last = make_event();
    check(cudaDeviceSynchronize());
    check(cudaEventRecord(first.get(), on.get()));
    engine.generate(prompts, 301);
    check(cudaEventRecord(last.get(), on.get()));
    check(cudaEventSynchronize(last.get()));
    const varve::report r = varve::analyze(measured.stop());
    float elapsed = 0;  // ms
    check(cudaEventElapsedTime(&elapsed, first.get(), last.get()));
    const double events = 1e6 * static_cast<double>(elapsed);
    ASSERT_EQ(r.devices.size(), 1U);
    EXPECT_NEAR(static_cast<double>(r.devices[0].gpu_span), events, 0.01 * events);
    EXPECT_LE(r.devices[0].busy, r.devices[0].gpu_span);
    EXPECT_GT(r.devices[0].busy, 0);
  }
}

}  // namespace
}  // namespace varve_gpu
