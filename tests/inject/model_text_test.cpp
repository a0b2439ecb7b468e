// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What `varve run` hands over of models and devices arrives as it was.
#include "inject/model_text.hpp"
#include "inject/counters_text.hpp"
#include "inject/device_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace varve;
using inject::model_in;
using inject::model_text;

model some_model() {
  model m;
  m.name = "some";
  m.width = 8;
  m.vocabulary = 32;
  m.embedding_width = 4;
  m.positions = 64;
  m.tied = true;
  m.head_bias = true;
  m.final_norm = false;
  m.norms = norm_kind::layer;
  m.type = dtype::f16;
  m.cache = dtype::fp8;
  m.factors = dtype::int8;
  m.quantisation = "4 bits, \xC3\xA9";
  m.ranks = 2;
  model_layer dense;
  dense.attention.heads = {6, 3, 5, 7};
  dense.attention.window = 1024;
  dense.attention.in = weight_format{dtype::int4, 128, 1, 16, 4};
  dense.mlp.width = 16;
  dense.mlp.down = varve::dtype::f16;
  dense.norms = 1;
  dense.post_norms = true;
  model_layer mixture;
  mixture.attention.latent = 9;
  mixture.experts = {64, 4, 11, true, false, 12, true, dtype::fp8, dtype::fp4};
  mixture.attention.keys = varve::dtype::bf16;
  mixture.attention.values = varve::dtype::int8;
  mixture.attention.queries_up = varve::dtype::f32;
  mixture.experts.down = varve::dtype::int4;
  mixture.experts.shared_down = varve::dtype::f64;
  mixture.experts.up = varve::dtype::int8;
  mixture.experts.shared_up = varve::dtype::f16;
  dense.mlp.up = varve::dtype::tf32;
  m.layers = {dense, mixture, dense};
  m.head = weight_format{dtype::int4, 64, 1, 16};
  return m;
}

describe_options some_options() {
  describe_options o;
  o.rules = {{"my *", "attention/o_proj", true}, {"block", "layer", false}};
  o.model_name = "target";
  o.batch = {{3, 9, false}, {1, 9, true}};
  o.context = 77;
  o.pass = {5, true, true, work_options::latent_form::expanded, 0.3};
  return o;
}

TEST(model_text, hands_over_all_of_a_model_and_how_to_describe_by_it) {
  const std::string text = model_text(some_model(), some_options());
  const auto got = model_in(text);
  ASSERT_TRUE(got);
  EXPECT_EQ(model_text(got->of, got->how), text);
  EXPECT_EQ(got->of.name, "some");
  EXPECT_EQ(got->of.quantisation, "4 bits, \xC3\xA9");
  EXPECT_EQ(got->of.norms, norm_kind::layer);
  EXPECT_EQ(got->of.cache, dtype::fp8);
  EXPECT_EQ(got->of.ranks, 2);
  ASSERT_EQ(got->of.layers.size(), 3U);
  EXPECT_EQ(got->of.layers[0].attention.heads.value_width, 7);
  EXPECT_EQ(got->of.layers[2].attention.in.zero_bits, 4);
  EXPECT_TRUE(got->of.layers[2].post_norms);
  EXPECT_EQ(got->of.layers[1].experts.shared.type, dtype::fp4);
  EXPECT_TRUE(got->of.layers[1].experts.shared_gate);
  EXPECT_EQ(got->of.layers[1].attention.keys, weight_format{dtype::bf16});
  EXPECT_EQ(got->of.layers[1].attention.values, weight_format{dtype::int8});
  EXPECT_EQ(got->of.layers[1].attention.queries_up, weight_format{dtype::f32});
  EXPECT_FALSE(got->of.layers[0].attention.keys);
  EXPECT_EQ(got->of.layers[1].experts.down, weight_format{dtype::int4});
  EXPECT_EQ(got->of.layers[1].experts.shared_down, weight_format{dtype::f64});
  EXPECT_EQ(got->of.layers[1].experts.up, weight_format{dtype::int8});
  EXPECT_EQ(got->of.layers[1].experts.shared_up, weight_format{dtype::f16});
  EXPECT_EQ(got->of.layers[2].mlp.up, weight_format{dtype::tf32});
  EXPECT_EQ(got->of.layers[2].mlp.down, weight_format{dtype::f16});
  EXPECT_EQ(got->of.head, (weight_format{dtype::int4, 64, 1, 16}));
  ASSERT_EQ(got->how.rules.size(), 2U);
  EXPECT_EQ(got->how.rules[0].parts, "attention/o_proj");
  EXPECT_TRUE(got->how.rules[0].one_each);
  ASSERT_EQ(got->how.batch.size(), 2U);
  EXPECT_TRUE(got->how.batch[1].decode);
  EXPECT_EQ(got->how.context, 77);
  EXPECT_EQ(got->how.pass.latent, work_options::latent_form::expanded);
  EXPECT_EQ(got->how.pass.rarest_expert, 0.3);
  EXPECT_EQ(count_parameters(got->of).total, count_parameters(some_model()).total);
}

TEST(model_text, of_which_something_is_missing_or_left_over_is_none) {
  const std::string text = model_text(some_model(), some_options());
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(model_in(text.substr(0, size))) << size;
  }
  EXPECT_FALSE(model_in(text + text));
  EXPECT_FALSE(model_in(std::string(200, inject::field_end)));
}

TEST(device_text, hands_over_ceilings_to_the_last_bit) {
  ceilings c;
  c.name = "my GPU";  // of a file, which may hold anything
  c.name.insert(3, 1, inject::field_end);
  c.name.insert(3, 1, '\0');
  c.flops[3] = 0.1e15;
  c.bandwidth = 1e12 / 3;
  c.multiprocessors = 132;
  c.measured = true;
  c.source = "me";
  const auto got = inject::device_in(inject::device_text(c));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->name, "my GPU");
  EXPECT_EQ(got->flops, c.flops);
  EXPECT_EQ(got->bandwidth, c.bandwidth);
  EXPECT_EQ(got->multiprocessors, 132);
  EXPECT_TRUE(got->measured);
  EXPECT_EQ(got->source, "me");
  EXPECT_FALSE(inject::device_in(""));
}

TEST(device_text, hands_over_a_clock_to_the_last_bit) {
  EXPECT_EQ(inject::clock_in(inject::clock_text(1e10 / 3)), 1e10 / 3);
  for (const char* const wrong : {"", "1980", "nan\x1F", "inf\x1F", "-1\x1F", "1980\x1F\x1F"}) {
    EXPECT_EQ(inject::clock_in(wrong), 0) << wrong;
  }
}

TEST(counters_text, hands_over_what_is_to_be_counted) {
  counter_options asked;
  asked.enabled = true;
  asked.depth = 3;
  asked.labels = {"mlp", "", "self attention"};
  asked.operations = false;
  asked.ranges = 77;
  const std::string text = inject::counters_text(asked);
  const auto got = inject::counters_in(text);
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->enabled);
  EXPECT_EQ(got->depth, 3U);
  EXPECT_EQ(got->labels, asked.labels);
  EXPECT_FALSE(got->operations);
  EXPECT_EQ(got->ranges, 77U);
  EXPECT_FALSE(inject::counters_in(""));
  EXPECT_FALSE(inject::counters_in(text.substr(0, text.size() - 1)));
}

}  // namespace
