// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Times of layers, on schedules worked out by hand. Default costs (ns): launch 5000, graph launch 10000, copy
// 6000, set 4000, synchronise 2000, allocate 20000, graph construction 50000, event 1000, captured call 1500.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proof.hpp"
#include "support/virtual_device.hpp"

namespace virtual_device {
namespace {

struct virtual_device_times : testing::Test {
  machine m;
  stream s = (m.device(0), m.new_stream(0));
  host& h = m.new_host();
};

TEST_F(virtual_device_times, a_layer_has_the_time_of_its_kernels_and_of_the_layers_inside) {
  for (int step = 0; step < 2; ++step) {
    const scope pass = h.phase("decode");
    {
      const scope layer = h.layer("block", 0);
      h.launch(s, {"norm", 1'000, 0, -1, "normalisation"});  // call 0–5000, runs 5000–6000
      const scope op = h.op("mlp");
      h.launch(s, "up", 9'000);    // call 5000–10000, runs 10000–19000
      h.launch(s, "down", 3'000);  // call 10000–15000, waits for "up": runs 19000–22000
    }
    h.launch(s, "sample", 500);  // call 15000–20000, runs 22000–22500
    h.synchronise(s);            // 20000–22500; the second pass is the same, 22500 later
  }
  const varve::report r = proved(m.run());
  const varve::row& block = layer_of(r, "block 0");
  EXPECT_EQ(block.inclusive.calls, 2);
  EXPECT_EQ(block.inclusive.gpu_time, 2 * 13'000);
  EXPECT_EQ(block.exclusive.gpu_time, 2 * 1'000);
  EXPECT_EQ(block.inclusive.span, 22'500 + 22'000 - 5'000);
  EXPECT_EQ(block.inclusive.host_time, 2 * 15'000);
  EXPECT_EQ(block.inclusive.launches, 6);
  EXPECT_EQ(block.exclusive.launches, 2);
  EXPECT_EQ(block.inclusive.launch_time, 6 * 5'000);
  EXPECT_EQ(block.per_call.min, 13'000);
  EXPECT_EQ(block.per_call.max, 13'000);
  EXPECT_EQ(block.per_call.count, 2);
  // From call begin to start: 5000 and 5000 and 9000, in each pass; from call end: 4000 where positive.
  EXPECT_EQ(block.launch_latency.total, 2 * 19'000);
  EXPECT_EQ(block.launch_latency.count, 6);
  EXPECT_EQ(block.queue_delay.count, 2);
  EXPECT_EQ(block.queue_delay.total, 2 * 4'000);
  EXPECT_EQ(layer_of(r, "block 0 / mlp").inclusive.gpu_time, 2 * 12'000);
  EXPECT_EQ(layer_of(r, "").inclusive.gpu_time, 2 * 500);
  EXPECT_EQ(layer_of(r, "").inclusive.synchronisations, 2);
  EXPECT_EQ(phase_of(r).total.gpu_time, 2 * 13'500);
  EXPECT_EQ(phase_of(r).passes, 2);
  EXPECT_EQ(phase_of(r).step.max, 22'500);
  EXPECT_DOUBLE_EQ(r.quality.attributed, 26.0 / 27);
}

TEST_F(virtual_device_times, layers_on_two_streams_share_the_device) {
  const stream side = m.new_stream(0);
  {
    const scope pass = h.phase("decode");
    {
      const scope layer = h.layer("attention", 0);
      h.launch(s, "a", 20'000);  // runs 5000–25000
    }
    {
      const scope layer = h.layer("mlp", 0);
      h.launch(side, "b", 6'000);  // runs 10000–16000, beside a
      h.launch(s, "c", 4'000);     // runs 25000–29000, alone
    }
  }
  const varve::report r = proved(m.run());
  const varve::measures& attention = layer_of(r, "attention 0").inclusive;
  const varve::measures& mlp = layer_of(r, "mlp 0").inclusive;
  EXPECT_EQ(attention.gpu_time, 20'000);
  EXPECT_EQ(mlp.gpu_time, 10'000);
  EXPECT_DOUBLE_EQ(attention.shared_time, 14'000 + 6'000 / 2);
  EXPECT_DOUBLE_EQ(mlp.shared_time, 4'000 + 6'000 / 2);
  EXPECT_EQ(attention.alone_time, 14'000);
  EXPECT_EQ(mlp.alone_time, 4'000);
  EXPECT_EQ(phase_of(r).partition.compute, 24'000);
  EXPECT_EQ(mlp.span, 29'000 - 10'000);
}

TEST_F(virtual_device_times, two_kernels_of_one_layer_at_once_count_once) {
  const stream side = m.new_stream(0);
  {
    const scope pass = h.phase("decode");
    const scope layer = h.layer("experts", 0);
    h.launch(s, "a", 20'000);     // runs 5000–25000
    h.launch(side, "b", 20'000);  // runs 10000–30000
  }
  const varve::measures experts = layer_of(proved(m.run()), "experts 0").inclusive;
  EXPECT_EQ(experts.gpu_time, 25'000);
  EXPECT_EQ(experts.kernel_time, 40'000);
  EXPECT_DOUBLE_EQ(experts.shared_time, 25'000);
  EXPECT_EQ(experts.alone_time, 25'000);
}

TEST_F(virtual_device_times, a_kernel_that_begins_early_counts_from_its_predecessors_end) {
  {
    const scope pass = h.phase("decode");
    {
      const scope layer = h.layer("attention", 0);
      h.launch(s, "a", 20'000);  // runs 5000–25000
    }
    {
      const scope layer = h.layer("mlp", 0);
      h.launch(s, {"b", 10'000, 0, 4'000});  // runs 21000–31000: counts from 25000
      h.launch(s,
               {"c", 1'000, 0, 9'000});  // submitted 15000, b has 9000 to go at 22000: 22000–23000, counts 0
    }
  }
  const varve::report r = proved(m.run());
  const varve::measures& mlp = layer_of(r, "mlp 0").inclusive;
  EXPECT_EQ(mlp.gpu_time, 6'000);
  EXPECT_EQ(mlp.kernel_time, 11'000);
  EXPECT_EQ(mlp.overlap, 4'000 + 1'000);
  EXPECT_DOUBLE_EQ(layer_of(r, "attention 0").inclusive.shared_time, 20'000);
  EXPECT_EQ(phase_of(r).partition.compute, 26'000);
  EXPECT_EQ(phase_of(r).total.kernel_time, 31'000);
}

TEST_F(virtual_device_times, each_replay_is_a_call_of_the_captured_layers) {
  h.begin_capture(s);
  for (int i = 0; i < 2; ++i) {
    const scope layer = h.layer("block", i);
    h.launch(s, "a", 2'000);
    const scope op = h.op("mlp");
    h.launch(s, "b", 3'000);
  }
  const executable e = h.instantiate(h.end_capture(s));  // 4 x 1500, then 50000: 56000
  for (int step = 0; step < 3; ++step) {
    const scope pass = h.phase("decode");
    h.launch(s, e);    // 10000, then the graph 2000 + 3000 + 2000 + 3000
    h.synchronise(s);  // to the graph's end
  }
  const varve::report r = proved(m.run());
  const varve::row& block = layer_of(r, "block 1");
  EXPECT_EQ(block.inclusive.calls, 3);
  EXPECT_EQ(block.inclusive.gpu_time, 3 * 5'000);
  EXPECT_EQ(block.exclusive.gpu_time, 3 * 2'000);
  EXPECT_EQ(block.per_call.max, 5'000);
  EXPECT_EQ(block.inclusive.launches, 0);
  EXPECT_EQ(layer_of(r, "block 1 / mlp").inclusive.calls, 3);
  // The launches themselves were made outside any layer.
  EXPECT_EQ(layer_of(r, "").inclusive.graph_launches, 3);
  EXPECT_EQ(phase_of(r).total.launches, 3);
  EXPECT_EQ(phase_of(r).total.launch_time, 3 * 10'000);
  EXPECT_EQ(phase_of(r).launch_latency.count, 3);
  EXPECT_EQ(phase_of(r).launch_latency.total, 3 * 10'000);
  // Each pass lasts 20000, half of it busy; capture and building were before.
  EXPECT_EQ(phase_of(r).wall, 3 * 20'000);
  EXPECT_EQ(phase_of(r).partition.compute, 3 * 10'000);
  EXPECT_EQ(phase_of(r).partition.starved.launching, 3 * 10'000);
  EXPECT_DOUBLE_EQ(r.quality.attributed, 1);
  // The capture itself ran nothing: rows outside any pass, with calls and without time.
  EXPECT_EQ(layer_of(r, "block 1", "").inclusive.calls, 1);
  EXPECT_EQ(layer_of(r, "block 1", "").inclusive.gpu_time, 0);
  EXPECT_EQ(layer_of(r, "block 1", "").inclusive.launches, 0);
}

TEST_F(virtual_device_times, an_updated_graph_has_the_new_labels) {
  const auto capture = [&](int i) {
    h.begin_capture(s);
    const scope layer = h.layer("mlp", i);
    h.launch(s, "a", 1'000);
    return h.end_capture(s);
  };
  const graph first = capture(1);
  const graph second = capture(2);
  const executable e = h.instantiate(first);
  {
    const scope pass = h.phase("decode");
    h.launch(s, e);
    h.update(e, second);
    h.launch(s, e);
    h.launch(s, e);
  }
  const varve::report r = proved(m.run());
  EXPECT_EQ(layer_of(r, "mlp 1").inclusive.calls, 1);
  EXPECT_EQ(layer_of(r, "mlp 2").inclusive.calls, 2);
  EXPECT_EQ(phase_of(r).total.graph_build_time, 50'000);
}

TEST_F(virtual_device_times, models_are_apart_and_the_innermost_pass_wins) {
  {
    const scope target = h.phase("decode", "target");
    {
      const scope draft = h.phase("decode", "draft");
      const scope layer = h.layer("mlp", 3);
      h.launch(s, "a", 1'000);  // runs 5000–6000
    }
    const scope layer = h.layer("mlp", 3);
    h.launch(s, "b", 7'000);  // runs 10000–17000
  }
  const varve::report r = proved(m.run());
  EXPECT_EQ(layer_of(r, "mlp 3", "decode", 0, "draft").inclusive.gpu_time, 1'000);
  EXPECT_EQ(layer_of(r, "mlp 3", "decode", 0, "target").inclusive.gpu_time, 7'000);
  EXPECT_EQ(phase_of(r, "decode", 0, "draft").wall, 6'000);
  // The outer pass's wall holds the inner one's work too, though not as its own.
  EXPECT_EQ(phase_of(r, "decode", 0, "target").wall, 17'000);
  EXPECT_EQ(phase_of(r, "decode", 0, "target").partition.compute, 8'000);
  EXPECT_EQ(phase_of(r, "decode", 0, "target").total.gpu_time, 7'000);
}

TEST_F(virtual_device_times, work_handed_to_another_thread_stays_in_its_layer) {
  host& worker = m.new_host();
  {
    const scope pass = h.phase("decode");
    const scope layer = h.layer("mlp", 0);
    worker.await(h.post());
    const scope here = worker.adopt(layer);
    worker.launch(s, "a", 2'000);  // call 0–5000 on the worker, runs 5000–7000
    h.spend(500);
  }
  const varve::report r = proved(m.run());
  EXPECT_EQ(layer_of(r, "mlp 0").inclusive.gpu_time, 2'000);
  EXPECT_EQ(layer_of(r, "mlp 0").inclusive.launch_time, 5'000);
  EXPECT_EQ(layer_of(r, "mlp 0").inclusive.host_time, 500);
  EXPECT_EQ(phase_of(r).wall, 7'000);
}

TEST_F(virtual_device_times, devices_are_never_united) {
  m.device(3);
  const stream far = m.new_stream(3);
  {
    const scope pass = h.phase("decode");
    const scope layer = h.layer("mlp", 0);
    h.launch(s, "a", 10'000);    // device 0: 5000–15000
    h.launch(far, "b", 30'000);  // device 3: 10000–40000
  }
  const varve::report r = proved(m.run());
  EXPECT_EQ(layer_of(r, "mlp 0", "decode", 0).inclusive.gpu_time, 10'000);
  EXPECT_EQ(layer_of(r, "mlp 0", "decode", 3).inclusive.gpu_time, 30'000);
  EXPECT_EQ(layer_of(r, "mlp 0", "decode", 3).inclusive.launches, 1);
  // The pass lasts as long as its last work, on whichever device.
  EXPECT_EQ(phase_of(r, "decode", 0).wall, 40'000);
  EXPECT_EQ(phase_of(r, "decode", 3).wall, 40'000);
  EXPECT_EQ(phase_of(r, "decode", 3).partition.compute, 30'000);
}

TEST_F(virtual_device_times, copies_and_sets_count_beside_kernels) {
  {
    const scope pass = h.phase("prefill");
    const scope layer = h.layer("embedding");
    h.copy(s, 4'096, 7'000);  // call 0–6000, runs 6000–13000
    h.set(s, 100, 1'000);     // call 6000–10000, runs 13000–14000
    h.copy(s, 64, 500);       // call 10000–16000, runs 16000–16500
  }
  const varve::measures m0 = layer_of(proved(m.run()), "embedding", "prefill").inclusive;
  EXPECT_EQ(m0.copies, 2);
  EXPECT_EQ(m0.sets, 1);
  EXPECT_EQ(m0.copy_bytes, 4'160);
  EXPECT_EQ(m0.kernels, 0);
  EXPECT_EQ(m0.launches, 0);
  EXPECT_EQ(m0.gpu_time, 8'500);
  EXPECT_EQ(m0.kernel_time, 0);
}

TEST_F(virtual_device_times, requests_know_their_passes) {
  const ref first = m.request("chat", 1, 1'000, 90'000);
  m.request("chat", 2, 50'000, 60'000);
  h.spend(4'000);
  for (int step = 0; step < 3; ++step) {
    scope pass = h.phase(step == 0 ? "prefill" : "decode");
    pass.serves(first);
    h.launch(s, "a", 1'000);  // passes 4000–10000, 10000–16000, 16000–22000
    h.spend(1'000);
  }
  h.spend(80'000);
  const varve::report r = proved(m.run());
  ASSERT_EQ(r.requests.size(), 2U);
  const varve::request_row& one = r.requests[r.requests[0].index == 1 ? 0 : 1];
  const varve::request_row& two = r.requests[r.requests[0].index == 1 ? 1 : 0];
  EXPECT_EQ(one.passes, 3);
  EXPECT_EQ(one.total, 89'000);
  EXPECT_EQ(one.queue_wait, 3'000);
  EXPECT_EQ(one.time_to_first_token, 9'000);
  EXPECT_EQ(one.time_per_output_token, 6'000);
  EXPECT_EQ(two.passes, 0);
  EXPECT_EQ(two.queue_wait, -1);
}

}  // namespace
}  // namespace virtual_device
