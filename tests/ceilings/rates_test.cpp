// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "ceilings/rates.hpp"

#include <varve/io.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

namespace {

using namespace varve::ceilings_of_gpu;
using testing::ContainsRegex;
using testing::HasSubstr;
using varve::math_pipe;

constexpr std::int64_t mebi = std::int64_t{1} << 20U;

const measurement copy{"copy", math_pipe::unknown, {3.0e12, 2.9e12, 3.1e12}, 1.98e9};
const measurement triad{"triad", math_pipe::unknown, {3.2e12, 3.1e12, 3.0e12, 3.3e12}, 0};
const measurement reads{"read", math_pipe::unknown, {3.25e12, 3.24e12, 3.26e12}, 1.98e9};
const measurement fp16{"FP16 tensor", math_pipe::fp16_tensor, {700e12, 690e12, 720e12}, 1.4e9};
const measurement bf16{"BF16 tensor", math_pipe::bf16_tensor, {710e12}, 1.45e9};
const measurement tf32{"TF32 tensor", math_pipe::tf32_tensor, {400e12}, 0};
const measurement fp8{"FP8 tensor", math_pipe::fp8_tensor, {1300e12}, 1.3e9};
const measurement fp32{"FP32", math_pipe::fp32, {50e12}, 1.95e9};

varve::device_info h100() {
  varve::device_info device;
  device.name = "NVIDIA H100 80GB HBM3";
  device.multiprocessors = 132;
  device.compute_capability = 90;
  device.memory_bytes = 80LL << 30U;
  device.l2_bytes = 50 * mebi;
  return device;
}

TEST(gpu_rates, are_summed_up_by_their_median_and_spread) {
  EXPECT_EQ(copy.median(), 3.0e12);
  EXPECT_EQ(triad.median(), 3.15e12);  // (3.1 + 3.2) / 2
  EXPECT_EQ(copy.least(), 2.9e12);
  EXPECT_EQ(copy.most(), 3.1e12);
  EXPECT_NEAR(copy.spread(), 0.2 / 3.0, 1e-12);
  const measurement none;
  EXPECT_EQ(none.median() + none.least() + none.most() + none.spread(), 0);
}

TEST(gpu_rates, count_a_multiply_add_as_two) {
  EXPECT_EQ(product_flops(8192), 1099511627776.0);  // 2 · 2³⁹
}

TEST(gpu_rates, come_from_arrays_beyond_the_cache_and_within_the_memory) {
  EXPECT_EQ(array_bytes(0, 50 * mebi, 80000 * mebi), 400 * mebi);  // eight times the cache
  EXPECT_EQ(array_bytes(0, 4 * mebi, 80000 * mebi), 256 * mebi);   // at least
  EXPECT_EQ(array_bytes(1000 * mebi, 50 * mebi, 80000 * mebi), 1000 * mebi);
  EXPECT_EQ(array_bytes(0, 50 * mebi, 1200 * mebi), 100 * mebi);         // a quarter for three
  EXPECT_EQ(array_bytes(0, 50 * mebi, 12 * mebi + 12 * 21), mebi + 16);  // a multiple of 16
  EXPECT_EQ(array_bytes(0, 50 * mebi, 11 * mebi), 0);
}

TEST(gpu_rates, come_from_runs_long_enough_for_the_clock) {
  EXPECT_EQ(repetitions(0.001, 0.02), 20);
  EXPECT_EQ(repetitions(0.003, 0.02), 7);  // 6.7
  EXPECT_EQ(repetitions(1, 0.02), 1);
  EXPECT_EQ(repetitions(1e-9, 0.02), 1000);
  EXPECT_EQ(repetitions(0, 0.02), 1000);
}

TEST(gpu_rates, come_from_as_many_samples_as_time_allows) {
  const auto plan = [](double one, int asked) {
    const schedule s = schedule_of(one, asked);
    return std::pair{s.calls, s.samples};
  };
  EXPECT_EQ(plan(0.001, 9), (std::pair{100, 9}));     // 0.1 s each
  EXPECT_EQ(plan(0.001, 50), (std::pair{50, 50}));    // 2.5 s ÷ 50
  EXPECT_EQ(plan(0.001, 500), (std::pair{20, 125}));  // 20 ms at least, of which 125 fit
  EXPECT_EQ(plan(0.3, 9), (std::pair{1, 8}));         // 2.4 s
  EXPECT_EQ(plan(2, 9), (std::pair{1, 3}));           // at least
  EXPECT_EQ(plan(2, 2), (std::pair{1, 2}));           // no more than asked for
  EXPECT_EQ(plan(0, 9), (std::pair{1000, 9}));        // a clock that stands still
  EXPECT_EQ(plan(1e-9, 100000), (std::pair{1000, 100000}));
}

TEST(gpu_rates, have_the_clock_of_readings_that_there_are) {
  EXPECT_EQ(median_of_known({1.4e9, 0, 1.5e9, 1.2e9}), 1.4e9);
  EXPECT_EQ(median_of_known({0, 0}), 0);
  EXPECT_EQ(median_of_known({}), 0);
}

TEST(gpu_rates, become_ceilings_by_their_medians) {
  const varve::ceilings c = ceilings_from({copy, triad, fp16, fp32}, h100(), "box", "so");
  EXPECT_EQ(c.name, "box");
  EXPECT_EQ(c.source,
            "so; bandwidth, the highest of copy 3000.0 GB/s (6.7 % of 3), triad 3150.0 GB/s (9.5 % of 4), "
            "medians with the spread of runs");
  EXPECT_TRUE(c.measured);
  EXPECT_EQ(c.bandwidth, 3.15e12);  // the better of both
  EXPECT_EQ(c.peak(math_pipe::fp16_tensor), 700e12);
  EXPECT_EQ(c.peak(math_pipe::fp32), 50e12);
  EXPECT_EQ(c.peak(math_pipe::fp8_tensor), 0);
  EXPECT_EQ(c.multiprocessors, 132);
  EXPECT_EQ(c.compute_capability, 90);
  EXPECT_EQ(c.l2_bytes, 52428800.0);
}

// Decode reads weights: it could pass what a copy or a triad reach.
TEST(gpu_rates, of_reads_alone_are_the_bandwidth_where_they_are_the_highest) {
  const varve::ceilings c = ceilings_from({copy, triad, reads}, h100(), "box", "so");
  EXPECT_EQ(c.bandwidth, 3.25e12);
  EXPECT_THAT(c.source, HasSubstr("triad 3150.0 GB/s (9.5 % of 4), read 3250.0 GB/s (0.6 % of 3)"));
}

TEST(gpu_rates, hold_at_the_clock_of_their_products) {
  const varve::ceilings c = ceilings_from({copy, fp16, bf16, tf32, fp32, fp8}, h100(), "box", "so");
  EXPECT_EQ(c.clock, 1.4e9);  // of 1.3, 1.4, 1.45
  EXPECT_EQ(c.top_clock, 1.95e9);
  // Work at 1.68 GHz, a fifth more, is held against a fifth more.
  EXPECT_DOUBLE_EQ(varve::at_clock(c, 1.68e9).peak(math_pipe::fp16_tensor), 840e12);
  EXPECT_EQ(varve::at_clock(c, 1.68e9).bandwidth, c.bandwidth);
  const varve::ceilings unknown = ceilings_from({triad, tf32}, h100(), "box", "so");
  EXPECT_EQ(unknown.clock + unknown.top_clock, 0);
}

// Published of an H100 SXM5: 3350 GB/s and, in FP16, 989.4 TFLOP/s: 3150 are 94 % of the one, 700 71 % of the
// other. The ridge is 700 / 3.15 = 222.
TEST(gpu_rates, stand_beside_what_is_published) {
  const std::vector<measurement> all{triad, fp16};
  const varve::ceilings c = ceilings_from(all, h100(), "box", "so");
  const std::string table = to_table(c, all, varve::find_ceilings(h100()));
  EXPECT_THAT(table, ContainsRegex("triad +4 +- +3150.0 +3000.0 +3300.0 +9.5 % +3350.0 +94 %  GB/s\n"));
  EXPECT_THAT(table,
              ContainsRegex("FP16 tensor +3 +1400 +700.0 +690.0 +720.0 +4.3 % +989.4 +71 %  TFLOP/s\n"));
  EXPECT_THAT(table, HasSubstr("published of H100 SXM5 80GB: "));
  EXPECT_THAT(table, HasSubstr("ridge in FP16: 222 FLOP/B\n"));
  const std::string unknown = to_table(c, all, std::nullopt);
  EXPECT_THAT(unknown, ContainsRegex("triad .* - +GB/s\n"));
  EXPECT_THAT(unknown, HasSubstr("nothing is published"));
}

TEST(gpu_rates, are_kept_in_a_file_that_reports_take) {
  const std::vector<measurement> all{triad, fp16};
  const varve::ceilings c = ceilings_from(all, h100(), "box", "so");
  const std::string path = testing::TempDir() + "gpu_rates." + std::to_string(::getpid()) + ".json";
  const std::string text = with_samples(varve::to_json(c), all);
  std::ofstream{path} << text;
  const varve::ceilings read = varve::read_ceilings(path);
  std::remove(path.c_str());
  EXPECT_EQ(read.name, c.name);
  EXPECT_EQ(read.bandwidth, c.bandwidth);
  EXPECT_EQ(read.flops, c.flops);
  EXPECT_EQ(read.clock, 1.4e9);
  EXPECT_TRUE(read.measured);
  EXPECT_THAT(text, HasSubstr(R"({"what": "triad", "median": 3150000000000, "samples": [3200000000000, )"));
  EXPECT_THAT(text, HasSubstr(R"("median": 700000000000000, "clock": 1400000000, "samples": [7)"));
}

}  // namespace
