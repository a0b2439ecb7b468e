// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A model description held against the shapes of operators: Qwen1.5-0.5B on an H100, 16 prompts of 559 tokens
// (the trace has 8,944 rows in its matrix products and 559 positions in its rotary embedding).
#include "real_traces.hpp"

#include <varve/model.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace {

using varve::work_source;

class real_describe : public real_traces {
 protected:
  static const varve::trace& qwen() {
    static const varve::trace t = [] {
      varve::trace out = read("h100-qwen1.5-0.5b");
      varve::describe_options options;
      options.batch.assign(16, {559, 559, false});
      options.pass.logits = 0;  // the trace is of the model without its head
      describe(out, varve::read_model(file("models/configs/qwen1.5-0.5b-chat.json")), options);
      return out;
    }();
    return t;
  }
  static double flops(std::string_view name, work_source source) {
    double out = 0;
    for (const varve::range_work& w : qwen().works) {
      const std::uint32_t label = qwen().ranges[w.range].label;
      const bool fits = label < qwen().labels.size() && qwen().strings[qwen().labels[label].name] == name;
      out += fits && w.source == source ? static_cast<double>(w.declared.flops) : 0.0;
    }
    return out;
  }
};

// Each layer: 4 · 1,024² of attention and 3 · 1,024 · 2,816 of the feed-forward block, two FLOPs a token.
TEST_F(real_describe, linear_layers_have_the_flops_that_their_operators_have) {
  const double expected = 24.0 * 2 * 8944 * (4.0 * 1024 * 1024 + 3.0 * 1024 * 2816);
  EXPECT_DOUBLE_EQ(flops("Linear", work_source::description), expected);
  EXPECT_NEAR(flops("Linear", work_source::shapes), expected, 0.01 * expected);
}

// 16 heads of 64, 559 · 560 ÷ 2 pairs of a prompt, two products of two FLOPs.
TEST_F(real_describe, attention_is_told_beside_its_linear_layers) {
  EXPECT_DOUBLE_EQ(flops("Qwen2Attention", work_source::description),
                   24.0 * 16 * (559.0 * 560 / 2) * 16 * 64 * 2 * 2);
}

TEST_F(real_describe, every_module_that_the_model_has_is_found) {
  for (const varve::loss& l : qwen().losses) {
    EXPECT_NE(l.where, "model description") << l.what;
  }
  // What stands at the pass is what no module is there for: nothing.
  for (const varve::range_work& w : qwen().works) {
    EXPECT_FALSE(w.source == work_source::description &&
                 qwen().ranges[w.range].kind == varve::range_kind::phase)
        << w.declared.flops << " FLOPs, " << w.declared.bytes() << " bytes";
  }
}

TEST_F(real_describe, of_another_model_its_layers_are_missed) {
  varve::trace t = read("h100-qwen1.5-0.5b");
  varve::describe_options options;
  options.batch = {{559, 559, false}};
  describe(t, varve::read_model(file("models/configs/llama-2-7b.json")), options);  // 32 layers
  const auto missing = std::find_if(t.losses.begin(), t.losses.end(), [](const varve::loss& l) {
    return l.what.find("layers of the model without a label") != std::string::npos;
  });
  ASSERT_NE(missing, t.losses.end());
  EXPECT_EQ(missing->count, 8U);
}

// 36 layers of gpt-oss by vLLM's modules, of which each of 8 ranks runs its part.
TEST_F(real_describe, finds_the_modules_of_vllm) {
  varve::trace t = read("b200-vllm-prefill");
  describe(t, varve::read_model(file("models/configs/gpt-oss-20b.json")));
  double experts = 0;
  for (const varve::range_work& w : t.works) {
    const std::uint32_t label = t.ranges[w.range].label;
    experts += w.source == work_source::description && t.strings[t.labels[label].name] == "FusedMoE"
                   ? static_cast<double>(w.declared.flops)
                   : 0.0;
  }
  // 24 layers, 888 tokens through 4 experts each of 3 · 2,880²
  EXPECT_DOUBLE_EQ(experts, 24.0 * 888 * 4 * 3 * 2880.0 * 2880 * 2);
}

// A side operator of the module around attention tells 227 kB by its shapes, and nothing of attention. Of 24
// layers (the model given has no more) half see 128 keys: 888 · 889 ÷ 2 = 394,716 pairs, or 128 · 129 ÷ 2 +
// 760 · 128 = 105,536; a rank has 8 heads of 64, two products of two FLOPs: 8 · 64 · 4 = 2,048 a pair. Of 36
// modules in all 12 are not described, about a third of the time.
TEST_F(real_describe, side_operators_leave_attention_to_the_description) {
  varve::trace t = read("b200-vllm-prefill");
  describe(t, tensor_parallel(varve::read_model(file("models/configs/gpt-oss-20b.json")), 8));
  const varve::report r = varve::analyze(t);
  const auto attention = std::find_if(r.labels.begin(), r.labels.end(),
                                      [](const varve::row& one) { return one.label == "Attention"; });
  ASSERT_NE(attention, r.labels.end());
  EXPECT_EQ(attention->inclusive.declared.flops, 12LL * (394'716 + 105'536) * 2'048);
  EXPECT_GT(attention->inclusive.declared.kv_bytes, 0);
  EXPECT_LT(static_cast<double>(attention->inclusive.unknown_work_time),
            0.4 * static_cast<double>(attention->inclusive.kernel_time));
}

}  // namespace
