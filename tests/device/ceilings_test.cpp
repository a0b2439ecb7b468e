// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/device.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace {

using testing::HasSubstr;
using varve::ceilings;
using varve::ceilings_named;
using varve::math_pipe;

TEST(ceilings, ridges_of_gpus_are_what_their_sheets_give) {
  // FLOP a second ÷ bytes a second, by hand.
  const auto ridge = [](const char* name, math_pipe pipe) { return ceilings_named(name).ridge(pipe); };
  EXPECT_NEAR(ridge("RTX 4090", math_pipe::fp16_tensor), 163.9, 0.05);        // 165.2e12 ÷ 1.008e12
  EXPECT_NEAR(ridge("RTX 4090", math_pipe::fp16_tensor_fp16), 327.7, 0.05);   // 330.3e12 ÷ 1.008e12
  EXPECT_NEAR(ridge("RTX 4090", math_pipe::fp32), 81.9, 0.05);                // 82.6e12 ÷ 1.008e12
  EXPECT_NEAR(ridge("H100 SXM5 80GB", math_pipe::bf16_tensor), 295.3, 0.05);  // 989.4e12 ÷ 3.35e12
  EXPECT_NEAR(ridge("H100 SXM5 80GB", math_pipe::fp8_tensor), 590.7, 0.05);   // 1978.9e12 ÷ 3.35e12
  EXPECT_NEAR(ridge("A100-SXM4-80GB", math_pipe::fp16_tensor), 153.0, 0.05);  // 312e12 ÷ 2.039e12
  EXPECT_NEAR(ridge("T4", math_pipe::fp16_tensor), 203.1, 0.05);              // 65e12 ÷ 0.32e12
  EXPECT_NEAR(ridge("B200", math_pipe::fp4_tensor), 1168.8, 0.05);            // 9000e12 ÷ 7.7e12
  EXPECT_NEAR(ridge("V100-SXM2-16GB", math_pipe::fp16_tensor), 138.9, 0.05);  // 125e12 ÷ 0.9e12
  EXPECT_NEAR(ridge("H200", math_pipe::fp32), 13.9, 0.05);                    // 66.9e12 ÷ 4.8e12
}

TEST(ceilings, tells_a_ridge_of_0_where_a_rate_is_unknown) {
  EXPECT_EQ(ceilings_named("V100-SXM2-16GB").ridge(math_pipe::bf16_tensor), 0);  // it has none
  EXPECT_EQ(ceilings{}.ridge(math_pipe::fp32), 0);
}

TEST(ceilings, every_row_is_whole_and_its_own) {
  std::set<std::string> names;
  for (const ceilings& c : varve::all_ceilings()) {
    SCOPED_TRACE(c.name);
    EXPECT_TRUE(names.insert(c.name).second) << "two rows of one name";
    EXPECT_EQ(ceilings_named(c.name).name, c.name);
    EXPECT_GT(c.bandwidth, 1e11);  // the slowest has 192 GB/s
    EXPECT_LT(c.bandwidth, 1e13);
    EXPECT_GT(c.multiprocessors, 0);
    EXPECT_GT(c.peak(math_pipe::fp32), 5e12);  // the slowest, a Jetson: 5.3 TFLOPS
    EXPECT_LT(c.peak(math_pipe::fp32), 2e14);
    EXPECT_FALSE(c.source.empty());
    EXPECT_FALSE(c.measured);
    for (const double rate : c.flops) {
      EXPECT_TRUE(std::isfinite(rate) && rate >= 0 && rate < 2e16) << rate;
    }
  }
  EXPECT_GE(names.size(), 50U);
}

TEST(ceilings, dense_rates_follow_from_operations_a_clock) {
  // Each multiprocessor does so many operations a clock on CUDA cores in FP32; a sheet that lies 2.5 % off is
  // one that was misread, or of sparse or doubled rates. H20 is capped, and of GH200 and B200 no clock fits.
  for (const ceilings& c : varve::all_ceilings()) {
    if (c.compute_capability == 0 || c.top_clock == 0 || c.compute_capability >= 100) {
      continue;
    }
    const double per_clock = c.compute_capability == 60 || c.compute_capability == 70 ||
                                     c.compute_capability == 75 || c.compute_capability == 80
                                 ? 128
                                 : 256;
    const double expected = per_clock * c.multiprocessors * c.top_clock;
    EXPECT_NEAR(c.peak(math_pipe::fp32) / expected, 1, 0.025) << c.name;
  }
}

TEST(ceilings, sparse_rates_are_in_no_row) {
  // Dense FP16 with FP32 accumulation, FMA = 2: at most 8192 operations a clock on any multiprocessor of a
  // GPU, 4096 before Blackwell, 2048 before Hopper, 1024 before and beside A100.
  for (const ceilings& c : varve::all_ceilings()) {
    if (c.compute_capability == 0 || c.clock == 0) {
      continue;
    }
    const int cc = c.compute_capability;
    const double most = cc >= 100 && cc < 120 ? 8192 : cc == 90 ? 4096 : cc == 80 || cc == 87 ? 2048 : 1024;
    for (const math_pipe pipe : {math_pipe::fp16_tensor, math_pipe::bf16_tensor}) {
      EXPECT_LE(c.peak(pipe), most * c.multiprocessors * c.clock * 1.013) << c.name;
    }
    EXPECT_LE(c.peak(math_pipe::tf32_tensor), most / 2 * c.multiprocessors * c.clock * 1.013) << c.name;
  }
}

TEST(ceilings, geforce_cards_halve_rates_that_accumulate_in_fp32) {
  for (const char* name : {"RTX 3090", "RTX 4090", "RTX 5090", "RTX 2080 Ti"}) {
    const ceilings c = ceilings_named(name);
    EXPECT_NEAR(c.peak(math_pipe::fp16_tensor_fp16) / c.peak(math_pipe::fp16_tensor), 2, 0.01) << name;
  }
  for (const char* name : {"RTX A6000", "RTX 6000 Ada", "L40S", "A10"}) {
    const ceilings c = ceilings_named(name);
    EXPECT_EQ(c.peak(math_pipe::fp16_tensor_fp16), c.peak(math_pipe::fp16_tensor)) << name;
  }
}

TEST(ceilings, rates_of_cuda_cores_are_derived_from_the_clock_and_say_so) {
  // V100: 128 results of FP16 a clock, each a multiply-add: 256 · 80 · 1530e6 = 31.3e12.
  const ceilings v100 = ceilings_named("V100-SXM2-16GB");
  EXPECT_NEAR(v100.peak(math_pipe::fp16), 31.33e12, 0.01e12);
  EXPECT_NEAR(v100.peak(math_pipe::int8_dp4a), 62.67e12, 0.01e12);  // 64 lanes · 8 · 80 · 1530e6
  EXPECT_THAT(v100.source, HasSubstr("derived: FP16 and dp4a of CUDA cores"));
  // P40: 128 lanes · 8 · 30 · 1531e6 = 47.0e12, as its sheet prints; its FP16 is a sixty-fourth of FP32.
  const ceilings p40 = ceilings_named("P40");
  EXPECT_NEAR(p40.peak(math_pipe::int8_dp4a), 47.0e12, 0.1e12);
  EXPECT_NEAR(p40.peak(math_pipe::fp16), p40.peak(math_pipe::fp32) / 64, 0.01e12);
  // P100: printed, and without tensor cores and dp4a.
  const ceilings p100 = ceilings_named("P100 SXM2 16GB");
  EXPECT_EQ(p100.peak(math_pipe::fp16), 21.2e12);
  EXPECT_EQ(p100.peak(math_pipe::fp16_tensor), 0);
  EXPECT_EQ(p100.peak(math_pipe::int8_dp4a), 0);
}

TEST(ceilings, a_row_tells_what_no_source_was_read_for) {
  EXPECT_THAT(ceilings_named("RTX 4070").source, HasSubstr("not checked: FP32, clock, SMs, size of memory"));
  EXPECT_THAT(ceilings_named("P40").source, HasSubstr("not checked: rates"));
}

TEST(ceilings, pcie_and_nvlink_are_in_bytes_a_second) {
  const ceilings h100 = ceilings_named("H100 SXM5 80GB");
  EXPECT_EQ(h100.link_bandwidth, 900e9);
  EXPECT_NEAR(h100.host_bandwidth, 63.0e9, 0.1e9);  // 32e9 · 16 ÷ 8 · 128 ÷ 130
  EXPECT_NEAR(ceilings_named("T4").host_bandwidth, 15.75e9, 0.01e9);
  EXPECT_NEAR(ceilings_named("RTX 4060 Ti").host_bandwidth, 15.75e9, 0.01e9);  // the fourth, on 8 lanes
  EXPECT_NEAR(ceilings_named("B300 SXM").host_bandwidth, 121.0e9, 0.1e9);  // 64e9 · 16 ÷ 8 · 242 ÷ 256
  EXPECT_EQ(h100.l2_bytes, 50.0 * 1024 * 1024);
}

TEST(ceilings, scale_with_a_measured_clock) {
  const ceilings h100 = ceilings_named("H100 SXM5 80GB");
  EXPECT_EQ(h100.clock, 1830e6);
  EXPECT_EQ(h100.top_clock, 1980e6);
  const ceilings fast = varve::at_clock(h100, 1980e6);
  EXPECT_NEAR(fast.peak(math_pipe::fp16_tensor), 1070.5e12, 0.1e12);  // 989.4e12 · 1980 ÷ 1830
  EXPECT_DOUBLE_EQ(fast.peak(math_pipe::fp32), 66.9e12);              // which is printed for 1980 MHz
  EXPECT_EQ(fast.bandwidth, h100.bandwidth);
  EXPECT_EQ(fast.clock, 1980e6);
  const ceilings slow = varve::at_clock(h100, 990e6);
  EXPECT_NEAR(slow.peak(math_pipe::fp32), 33.45e12, 0.01e12);  // half
  // Scaling is the same in one step or two.
  EXPECT_NEAR(varve::at_clock(fast, 990e6).peak(math_pipe::fp16_tensor), slow.peak(math_pipe::fp16_tensor),
              1e6);
}

TEST(ceilings, stay_where_there_is_no_clock) {
  const ceilings h20 = ceilings_named("H20");  // capped: 148e12, where 4096 · 78 · 1980e6 would be 633e12
  EXPECT_EQ(h20.peak(math_pipe::fp16_tensor), 148e12);
  EXPECT_EQ(varve::at_clock(h20, 1e9).flops, h20.flops);
  const ceilings h100 = ceilings_named("H100 SXM5 80GB");
  EXPECT_EQ(varve::at_clock(h100, 0).flops, h100.flops);
  EXPECT_EQ(varve::at_clock(h100, std::nan("")).flops, h100.flops);
}

}  // namespace
