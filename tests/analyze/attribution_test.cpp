// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which row and which pass work belongs to.
#include <algorithm>

#include <gtest/gtest.h>

#include "analyze/trace_builder.hpp"

namespace {

using namespace varve_test;
using varve::call_kind;
using varve::range_kind;

TEST(attribution, work_outside_any_layer_has_a_row_with_an_empty_path) {
  trace_builder b;
  for (const time_ns at : {0, 100}) {
    const auto pass = b.phase("decode", at, at + 80);
    b.launched_kernel(pass, at, at + 1, at + 10, at + 20);
    b.launched_kernel(b.layer(pass, "mlp", 0, at + 20, at + 50), at + 20, at + 21, at + 30, at + 60);
  }
  const varve::report r = b.analyze();
  ASSERT_EQ(r.layers.size(), 2U);
  const varve::row& rest = row_of(r.layers, "", "decode");
  EXPECT_EQ(rest.label, "");
  EXPECT_EQ(rest.kind, range_kind::phase);
  EXPECT_EQ(rest.parent, none);
  EXPECT_EQ(rest.inclusive.gpu_time, 20);
  EXPECT_EQ(rest.inclusive.calls, 2);  // the passes
  EXPECT_EQ(rest.per_call.total, 20);
  EXPECT_EQ(rest.inclusive.host_time, 100);  // 160 of passes, of which 60 in mlp
  EXPECT_EQ(row_of(r.layers, "mlp 0", "decode").inclusive.gpu_time, 60);
  EXPECT_EQ(row_of(r.layers, "mlp 0", "decode").parent, none);
  // 60 of 80 ns of kernels belong to a layer.
  EXPECT_DOUBLE_EQ(r.quality.attributed, 0.75);
}

TEST(attribution, phase_model_and_device_tell_rows_apart) {
  trace_builder b;
  const auto second = b.stream(1, 7);
  const auto draft = b.phase("decode", 0, 100);
  const auto target = b.phase("decode", 100, 200);
  b.t.models.push_back({draft, b.t.strings.intern("draft")});
  b.t.models.push_back({target, b.t.strings.intern("target")});
  b.launched_kernel(b.layer(draft, "layer", 3, 0, 50), 0, 1, 1, 11);
  const auto layer = b.layer(target, "layer", 3, 100, 150);
  b.launched_kernel(layer, 100, 101, 110, 130);
  b.launched_kernel(layer, 101, 102, 110, 140, "k", second);
  const varve::report r = b.analyze();
  ASSERT_EQ(r.layers.size(), 3U);
  EXPECT_EQ(r.find({"layer", 3, "decode", "draft"})->inclusive.gpu_time, 10);
  EXPECT_EQ(r.find({"layer", 3, "decode", "target", 0})->inclusive.gpu_time, 20);
  EXPECT_EQ(r.find({"layer", 3, "decode", "target", 1})->inclusive.gpu_time, 30);
  // One call of the layer, on both devices: it counts on each, with the GPU time that it has there.
  EXPECT_EQ(r.find({"layer", 3, "decode", "target", 0})->inclusive.calls, 1);
  EXPECT_EQ(r.find({"layer", 3, "decode", "target", 1})->inclusive.calls, 1);
  EXPECT_EQ(r.find({"layer", 3, "decode", "target", 1})->per_call.total, 30);
  // The draft ran on device 0 alone.
  EXPECT_EQ(r.phases.size(), 3U);
}

TEST(attribution, the_innermost_phase_wins) {
  trace_builder b;
  const auto verify = b.phase("verify", 0, 100);
  const auto layer = b.layer(verify, "speculate", no_index, 0, 50);
  const auto draft = b.phase("draft", 10, 40, layer);
  b.launched_kernel(b.layer(draft, "layer", 0, 10, 30), 10, 11, 12, 32);
  b.launched_kernel(layer, 40, 41, 42, 52);
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "layer 0", "draft").inclusive.gpu_time, 20);
  EXPECT_EQ(row_of(r.layers, "speculate", "verify").inclusive.gpu_time, 10);
  EXPECT_EQ(row_of(r.layers, "speculate", "verify").exclusive.host_time, 20);  // 50 − 30 of the draft
  EXPECT_EQ(phase_of(r, "verify").total.gpu_time, 10);
  EXPECT_EQ(phase_of(r, "draft").total.gpu_time, 20);
}

TEST(attribution, work_handed_to_another_thread_counts_in_the_call_it_comes_from) {
  trace_builder b;
  const auto worker = b.t.intern_thread(101);
  const auto pass = b.phase("decode", 0, 100);
  const auto layer = b.layer(pass, "layer", 0, 0, 20);
  const auto op =
      b.range(range_kind::op, layer, "offload", no_index, 30, 60, worker);  // begins after it ended
  b.launched_kernel(layer, 0, 1, 1, 11);
  b.kernel(b.launch(op, 30, 31, worker), 40, 60);
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").per_call.total, 30);
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").per_call.count, 1);
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").inclusive.host_time, 20);
  EXPECT_EQ(row_of(r.layers, "layer 0 / offload", "decode").inclusive.gpu_time, 20);
}

TEST(attribution, without_passes_the_whole_trace_is_one) {
  trace_builder b;
  const auto layer = b.layer(none, "layer", 0, 10, 60);
  b.launched_kernel(layer, 12, 14, 20, 30);
  b.launched_kernel(none, 62, 64, 70, 90);
  const varve::report r = b.analyze();
  EXPECT_TRUE(r.quality.implicit_pass);
  ASSERT_EQ(r.phases.size(), 1U);
  EXPECT_EQ(r.phases[0].phase, "(trace)");
  EXPECT_EQ(r.phases[0].passes, 1);
  EXPECT_EQ(r.phases[0].wall, 80);  // from 10 to 90
  EXPECT_EQ(r.phases[0].partition.wall(), 80);
  EXPECT_EQ(r.phases[0].total.gpu_time, 30);
  EXPECT_EQ(row_of(r.layers, "layer 0", "(trace)").inclusive.gpu_time, 10);
  EXPECT_EQ(row_of(r.layers, "", "(trace)").inclusive.gpu_time, 20);
  EXPECT_EQ(row_of(r.layers, "", "(trace)").inclusive.calls, 1);
  EXPECT_EQ(r.begin, 10);
  EXPECT_EQ(r.end, 90);
}

TEST(attribution, the_implicit_pass_is_the_recorded_window_where_that_is_known) {
  trace_builder b;
  b.t.begin = 5;
  b.t.end = 105;
  b.launched_kernel(none, 62, 64, 70, 90);
  const varve::report r = b.analyze();
  EXPECT_EQ(r.phases.at(0).wall, 100);
  EXPECT_EQ(r.phases.at(0).partition.starved.total(), 59 + 15);  // [5, 64) and [90, 105)
  EXPECT_EQ(r.phases.at(0).partition.device_gap, 6);
}

TEST(attribution, where_there_are_passes_other_work_is_in_none) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 50);
  b.launched_kernel(pass, 0, 1, 1, 11);
  b.launched_kernel(b.layer(none, "warm", no_index, 60, 90), 62, 64, 70, 90);
  b.kernel(0, 100, 105);
  const varve::report r = b.analyze();
  EXPECT_FALSE(r.quality.implicit_pass);
  EXPECT_EQ(r.phases.size(), 1U);
  EXPECT_EQ(row_of(r.layers, "warm", "").inclusive.gpu_time, 20);
  EXPECT_EQ(row_of(r.layers, "warm", "").inclusive.calls, 1);
  EXPECT_EQ(row_of(r.layers, "", "").inclusive.gpu_time, 5);
  EXPECT_EQ(row_of(r.layers, "", "").inclusive.calls, 0);
  EXPECT_EQ(row_of(r.layers, "", "").per_call.count, 0);
  EXPECT_EQ(r.quality.unmatched, 1);
  EXPECT_EQ(r.layers.back().phase, "");  // what is in no pass comes last
}

TEST(attribution, what_has_no_call_belongs_where_the_trace_says) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 50);
  const auto mlp = b.layer(pass, "mlp", 0, 0, 40);
  const auto norm = b.layer(pass, "norm", 0, 40, 50);
  b.launched_kernel(norm, 41, 42, 50, 60);  // 10 ns; its call counts, whatever else is said
  b.kernel(0, 60, 90);                      // 30 ns
  b.kernel(0, 90, 95);                      // 5 ns, in a range that there isn't
  b.t.range_of_activity = {mlp, mlp, 3};
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "norm 0", "decode").inclusive.gpu_time, 10);
  EXPECT_EQ(row_of(r.layers, "mlp 0", "decode").inclusive.gpu_time, 30);
  EXPECT_EQ(row_of(r.layers, "", "").inclusive.gpu_time, 5);
  EXPECT_EQ(r.quality.matched, 1);
  EXPECT_EQ(r.quality.unmatched, 2);
}

TEST(attribution, requests_are_no_rows) {
  trace_builder b;
  const auto request = b.range(range_kind::request, none, "chat", 7, 0, 500);
  const auto pass = b.phase("decode", 0, 100, request);
  const auto inner = b.range(range_kind::request, pass, "odd", no_index, 0, 90);
  b.launched_kernel(b.layer(inner, "layer", 0, 0, 50), 0, 1, 1, 11);
  b.launched_kernel(inner, 60, 61, 62, 65);
  const varve::report r = b.analyze();
  EXPECT_EQ(r.layers.size(), 2U);
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode").inclusive.gpu_time, 10);
  EXPECT_EQ(row_of(r.layers, "", "decode").inclusive.gpu_time, 3);
}

TEST(attribution, a_call_counts_where_what_it_launched_ran) {
  // Two threads serve a GPU each, as in data parallelism: pass [0, 100) with layer [10, 60) of thread 0, and
  // [40, 160) with [50, 150) of thread 1; the latter also has a "wait" [150, 155) that launches nothing, in
  // which it synchronises for 4.
  trace_builder b;
  b.t.intern_thread(101);
  const std::uint16_t second = b.stream(1, 7);
  const std::uint32_t p = b.phase("decode", 0, 100);
  b.kernel(b.launch(b.layer(p, "mlp", 0, 10, 60), 12, 14), 20, 50);
  const std::uint32_t q = b.phase("decode", 40, 160, none, 1);
  b.kernel(b.launch(b.layer(q, "mlp", 0, 50, 150, 1), 60, 64, 1), 70, 80, "k", second);
  b.call(varve::call_kind::synchronise, b.layer(q, "wait", no_index, 150, 155, 1), 150, 154, 1);
  b.t.attributes.push_back({p, VARVE_DECODE_TOKENS, 3});
  b.t.attributes.push_back({q, VARVE_DECODE_TOKENS, 5});
  const varve::report r = b.analyze();
  for (const std::uint32_t device : {0U, 1U}) {
    const varve::phase_row& phase = phase_of(r, "decode", device);
    EXPECT_EQ(phase.passes, 1);
    EXPECT_EQ(phase.decode_tokens, device == 0 ? 3 : 5);
    EXPECT_EQ(phase.step.total, device == 0 ? 100 : 120);
    EXPECT_EQ(phase.wall, device == 0 ? 100 : 120);
    EXPECT_EQ(phase.partition.wall(), phase.wall);
    EXPECT_EQ(phase.partition.compute, device == 0 ? 30 : 10);
    const varve::row& mlp = row_of(r.layers, "mlp 0", "decode", device);
    EXPECT_EQ(mlp.inclusive.calls, 1);
    EXPECT_EQ(mlp.inclusive.host_time, device == 0 ? 50 : 100);
    EXPECT_EQ(mlp.per_call.p50, device == 0 ? 30 : 10);
  }
  // The device of the pass around it, though a lower one is there.
  EXPECT_EQ(row_of(r.layers, "wait", "decode", 1).inclusive.calls, 1);
  EXPECT_EQ(row_of(r.layers, "wait", "decode", 1).exclusive.synchronise_time, 4);
  EXPECT_EQ(std::count_if(r.layers.begin(), r.layers.end(), [](const auto& x) { return x.path == "wait"; }),
            1);
  // A device's own partition is of the makespan [0, 160) of both: a pass is open throughout.
  for (const varve::device_row& device : r.devices) {
    EXPECT_EQ(device.partition.wall(), 160);
    EXPECT_EQ(device.partition.no_pass, 0);
  }
}

TEST(attribution, what_ran_nothing_counts_on_the_device_of_its_phase) {
  trace_builder b;
  const auto second = b.stream(1, 7);
  const auto third = b.stream(2, 7);
  const auto pass = b.phase("decode", 0, 100);
  b.launched_kernel(b.layer(pass, "layer", 0, 0, 50), 0, 1, 1, 11, "k", third);
  const auto sample = b.layer(pass, "sample", no_index, 60, 80);
  b.call(call_kind::synchronise, sample, 62, 72);
  const auto load = b.phase("load", 100, 200);
  b.launched_kernel(load, 100, 101, 110, 120, "k", second);
  const varve::report r = b.analyze();
  // Decode ran on device 2 alone, though the trace has a lower one.
  EXPECT_EQ(row_of(r.layers, "sample", "decode", 2).inclusive.calls, 1);
  EXPECT_EQ(row_of(r.layers, "sample", "decode", 2).inclusive.synchronise_time, 10);
  EXPECT_EQ(row_of(r.layers, "sample", "decode", 2).inclusive.gpu_time, 0);
  EXPECT_EQ(row_of(r.layers, "sample", "decode", 2).per_call.count, 1);
  EXPECT_EQ(r.layers.size(), 3U);
}

TEST(attribution, of_calls_that_launched_nothing_each_counts_once) {
  trace_builder b;
  const auto second = b.stream(1, 7);
  const auto pass = b.phase("decode", 0, 100);
  const auto layer = b.layer(pass, "layer", 0, 0, 50);
  b.launched_kernel(layer, 0, 1, 1, 11);
  b.launched_kernel(layer, 1, 2, 2, 12, "k", second);
  b.call(call_kind::synchronise, layer, 20, 30);
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode", 0).inclusive.synchronise_time, 10);
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode", 1).inclusive.synchronise_time, 0);
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode", 0).inclusive.launches, 1);
  EXPECT_EQ(row_of(r.layers, "layer 0", "decode", 1).inclusive.launches, 1);
}

TEST(attribution, declared_work_adds_up_over_calls) {
  trace_builder b;
  for (const time_ns at : {0, 100, 200}) {
    const auto pass = b.phase("decode", at, at + 90);
    const auto layer = b.layer(pass, "mlp", 0, at, at + 50);
    const auto op = b.layer(layer, "up", no_index, at, at + 20);
    b.launched_kernel(op, at, at + 1, at + 10, at + 20);
    if (at != 200) {
      b.t.works.push_back({op, {1000, 100, 0, 10}});
      b.t.works.push_back({op, {0, 0, 5, 0}});  // entries of one range add up
    }
    if (at == 0) {
      b.t.works.push_back({layer, {7, 0, 0, 0}});
    }
  }
  const varve::report r = b.analyze();
  const varve::row& up = row_of(r.layers, "mlp 0 / up", "decode");
  EXPECT_EQ(up.inclusive.declared, (varve::work{2000, 200, 10, 20}));
  EXPECT_EQ(up.inclusive.calls_with_work, 2);
  const varve::row& mlp = row_of(r.layers, "mlp 0", "decode");
  EXPECT_EQ(mlp.exclusive.declared, (varve::work{7, 0, 0, 0}));
  EXPECT_EQ(mlp.exclusive.calls_with_work, 1);
  EXPECT_EQ(mlp.inclusive.declared, (varve::work{2007, 200, 10, 20}));
  EXPECT_EQ(mlp.inclusive.calls_with_work, 2);  // of three calls two hold declared work
  EXPECT_EQ(phase_of(r, "decode").total.declared, (varve::work{2007, 200, 10, 20}));
  EXPECT_EQ(phase_of(r, "decode").total.calls_with_work, 2);
}

// 100 FLOPs declared for the pass itself and 10 for its layer: rows of 100 and 10, and 110 for the phase.
TEST(attribution, work_of_a_pass_itself_is_that_of_no_layer) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 100);
  const auto layer = b.layer(pass, "mlp", no_index, 10, 50);
  b.launched_kernel(layer, 10, 20, 30, 40);
  b.t.works.push_back({pass, {100, 1, 2, 3}});
  b.t.works.push_back({layer, {10, 0, 0, 0}});
  const varve::report r = b.analyze();
  EXPECT_EQ(row_of(r.layers, "mlp", "decode").inclusive.declared.flops, 10);
  EXPECT_EQ(row_of(r.layers, "", "decode").inclusive.declared, (varve::work{100, 1, 2, 3}));
  EXPECT_EQ(row_of(r.layers, "", "decode").exclusive.declared, (varve::work{100, 1, 2, 3}));
  EXPECT_EQ(phase_of(r, "decode").total.declared, (varve::work{110, 1, 2, 3}));
}

}  // namespace
