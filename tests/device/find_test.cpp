// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/device.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::HasSubstr;
using varve::math_pipe;

constexpr std::int64_t gib = std::int64_t{1} << 30U;

varve::device_info device(const char* name, std::int32_t multiprocessors = 0, std::int64_t memory = 0) {
  varve::device_info out;
  out.name = name;
  out.multiprocessors = multiprocessors;
  out.memory_bytes = memory;
  return out;
}

std::string found(const varve::device_info& d) {
  const auto c = varve::find_ceilings(d);
  return c ? c->name : "none";
}

TEST(find_ceilings, knows_the_names_that_drivers_print) {
  EXPECT_EQ(found(device("NVIDIA H100 80GB HBM3", 132)), "H100 SXM5 80GB");
  EXPECT_EQ(found(device("Tesla V100-SXM2-16GB", 80)), "V100 SXM2 16GB");
  EXPECT_EQ(found(device("Tesla T4", 40)), "T4");
  EXPECT_EQ(found(device("NVIDIA B200", 148)), "B200 SXM");
  EXPECT_EQ(found(device("AMD Instinct MI300X", 304)), "MI300X");
}

TEST(find_ceilings, takes_names_with_and_without_nvidia) {
  EXPECT_EQ(found(device("A100-SXM4-80GB")), "A100 SXM4 80GB");
  EXPECT_EQ(found(device("NVIDIA A100-SXM4-80GB")), "A100 SXM4 80GB");
  EXPECT_EQ(found(device("NVIDIA Tesla T4")), "T4");
}

TEST(find_ceilings, tells_names_apart_that_begin_alike) {
  EXPECT_EQ(found(device("NVIDIA A10")), "A10");
  EXPECT_EQ(found(device("NVIDIA A10G")), "A10G");
  EXPECT_EQ(found(device("NVIDIA A100 80GB PCIe")), "A100 PCIe 80GB");
  EXPECT_EQ(found(device("NVIDIA L4")), "L4");
  EXPECT_EQ(found(device("NVIDIA L40")), "L40");
  EXPECT_EQ(found(device("NVIDIA L40S")), "L40S");
  EXPECT_EQ(found(device("NVIDIA H20")), "H20 96GB");
  EXPECT_EQ(found(device("NVIDIA H20-3e")), "H20-3e 141GB");
  EXPECT_EQ(found(device("NVIDIA H200")), "H200 SXM 141GB");
  EXPECT_EQ(found(device("NVIDIA H200 NVL")), "H200 NVL 141GB");
  EXPECT_EQ(found(device("NVIDIA H100 PCIe")), "H100 PCIe 80GB");
  EXPECT_EQ(found(device("NVIDIA H100 NVL")), "H100 NVL 94GB");
  EXPECT_EQ(found(device("NVIDIA H800")), "H800 SXM5 80GB");
  EXPECT_EQ(found(device("NVIDIA B200")), "B200 SXM");
  EXPECT_EQ(found(device("NVIDIA GB200")), "GB200");
}

TEST(find_ceilings, takes_no_card_for_another) {
  for (const char* name :
       {"NVIDIA H100", "NVIDIA H800 PCIe", "NVIDIA GeForce RTX 4090 D", "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA GeForce RTX 4080 SUPER", "NVIDIA GeForce RTX 3080 Ti", "NVIDIA A10-24Q",
        "NVIDIA A100-SXM-64GB", "Quadro RTX 6000", "GeForce", "NVIDIA ", "", "CPU"}) {
    EXPECT_EQ(found(device(name)), "none") << name;
  }
}

TEST(find_ceilings, the_gigabytes_in_the_name_of_a_gh200_are_the_hosts) {
  const auto c = varve::find_ceilings(device("NVIDIA GH200 480GB", 132, 96 * gib));
  ASSERT_TRUE(c);
  EXPECT_EQ(c->name, "GH200 96GB HBM3");
  EXPECT_EQ(c->bandwidth, 4000e9);
}

TEST(find_ceilings, multiprocessors_tell_cards_of_one_name_apart) {
  EXPECT_EQ(found(device("NVIDIA GeForce RTX 3080", 68)), "GeForce RTX 3080 10GB");
  EXPECT_EQ(found(device("NVIDIA GeForce RTX 3080", 70)), "GeForce RTX 3080 12GB");
  EXPECT_EQ(found(device("NVIDIA GeForce RTX 3080", 71)), "none");
  EXPECT_EQ(found(device("NVIDIA GeForce RTX 3080")), "none");  // nothing tells which
}

TEST(find_ceilings, memory_tells_cards_of_one_name_apart) {
  EXPECT_EQ(found(device("NVIDIA GeForce RTX 3060", 28, 12 * gib - gib / 4)), "GeForce RTX 3060 12GB");
  EXPECT_EQ(found(device("NVIDIA GeForce RTX 3060", 28, 8 * gib - gib / 4)), "GeForce RTX 3060 8GB");
  EXPECT_EQ(found(device("NVIDIA GeForce RTX 3080", 0, 12 * gib - gib / 4)), "GeForce RTX 3080 12GB");
  EXPECT_EQ(found(device("NVIDIA GeForce RTX 3060", 28)), "none");
}

TEST(find_ceilings, a_name_that_many_modules_share_needs_their_multiprocessors) {
  EXPECT_EQ(found(device("Orin", 16)), "Jetson AGX Orin 64GB");
  EXPECT_EQ(found(device("Orin", 8)), "none");
  EXPECT_EQ(found(device("Orin")), "none");
  EXPECT_EQ(found(device("AMD Instinct MI250X", 110)), "MI250X GCD");
  EXPECT_EQ(found(device("AMD Instinct MI250X/MI250", 104)), "none");
}

TEST(find_ceilings, another_compute_capability_or_size_is_another_card) {
  varve::device_info t4 = device("Tesla T4", 40);
  t4.compute_capability = 75;
  EXPECT_EQ(found(t4), "T4");
  t4.compute_capability = 80;
  EXPECT_EQ(found(t4), "none");
  EXPECT_EQ(found(device("Tesla T4", 30)), "none");
}

TEST(find_ceilings, an_instance_has_its_part_of_the_gpu) {
  // 14 of 108 multiprocessors; 5 of 40 GB are 1/8 of the memory: 1555e9 ÷ 8 = 194.375e9 B/s, and of 40 MiB
  // L2.
  const auto c = varve::find_ceilings(device("NVIDIA A100-SXM4-40GB MIG 1g.5gb", 14));
  ASSERT_TRUE(c);
  EXPECT_EQ(c->name, "A100 SXM4 40GB MIG 1g.5gb");
  EXPECT_EQ(c->multiprocessors, 14);
  EXPECT_NEAR(c->peak(math_pipe::fp16_tensor), 312e12 * 14 / 108, 1e6);
  EXPECT_EQ(c->bandwidth, 194.375e9);
  EXPECT_EQ(c->l2_bytes, 5.0 * 1024 * 1024);
  EXPECT_EQ(c->link_bandwidth, 0);
  EXPECT_THAT(c->source, HasSubstr("14 of 108 SMs, 1/8 of memory"));
}

TEST(find_ceilings, memory_of_instances_comes_in_eighths) {
  const auto eighths = [](const char* name) {
    const auto c = varve::find_ceilings(device(name, 16));
    return c ? c->bandwidth / 3350e9 * 8 : -1;
  };
  EXPECT_NEAR(eighths("NVIDIA H100 80GB HBM3 MIG 1g.10gb"), 1, 1e-9);
  EXPECT_NEAR(eighths("NVIDIA H100 80GB HBM3 MIG 1g.10gb+me"), 1, 1e-9);
  EXPECT_NEAR(eighths("NVIDIA H100 80GB HBM3 MIG 1g.20gb"), 2, 1e-9);
  EXPECT_NEAR(eighths("NVIDIA H100 80GB HBM3 MIG 1c.3g.40gb"), 4, 1e-9);
  EXPECT_NEAR(eighths("NVIDIA H100 80GB HBM3 MIG 7g.80gb"), 8, 1e-9);
  // 94 GB: 12 ÷ 94 · 8 = 1.02.
  const auto nvl = varve::find_ceilings(device("NVIDIA H100 NVL MIG 1g.12gb", 16));
  ASSERT_TRUE(nvl);
  EXPECT_EQ(nvl->bandwidth, 3938e9 / 8);
}

TEST(find_ceilings, slices_stand_for_multiprocessors_that_are_unknown) {
  // Two of seven; of three with one compute slice, one of seven.
  const auto two = varve::find_ceilings(device("NVIDIA A100-SXM4-40GB MIG 2g.10gb"));
  ASSERT_TRUE(two);
  EXPECT_NEAR(two->peak(math_pipe::fp16_tensor), 312e12 * 2 / 7, 1e6);
  const auto one = varve::find_ceilings(device("NVIDIA A100-SXM4-40GB MIG 1c.3g.20gb"));
  ASSERT_TRUE(one);
  EXPECT_NEAR(one->peak(math_pipe::fp16_tensor), 312e12 / 7, 1e6);
}

TEST(find_ceilings, a_damaged_profile_scales_nothing_that_it_does_not_tell) {
  for (const char* name : {"NVIDIA A100-SXM4-40GB MIG ", "NVIDIA A100-SXM4-40GB MIG -1g.-5gb",
                           "NVIDIA A100-SXM4-40GB MIG 99999999999999999999g.5gb",
                           "NVIDIA A100-SXM4-40GB MIG g", "NVIDIA A100-SXM4-40GB MIG 1"}) {
    const auto c = varve::find_ceilings(device(name, 14));
    ASSERT_TRUE(c) << name;
    EXPECT_EQ(c->bandwidth, 1555e9) << name;
    EXPECT_NEAR(c->peak(math_pipe::fp32), 19.5e12 * 14 / 108, 1e6) << name;
  }
  EXPECT_EQ(found(device("NVIDIA A100-SXM4-40GB MIG 1g.5gb", 109)), "none");  // more than the whole has
}

/// Of no table, with all that the driver tells.
varve::device_info unlisted(const char* name) {
  varve::device_info out{0, name, 28, 86, 12 * gib};
  out.clock = 1'777'000'000;
  out.memory_clock = 7'501'000'000;
  out.memory_bus = 192;
  out.l2_bytes = 2'359'296;
  return out;
}

TEST(find_ceilings, takes_what_the_driver_tells_of_a_gpu_that_no_row_has) {
  // 28 SMs · 128 lanes · 2 · 1.777 GHz = 12.737536e12, FP16 on cores likewise; 192 / 8 · 2 · 7.501 GHz.
  const auto c = varve::find_ceilings(unlisted("NVIDIA GeForce RTX 3060 Laptop GPU"));
  ASSERT_TRUE(c);
  EXPECT_EQ(c->name, "NVIDIA GeForce RTX 3060 Laptop GPU");
  EXPECT_EQ(c->peak(math_pipe::fp32), 12.737536e12);
  EXPECT_EQ(c->peak(math_pipe::fp16), 12.737536e12);
  EXPECT_EQ(c->bandwidth, 360.048e9);
  EXPECT_EQ(c->peak(math_pipe::fp16_tensor), 0);
  EXPECT_EQ(c->peak(math_pipe::fp64), 0);
  EXPECT_EQ(c->l2_bytes, 2'359'296);
  EXPECT_EQ(c->multiprocessors, 28);
  EXPECT_EQ(c->top_clock, 1.777e9);
  EXPECT_FALSE(c->measured);
  EXPECT_EQ(c->source,
            "from attributes that the driver tells: 28 SMs × 128 FP32 lanes (compute capability 8.6) × 2 × "
            "1777 MHz; memory of 192 bits × 2 × 7501 MHz; rates of tensor cores unknown");
  EXPECT_EQ(varve::find_ceilings(unlisted(""))->name, "GPU of compute capability 8.6");
  EXPECT_EQ(found(unlisted("NVIDIA GeForce RTX 3060")), "GeForce RTX 3060 12GB");  // rows go first
  EXPECT_EQ(found(unlisted("Tesla T4")), "Tesla T4");                              // another card
}

TEST(find_ceilings, takes_no_more_than_the_driver_tells) {
  varve::device_info d = unlisted("new");
  d.compute_capability = 130;
  auto c = varve::find_ceilings(d);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->peak(math_pipe::fp32), 0);
  EXPECT_EQ(c->bandwidth, 360.048e9);
  d.memory_clock = 0;
  EXPECT_FALSE(varve::find_ceilings(d));
  d = unlisted("new");
  d.memory_bus = -192;
  d.l2_bytes = -1;
  c = varve::find_ceilings(d);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->bandwidth, 0);
  EXPECT_EQ(c->l2_bytes, 0);
  EXPECT_EQ(c->peak(math_pipe::fp32), 12.737536e12);
  EXPECT_FALSE(varve::find_ceilings(unlisted("new MIG 1g.5gb")));  // whose memory is a part of that
}

// The lanes are right if all that is printed divides to them; some peaks are of a clock below the highest.
TEST(find_ceilings, attributes_give_the_rates_that_are_printed) {
  int rows = 0;
  for (const varve::ceilings& printed : varve::all_ceilings()) {
    varve::device_info d{0, "new", printed.multiprocessors, printed.compute_capability};
    d.clock = static_cast<std::int64_t>(printed.top_clock);
    const auto c = varve::find_ceilings(d);
    if (c && printed.peak(math_pipe::fp32) > 0) {
      ++rows;
      EXPECT_NEAR(c->peak(math_pipe::fp32) / printed.peak(math_pipe::fp32), 1, 0.05) << printed.name;
    }
  }
  EXPECT_GT(rows, 50);
}

}  // namespace
