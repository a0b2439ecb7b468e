// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "predict/decode_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using testing_support::add_layer;
using testing_support::decode;
using varve::no_index;
using varve::prediction;

std::optional<prediction> of(const varve::report& r, prediction::change what) {
  for (const prediction& p : varve::predictions_of(r)) {
    if (p.what == what) {
      return p;
    }
  }
  return std::nullopt;
}

TEST(predictions, nothing_follows_from_nothing) { EXPECT_TRUE(varve::predictions_of({}).empty()); }

// 20 passes, 58 ms of work in 2350 ms, 5600 launches in 1120 ms: 280 launches a pass, 200 µs each, 117.5 ms a
// pass, of which the device is busy for 2.9 ms and starves for 114.6 ms while the host launches.
varve::report launch_bound() {
  varve::report r = decode(20, 58'000'000, 2'292'000'000);
  r.phases[0].total.launches = 5600;
  r.phases[0].total.launch_time = 1'120'000'000;
  return r;
}

TEST(predictions, graphs_help_where_launches_starve_the_device) {
  const auto p = of(launch_bound(), prediction::change::graphs);
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(p->now, 117'500'000);
  // One launch of 0.2 ms stays: 2.9 + 0.2; at worst as much of the launching goes, 117.5 − (114.6 − 0.2).
  EXPECT_DOUBLE_EQ(p->at_best, 3'100'000);
  EXPECT_DOUBLE_EQ(p->expected, 3'100'000);
  EXPECT_DOUBLE_EQ(p->at_worst, 3'100'000);
  EXPECT_TRUE(p->helps);
  EXPECT_EQ(p->text.substr(0, 73),
            "decode with one CUDA graph in place of 280 launches: 118 ms to 3.10 ms (3");
}

TEST(predictions, are_of_the_work_that_an_engine_is_for) {
  varve::report r = launch_bound();
  for (const char* const kind : {"load", "capture", "warm-up"}) {
    r.phases[0].phase = kind;
    EXPECT_TRUE(varve::predictions_of(r).empty()) << kind;
    EXPECT_TRUE(varve::findings_of(r).empty()) << kind;
  }
}

TEST(predictions, graphs_leave_what_the_host_waits_for_and_the_gaps_of_the_device) {
  // A pass of 1000: busy 400, starved 500, of which 200 launching, 100 in the engine's code, 200
  // synchronising, device gaps 100. 20 launches of 10 each.
  varve::report r = decode(1, 400, 200);
  varve::phase_row& phase = r.phases[0];
  phase.wall = 1000;
  phase.partition.starved.other = 100;
  phase.partition.starved.synchronising = 200;
  phase.partition.device_gap = 100;
  phase.total.launches = 20;
  phase.total.launch_time = 200;
  const auto p = of(r, prediction::change::graphs);
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(p->at_best, 400 + 200 + 10);            // busy, waiting, one launch
  EXPECT_DOUBLE_EQ(p->expected, 1000 - (500 - 200 - 10));  // and the device's gaps
  EXPECT_DOUBLE_EQ(p->at_worst, 1000 - (200 - 10));        // the engine's code between launches stays too
}

TEST(predictions, a_pass_of_few_launches_or_of_graphs_has_nothing_to_gain_by_graphs) {
  varve::report r = launch_bound();
  r.phases[0].total.graph_launches = 5600 - 20 * 9;
  EXPECT_FALSE(of(r, prediction::change::graphs));
}

TEST(predictions, fewer_bytes_do_not_help_where_the_host_decides) {
  // All of the device's work gone but a quarter: 2.9 × ¾ = 2.175 ms at best.
  const auto p = of(launch_bound(), prediction::change::quarter_weight_bytes);
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(p->at_best, 117'500'000 - 2'175'000);
  EXPECT_DOUBLE_EQ(p->expected, 117'500'000);
  EXPECT_DOUBLE_EQ(p->at_worst, 117'500'000);
  EXPECT_FALSE(p->helps);
  EXPECT_NE(p->text.find("gains little"), std::string::npos) << p->text;
  EXPECT_NE(p->model.find("starves for 97.5 %"), std::string::npos) << p->model;
}

// A pass of 1000, all of it the device's: "mlp" of 800 at 80 % of its roof, all weights; "attention" of 200
// at 20 % of its roof, half weights, half KV cache.
varve::report memory_bound() {
  varve::report r = decode(1, 1000, 0);
  r.phases[0].total.declared.kv_bytes = 1;
  varve::roof_times& mlp = add_layer(r, "mlp", no_index, 1, 800).exclusive.roof;
  mlp.total = mlp.memory = 640;
  mlp.half_weights = 320;
  mlp.quarter_weights = 160;
  mlp.half_kv = 640;
  mlp.double_batch = 640;
  varve::roof_times& attention = add_layer(r, "attention", no_index, 1, 200).exclusive.roof;
  attention.total = attention.memory = 40;
  attention.half_weights = 30;
  attention.quarter_weights = 25;
  attention.half_kv = 30;
  attention.double_batch = 60;
  return r;
}

TEST(predictions, rows_at_their_roof_go_with_it_and_others_lose_what_it_loses) {
  const auto half = of(memory_bound(), prediction::change::half_weight_bytes);
  ASSERT_TRUE(half);
  EXPECT_DOUBLE_EQ(half->now, 1000);
  EXPECT_DOUBLE_EQ(half->at_best, 1000 - 400 - 50);   // 800 × (1 − 320/640), 200 × (1 − 30/40)
  EXPECT_DOUBLE_EQ(half->expected, 1000 - 400 - 10);  // attention is not at its roof: 40 − 30
  EXPECT_DOUBLE_EQ(half->at_worst, 1000);
  EXPECT_TRUE(half->helps);
  const auto quarter = of(memory_bound(), prediction::change::quarter_weight_bytes);
  ASSERT_TRUE(quarter);
  EXPECT_DOUBLE_EQ(quarter->expected, 1000 - 600 - 15);
  const auto kv = of(memory_bound(), prediction::change::half_kv_bytes);
  ASSERT_TRUE(kv);
  EXPECT_DOUBLE_EQ(kv->expected, 1000 - 10);
  EXPECT_FALSE(kv->helps);
}

varve::report memory_bound_but_starved(varve::time_ns starved) {
  varve::report r = memory_bound();
  r.phases[0].wall += starved;
  r.phases[0].partition.starved.launching = starved;
  return r;
}

// Busy for 1000 and starved for 1041 (51 % of 2041), 1326 (57 % of 2326), 2030 (67 % of 3030), 3000 (75 % of
// 4000) and 1000 (50 %): what the finding calls no help is none in the predictions either.
TEST(predictions, fewer_bytes_help_no_phase_that_is_called_launch_bound) {
  for (const varve::time_ns starved : {1041, 1326, 2030, 3000, 1000}) {
    const varve::report r = memory_bound_but_starved(starved);
    const auto findings = findings_of(r);
    EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const varve::finding& f) {
      return f.text.find("quantisation won't help") != std::string::npos;
    }));
    for (const auto& [what, saved] : {std::pair{prediction::change::half_weight_bytes, 400 + 50},
                                      std::pair{prediction::change::quarter_weight_bytes, 600 + 75},
                                      std::pair{prediction::change::half_kv_bytes, 50}}) {
      const auto p = of(r, what);
      ASSERT_TRUE(p);
      const auto now = static_cast<double>(1000 + starved);
      EXPECT_DOUBLE_EQ(p->expected, now);
      EXPECT_DOUBLE_EQ(p->at_best, now - saved);  // 800 × (1 − R′ ÷ 640) + 200 × (1 − R′ ÷ 40)
      EXPECT_FALSE(p->helps);
      EXPECT_NE(p->text.find("gains little: "), std::string::npos) << p->text;
      EXPECT_NE(p->text.find(": the device only waits longer for the host"), std::string::npos) << p->text;
    }
  }
}

// Starved for 250 of 1250, a fifth: 1 − 2 × 0.2 = 0.6 of the 400 + 10 that half the bytes save. For 996 of
// 1996: 1 − 2 × 996 ÷ 1996 = 4 ÷ 1996 of them, next to nothing, as from a half on.
TEST(predictions, fewer_bytes_help_less_the_more_the_device_starves) {
  const auto a_fifth = of(memory_bound_but_starved(250), prediction::change::half_weight_bytes);
  ASSERT_TRUE(a_fifth);
  EXPECT_NEAR(a_fifth->expected, 1250 - 0.6 * 410, 1e-9);
  EXPECT_TRUE(a_fifth->helps);
  EXPECT_EQ(a_fifth->text.find("waits longer"), std::string::npos) << a_fifth->text;
  const auto nearly = of(memory_bound_but_starved(996), prediction::change::half_weight_bytes);
  ASSERT_TRUE(nearly);
  EXPECT_NEAR(nearly->expected, 1996 - 4.0 / 1996 * 410, 1e-9);
  EXPECT_FALSE(nearly->helps);
}

// "mlp" keeps its roof. The roof of "attention" goes from 40 to 60, and so do its 200: 200 × 60 ÷ 40 = 300.
TEST(predictions, twice_the_batch_is_held_against_two_passes) {
  const auto p = of(memory_bound(), prediction::change::double_batch);
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(p->now, 2000);
  EXPECT_DOUBLE_EQ(p->at_best, 1000);
  EXPECT_DOUBLE_EQ(p->expected, 1000 + (300 - 200));
  EXPECT_DOUBLE_EQ(p->at_worst, 2000);
}

// A prefill of 593 ms at 45 % of the peak: all of its work is there twice, 2 × 267, and it takes 2 × 593.
TEST(predictions, twice_the_batch_gains_nothing_where_the_roof_doubles) {
  varve::report r = decode(1, 593, 0);
  varve::roof_times& roof = add_layer(r, "layer", no_index, 1, 593).exclusive.roof;
  roof.total = roof.compute = 267;
  roof.double_batch = 534;
  const auto p = of(r, prediction::change::double_batch);
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(p->expected, 2 * 593);
  EXPECT_FALSE(p->helps);
}

// The kernel of "attention" has 54 blocks where 108 run at once: twice as many do too, and only 60 − 40 is
// added. With 55 some would wait.
TEST(predictions, kernels_that_leave_half_of_the_device_take_twice_the_batch_in) {
  varve::report r = memory_bound();
  r.layers[1].main_kernel = "flash";
  varve::row& kernel = r.kernels.emplace_back();
  kernel.path = "flash";
  kernel.phase = "decode";
  kernel.occupied.emplace().waves = 54.0 / 108;
  EXPECT_DOUBLE_EQ(of(r, prediction::change::double_batch)->expected, 1000 + 20);
  r.kernels[0].occupied->waves = 55.0 / 108;
  EXPECT_DOUBLE_EQ(of(r, prediction::change::double_batch)->expected, 1000 + 100);
  r.kernels[0].occupied->waves = 0.5;
  r.kernels[0].phase = "prefill";  // another phase's launches
  EXPECT_DOUBLE_EQ(of(r, prediction::change::double_batch)->expected, 1000 + 100);
}

// 1053 of 1000 at the roof of the memory, where 1050 pass as an error of measurement; of compute 1159 pass on
// a device whose clock reaches 2 GHz and whose peak is for 1.8: 1.05 × 2 ÷ 1.8 = 1.167.
TEST(predictions, nothing_rests_on_a_roof_that_is_beaten) {
  varve::report r = memory_bound();
  varve::verdict& v = r.phases[0].verdict;
  const auto holds = [&](varve::bound side, double share) {
    v.side = side;
    v.roof_share = share;
    return of(r, prediction::change::half_weight_bytes).has_value() &&
           of(r, prediction::change::double_batch).has_value();
  };
  EXPECT_TRUE(holds(varve::bound::memory, 1.05));
  EXPECT_FALSE(holds(varve::bound::memory, 1.053));
  EXPECT_FALSE(holds(varve::bound::compute, 1.159));
  varve::ceilings& device = r.devices.emplace_back().ceilings.emplace();
  device.clock = 1.8e9;
  device.top_clock = 2e9;
  EXPECT_TRUE(holds(varve::bound::compute, 1.159));
  EXPECT_FALSE(holds(varve::bound::compute, 1.17));
  EXPECT_FALSE(holds(varve::bound::memory, 1.053));
  // That the host decides doesn't rest on it.
  varve::report starved = launch_bound();
  starved.phases[0].verdict.roof_share = 14.8;
  EXPECT_TRUE(of(starved, prediction::change::quarter_weight_bytes));
}

// Passes of 3 tokens. "mlp" reads 1000 weights of 4 bits, 500 bytes, and does 2 × 1000 × 3 = 6000 FLOPs with
// them: 8 × 500 × 2 × 3 ÷ 6000 = 4 bits. With 750 bytes it is 6.
TEST(predictions, a_quarter_of_four_bits_is_not_asked_for) {
  varve::report r = memory_bound();
  r.phases[0].decode_tokens = 3;
  varve::work& mlp = r.layers[0].exclusive.declared;
  mlp.weight_bytes = 500;
  mlp.flops = 6000;
  varve::work& attention = r.layers[1].exclusive.declared;
  attention.weight_bytes = 100;
  attention.kv_bytes = 6;  // its FLOPs are the cache's too
  attention.flops = 1;
  EXPECT_FALSE(of(r, prediction::change::quarter_weight_bytes));
  EXPECT_TRUE(of(r, prediction::change::half_weight_bytes));
  mlp.weight_bytes = 750;
  EXPECT_TRUE(of(r, prediction::change::quarter_weight_bytes));
  mlp.weight_bytes = 500;
  r.phases[0].decode_tokens = 0;  // not known
  EXPECT_TRUE(of(r, prediction::change::quarter_weight_bytes));
  // Four such passes.
  r.phases[0].passes = 4;
  r.phases[0].decode_tokens = 4 * 3;
  mlp.weight_bytes = 4 * 500;
  mlp.flops = 4 * 6000;
  EXPECT_FALSE(of(r, prediction::change::quarter_weight_bytes));
}

TEST(predictions, without_a_kv_cache_or_enough_known_work_none_is_made) {
  varve::report r = memory_bound();
  r.phases[0].total.declared.kv_bytes = 0;
  EXPECT_FALSE(of(r, prediction::change::half_kv_bytes));
  add_layer(r, "sampler", no_index, 1, 60);  // 60 of 1060 without known work: more than a twentieth
  EXPECT_FALSE(of(r, prediction::change::half_weight_bytes));
}

TEST(predictions, an_operator_that_moves_data_can_be_fused) {
  varve::report r = decode(2, 900, 100);
  varve::row& norm = r.labels.emplace_back(add_layer(r, "norm", no_index, 4, 200));
  norm.exclusive.declared = {4000, 100, 0, 4000};
  norm.exclusive.starved.launching = 20;
  const auto p = of(r, prediction::change::fused);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->layer, 0U);
  // Passes of 500, 100 of which are its work and 10 starved before it. The device decides 0.9 of the wall.
  EXPECT_DOUBLE_EQ(p->at_best, 500 - 100 - 10);
  EXPECT_DOUBLE_EQ(p->expected, 500 - 0.9 * 100);
  EXPECT_DOUBLE_EQ(p->at_worst, 500);
  norm.exclusive.declared.weight_bytes = 4000;  // half of what it moves is weights
  EXPECT_FALSE(of(r, prediction::change::fused));
}

// The operator that could be fused, in 2 passes with 4 calls of a kernel each, of 200 ns in all.
TEST(predictions, what_is_not_known_or_no_small_kernel_is_not_fused) {
  const auto fused = [](auto change) {
    varve::report r = decode(2, 900, 100);
    varve::row& add = r.labels.emplace_back(add_layer(r, "add", no_index, 4, 200));
    add.exclusive.declared = {4000, 100, 0, 4000};
    change(add.exclusive);
    return of(r, prediction::change::fused).has_value();
  };
  EXPECT_TRUE(fused([](varve::measures& m) { m.unknown_work_time = 10; }));  // a twentieth
  EXPECT_FALSE(fused([](varve::measures& m) { m.unknown_work_time = 11; }));
  EXPECT_FALSE(fused([](varve::measures& m) { m.copies = 1; }));
  EXPECT_FALSE(fused([](varve::measures& m) { m.sets = 1; }));
  EXPECT_FALSE(fused([](varve::measures& m) { m.collective_bytes = 1; }));
  EXPECT_TRUE(fused([](varve::measures& m) { m.kernels = 16; }));  // four a call
  EXPECT_FALSE(fused([](varve::measures& m) { m.kernels = 17; }));
}

// 4 calls of 8 kernels each: what a framework without fusion makes of a norm.
TEST(predictions, a_normalisation_of_many_kernels_is_fused) {
  varve::report r = decode(2, 900, 100);
  varve::row& norm = r.labels.emplace_back(add_layer(r, "Qwen2RMSNorm", no_index, 4, 200));
  norm.exclusive.declared = {4000, 100, 0, 4000};
  norm.exclusive.kernels = 32;
  const auto p = of(r, prediction::change::fused);
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(p->expected, 500 - 0.9 * 100);
  norm.label = "Qwen2RoPE";
  EXPECT_FALSE(of(r, prediction::change::fused));
}

TEST(predictions, what_holds_others_is_not_fused) {
  varve::report r = decode(2, 900, 100);
  add_layer(r, "DecoderLayer", 0, 4, 600);
  varve::row& all = r.labels.emplace_back(r.layers[0]);
  all.exclusive.gpu_time = 200;  // what it adds itself
  all.exclusive.declared = {4000, 100, 0, 4000};
  EXPECT_TRUE(of(r, prediction::change::fused));
  add_layer(r, "mlp", no_index, 4, 400, 0).phase = "prefill";
  r.layers[0].phase = "prefill";  // other rows of that name, elsewhere
  EXPECT_TRUE(of(r, prediction::change::fused));
  r.layers[0].phase = r.layers[1].phase = "decode";
  EXPECT_FALSE(of(r, prediction::change::fused));
}

TEST(predictions, a_layer_less_is_its_time_less) {
  varve::report r = decode(10, 9000, 1000);
  for (int i = 0; i < 6; ++i) {
    add_layer(r, "layer", i, 10, 1000).inclusive.starved.launching = 100;
  }
  const auto p = of(r, prediction::change::left_out);
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(p->now, 1000);
  EXPECT_DOUBLE_EQ(p->expected, 1000 - 100 - 10);  // (1000 + 100) ÷ 10 passes
  EXPECT_DOUBLE_EQ(p->at_worst, 1000 - 90);        // the device decides 0.9 of the wall
  EXPECT_EQ(p->text, "decode with one layer of 6 left out: 1.00 µs to 890 ns (890 ns to 910 ns)");
}

// Ten passes, 9000 ns in all: in a model 3 dense layers of 500 and 5 with experts of 1200, each with a norm
// of 50 to 57 (428 together), and a head of 1072. The median of 500, 500, 500 and five of 1200 is 1200, and
// 1000 − 1200 ÷ 10 = 880 remain of a pass. The norms have less than half of the time, and stand lower.
TEST(predictions, a_layer_is_left_out_where_it_stands_below_others) {
  varve::report r = decode(10, 9000, 1000);
  add_layer(r, "Model", 0, 10, 3 * 500 + 5 * 1200);
  for (int i = 0; i < 8; ++i) {
    const auto layer = static_cast<std::uint32_t>(r.layers.size());
    add_layer(r, "DecoderLayer", i, 10, i < 3 ? 500 : 1200, 0);
    add_layer(r, "norm", i, 10, 50 + i, layer);
  }
  add_layer(r, "head", no_index, 10, 1500);
  const std::vector<prediction> all = predictions_of(r);
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const prediction& p) { return p.what == prediction::change::left_out; }),
            1);
  const auto p = of(r, prediction::change::left_out);
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(p->expected, 880);
  EXPECT_EQ(r.layers.at(p->layer).path, "Model 0 / DecoderLayer 4");  // of the five the middle of eight
  EXPECT_EQ(p->text.substr(0, 40), "decode with one DecoderLayer of 8 left o");
}

// Ten passes, of which 6 replay one graph and 4 another, each with the same three layers: 6 × 100 + 4 × 150
// of each layer are 1200, 120 a pass.
TEST(predictions, a_layer_is_left_out_of_all_graphs) {
  varve::report r = decode(10, 9000, 1000);
  for (const auto& [label, calls, time] :
       {std::tuple{"graph 1 (9 nodes)", 6, 600}, {"graph 2 (9 nodes)", 4, 600}}) {
    const auto graph = static_cast<std::uint32_t>(r.layers.size());
    add_layer(r, label, no_index, calls, 3 * time).kind = varve::range_kind::op;
    for (int i = 0; i < 3; ++i) {
      add_layer(r, "layer", i, calls, time, graph).kind = varve::range_kind::layer;
    }
  }
  const auto p = of(r, prediction::change::left_out);
  ASSERT_TRUE(p);
  EXPECT_DOUBLE_EQ(p->expected, 1000 - 120);
  EXPECT_EQ(p->text.substr(0, 37), "decode with one layer of 3 left out: ");
}

TEST(predictions, without_layers_that_repeat_none_is_left_out) {
  varve::report r = decode(10, 9000, 1000);
  add_layer(r, "layer", 0, 10, 4500);
  add_layer(r, "layer", 1, 10, 4500);
  EXPECT_FALSE(of(r, prediction::change::left_out));
  add_layer(r, "layer", 2, 10, 4500);
  EXPECT_TRUE(of(r, prediction::change::left_out));
}

}  // namespace
