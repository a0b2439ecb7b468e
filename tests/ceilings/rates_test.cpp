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

namespace {

using namespace varve::ceilings_of_gpu;
using testing::ContainsRegex;
using testing::HasSubstr;
using varve::math_pipe;

constexpr std::int64_t mebi = std::int64_t{1} << 20U;

const measurement copy{"copy", math_pipe::unknown, {3.0e12, 2.9e12, 3.1e12}};
const measurement triad{"triad", math_pipe::unknown, {3.2e12, 3.1e12, 3.0e12, 3.3e12}};
const measurement fp16{"FP16 tensor", math_pipe::fp16_tensor, {700e12, 690e12, 720e12}};
const measurement fp32{"FP32", math_pipe::fp32, {50e12}};

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

TEST(gpu_rates, become_ceilings_by_their_medians) {
  const varve::ceilings c = ceilings_from({copy, triad, fp16, fp32}, h100(), "box", "so");
  EXPECT_EQ(c.name, "box");
  EXPECT_EQ(c.source, "so");
  EXPECT_TRUE(c.measured);
  EXPECT_EQ(c.bandwidth, 3.15e12);  // the better of both
  EXPECT_EQ(c.peak(math_pipe::fp16_tensor), 700e12);
  EXPECT_EQ(c.peak(math_pipe::fp32), 50e12);
  EXPECT_EQ(c.peak(math_pipe::fp8_tensor), 0);
  EXPECT_EQ(c.multiprocessors, 132);
  EXPECT_EQ(c.compute_capability, 90);
  EXPECT_EQ(c.l2_bytes, 52428800.0);
}

// Published of an H100 SXM5: 3350 GB/s and, in FP16, 989.4 TFLOP/s: 3150 are 94 % of the one, 700 71 % of the
// other. The ridge is 700 / 3.15 = 222.
TEST(gpu_rates, stand_beside_what_is_published) {
  const std::vector<measurement> all{triad, fp16};
  const varve::ceilings c = ceilings_from(all, h100(), "box", "so");
  const std::string table = to_table(c, all, varve::find_ceilings(h100()));
  EXPECT_THAT(table, ContainsRegex("triad +3150.0 +3000.0 +3300.0 +9.5 % +3350.0 +94 %  GB/s\n"));
  EXPECT_THAT(table, ContainsRegex("FP16 tensor +700.0 +690.0 +720.0 +4.3 % +989.4 +71 %  TFLOP/s\n"));
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
  EXPECT_TRUE(read.measured);
  EXPECT_THAT(text, HasSubstr(R"({"what": "triad", "median": 3150000000000, "samples": [3200000000000, )"));
}

}  // namespace
