// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Phases, devices, requests, and what a report can be asked.
#include <gtest/gtest.h>

#include "analyze/trace_builder.hpp"

namespace {

using namespace varve_test;
using varve::call_kind;
using varve::range_kind;

TEST(phases, add_up_tokens_and_steps) {
  trace_builder b;
  const auto prefill = b.phase("prefill", 0, 100);
  const auto one = b.phase("decode", 100, 110);
  const auto two = b.phase("decode", 200, 230);
  b.t.attributes.push_back({prefill, VARVE_PREFILL_TOKENS, 512});
  b.t.attributes.push_back({prefill, VARVE_PREFILL_SEQUENCES, 2});
  b.t.attributes.push_back({one, VARVE_DECODE_TOKENS, 3});
  b.t.attributes.push_back({one, VARVE_DECODE_TOKENS, 4});  // set again: the last value holds
  b.t.attributes.push_back({one, VARVE_DECODE_SEQUENCES, 4});
  b.t.attributes.push_back({two, VARVE_DECODE_TOKENS, 6});
  b.t.attributes.push_back({two, VARVE_EMITTED_TOKENS, 5});
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "prefill").prefill_tokens, 512);
  EXPECT_EQ(phase_of(r, "prefill").sequences, 2);
  const varve::phase_row& decode = phase_of(r, "decode");
  EXPECT_EQ(decode.passes, 2);
  EXPECT_EQ(decode.decode_tokens, 10);
  EXPECT_EQ(decode.tokens(), 10);
  EXPECT_EQ(decode.sequences, 4);
  EXPECT_EQ(decode.emitted_tokens, 5);
  EXPECT_EQ(decode.wall, 40);
  EXPECT_EQ(decode.step.count, 2);
  EXPECT_EQ(decode.step.min, 10);
  EXPECT_EQ(decode.step.max, 30);
  EXPECT_DOUBLE_EQ(decode.step.deviation, 10);
  // Phases come in the order in which they first began to be marked.
  EXPECT_EQ(r.phases.at(0).phase, "prefill");
}

TEST(phases, by_batch_tells_batch_shapes_apart) {
  trace_builder b;
  const auto pass = [&](time_ns at, std::int64_t prefill, std::int64_t prefill_tokens, std::int64_t decode,
                        std::int64_t decode_tokens) {
    const auto p = b.phase("mixed", at, at + 50);
    b.t.attributes.push_back({p, VARVE_PREFILL_SEQUENCES, prefill});
    b.t.attributes.push_back({p, VARVE_PREFILL_TOKENS, prefill_tokens});
    b.t.attributes.push_back({p, VARVE_DECODE_SEQUENCES, decode});
    b.t.attributes.push_back({p, VARVE_DECODE_TOKENS, decode_tokens});
    b.launched_kernel(b.layer(p, "layer", 0, at, at + 40), at, at + 1, at + 10, at + 20);
  };
  pass(0, 1, 512, 16, 16);
  pass(100, 1, 512, 16, 16);
  pass(200, 0, 0, 8, 32);
  pass(300, 3, 1000, 0, 0);
  pass(400, 0, 7, 0, 0);
  const varve::report apart = b.analyze({true, {}});
  ASSERT_EQ(apart.phases.size(), 4U);
  EXPECT_EQ(apart.phases[0].batch, "prefill 1\u00d7512, decode 16");
  EXPECT_EQ(apart.phases[0].passes, 2);
  EXPECT_EQ(apart.phases[1].batch, "decode 8\u00d74");
  EXPECT_EQ(apart.phases[2].batch, "prefill 3 (1000 tokens)");
  EXPECT_EQ(apart.phases[3].batch, "prefill 7 tokens");
  ASSERT_EQ(apart.layers.size(), 4U);
  EXPECT_EQ(apart.layers[0].batch, apart.phases[0].batch);
  EXPECT_EQ(apart.layers[0].inclusive.calls, 2);
  const varve::report together = b.analyze();
  ASSERT_EQ(together.phases.size(), 1U);
  EXPECT_EQ(together.phases[0].batch, "");
  EXPECT_EQ(together.layers.at(0).inclusive.calls, 5);
}

TEST(devices, sums_of_all_that_ran_by_stream) {
  trace_builder b;
  const auto second = b.stream(0, 8);
  const auto elsewhere = b.stream(3, 7);
  b.stream(0, 9);  // nothing runs on it
  b.t.devices.push_back({3, "H100", 132, 90, 0});
  b.t.devices.push_back({0, "A10", 72, 86, 0});
  b.t.devices.push_back({5, "idle", 0, 0, 0});
  const auto pass = b.phase("decode", 0, 100);
  b.launched_kernel(pass, 0, 1, 10, 30);
  b.launched_kernel(pass, 1, 2, 25, 45);  // overlaps on its stream: the sum is 40, the union 35
  b.launched_kernel(none, 2, 3, 40, 60, "k", second);
  b.copy(b.call(call_kind::copy, pass, 3, 4), 55, 80, 1, second);
  b.launched_kernel(pass, 4, 5, 10, 15, "k", elsewhere);
  const varve::report r = b.analyze();
  ASSERT_EQ(r.devices.size(), 2U);
  const varve::device_row& first = r.devices[0];
  EXPECT_EQ(first.device.name, "A10");
  EXPECT_EQ(first.kernels, 3);
  EXPECT_EQ(first.kernel_time, 60);
  EXPECT_EQ(first.kernel_union, 50);  // [10, 60)
  EXPECT_EQ(first.busy, 70);          // [10, 80)
  EXPECT_EQ(first.gpu_span, 70);
  ASSERT_EQ(first.streams.size(), 2U);
  EXPECT_EQ(first.streams[0].kernel_time, 40);
  EXPECT_EQ(first.streams[0].kernel_union, 35);
  EXPECT_EQ(first.streams[1].stream.stream, 8U);
  EXPECT_EQ(first.streams[1].kernels, 1);
  EXPECT_EQ(first.streams[1].kernel_union, 20);
  EXPECT_EQ(r.devices[1].device.name, "H100");
  EXPECT_EQ(r.devices[1].kernel_time, 5);
}

TEST(requests, are_timed_by_the_passes_that_served_them) {
  trace_builder b;
  const auto request = b.range(range_kind::request, none, "chat", 7, 100, 1000);
  const auto lonely = b.range(range_kind::request, none, "unserved", no_index, 100, 300);
  const auto decode1 = b.phase("decode", 400, 450);
  const auto prefill = b.phase("prefill", 150, 200);
  const auto decode2 = b.phase("decode", 600, 660);
  b.launched_kernel(prefill, 150, 151, 160, 250);              // the pass lasts until 250
  for (const auto p : {decode2, prefill, decode1, decode1}) {  // in any order, one of them twice
    b.t.requests.push_back({request, p});
  }
  b.t.requests.push_back({request, lonely});  // no pass: counted as a loss
  const varve::report r = b.analyze();
  ASSERT_EQ(r.requests.size(), 2U);
  const varve::request_row& row = r.requests[0];
  EXPECT_EQ(row.label, "chat");
  EXPECT_EQ(row.index, 7);
  EXPECT_EQ(row.passes, 3);
  EXPECT_EQ(row.total, 900);
  EXPECT_EQ(row.queue_wait, 50);              // 150 − 100
  EXPECT_EQ(row.time_to_first_token, 150);    // 250 − 100
  EXPECT_EQ(row.time_per_output_token, 205);  // (660 − 250) ÷ 2
  EXPECT_EQ(r.requests[1].passes, 0);
  EXPECT_EQ(r.requests[1].total, 200);
  EXPECT_EQ(r.requests[1].queue_wait, -1);
  EXPECT_EQ(r.requests[1].time_to_first_token, -1);
  EXPECT_EQ(r.requests[1].time_per_output_token, -1);
  ASSERT_EQ(r.quality.losses.size(), 1U);
  EXPECT_EQ(r.quality.losses[0].count, 1U);
}

TEST(requests, a_request_that_was_cut_has_no_total) {
  trace_builder b;
  const auto request = b.range(range_kind::request, none, "chat", 7, 100, 1000);
  b.t.ranges[request].clipped_begin = true;
  b.t.requests.push_back({request, b.phase("decode", 400, 450)});
  b.t.requests.push_back({request, b.phase("decode", 500, 550)});
  const varve::report r = b.analyze();
  EXPECT_EQ(r.requests.at(0).total, -1);
  EXPECT_EQ(r.requests.at(0).queue_wait, -1);
  EXPECT_EQ(r.requests.at(0).time_to_first_token, -1);
  EXPECT_EQ(r.requests.at(0).time_per_output_token, 100);
  EXPECT_EQ(r.quality.clipped_ranges, 1);
}

TEST(report, finds_and_selects_rows) {
  trace_builder b;
  const auto pass = b.phase("decode", 0, 1000);
  for (int i = 0; i < 3; ++i) {
    b.launched_kernel(b.layer(pass, "layer", i, 100 * i, 100 * i + 90), 100 * i, 100 * i + 1, 100 * i + 10,
                      100 * i + 20 + 10 * (i % 2));
  }
  b.launched_kernel(b.layer(pass, "head", no_index, 300, 400), 300, 301, 310, 315);
  const varve::report r = b.analyze();
  EXPECT_EQ(r.find({"layer"})->index, 1);  // the one with the most GPU time
  EXPECT_EQ(r.find({"layer", 2})->path, "layer 2");
  EXPECT_EQ(r.find({"layer", 9}), nullptr);
  EXPECT_EQ(r.find({"layer", {}, "prefill"}), nullptr);
  EXPECT_EQ(r.find({{}, {}, {}, {}, {}, "head"})->inclusive.gpu_time, 5);
  EXPECT_EQ(r.select({"layer"}).size(), 3U);
  EXPECT_EQ(r.select({}).size(), 4U);
  EXPECT_EQ(r.select({"layer"})[2]->index, 2);
  EXPECT_TRUE(r.select({{}, {}, {}, {}, 1U}).empty());
}

TEST(report, inflation_is_the_profiled_wall_by_the_unprofiled) {
  trace_builder b;
  b.stream(1, 7);
  b.phase("decode", 0, 60);
  b.phase("prefill", 40, 100);  // overlaps: the wall of both is 100
  b.phase("decode", 200, 220);
  EXPECT_DOUBLE_EQ(b.analyze({false, 100}).inflation(), 1.2);
  EXPECT_DOUBLE_EQ(b.analyze().inflation(), 0);
  EXPECT_DOUBLE_EQ(b.analyze({false, 0}).inflation(), 0);
  EXPECT_EQ(b.analyze({false, 100}).unprofiled_wall, 100);
}

TEST(report, inflation_of_absurd_parts_does_not_overflow) {
  varve::report r;
  r.unprofiled_wall = 1;
  r.devices.emplace_back();
  r.devices[0].partition.compute = INT64_MAX;
  r.devices[0].partition.device_gap = INT64_MAX;
  EXPECT_DOUBLE_EQ(r.inflation(), 2.0 * static_cast<double>(INT64_MAX));
}

}  // namespace
