// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A prediction tells the work of each operator, by operator and by category.
#include <varve/model.hpp>
#include <varve/report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "work/small_model.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using varve_test::small;

/// A byte takes a microsecond, a FLOP `microseconds`.
varve::ceilings abacus(double microseconds) {
  varve::ceilings c;
  c.name = "abacus";
  c.bandwidth = 1e6;
  c.flops[static_cast<std::size_t>(varve::math_pipe::bf16_tensor)] = 1e6 / microseconds;
  return c;
}

const std::vector<varve::pass_sequence> one_token{{1, 5, true}};

varve::report predicted(const varve::model& m, const std::vector<varve::pass_sequence>& batch,
                        const varve::ceilings& device) {
  varve::analyze_options options;
  options.ceilings = device;
  return analyze(roof_trace(m, batch, device), options);
}

struct amount {
  std::int64_t us = 0;
  std::int64_t flops = 0;
  std::int64_t bytes = 0;

  bool operator==(const amount& other) const {
    return us == other.us && flops == other.flops && bytes == other.bytes;
  }
};

void PrintTo(const amount& a, std::ostream* out) {
  *out << a.us << " us, " << a.flops << " FLOPs, " << a.bytes << " bytes";
}

std::map<std::string, amount> amounts(const std::vector<varve::row>& rows) {
  std::map<std::string, amount> out;
  for (const varve::row& r : rows) {
    EXPECT_EQ(r.inclusive.unknown_work_time, 0) << r.path;
    EXPECT_EQ(r.inclusive.calls_with_work, r.inclusive.calls) << r.path;
    out[r.path] = {r.inclusive.gpu_time / 1000, r.inclusive.declared.flops, r.inclusive.declared.bytes()};
  }
  return out;
}

// The small model has width 8, 2 heads of 4 with 1 key-value head, a block of 16, 32 words, 2 layers; an
// element has 2 bytes. One token at 5 keys:
//
//                          FLOPs                 bytes: weights + cache + activations
//   embed                  0                     16 + 0 + 16                        =  32
//   norm_1, norm_2, final  0                     16 + 0 + (16 + 16)                 =  48
//   qkv_proj               2 · 8 · 16    = 256   256 + 16 (of k, v) + (16 + 16)     = 304
//   attn_score + value     2 · 2·2·4·5   = 160   0 + (40 + 40) + (16 + 16)          = 112
//   o_proj                 2 · 8 · 8     = 128   128 + 0 + (16 + 16)                = 160
//   residual_1, _2         0                     0 + 0 + (16 + 16 + 16)             =  48
//   gate_proj + up_proj    2 · 2 · 8·16  = 512   512 + 0 + (16 + 32 + 32)           = 592
//   act_mul                0                     0 + 0 + (32 + 32 + 32)             =  96
//   down_proj              2 · 16 · 8    = 256   256 + 0 + (32 + 16)                = 304
//   lm_head                2 · 8 · 32    = 512   512 + 0 + (16 + 64)                = 592
//
// With 10 µs a FLOP products and attention take these, all else its bytes.
TEST(predicted_operators, have_their_own_time_and_work) {
  const varve::report r = predicted(small(), one_token, abacus(10));
  const std::map<std::string, amount> expected{{"embed", {32, 0, 32}},
                                               {"norm_1", {2 * 48, 0, 2 * 48}},
                                               {"qkv_proj", {2 * 2560, 2 * 256, 2 * 304}},
                                               {"attn_score + attn_value", {2 * 1600, 2 * 160, 2 * 112}},
                                               {"o_proj", {2 * 1280, 2 * 128, 2 * 160}},
                                               {"residual_1", {2 * 48, 0, 2 * 48}},
                                               {"norm_2", {2 * 48, 0, 2 * 48}},
                                               {"gate_proj + up_proj", {2 * 5120, 2 * 512, 2 * 592}},
                                               {"act_mul", {2 * 96, 0, 2 * 96}},
                                               {"down_proj", {2 * 2560, 2 * 256, 2 * 304}},
                                               {"residual_2", {2 * 48, 0, 2 * 48}},
                                               {"final_norm", {48, 0, 48}},
                                               {"lm_head", {5120, 512, 592}}};
  EXPECT_EQ(amounts(r.kernels), expected);
}

// Linear: 2 · (2560 + 1280 + 5120 + 2560) + 5120 µs, 2 · (256 + 128 + 512 + 256) + 512 FLOPs and
// 2 · (304 + 160 + 592 + 304) + 592 bytes; activation: 2 · (48 + 96 + 48).
TEST(predicted_operators, add_up_by_category_where_flops_decide) {
  const varve::report r = predicted(small(), one_token, abacus(10));
  const std::map<std::string, amount> expected{{"linear", {28160, 2816, 3312}},
                                               {"attention", {3200, 320, 224}},
                                               {"normalisation", {5 * 48, 0, 5 * 48}},
                                               {"activation", {384, 0, 384}},
                                               {"embedding", {32, 0, 32}}};
  EXPECT_EQ(amounts(r.categories), expected);
  EXPECT_EQ(r.phases.at(0).wall, 32'016'000);  // 28160 + 3200 + 240 + 384 + 32 µs
}

// The same bytes, of which linear has 3312 of 3312 + 224 + 240 + 384 + 32 = 4192: 79 %, attention 5.3 %.
TEST(predicted_operators, add_up_by_category_where_bytes_decide) {
  const varve::report r = predicted(small(), one_token, abacus(0.001));
  const std::map<std::string, amount> expected{{"linear", {3312, 2816, 3312}},
                                               {"attention", {224, 320, 224}},
                                               {"normalisation", {240, 0, 240}},
                                               {"activation", {384, 0, 384}},
                                               {"embedding", {32, 0, 32}}};
  EXPECT_EQ(amounts(r.categories), expected);
  varve::table_options by;
  by.by = varve::view::category;
  const std::string table = to_table(r, by);
  EXPECT_THAT(table, AllOf(HasSubstr("79.0"), HasSubstr("  5.3"), Not(HasSubstr("≥"))));
}

TEST(predicted_operators, are_each_at_their_roof) {
  for (const double microseconds : {10.0, 0.001}) {
    const varve::report r = predicted(small(), one_token, abacus(microseconds));
    for (const varve::row& k : r.kernels) {
      EXPECT_NEAR(k.verdict.roof_share, 1, 1e-6) << k.path;
      EXPECT_EQ(k.verdict.by, microseconds > 1 && k.inclusive.declared.flops > 0 ? varve::bound::compute
                                                                                 : varve::bound::memory)
          << k.path;
    }
  }
}

varve::model with_experts() {
  varve::model m = small();
  for (varve::model_layer& layer : m.layers) {
    layer.mlp = {};
    layer.experts.count = 8;
    layer.experts.chosen = 2;
    layer.experts.width = 16;
    layer.experts.shared_width = 16;
    layer.experts.shared_gate = true;
  }
  return m;
}

varve::model with_latents() {
  varve::model m = small();
  for (varve::model_layer& layer : m.layers) {
    layer.attention.heads = {2, 2, 6, 4};
    layer.attention.latent = 8;
    layer.attention.rotary = 2;
    layer.attention.query_latent = 8;
    layer.post_norms = true;
  }
  return m;
}

template <class Member>
double total(const std::vector<varve::row>& rows, Member of) {
  double sum = 0;
  for (const varve::row& r : rows) {
    sum += static_cast<double>(of(r.inclusive));
  }
  return sum;
}

// Of decoding, a prompt and both at once; tables apart and shared, experts, latents, 1 and 2 ranks.
TEST(predicted_operators, sum_up_to_the_phase_in_each_view) {
  varve::model tied = small();
  tied.tied = true;
  for (const varve::model& m :
       {small(), tied, with_experts(), with_latents(), tensor_parallel(with_experts(), 2)}) {
    for (const auto& batch : {one_token,
                              {{1, 5, true}, {1, 900, true}, {1, 33, true}},
                              {{6, 6, false}},
                              {{6, 16, false}, {1, 5, true}}}) {
      const varve::report r = predicted(m, batch, abacus(0.1));
      ASSERT_EQ(r.phases.size(), 1U);
      const varve::measures& whole = r.phases[0].total;
      for (const std::vector<varve::row>* const rows : {&r.kernels, &r.categories}) {
        const auto sum = [&](auto of) { return total(*rows, of); };
        EXPECT_EQ(sum([](const varve::measures& x) { return x.gpu_time; }), whole.gpu_time);
        EXPECT_EQ(sum([](const varve::measures& x) { return x.declared.flops; }), whole.declared.flops);
        EXPECT_EQ(sum([](const varve::measures& x) { return x.declared.bytes(); }), whole.declared.bytes());
        EXPECT_EQ(sum([](const varve::measures& x) { return x.declared.kv_bytes; }), whole.declared.kv_bytes);
        EXPECT_EQ(sum([](const varve::measures& x) { return x.calls_with_work; }), whole.kernels);
        for (double varve::roof_times::*const part :
             {&varve::roof_times::total, &varve::roof_times::compute, &varve::roof_times::memory,
              &varve::roof_times::total_above, &varve::roof_times::total_below,
              &varve::roof_times::half_weights, &varve::roof_times::double_batch}) {
          EXPECT_NEAR(sum([&](const varve::measures& x) { return x.roof.*part; }), whole.roof.*part,
                      1e-9 * whole.roof.*part);
        }
      }
      EXPECT_EQ(r.quality.work_known[static_cast<std::size_t>(varve::work_source::description)], 1);
    }
  }
}

// What picks experts and adds up what they made is the router; the gate of shared ones is a product.
TEST(predicted_operators, belong_to_the_category_that_their_name_says) {
  std::map<std::string, std::string> names;
  for (const varve::model& m : {small(), with_experts(), with_latents()}) {
    for (const bool decode : {true, false}) {
      for (const varve::operator_work& o : work_of_pass(m, {{1, 5, decode}})) {
        names[std::string{o.name}] = varve::kernel_category(o.name);
      }
    }
  }
  const std::map<std::string, std::string> expected{{"act_mul", "activation"},
                                                    {"attn_score", "attention"},
                                                    {"attn_value", "attention"},
                                                    {"combine", "router"},
                                                    {"down_proj", "linear"},
                                                    {"embed", "embedding"},
                                                    {"experts_act_mul", "activation"},
                                                    {"experts_down", "linear"},
                                                    {"experts_gate_up", "linear"},
                                                    {"final_norm", "normalisation"},
                                                    {"gate_proj", "linear"},
                                                    {"kv_a_norm", "normalisation"},
                                                    {"kv_a_proj", "linear"},
                                                    {"kv_b_k_absorb", "linear"},
                                                    {"kv_b_proj", "linear"},
                                                    {"kv_b_v_absorb", "linear"},
                                                    {"lm_head", "linear"},
                                                    {"norm_1", "normalisation"},
                                                    {"norm_2", "normalisation"},
                                                    {"o_proj", "linear"},
                                                    {"post_attn_norm", "normalisation"},
                                                    {"post_ffn_norm", "normalisation"},
                                                    {"q_a_norm", "normalisation"},
                                                    {"q_a_proj", "linear"},
                                                    {"q_b_proj", "linear"},
                                                    {"qkv_proj", "linear"},
                                                    {"residual_1", "activation"},
                                                    {"residual_2", "activation"},
                                                    {"router", "router"},
                                                    {"shared_act_mul", "activation"},
                                                    {"shared_down", "linear"},
                                                    {"shared_gate", "linear"},
                                                    {"shared_gate_up", "linear"},
                                                    {"up_proj", "linear"}};
  EXPECT_EQ(names, expected);
}

// Layers stand as they did: operators are no rows of theirs.
TEST(predicted_operators, are_no_layers) {
  const varve::report r = predicted(small(), one_token, abacus(10));
  std::vector<std::string> paths;
  for (const varve::row& layer : r.layers) {
    paths.push_back(layer.path);
    const bool twice = layer.depth > 0 && (layer.label == "norm" || layer.label == "residual");
    EXPECT_EQ(layer.inclusive.calls, twice ? 2 : 1) << layer.path;
  }
  EXPECT_THAT(paths, testing::IsSupersetOf({"embedding", "layer 0", "layer 0 / attention", "layer 0 / mlp",
                                            "layer 1 / mlp", "norm", "head"}));
  EXPECT_THAT(paths, testing::Each(Not(HasSubstr("proj"))));
  EXPECT_EQ(r.find({"attention"})->main_kernel, "qkv_proj");  // 2560 of 5440 µs
}

varve::row_query at_path(std::string_view path) {
  varve::row_query q;
  q.path = path;
  return q;
}

// Norms of 8 latents stand inside of the attention of their layer, two in each: 16 bytes of weights and 16 +
// 16 of activations at a byte a microsecond are 48 µs. Layers have four norms of their own, which are as
// long.
TEST(predicted_operators, of_attention_are_one_call_a_layer) {
  const varve::report r = predicted(with_latents(), one_token, abacus(0.001));
  const auto label = [&](const std::string& name) {
    return *std::find_if(r.labels.begin(), r.labels.end(),
                         [&](const varve::row& l) { return l.label == name; });
  };
  const varve::measures attention = label("attention").inclusive;
  EXPECT_EQ(attention.calls, 2);
  EXPECT_EQ(attention.gpu_time - label("attention").exclusive.gpu_time, 2 * 2 * 48'000);
  EXPECT_EQ(label("norm").inclusive.gpu_time, (2 * (2 + 4) + 1) * 48'000);  // and the final one
  const varve::row* const inside = r.find(at_path("layer 0 / attention / norm"));
  ASSERT_NE(inside, nullptr);
  EXPECT_EQ(inside->path, "layer 0 / attention / norm");
  EXPECT_EQ(inside->inclusive.calls, 2);
  EXPECT_EQ(r.find(at_path("layer 0 / attention"))->inclusive.calls, 1);
}

// A layer moves 2 · 48 + 304 + 112 + 160 + 2 · 48 + 592 + 96 + 304 = 1760 bytes: at 0.7 bytes a nanosecond
// 2514.3 ns, so that of twelve layers some take 2514 and some 2515, which is none of the model's doing. The
// attention's 576 bytes take 822.9 ns, 822 or 823: more than a thousandth apart.
TEST(predicted_operators, of_equal_layers_none_is_the_slowest) {
  varve::model m = small();
  m.layers.assign(12, m.layers[0]);
  varve::ceilings c = abacus(1e-9);
  c.bandwidth = 0.7e9;
  const varve::report r = predicted(m, one_token, c);
  varve::table_options all;
  all.depth = 1;
  const std::string table = to_table(r, all);
  EXPECT_THAT(table, Not(HasSubstr("slowest one")));
  std::size_t last = 0;
  std::set<varve::time_ns> times;
  for (int i = 0; i < 12; ++i) {
    const std::string name = "layer " + std::to_string(i);
    const std::size_t at = table.find("\n" + name + ' ');
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_GT(at, last) << name;
    last = at;
    times.insert(r.find(at_path(name))->inclusive.gpu_time);
  }
  EXPECT_EQ(times, (std::set<varve::time_ns>{2514, 2515}));
  for (const varve::finding& f : r.findings) {
    EXPECT_THAT(f.text, Not(HasSubstr("layer "))) << f.text;
  }
}

// One layer of twice the width is the slowest, and is told.
TEST(predicted_operators, of_layers_that_differ_the_slowest_is_told) {
  varve::model m = small();
  m.layers.assign(12, m.layers[0]);
  m.layers[7].mlp.width = 32;
  const varve::report r = predicted(m, one_token, abacus(0.001));
  EXPECT_THAT(to_table(r), HasSubstr("slowest one: layer 7 / mlp"));
  EXPECT_THAT(r.findings, testing::Contains(testing::Field(&varve::finding::text,
                                                           testing::StartsWith("layer 7 / mlp in decode"))));
}

TEST(predicted_operators, are_called_operators) {
  const varve::report r = predicted(small(), one_token, abacus(10));
  varve::table_options by;
  by.by = varve::view::kernel;
  by.fold_below = 0;
  const std::string table = to_table(r, by);
  EXPECT_THAT(table, AllOf(HasSubstr("\noperator "), Not(HasSubstr("\nkernel ")),
                           HasSubstr("\ngate_proj + up_proj "), HasSubstr("\nattn_score + attn_value ")));
  by.by = varve::view::operators;  // there are no others
  EXPECT_EQ(to_table(r, by), table);
  EXPECT_THAT(r.findings,
              testing::Contains(testing::Field(
                  &varve::finding::text, testing::StartsWith("operator gate_proj + up_proj in decode"))));
  EXPECT_THAT(r.findings,
              testing::Each(testing::Field(&varve::finding::text, Not(testing::StartsWith("kernel")))));
}

// A byte takes 10 ps here: the embedding's 32 end in the nanosecond in which they begin.
TEST(predicted_operators, are_all_there_however_short) {
  varve::ceilings fast = abacus(1e-9);
  fast.bandwidth = 1e11;
  const varve::report r = predicted(small(), one_token, fast);
  EXPECT_EQ(r.kernels.size(), 13U);
  EXPECT_EQ(r.quality.untimed, 0);
  EXPECT_EQ(total(r.kernels, [](const varve::measures& x) { return x.declared.bytes(); }), 4192);
  EXPECT_EQ(r.end - r.begin, 42);  // 41.92 ns
}

// Someone else's trace that calls itself a prediction: what does not fit is left alone.
TEST(predicted_operators, are_found_by_their_range_alone) {
  varve::trace t = roof_trace(small(), one_token, abacus(10));
  varve::analyze_options options;
  options.ceilings = abacus(10);
  t.works.erase(t.works.begin() + 2);  // qkv_proj's: all that follow in its block are in doubt
  const varve::report r = analyze(t, options);
  for (const varve::row& k : r.kernels) {
    EXPECT_EQ(k.inclusive.calls_with_work < k.inclusive.calls,
              k.path == "qkv_proj" || k.path == "attn_score + attn_value" || k.path == "o_proj")
        << k.path;
  }
}

}  // namespace
