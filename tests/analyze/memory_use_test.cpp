// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/memory_use.hpp"

#include "analyze/trace_builder.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace {

using namespace varve_test;
using varve::memory_event;
using varve::analysis::memory_use;

TEST(memory_use, what_came_and_went_and_was_there_at_most) {
  const memory_use memory{{{10, 4, true}, {20, -3, true}, {20, 100, false}, {30, 2, true}, {40, -1, true}}};
  const memory_use::change all = memory.between(0, 100);
  EXPECT_EQ(all.allocated, 6);
  EXPECT_EQ(all.freed, 4);
  EXPECT_EQ(all.peak, 4);  // 4, 1, 3, 2
  EXPECT_EQ(memory.held(10), 0);
  EXPECT_EQ(memory.held(11), 4);
  EXPECT_EQ(memory.held(100), 2);
  // From 20 to before 40: −3, −1. Never more than at the begin.
  EXPECT_EQ(memory.between(20, 40).allocated, 2);
  EXPECT_EQ(memory.between(20, 40).freed, 3);
  EXPECT_EQ(memory.between(20, 40).peak, 0);
  EXPECT_EQ(memory.between(40, 20).allocated, 0);
  EXPECT_EQ(memory_use{{}}.between(0, 100).peak, 0);
  EXPECT_TRUE((memory_use{{{10, 4, false}}}.empty()));
}

TEST(memory_use, peaks_are_those_of_a_walk) {
  std::mt19937_64 random{11};
  for (int size = 1; size < 40; ++size) {
    std::vector<memory_event> events;
    for (int i = 0; i < size; ++i) {
      events.push_back({i, static_cast<std::int64_t>(random() % 100) - 45, true});
    }
    const memory_use memory{events};
    for (int begin = 0; begin <= size; ++begin) {
      for (int end = begin; end <= size; ++end) {
        std::int64_t held = 0;
        std::int64_t peak = 0;
        for (int i = begin; i < end; ++i) {
          held += events[static_cast<std::size_t>(i)].bytes;
          peak = std::max(peak, held);
        }
        ASSERT_EQ(memory.between(begin, end).peak, peak) << size << ' ' << begin << ' ' << end;
        ASSERT_EQ(memory.between(begin, end).allocated - memory.between(begin, end).freed, held);
      }
    }
  }
}

TEST(memory_use, absurd_sizes_do_not_overflow) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const memory_use memory{{{1, most, true}, {2, most, true}, {3, -most - 1, true}}};
  EXPECT_EQ(memory.between(0, 9).allocated, std::int64_t{1} << 61);  // 2 × 2⁶² ÷ 4
  EXPECT_EQ(memory.between(0, 9).freed, std::int64_t{1} << 60);
}

/// In each of two passes of 100 ns a layer is handed 40 bytes, 10 of them in its attention, which gives 5
/// back; after the layer 20 are given back.
trace_builder allocating() {
  trace_builder b;
  for (const time_ns at : {1000, 2000}) {
    const auto pass = b.phase("decode", at, at + 100);
    const auto layer = b.layer(pass, "layer", 0, at, at + 50);
    const auto attention = b.layer(layer, "attention", no_index, at + 10, at + 30);
    b.launched_kernel(attention, at + 10, at + 12, at + 15, at + 20);
    b.t.memory_events.push_back({at, 30, true});
    b.t.memory_events.push_back({at + 10, 10, true});
    b.t.memory_events.push_back({at + 20, -5, true});
    b.t.memory_events.push_back({at + 50, -20, true});  // where the layer has ended
    b.t.memory_events.push_back({at + 60, 1000, false});
  }
  return b;
}

TEST(memory_use, rows_have_the_memory_that_came_and_went_in_their_ranges) {
  const varve::report r = allocating().analyze();
  const varve::row& layer = row_of(r.layers, "layer 0", "decode");
  EXPECT_EQ(layer.inclusive.allocated_bytes, 2 * 40);
  EXPECT_EQ(layer.inclusive.freed_bytes, 2 * 5);
  EXPECT_EQ(layer.inclusive.peak_bytes, 40);  // of one call
  EXPECT_EQ(layer.exclusive.allocated_bytes, 2 * 30);
  EXPECT_EQ(layer.exclusive.freed_bytes, 0);
  const varve::row& attention = row_of(r.layers, "layer 0 / attention", "decode");
  EXPECT_EQ(attention.exclusive.allocated_bytes, 2 * 10);
  EXPECT_EQ(attention.exclusive.freed_bytes, 2 * 5);
  EXPECT_EQ(attention.inclusive.peak_bytes, 10);
  const varve::phase_row& decode = phase_of(r, "decode");
  EXPECT_EQ(decode.total.allocated_bytes, 2 * 40);
  EXPECT_EQ(decode.total.freed_bytes, 2 * 25);
  EXPECT_EQ(decode.total.peak_bytes, 40);
  EXPECT_EQ(decode.samples.held_bytes, (std::vector<std::int64_t>{15, 30}));
  EXPECT_EQ(row_of(r.labels, "layer", "decode").inclusive.allocated_bytes, 2 * 40);
  EXPECT_EQ(row_of(r.labels, "layer", "decode").inclusive.peak_bytes, 40);
}

TEST(memory_use, what_is_in_no_layer_is_that_of_the_pass) {
  trace_builder b = allocating();
  b.launched_kernel(0, 1060, 1062, 1070, 1080);  // in the first pass
  const varve::report r = b.analyze();
  const varve::row& outside = row_of(r.layers, "", "decode");
  EXPECT_EQ(outside.inclusive.allocated_bytes, 0);
  EXPECT_EQ(outside.inclusive.freed_bytes, 2 * 20);
}

TEST(memory_use, a_trace_without_passes_is_one) {
  trace_builder b;
  b.launched_kernel(b.layer(none, "layer", 0, 0, 90), 0, 5, 10, 30);
  b.t.memory_events = {{5, 7, true}, {25, 3, true}};
  const varve::report r = b.analyze();
  EXPECT_EQ(phase_of(r, "(trace)").total.allocated_bytes, 10);
  EXPECT_EQ(row_of(r.layers, "layer 0", "(trace)").inclusive.allocated_bytes, 10);
}

TEST(memory_use, a_trace_that_tells_of_none_has_none) {
  trace_builder b;
  b.launched_kernel(b.phase("decode", 0, 100), 0, 5, 10, 30);
  EXPECT_TRUE(phase_of(b.analyze(), "decode").samples.held_bytes.empty());
}

}  // namespace
