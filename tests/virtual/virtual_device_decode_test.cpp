// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// A decode loop at its natural size: 100 tokens, 29 layers of 10 kernels of 2 us, so 58 ms of work. Launched
// one by one it leaves the device idle nearly always; as a graph it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proof.hpp"
#include "support/virtual_device.hpp"

namespace virtual_device {
namespace {

constexpr int tokens = 100;
constexpr int layers = 29;
constexpr int kernels = 10;

TEST(virtual_device_decode, launched_one_by_one_is_bound_by_its_launches) {
  machine m;
  m.device(0);
  const stream s = m.new_stream(0);
  host& h = m.new_host();
  for (int token = 0; token < tokens; ++token) {
    const scope pass = h.phase("decode");
    for (int i = 0; i < layers; ++i) {
      const scope layer = h.layer("layer", i);
      for (int k = 0; k < kernels; ++k) {
        h.spend(75 * us);               // the engine's own code
        h.launch(s, "kernel", 2 * us);  // call of 5 us; runs while the engine goes on
      }
    }
    h.synchronise(s);  // 2 us, as long as the last kernel
    h.spend(298 * us);
  }
  const varve::report r = varve::analyze(to_trace(m.run()));
  // A token takes 290 x 80 us + 2 us + 298 us = 23.5 ms.
  const varve::phase_row& decode = phase_of(r);
  EXPECT_EQ(decode.wall, 2'350 * ms);
  EXPECT_EQ(decode.partition.busy(), 58 * ms);
  EXPECT_NEAR(decode.overhead_ratio(), 40.5, 0.05);
  EXPECT_EQ(decode.partition.starved.launching, tokens * 290 * 5 * us);
  EXPECT_EQ(decode.partition.starved.synchronising, 0);  // the last kernel ran meanwhile
  // The engine's 75 us before each launch, but for the first 2 us, in which the kernel before ran (not before
  // a token's first), and its 298 us at the end.
  EXPECT_EQ(decode.partition.starved.other, tokens * (290 * 75 - 289 * 2 + 298) * us);
  EXPECT_EQ(decode.partition.device_gap, 0);
  EXPECT_EQ(decode.total.launches, tokens * layers * kernels);
  EXPECT_EQ(decode.step.p99, 23'500 * us);
  EXPECT_EQ(layer_of(r, "layer 28").inclusive.calls, tokens);
  EXPECT_EQ(layer_of(r, "layer 28").per_call.max, 20 * us);
  EXPECT_EQ(r.quality.unmatched, 0);
  EXPECT_DOUBLE_EQ(r.quality.attributed, 1);
}

TEST(virtual_device_decode, replayed_as_a_graph_is_not) {
  machine m;
  m.device(0);
  const stream s = m.new_stream(0);
  host& h = m.new_host();
  h.begin_capture(s);
  for (int i = 0; i < layers; ++i) {
    const scope layer = h.layer("layer", i);
    for (int k = 0; k < kernels; ++k) {
      h.launch(s, "kernel", 2 * us);
    }
  }
  const executable e = h.instantiate(h.end_capture(s));
  for (int token = 0; token < tokens; ++token) {
    const scope pass = h.phase("decode");
    h.launch(s, e);    // call of 10 us
    h.synchronise(s);  // the graph's 580 us
    h.spend(298 * us);
  }
  const varve::report r = varve::analyze(to_trace(m.run()));
  // A token takes 10 us + 580 us + 298 us = 888 us.
  const varve::phase_row& decode = phase_of(r);
  EXPECT_EQ(decode.wall, 88'800 * us);
  EXPECT_EQ(decode.partition.busy(), 58 * ms);
  EXPECT_NEAR(decode.overhead_ratio(), 1.531, 0.001);
  EXPECT_EQ(decode.partition.starved.launching, tokens * 10 * us);
  EXPECT_EQ(decode.partition.starved.other, tokens * 298 * us);
  EXPECT_EQ(decode.total.launches, tokens);
  EXPECT_EQ(layer_of(r, "layer 28").inclusive.calls, tokens);
  EXPECT_EQ(layer_of(r, "layer 28").per_call.max, 20 * us);
  EXPECT_DOUBLE_EQ(r.quality.attributed, 1);
}

}  // namespace
}  // namespace virtual_device
