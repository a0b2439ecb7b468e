// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Verdicts by hand. The device does 1,000 FLOPs a picosecond on BF16 tensor cores (1 PFLOP/s), 50 TFLOP/s on
// FP32 cores, and moves 2,000 bytes a nanosecond (2 TB/s): its ridge is 500 FLOPs a byte.
#include "analyze/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace {

using testing::HasSubstr;
using varve::bound;
using varve::math_pipe;
using varve::analysis::facts;
using varve::analysis::judge;
using varve::analysis::roof_sums;

varve::ceilings device() {
  varve::ceilings c;
  c.name = "GPU";
  c.flops[static_cast<std::size_t>(math_pipe::bf16_tensor)] = 1e15;
  c.flops[static_cast<std::size_t>(math_pipe::fp32)] = 5e13;
  c.bandwidth = 2e12;
  c.l2_bytes = 50e6;
  c.link_bandwidth = 900e9;
  c.host_bandwidth = 64e9;
  return c;
}
const varve::ceilings gpu = device();

varve::work bf16_work(std::int64_t flops, std::int64_t bytes) {
  return {flops, bytes, 0, 0, math_pipe::bf16_tensor};
}

/// That `operators` take this long, all of it activities of known work.
facts done(const std::vector<varve::work>& operators, varve::time_ns time) {
  facts f;
  roof_sums sums;
  for (const varve::work& w : operators) {
    sums.add(w, gpu);
    f.declared += w;
  }
  f.roof = sums.times;
  f.pipe = varve::analysis::main_pipe(sums.times);
  f.device = &gpu;
  f.gpu_time = time;
  f.time = static_cast<double>(time);
  f.calls = 1;
  return f;
}

// 16,000,000 bytes take 8,000 ns at 2,000 a nanosecond; 16,000,000 FLOPs 16 ns. Of 10,000 ns that is 80 % and
// 0.16 %. 1.6 TB/s over 1 FLOP a byte.
TEST(verdict, is_memory_where_bytes_take_most_of_the_time) {
  const varve::verdict v = judge(done({bf16_work(16'000'000, 16'000'000)}, 10'000));
  EXPECT_EQ(v.by, bound::memory);
  EXPECT_EQ(v.side, bound::memory);
  EXPECT_EQ(v.pipe, math_pipe::bf16_tensor);
  EXPECT_DOUBLE_EQ(v.memory_share, 0.8);
  EXPECT_DOUBLE_EQ(v.compute_share, 0.0016);
  EXPECT_DOUBLE_EQ(v.roof_share, 0.8);
  EXPECT_EQ(v.why, "memory-bound: 1.6 of 2 TB/s (80 %) over 1 FLOP/B, ridge 500");
}

// 7e9 FLOPs take 7,000 ns at 1e6 a nanosecond, 7e6 bytes 3,500 ns: 70 % and 35 % of 10,000 ns.
TEST(verdict, is_compute_where_flops_do) {
  const varve::verdict v = judge(done({bf16_work(7'000'000'000, 7'000'000)}, 10'000));
  EXPECT_EQ(v.by, bound::compute);
  EXPECT_EQ(v.why, "compute-bound: 0.7 of 1 PFLOP/s BF16 tensor (70 %) over 1000 FLOP/B, ridge 500");
}

// 12,000,000 bytes take 6,000 ns: exactly 60 % of 10,000. One nanosecond longer and it is less.
TEST(verdict, begins_at_sixty_percent) {
  EXPECT_EQ(judge(done({bf16_work(1, 12'000'000)}, 10'000)).by, bound::memory);
  const varve::verdict v = judge(done({bf16_work(1, 12'000'000)}, 10'001));
  EXPECT_EQ(v.by, bound::latency);
  EXPECT_EQ(v.side, bound::memory);
  EXPECT_THAT(v.why, HasSubstr("latency-bound: 1.2 of 2 TB/s (60 %)"));
}

// Compute-bound 4,500 ns (FLOPs; its bytes take 1,000) and memory-bound 4,500 ns (bytes; its FLOPs take 10):
// the roof is 9,000 of 10,000 ns, compute 4,510, memory 5,500. Neither side alone reaches 60 %.
TEST(verdict, of_operators_of_both_kinds_is_by_the_roof_of_each) {
  const varve::verdict v =
      judge(done({bf16_work(4'500'000'000, 2'000'000), bf16_work(10'000'000, 9'000'000)}, 10'000));
  EXPECT_DOUBLE_EQ(v.roof_share, 0.9);
  EXPECT_DOUBLE_EQ(v.compute_share, 0.451);
  EXPECT_DOUBLE_EQ(v.memory_share, 0.55);
  EXPECT_EQ(v.by, bound::memory);
  EXPECT_THAT(v.why, HasSubstr("90 % of the roof, by operators of both kinds"));
}

TEST(verdict, names_what_a_kernel_fills_where_it_is_bound_by_latency) {
  varve::occupancy o;
  o.theoretical = 0.25;
  o.waves = 0.5;
  o.limited_by = varve::occupancy::limit::registers;
  facts f = done({bf16_work(1'000'000, 2'000'000)}, 10'000);  // 1,000 of 10,000 ns
  f.occupied = &o;
  const varve::verdict v = judge(f);
  EXPECT_EQ(v.by, bound::latency);
  EXPECT_THAT(v.why, HasSubstr("0.2 of 2 TB/s (10 %)"));
  EXPECT_THAT(v.why, HasSubstr("0.5 waves of blocks, 25 % of the warps that fit, limited by registers"));
}

TEST(verdict, is_withheld_without_ceilings_and_says_how_to_give_them) {
  facts f = done({bf16_work(1, 16'000'000)}, 10'000);
  f.device = nullptr;
  f.roof = {};
  const varve::verdict v = judge(f);
  EXPECT_EQ(v.by, bound::unknown);
  EXPECT_EQ(v.side, bound::unknown);
  EXPECT_THAT(v.why, HasSubstr("--device"));
}

TEST(verdict, says_nothing_of_work_where_the_trace_tells_none) {
  facts f;
  f.gpu_time = 100;
  f.time = 100;
  f.any_work = false;
  f.attributed = 0;
  EXPECT_EQ(judge(f).why, "");
  f.any_work = true;
  f.attributed = 1;
  EXPECT_EQ(judge(f).why, "withheld: its work is not known");
}

// Work of 501 of 10,000 ns is not known: 94.99 %. What is known takes 8,000 ns at the least, whatever the
// rest does; which side that makes the longer one nobody knows.
TEST(verdict, is_withheld_where_the_work_of_more_than_a_twentieth_is_not_known) {
  facts f = done({bf16_work(1, 16'000'000)}, 10'000);
  f.unknown_work = 500;
  EXPECT_EQ(judge(f).by, bound::memory);
  EXPECT_EQ(judge(f).side, bound::memory);
  f.unknown_work = 501;
  const varve::verdict v = judge(f);
  EXPECT_EQ(v.by, bound::unknown);
  EXPECT_EQ(v.side, bound::unknown);
  EXPECT_DOUBLE_EQ(v.roof_share, 0.8);
  EXPECT_THAT(v.why, HasSubstr("work is known for only 95 % of its GPU time"));
}

// Collectives take 1,000 of 11,000 ns: 501 of the other 10,000 are not known.
TEST(verdict, takes_collectives_for_no_work_that_could_be_known) {
  facts f = done({bf16_work(1, 16'000'000)}, 11'000);
  f.communication = 1'000;
  f.unknown_work = 500;
  EXPECT_EQ(judge(f).by, bound::memory);
  f.unknown_work = 501;
  EXPECT_THAT(judge(f).why, HasSubstr("known for only 95 % of its GPU time without collectives"));
}

TEST(verdict, is_withheld_where_layers_lack_more_than_a_twentieth) {
  facts f = done({bf16_work(1, 16'000'000)}, 10'000);
  f.attributed = 0.95;
  EXPECT_EQ(judge(f).by, bound::memory);
  f.attributed = 0.9;
  EXPECT_EQ(judge(f).by, bound::unknown);
  EXPECT_THAT(judge(f).why, HasSubstr("only 90 % of the phase's GPU time belongs to a layer"));
}

// 8,000 ns of bytes. FP32 cores would take as long, at 50 TFLOP/s, for 400,000,000 FLOPs of an unknown pipe:
// so many are hidden behind the bytes whatever runs them.
TEST(verdict, is_withheld_where_flops_of_unknown_pipes_could_matter) {
  const varve::work few{400'000'000, 16'000'000, 0, 0, math_pipe::unknown};
  EXPECT_EQ(judge(done({few}, 10'000)).by, bound::memory);
  const varve::work many{400'100'000, 16'000'000, 0, 0, math_pipe::unknown};
  const varve::verdict v = judge(done({many}, 10'000));
  EXPECT_EQ(v.by, bound::unknown);
  EXPECT_EQ(v.side, bound::unknown);
  EXPECT_EQ(v.roof_share, 0);
  EXPECT_THAT(v.why, HasSubstr("of 100 % of its FLOPs the math pipe, or its peak on GPU, is not known"));
  // A pipe that the device has no rate for is no better known.
  const varve::work fp8{400'100'000, 16'000'000, 0, 0, math_pipe::fp8_tensor};
  EXPECT_EQ(judge(done({fp8}, 10'000)).by, bound::unknown);
}

// 7e9 FLOPs take 70 % of 10,000 ns. What 7e6 bytes take nobody knows.
TEST(verdict, is_withheld_where_the_bandwidth_is_not_known) {
  facts f = done({bf16_work(7'000'000'000, 7'000'000)}, 10'000);
  varve::ceilings blind = gpu;
  blind.bandwidth = 0;
  f.device = &blind;
  f.roof.memory = 0;
  const varve::verdict v = judge(f);
  EXPECT_EQ(v.by, bound::unknown);
  EXPECT_EQ(v.side, bound::unknown);
  EXPECT_EQ(v.why, "withheld: the bandwidth of GPU's memory is not known");
}

// 200,000,000 bytes take 100,000 ns; in 95,000 it is 105.3 %, in 96,000 104.2 %.
TEST(verdict, is_withheld_where_the_roof_is_beaten) {
  EXPECT_EQ(judge(done({bf16_work(1, 200'000'000)}, 96'000)).by, bound::memory);
  const varve::verdict v = judge(done({bf16_work(1, 200'000'000)}, 95'000));
  EXPECT_EQ(v.by, bound::unknown);
  EXPECT_THAT(v.why, HasSubstr("beats the roof by 5.3 %: 2.11 of 2 TB/s (105 %)"));
}

// 10.8e9 FLOPs take 10,800 ns: 108 % of 10,000. The peak is for 1.8 GHz; at 2 GHz it is 111 % of that.
TEST(verdict, allows_for_a_clock_above_that_of_the_peak) {
  facts f = done({bf16_work(10'800'000'000, 1000)}, 10'000);
  EXPECT_EQ(judge(f).by, bound::unknown);
  varve::ceilings boosted = gpu;
  boosted.clock = 1.8e9;
  boosted.top_clock = 2e9;
  f.device = &boosted;
  EXPECT_EQ(judge(f).by, bound::compute);
  EXPECT_THAT(judge(f).why, HasSubstr("(108 %)"));
  EXPECT_THAT(judge(f).why, HasSubstr("that peak is for 1.8 GHz, the clock reaches 2 GHz"));
  f.gpu_time = 9'000;  // 120 %, of 1.05 · 2 ÷ 1.8 = 116.7 % at most
  EXPECT_EQ(judge(f).by, bound::unknown);
  EXPECT_THAT(judge(f).why, HasSubstr("is it more work than was done, another GPU, or did its clock pass the "
                                      "1.8 GHz that the peak is for?"));
}

// Compute-bound 7,000 ns (FLOPs; its bytes take 1,000) and memory-bound 5,000 ns (bytes; its FLOPs take 10):
// the roof is 12,000 of 10,000 ns, compute 7,010, memory 6,000. No single side is beaten.
TEST(verdict, of_a_beaten_roof_of_both_kinds_names_both) {
  facts f = done({bf16_work(7'000'000'000, 2'000'000), bf16_work(10'000'000, 10'000'000)}, 10'000);
  f.calls = 0;  // how much of it a cache could hold is not known
  const varve::verdict v = judge(f);
  EXPECT_EQ(v.by, bound::unknown);
  EXPECT_EQ(v.why,
            "withheld: beats the roof by 20 %, by operators of both kinds: 0.701 of 1 PFLOP/s BF16 tensor "
            "(70 %), 1.2 of 2 TB/s (60 %); is it more work than was done, or another GPU?");
}

// 12.5e9 FLOPs take 12,500 ns, 125 % of 10,000; 12.6e9 126 %, which no clock explains.
TEST(verdict, of_a_roof_that_no_clock_explains_asks_for_the_precision) {
  varve::ceilings clocked = gpu;
  clocked.clock = 1.8e9;
  const auto why = [&](std::int64_t flops) {
    facts f = done({bf16_work(flops, 1000)}, 10'000);
    f.device = &clocked;
    return judge(f).why;
  };
  EXPECT_THAT(why(12'500'000'000), HasSubstr("did its clock pass the 1.8 GHz that the peak is for?"));
  EXPECT_THAT(
      why(12'600'000'000),
      testing::EndsWith("beats the roof by 26 %: 1.26 of 1 PFLOP/s BF16 tensor (126 %); is it more work "
                        "than was done, another GPU, or another precision than BF16 tensor?"));
}

// 20,000,000 bytes take 10,000 ns by the memory, 4,000 by a cache of 5 TB/s that holds them.
TEST(verdict, is_by_the_cache_where_bytes_come_from_there) {
  facts f = done({bf16_work(1, 20'000'000)}, 5'000);  // 200 % of the memory's roof, 80 % of the cache's
  EXPECT_EQ(judge(f).by, bound::unknown);             // whose rate is not known
  EXPECT_THAT(judge(f).why, HasSubstr("20 MB a call fit its cache of 50 MB"));
  varve::ceilings cached = gpu;
  cached.l2_bandwidth = 5e12;
  f.device = &cached;
  EXPECT_EQ(judge(f).by, bound::memory);
  EXPECT_THAT(judge(f).why, HasSubstr("memory-bound by the cache: 4 of 5 TB/s (80 %)"));
  f.gpu_time = 8'000;  // 125 % and 50 %
  EXPECT_EQ(judge(f).by, bound::latency);
  f.gpu_time = 3'000;  // 133 % of the cache's
  EXPECT_EQ(judge(f).by, bound::unknown);
  f.gpu_time = 5'000;
  f.declared.weight_bytes = 60'000'000;  // too much for the cache
  f.roof.memory = f.roof.total = 30'000;
  EXPECT_EQ(judge(f).by, bound::unknown);
}

// Expected bytes take 8,000 of 10,000 ns. With 4,000,000 fewer it is 6,000 ns, still 60 %; with 5,000,000
// fewer 5,500 ns: latency, so nothing is sure.
TEST(verdict, of_mixtures_needs_all_bounds_to_agree) {
  varve::work experts = bf16_work(1, 16'000'000);
  experts.bytes_below = 4'000'000;
  experts.bytes_above = 2'000'000;
  EXPECT_EQ(judge(done({experts}, 10'000)).by, bound::memory);
  experts.bytes_below = 5'000'000;
  const varve::verdict v = judge(done({experts}, 10'000));
  EXPECT_EQ(v.by, bound::unknown);
  EXPECT_THAT(v.why, HasSubstr("bound by latency if the fewest, memory as expected, memory if the most"));
}

// Predicted at its roof, 8,000 ns of expected bytes: with 12,000,000 fewer it would take 2,000 ns, all of it
// by memory. With FLOPs for 6,000 ns it is bound by memory as expected, and by compute if the fewest are
// touched.
TEST(verdict, of_predicted_mixtures_judges_each_bound_by_the_time_that_it_would_take) {
  varve::work experts = bf16_work(1, 16'000'000);
  experts.bytes_below = 12'000'000;
  experts.bytes_above = 100'000'000;
  facts f = done({experts}, 8'000);
  EXPECT_EQ(judge(f).by, bound::unknown);  // of a run
  f.predicted = true;
  EXPECT_EQ(judge(f).by, bound::memory);
  experts.flops = 6'000'000'000;
  f = done({experts}, 8'000);
  f.predicted = true;
  EXPECT_THAT(judge(f).why,
              HasSubstr("bound by compute if the fewest, memory as expected, memory if the most"));
}

// 2.29 of 2.35 s; the device was busy for 58 ms: 2,350 / 58 = 40.5.
TEST(verdict, is_starved_where_nothing_was_submitted_for_half_the_wall) {
  facts f = done({bf16_work(1, 1'000'000)}, 58'000'000);
  varve::wall_partition wall;
  wall.compute = 58'000'000;
  wall.starved.launching = 1'000'000'000;
  wall.starved.other = 1'292'000'000;
  f.wall = &wall;
  f.launches = 280;
  const varve::verdict v = judge(f);
  EXPECT_EQ(v.by, bound::starved);
  EXPECT_EQ(v.side, bound::memory);
  EXPECT_EQ(v.why,
            "starved (launch-bound): nothing was submitted to the GPU for 2.29 s of 2.35 s (98 %), overhead "
            "ratio 40.5");
  wall.starved = {};
  wall.starved.other = 58'000'000;  // exactly half
  EXPECT_NE(judge(f).by, bound::starved);
}

// 200,000,000 bytes take 100,000 ns, 1000 % of the 10,000 that the device worked.
TEST(verdict, of_a_phase_that_starves_names_a_roof_that_is_beaten) {
  facts f = done({bf16_work(1, 200'000'000)}, 10'000);
  varve::wall_partition wall;
  wall.compute = 10'000;
  wall.starved.synchronising = 90'000;
  f.wall = &wall;
  const varve::verdict v = judge(f);
  EXPECT_EQ(v.by, bound::starved);
  EXPECT_EQ(v.why,
            "starved (synchronising): nothing was submitted to the GPU for 90 µs of 100 µs (90 %), overhead "
            "ratio 10; its work would take 1000 % of its GPU time at the roof, so it is more than was done, "
            "or the GPU is another");
  f.gpu_time = 100'000;  // exactly at the roof
  EXPECT_THAT(judge(f).why, testing::EndsWith("overhead ratio 10"));
}

TEST(verdict, of_what_starves_names_what_the_host_did_for_most_of_it) {
  facts f = done({bf16_work(1, 1'000'000)}, 1000);
  varve::wall_partition wall;
  wall.compute = 1000;
  f.wall = &wall;
  const auto why = [&](varve::starved_time starved) {
    wall.starved = starved;
    return judge(f).why.substr(0, judge(f).why.find(':'));
  };
  f.launches = 10;
  EXPECT_EQ(why({500, 0, 900, 0, 500}), "starved (launch-bound)");  // launching and the code around it
  EXPECT_EQ(why({500, 0, 1100, 0, 500}), "starved (synchronising)");
  EXPECT_EQ(why({0, 0, 0, 1100, 0}), "starved (allocating)");
  EXPECT_EQ(why({0, 1100, 0, 0, 0}), "starved (building graphs)");
  f.launches = 9.9;  // few: each for itself
  EXPECT_EQ(why({500, 0, 900, 0, 500}), "starved (synchronising)");
  EXPECT_EQ(why({500, 0, 100, 0, 700}), "starved (the engine's own code)");
  EXPECT_EQ(why({700, 0, 100, 0, 500}), "starved (launching)");
}

// A row's part of the wall: 100 ns busy, 20 idle with work submitted, 121 starved.
TEST(verdict, of_a_row_is_starved_by_its_part_of_the_wall) {
  facts f = done({bf16_work(1, 160'000)}, 100);
  f.device_gap = 20;
  f.starved.launching = 120;
  EXPECT_EQ(judge(f).by, bound::memory);
  f.starved.launching = 121;
  EXPECT_EQ(judge(f).by, bound::starved);
}

TEST(verdict, is_withheld_where_records_are_missing) {
  facts f = done({bf16_work(1, 16'000'000)}, 10'000);
  varve::wall_partition wall;
  wall.compute = 9'000;
  wall.unrecorded = 1'000;
  f.wall = &wall;
  EXPECT_EQ(judge(f).by, bound::unknown);
  EXPECT_THAT(judge(f).why, HasSubstr("not recorded for 10 % of the wall"));
}

// 800 of 1,000 ns in collectives of 160,000 bytes: 200 bytes a nanosecond of 450 that one direction carries.
TEST(verdict, is_communication_or_copy_where_most_time_goes_there) {
  facts f;
  f.gpu_time = 1000;
  f.time = 1000;
  f.device = &gpu;
  f.communication = 800;
  f.collective_bytes = 160'000;
  EXPECT_EQ(judge(f).by, bound::communication);
  EXPECT_EQ(judge(f).why,
            "communication-bound: collectives take 800 ns of 1 µs (80 %), at 200 GB/s; a direction of the "
            "links carries 450 GB/s");
  f.communication = 0;
  f.copying = 501;
  f.copy_bytes = 25'050;  // 50 bytes a nanosecond
  EXPECT_EQ(judge(f).by, bound::copy);
  EXPECT_THAT(judge(f).why, HasSubstr("at 50 GB/s; a direction of the link to the host carries 64 GB/s"));
  f.copying = 500;
  EXPECT_EQ(judge(f).by, bound::unknown);
}

TEST(verdict, takes_any_numbers) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t n : {most, least, std::int64_t{0}, std::int64_t{-1}}) {
    facts f = done({{n, n, n, n, static_cast<math_pipe>(200), n, n}}, n);
    static_cast<void>(judge(f));
    f.gpu_time = 1;
    EXPECT_NE(judge(f).by, bound::compute);
  }
}

}  // namespace
