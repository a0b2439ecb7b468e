// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Roofs of small traces. The device does 1,000,000 FLOPs a nanosecond on BF16 tensor cores, 50,000 on FP32
// cores, and moves 2,000 bytes a nanosecond.
#include "analyze/on_gpu.hpp"
#include "trace_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace {

using namespace varve_test;
using testing::HasSubstr;
using varve::bound;
using varve::math_pipe;
using varve::work;
using varve::work_source;

work linear(std::int64_t flops, std::int64_t bytes) { return {flops, bytes, 0, 0, math_pipe::bf16_tensor}; }

// Compute-bound: 300e6 FLOPs take 300 ns, 100,000 bytes 50 ns: roof 300. Memory-bound: 10e6 FLOPs take 10 ns,
// 800,000 bytes 400 ns: roof 400. The sum is 700 ns; the roof of the sums would be max(310, 450) = 450.
TEST(roofs, are_summed_over_operators) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1100);
  const auto mlp = b.layer(pass, "mlp", 0, 0, 1000);
  b.t.works.push_back({mlp, linear(300'000'000, 100'000)});
  b.t.works.push_back({mlp, linear(10'000'000, 800'000)});
  b.launched_kernel(mlp, 0, 10, 100, 1100);
  const auto r = b.analyze(on_gpu);
  for (const varve::measures& m :
       {row_of(r.layers, "mlp 0", "decode").inclusive, row_of(r.layers, "mlp 0", "decode").exclusive,
        row_of(r.labels, "mlp", "decode").inclusive, phase_of(r, "decode").total}) {
    EXPECT_DOUBLE_EQ(m.roof.total, 700);
    EXPECT_DOUBLE_EQ(m.roof.compute, 310);
    EXPECT_DOUBLE_EQ(m.roof.memory, 450);
    EXPECT_EQ(m.roof.unrated_flops, 0);
  }
  const varve::verdict& v = row_of(r.layers, "mlp 0", "decode").verdict;
  EXPECT_DOUBLE_EQ(v.roof_share, 0.7);  // of 1,000 ns
  EXPECT_EQ(v.pipe, math_pipe::bf16_tensor);
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_EQ(r.devices[0].ceilings->name, "GPU");
}

// The op inside has 200 ns of bytes and takes 400, the layer itself 100 of 200; the pass itself 50, for a row
// of no layer.
TEST(roofs, follow_the_work_up_the_tree) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  const auto block = b.layer(pass, "block", 0, 0, 900);
  const auto op = b.layer(block, "up", no_index, 0, 400);
  b.t.works.push_back({op, linear(0, 400'000)});
  b.t.works.push_back({block, linear(0, 200'000)});
  b.t.works.push_back({pass, linear(0, 100'000)});
  b.launched_kernel(op, 0, 10, 100, 500, "up");
  b.launched_kernel(block, 500, 510, 600, 800, "rest");
  b.launched_kernel(pass, 900, 910, 950, 1000, "sample");
  const auto r = b.analyze(on_gpu);
  const varve::row& outer = row_of(r.layers, "block 0", "decode");
  EXPECT_DOUBLE_EQ(outer.inclusive.roof.total, 300);
  EXPECT_DOUBLE_EQ(outer.exclusive.roof.total, 100);
  EXPECT_DOUBLE_EQ(row_of(r.layers, "block 0 / up", "decode").inclusive.roof.total, 200);
  EXPECT_DOUBLE_EQ(row_of(r.layers, "", "decode").inclusive.roof.total, 50);
  EXPECT_DOUBLE_EQ(phase_of(r, "decode").total.roof.total, 350);
  EXPECT_DOUBLE_EQ(row_of(r.labels, "block", "decode").inclusive.roof.total, 300);
  EXPECT_DOUBLE_EQ(row_of(r.labels, "block", "decode").exclusive.roof.total, 100);
  // All ran in what told its work.
  EXPECT_EQ(phase_of(r, "decode").total.unknown_work_time, 0);
  EXPECT_DOUBLE_EQ(r.quality.work_known[static_cast<std::size_t>(work_source::engine)], 1);
  // 50 of 650 ns are in no layer: 92.3 %.
  EXPECT_EQ(phase_of(r, "decode").verdict.by, bound::unknown);
  EXPECT_THAT(phase_of(r, "decode").verdict.why, HasSubstr("only 92 % of the phase's GPU time"));
}

// Two replays, each of 1,000 ns with 1,600,000 bytes, 800 ns: 80 %.
TEST(roofs, of_captured_work_count_once_a_replay) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 5000);
  const auto label = b.label(b.t.ranges[pass].label, "mlp", 0);
  const auto node = b.node(1, label, false, linear(1000, 1'600'000));
  for (const time_ns at : {0, 2500}) {
    const auto call = b.call(varve::call_kind::graph_launch, pass, at, at + 10);
    b.kernel(call, at + 100, at + 1100, "k", 0, node);
  }
  const auto r = b.analyze(on_gpu);
  const varve::row& row = row_of(r.layers, "mlp 0", "decode");
  EXPECT_DOUBLE_EQ(row.inclusive.roof.memory, 1600);
  EXPECT_DOUBLE_EQ(row.verdict.memory_share, 0.8);
  EXPECT_EQ(row.inclusive.unknown_work_time, 0);
  // The replays ran that kernel alone.
  EXPECT_DOUBLE_EQ(row_of(r.kernels, "k", "decode").verdict.memory_share, 0.8);
  EXPECT_EQ(row_of(r.kernels, "k", "decode").verdict.by, bound::memory);
}

// The 500 FLOPs take FP32 cores less than the ns of their 2,000 bytes; the 700 have no bytes to hide behind.
TEST(roofs, count_flops_of_pipes_without_a_rate) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  const auto mlp = b.layer(pass, "mlp", 0, 0, 900);
  b.t.works.push_back({mlp, {500, 2000, 0, 0, math_pipe::unknown}});
  b.t.works.push_back({mlp, {700, 0, 0, 0, math_pipe::fp8_tensor}});
  b.launched_kernel(mlp, 0, 10, 100, 200);
  const varve::measures m = row_of(b.analyze(on_gpu).layers, "mlp 0", "decode").inclusive;
  EXPECT_EQ(m.roof.unrated_flops, 700);
  EXPECT_DOUBLE_EQ(m.roof.compute, 0);
  EXPECT_DOUBLE_EQ(m.roof.total, 1);  // 2,000 bytes
  EXPECT_EQ(m.declared.pipe, math_pipe::mixed);
}

// 16,000 bytes take 8 ns; 6,000 fewer 5 ns, 4,000 more 10 ns. FLOPs take 6 ns: at least that is needed.
TEST(roofs, of_mixtures_have_bounds) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  const auto mlp = b.layer(pass, "moe", 0, 0, 900);
  work experts = linear(6'000'000, 16'000);
  experts.bytes_below = 6'000;
  experts.bytes_above = 4'000;
  b.t.works.push_back({mlp, experts});
  b.launched_kernel(mlp, 0, 10, 100, 110);
  const varve::roof_times roof = row_of(b.analyze(on_gpu).layers, "moe 0", "decode").inclusive.roof;
  EXPECT_DOUBLE_EQ(roof.total, 8);
  EXPECT_DOUBLE_EQ(roof.memory_below, 3);
  EXPECT_DOUBLE_EQ(roof.total_below, 2);  // 8 − 6
  EXPECT_DOUBLE_EQ(roof.memory_above, 2);
  EXPECT_DOUBLE_EQ(roof.total_above, 2);
}

// 16,000 bytes of experts, of which twice the tokens touch 28,000: 14 ns. Dense weights stay: 8 ns.
TEST(roofs, of_twice_the_batch_have_the_experts_that_it_touches) {
  work experts = linear(1000, 16'000);
  for (const auto& [added, time] : {std::pair{0, 8.0}, {12'000, 14.0}}) {
    experts.doubled_bytes = added;
    trace_builder b;
    const auto pass = b.phase("decode", 0, 1000);
    const auto moe = b.layer(pass, "moe", 0, 0, 900);
    b.t.works.push_back({moe, experts});
    b.launched_kernel(moe, 0, 10, 100, 110);
    EXPECT_DOUBLE_EQ(row_of(b.analyze(on_gpu).layers, "moe 0", "decode").inclusive.roof.double_batch, time);
  }
}

// A card that is sold for 2.5 GHz runs at 2.7: 108 % of 1e6 FLOPs a nanosecond are 100 %. Memory stays.
TEST(roofs, follow_a_measured_clock) {
  trace_builder b;
  const auto pass = b.phase("prefill", 0, 1200);
  const auto mlp = b.layer(pass, "mlp", 0, 0, 1100);
  b.t.works.push_back({mlp, linear(1'080'000'000, 400'000)});
  b.launched_kernel(mlp, 0, 10, 100, 1100);
  varve::analyze_options options = on_gpu;
  options.ceilings->clock = options.ceilings->top_clock = 2.5e9;
  EXPECT_THAT(row_of(b.analyze(options).layers, "mlp 0", "prefill").verdict.why, HasSubstr("beats the roof"));
  options.clock = 2.7e9;
  const auto r = b.analyze(options);
  const varve::row& row = row_of(r.layers, "mlp 0", "prefill");
  EXPECT_EQ(row.verdict.by, bound::compute);
  EXPECT_DOUBLE_EQ(row.verdict.compute_share, 1);
  EXPECT_DOUBLE_EQ(row.verdict.memory_share, 0.2);
  EXPECT_EQ(r.devices[0].ceilings->source, "scaled to the clock given, 2.7 GHz");
  // Nothing to scale by: rates stay, which is said.
  options.ceilings->clock = options.ceilings->top_clock = 0;
  options.ceilings->source = "a sheet";
  const auto unscaled = b.analyze(options);
  EXPECT_EQ(unscaled.devices[0].ceilings->flops, options.ceilings->flops);
  EXPECT_EQ(unscaled.devices[0].ceilings->source,
            "a sheet; not scaled to the clock given, 2.7 GHz: that of its rates is not known");
}

/// Device 0 runs [100, 1100), device 1 [100, 300); rates hold at 2.5 GHz. While device 0's kernel ran the
/// clock was read as 2.7, 1.2 and 2.7 GHz: median 2.7, mean 2.2; with readings of idle times and of nothing
/// 0.2.
trace_builder with_clocks() {
  using varve::gauge_kind;
  trace_builder b;
  const auto pass = b.phase("prefill", 0, 1200);
  const auto mlp = b.layer(pass, "mlp", 0, 0, 50);
  b.t.works.push_back({mlp, linear(1'080'000'000, 400'000)});
  b.launched_kernel(mlp, 0, 10, 100, 1100);
  b.launched_kernel(b.layer(pass, "other", 0, 50, 90), 60, 70, 100, 300, "k", b.stream(1, 8));
  const auto read = [&](std::uint32_t device, time_ns at, std::int64_t megahertz) {
    b.t.gauges.push_back({at, megahertz * 1'000'000, device, gauge_kind::sm_clock});
  };
  for (const auto& [at, megahertz] : {std::pair{1100, 2700},
                                      {50, 200},
                                      {100, 2700},
                                      {700, 1200},
                                      {500, 0},
                                      {1101, 200},
                                      {9000, 200},
                                      {9050, 200}}) {
    read(0, at, megahertz);
  }
  for (const time_ns at : {120, 130, 140, 150}) {  // 1500, 1600, 1700 and 1800: median 1650
    read(1, at, 300 + 10 * at);
  }
  b.t.gauges.push_back({150, 9'000'000'000, 0, gauge_kind::memory_clock});
  return b;
}

// 108 % of 1e6 FLOPs a nanosecond at 2.5 GHz are 100 % at 2.7. A reading of nothing is none.
TEST(roofs, follow_the_clock_that_gauges_read) {
  const trace_builder b = with_clocks();
  varve::analyze_options options = on_gpu;
  options.ceilings->clock = options.ceilings->top_clock = 2.5e9;
  const auto r = b.analyze(options);
  EXPECT_DOUBLE_EQ(row_of(r.layers, "mlp 0", "prefill").verdict.compute_share, 1);
  EXPECT_DOUBLE_EQ(row_of(r.layers, "mlp 0", "prefill").verdict.memory_share, 0.2);
  ASSERT_EQ(r.devices.size(), 2U);
  EXPECT_EQ(r.devices[0].ceilings->clock, 2.7e9);
  EXPECT_EQ(r.devices[0].ceilings->source,
            "scaled to the SM clock, 2.7 GHz in the median of 3 readings while kernels ran");
  EXPECT_EQ(r.devices[1].ceilings->clock, 1.65e9);
  EXPECT_THAT(to_table(r), HasSubstr("; on all of that name 1.65 to 2.70 GHz"));
  // A clock that is given comes first.
  options.clock = 2e9;
  EXPECT_EQ(b.analyze(options).devices[0].ceilings->source, "scaled to the clock given, 2 GHz");
  // Nothing to scale by, which nobody asked for.
  options.clock = 0;
  options.ceilings->clock = options.ceilings->top_clock = 0;
  EXPECT_EQ(b.analyze(options).devices[0].ceilings->flops, options.ceilings->flops);
  EXPECT_EQ(b.analyze(options).devices[0].ceilings->source, "");
}

TEST(roofs, follow_no_clock_of_fewer_than_three_readings_while_kernels_ran) {
  varve::analyze_options options = on_gpu;
  options.ceilings->clock = options.ceilings->top_clock = 2.5e9;
  trace_builder b = with_clocks();
  b.t.gauges[0].at = 1102;
  EXPECT_EQ(b.analyze(options).devices[0].ceilings->clock, 2.5e9);
  b = with_clocks();
  b.t.activities.kind.assign(b.t.activities.size(), varve::activity_kind::copy);
  EXPECT_EQ(b.analyze(options).devices[0].ceilings->clock, 2.5e9);
}

TEST(roofs, are_nothing_without_ceilings) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  const auto mlp = b.layer(pass, "mlp", 0, 0, 900);
  b.t.works.push_back({mlp, linear(1000, 2000)});
  b.launched_kernel(mlp, 0, 10, 100, 1000);
  const auto r = b.analyze();
  const varve::row& row = row_of(r.layers, "mlp 0", "decode");
  EXPECT_EQ(row.inclusive.roof.total, 0);
  EXPECT_EQ(row.verdict.by, bound::unknown);
  EXPECT_THAT(row.verdict.why, HasSubstr("--device"));
  EXPECT_FALSE(r.devices[0].ceilings);
}

// Two kernels in a layer: which did what part of its work is not known. The op launched one alone.
TEST(roofs, of_kernels_are_those_of_what_launched_them_alone) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 5000);
  const auto both = b.layer(pass, "both", no_index, 0, 900);
  const auto alone = b.layer(pass, "alone", no_index, 1000, 1900);
  b.t.works.push_back({both, linear(0, 400'000)});
  b.t.works.push_back({alone, linear(0, 160'000)});
  b.t.works.push_back({alone, linear(0, 32'000)});  // entries of one range add up
  b.launched_kernel(both, 0, 10, 100, 200, "a");
  b.launched_kernel(both, 20, 30, 200, 300, "b");
  b.launched_kernel(alone, 1000, 1010, 1100, 1220, "c");
  const auto r = b.analyze(on_gpu);
  EXPECT_EQ(row_of(r.kernels, "a", "decode").inclusive.declared, work{});
  EXPECT_EQ(row_of(r.kernels, "a", "decode").verdict.why, "withheld: its work is not known");
  const varve::row& c = row_of(r.kernels, "c", "decode");
  EXPECT_EQ(c.inclusive.declared.weight_bytes, 192'000);
  EXPECT_EQ(c.inclusive.calls_with_work, 1);
  EXPECT_EQ(c.inclusive.unknown_work_time, 0);
  EXPECT_DOUBLE_EQ(c.verdict.roof_share, 0.8);  // 96 of 120 ns
  EXPECT_EQ(c.verdict.by, bound::memory);
  EXPECT_EQ(row_of(r.kernels, "b", "decode").inclusive.unknown_work_time, 100);
  // The category holds all three: 120 of 320 ns.
  const varve::row& all = row_of(r.categories, "other", "decode");
  EXPECT_EQ(all.inclusive.unknown_work_time, 200);
  EXPECT_THAT(all.verdict.why, HasSubstr("known for only 38 %"));
}

TEST(roofs, take_the_word_of_the_most_trusted_source) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 5000);
  const auto mlp = b.layer(pass, "mlp", 0, 0, 900);
  const auto attention = b.layer(pass, "attention", 0, 1000, 1900);
  b.t.works.push_back({mlp, linear(1'100, 100), work_source::description});
  b.t.works.push_back({mlp, linear(1'000, 90), work_source::shapes});
  b.t.works.push_back({attention, linear(500, 50), work_source::description});
  b.launched_kernel(mlp, 0, 10, 100, 200, "gemm");
  b.launched_kernel(attention, 1000, 1010, 1100, 1400);
  const auto r = b.analyze(on_gpu);
  EXPECT_EQ(row_of(r.layers, "mlp 0", "decode").inclusive.declared, linear(1'000, 90));
  EXPECT_EQ(row_of(r.layers, "attention 0", "decode").inclusive.declared, linear(500, 50));
  EXPECT_EQ(phase_of(r, "decode").total.declared, linear(1'500, 140));
  // 10 % apart; one row of the one that both tell.
  const auto is_difference = [](const varve::finding& f) {
    return f.what == varve::finding::kind::work_difference;
  };
  ASSERT_EQ(std::count_if(r.findings.begin(), r.findings.end(), is_difference), 1);
  const varve::finding& f = *std::find_if(r.findings.begin(), r.findings.end(), is_difference);
  EXPECT_EQ(r.layers[f.layer].path, "mlp 0");
  EXPECT_EQ(r.phases[f.phase].phase, "decode");
  EXPECT_DOUBLE_EQ(f.value, 0.1);
  EXPECT_THAT(f.text, HasSubstr("in the FLOPs of 1 of 1 rows, most in mlp 0: 1.1 kFLOP and 1 kFLOP"));
  // No operators are in the trace: shapes are those of calls of cuBLAS, whose kernels are products.
  EXPECT_DOUBLE_EQ(r.quality.work_known[static_cast<std::size_t>(work_source::description)], 0.75);
  EXPECT_DOUBLE_EQ(r.quality.work_known[static_cast<std::size_t>(work_source::shapes)], 0.25);
}

// Of the experts' 1,000 ns a side operator of known work has 40, and of the norm's 95 (where 5 more are of no
// known operator): shapes tell 4 % and 95 %. The router's shapes tell 50 %, and more than the description.
TEST(roofs, take_shapes_that_miss_most_of_a_layer_for_less_than_a_description_of_it) {
  trace_builder b;
  const auto pass = b.phase("prefill", 0, 9000);
  const auto experts = b.layer(pass, "experts", no_index, 0, 900);
  const auto norm = b.layer(pass, "norm", no_index, 1000, 1900);
  const auto router = b.layer(pass, "router", no_index, 2000, 2900);
  const auto launch = [&](std::uint32_t in, const work& known, time_ns length) {
    const time_ns at = static_cast<time_ns>(b.t.operators.size()) * 100;
    b.t.operator_kinds.push_back({b.t.strings.intern("op"), none, none, {}, known});
    b.t.operators.begin.push_back(at);
    b.t.operators.end.push_back(at + 90);
    b.t.operators.kind.push_back(static_cast<std::uint32_t>(b.t.operator_kinds.size() - 1));
    b.t.operators.parent.push_back(none);
    b.t.operators.range.push_back(in);
    b.t.operators.thread.push_back(0);
    b.t.operator_of_call.push_back(static_cast<std::uint32_t>(b.t.operators.size() - 1));
    b.t.operator_of_activity.push_back(static_cast<std::uint32_t>(b.t.operators.size() - 1));
    b.launched_kernel(in, at, at + 10, at * 20, at * 20 + length);
  };
  launch(experts, linear(0, 30), 40);
  launch(experts, {}, 960);
  launch(norm, linear(0, 30), 95);
  launch(norm, {}, 5);
  launch(router, linear(200, 30), 50);
  launch(router, {}, 50);
  b.t.works = {
      {experts, linear(0, 30), work_source::shapes},  {experts, linear(8'000, 100), work_source::description},
      {norm, linear(1, 30), work_source::shapes},     {norm, linear(2, 100), work_source::description},
      {router, linear(200, 30), work_source::shapes}, {router, linear(100, 30), work_source::description}};
  const auto r = b.analyze(on_gpu);
  EXPECT_EQ(row_of(r.layers, "experts", "prefill").inclusive.declared, linear(8'000, 100));
  EXPECT_EQ(row_of(r.layers, "experts", "prefill").inclusive.unknown_work_time, 0);
  EXPECT_EQ(row_of(r.layers, "norm", "prefill").inclusive.declared, linear(1, 30));
  EXPECT_EQ(row_of(r.layers, "router", "prefill").inclusive.declared, linear(200, 30));
  // The norm is 100 % apart, the router 50 %, but by 100 FLOPs and not by 1: the one to look at.
  const auto f = std::find_if(r.findings.begin(), r.findings.end(), [](const varve::finding& one) {
    return one.what == varve::finding::kind::work_difference;
  });
  ASSERT_NE(f, r.findings.end());
  EXPECT_THAT(f->text, HasSubstr("of 2 of 2 rows, most in router"));
}

// A product of 800 ns and the all-reduce of 200 ns behind it, as with tensor parallelism: the work of all
// that does any is known. 700e6 FLOPs are 700 ns of the 1,000 in which something runs: 70 %.
TEST(roofs, count_collectives_as_no_work_that_is_unknown) {
  trace_builder b;
  const auto pass = b.phase("prefill", 0, 5000);
  const auto mlp = b.layer(pass, "mlp", 0, 0, 100);
  const auto rest = b.layer(pass, "rest", 0, 200, 300);
  b.t.works.push_back({mlp, linear(700'000'000, 100), work_source::description});
  b.launched_kernel(mlp, 0, 10, 100, 900, "gemm");
  b.launched_kernel(rest, 200, 210, 900, 1100, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
  b.t.ranges[pass].end = 1100;
  const auto r = b.analyze(on_gpu);
  EXPECT_DOUBLE_EQ(r.quality.work_known[static_cast<std::size_t>(work_source::description)], 1);
  const varve::phase_row& p = phase_of(r, "prefill");
  EXPECT_EQ(p.total.unknown_work_time, 200);
  EXPECT_EQ(p.verdict.by, bound::compute) << p.verdict.why;
  EXPECT_DOUBLE_EQ(p.verdict.compute_share, 0.7);
}

// The engine tells the whole layer: what the description says of its parts is in that. Where the shapes tell
// the parts, the description of the whole says the same again.
TEST(roofs, count_no_work_twice_that_sources_tell_at_several_levels) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 5000);
  const auto told = b.layer(pass, "told", no_index, 0, 900);
  const auto part = b.layer(told, "part", no_index, 0, 400);
  const auto whole = b.layer(pass, "whole", no_index, 1000, 1900);
  const auto inner = b.layer(whole, "inner", no_index, 1000, 1400);
  const auto mostly = b.layer(pass, "mostly", no_index, 2000, 2900);
  const auto small = b.layer(mostly, "small", no_index, 2000, 2400);
  b.t.works.push_back({told, linear(1000, 0), work_source::engine});
  b.t.works.push_back({part, linear(600, 0), work_source::description});
  b.t.works.push_back({whole, linear(1000, 0), work_source::description});
  b.t.works.push_back({inner, linear(500, 0), work_source::shapes});  // half of the whole or more
  b.t.works.push_back({mostly, linear(1000, 0), work_source::description});
  b.t.works.push_back({small, linear(499, 0), work_source::shapes});  // less
  b.launched_kernel(part, 0, 10, 100, 200);
  const auto r = b.analyze(on_gpu);
  EXPECT_EQ(row_of(r.layers, "told", "decode").inclusive.declared.flops, 1000);
  EXPECT_EQ(row_of(r.layers, "told / part", "decode").inclusive.declared.flops, 0);
  EXPECT_EQ(row_of(r.layers, "whole", "decode").inclusive.declared.flops, 500);
  EXPECT_EQ(row_of(r.layers, "mostly", "decode").inclusive.declared.flops, 1499);
}

// Shapes of the 40 bytes that a block writes around its attention are of that write alone: attention's 600
// FLOPs and 100 bytes stay what the description says.
TEST(roofs, shapes_of_a_range_are_not_of_what_is_inside) {
  trace_builder b;
  const auto pass = b.phase("prefill", 0, 5000);
  const auto block = b.layer(pass, "block", no_index, 0, 900);
  const auto attention = b.layer(block, "attention", no_index, 0, 400);
  const auto scores = b.layer(attention, "scores", no_index, 0, 200);
  b.t.works.push_back({block, linear(0, 40), work_source::shapes});
  b.t.works.push_back({block, linear(0, 30), work_source::description});
  b.t.works.push_back({attention, linear(200, 40), work_source::description});
  b.t.works.push_back({scores, linear(400, 60), work_source::description});
  b.launched_kernel(scores, 0, 10, 100, 400);
  const auto r = b.analyze(on_gpu);
  EXPECT_EQ(row_of(r.layers, "block", "prefill").exclusive.declared.bytes(), 40);
  EXPECT_EQ(row_of(r.layers, "block / attention", "prefill").inclusive.declared, linear(600, 100));
  EXPECT_EQ(phase_of(r, "prefill").total.declared, linear(600, 140));
  EXPECT_EQ(phase_of(r, "prefill").total.unknown_work_time, 0);
}

// Layers of 1000 ns with one kernel of 50, launched in 10: from the second on the device starves for 950
// before each, of which 940 go to the engine's own code. A layer launches once, its pass nine times or ten.
TEST(roofs, of_a_layer_are_launch_bound_by_the_launches_of_its_pass) {
  const auto why = [](int layers) {
    trace_builder b;
    const auto pass = b.phase("decode", 0, 1000 * layers);
    for (int k = 0; k < layers; ++k) {
      const auto layer = b.layer(pass, "layer", k, 1000 * k, 1000 * k + 1000);
      b.launched_kernel(layer, 1000 * k + 100, 1000 * k + 110, 1000 * k + 110, 1000 * k + 160, "gemm");
    }
    return row_of(b.analyze(on_gpu).layers, "layer 1", "decode").verdict.why;
  };
  EXPECT_THAT(why(9), HasSubstr("starved (the engine's own code): "));
  EXPECT_THAT(why(10), HasSubstr("starved (launch-bound): "));
}

// OPT-125M has 12 blocks of six linear layers (q, k, v, out, fc1, fc2) and a head: 73 a token. An eager
// engine launches each and 72 more kernels a token. 20 tokens take 2.35 s, 117.5 ms each; of each token's 145
// kernels each runs for 20,000 ns: 20 · 145 · 20,000 ns = 58 ms. 2,350 / 58 = 40.5.
TEST(roofs, of_an_eager_engine_say_that_it_is_launch_bound) {
  constexpr time_ns token = 117'500'000;
  constexpr time_ns step = token / 145;
  const work qkv = linear(2 * 768 * 768, 2 * 768 * 768);
  trace_builder b;
  for (time_ns n = 0; n < 20; ++n) {
    const auto pass = b.phase("decode", n * token, (n + 1) * token);
    b.t.attributes.push_back({pass, VARVE_DECODE_TOKENS, 1});
    for (int k = 0; k < 145; ++k) {
      const time_ns at = n * token + k * step;
      const bool is_linear = k < 73;
      const auto layer = b.layer(pass, is_linear ? "linear" : "other", no_index, at, at + step);
      b.t.works.push_back({layer, is_linear ? qkv : work{768, 0, 0, 4 * 768, math_pipe::fp32}});
      b.launched_kernel(layer, at, at + 400'000, at + 400'000, at + 420'000, is_linear ? "gemm" : "add");
    }
  }
  const auto r = b.analyze(on_gpu);
  const varve::phase_row& decode = phase_of(r, "decode");
  EXPECT_EQ(decode.tokens(), 20);
  EXPECT_EQ(decode.wall, 2'350'000'000);
  EXPECT_EQ(decode.partition.busy(), 58'000'000);
  EXPECT_NEAR(decode.overhead_ratio(), 40.5, 0.05);
  EXPECT_EQ(row_of(r.labels, "linear", "decode").inclusive.calls, 73 * decode.tokens());
  EXPECT_EQ(decode.verdict.by, bound::starved);
  EXPECT_EQ(decode.verdict.side, bound::memory);
  EXPECT_THAT(decode.verdict.why, HasSubstr("(launch-bound): nothing was submitted to the GPU for 2.29 s of "
                                            "2.35 s (98 %), overhead ratio 40.5"));
  // Its kernels would not be faster for it: 768² · 2 bytes take 590 of 20,000 ns.
  const varve::row& gemm = row_of(r.kernels, "gemm", "decode");
  EXPECT_EQ(gemm.verdict.by, bound::latency);
  EXPECT_NEAR(gemm.verdict.memory_share, 0.0295, 0.0001);
}

}  // namespace
