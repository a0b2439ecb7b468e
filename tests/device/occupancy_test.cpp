// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include <varve/device.hpp>

#include <gtest/gtest.h>

namespace {

using limit = varve::occupancy::limit;

varve::launch_shape shape(std::uint32_t threads, std::uint32_t registers, std::uint32_t dynamic = 0,
                          std::uint32_t grid = 1) {
  varve::launch_shape s;
  s.grid[0] = grid;
  s.grid[1] = s.grid[2] = 1;
  s.block[0] = threads;
  s.block[1] = s.block[2] = 1;
  s.registers = registers;
  s.dynamic_shared_memory = dynamic;
  return s;
}

varve::occupancy of(const varve::launch_shape& s, std::int32_t compute_capability,
                    std::int32_t multiprocessors = 0) {
  const auto out = varve::occupancy_of(s, compute_capability, multiprocessors);
  EXPECT_TRUE(out.has_value());
  return out.value_or(varve::occupancy{});
}

/// As cuda_occupancy.h of CUDA 13.0 gives them.
TEST(occupancy, is_what_nvidias_calculator_gives) {
  struct vector {
    std::int32_t compute_capability;
    std::int32_t blocks[6];  // 256 threads of 32, 40, 64, 128, 255 registers; 128 threads with 48 KB
  };
  constexpr vector vectors[] = {
      {60, {8, 6, 4, 2, 1, 1}},  {61, {8, 6, 4, 2, 1, 2}},  {70, {8, 6, 4, 2, 1, 2}},
      {75, {4, 4, 4, 2, 1, 1}},  {80, {8, 6, 4, 2, 1, 3}},  {86, {6, 6, 4, 2, 1, 2}},
      {89, {6, 6, 4, 2, 1, 2}},  {120, {6, 6, 4, 2, 1, 2}}, {87, {6, 6, 4, 2, 1, 3}},
      {90, {8, 6, 4, 2, 1, 4}},  {100, {8, 6, 4, 2, 1, 4}}, {110, {6, 6, 4, 2, 1, 4}},
      {103, {8, 6, 4, 2, 1, 4}}, {121, {6, 6, 4, 2, 1, 2}},
  };
  for (const vector& v : vectors) {
    SCOPED_TRACE(v.compute_capability);
    constexpr std::uint32_t registers[] = {32, 40, 64, 128, 255};
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(of(shape(256, registers[i]), v.compute_capability).blocks, v.blocks[i]) << registers[i];
    }
    EXPECT_EQ(of(shape(128, 32, 48 * 1024), v.compute_capability).blocks, v.blocks[5]);
  }
}

TEST(occupancy, names_what_limits_it) {
  // cc 9.0: 64 warps, 32 blocks, 65536 registers, 228 KiB.
  EXPECT_EQ(of(shape(256, 32), 90).limited_by, limit::warps);  // 8 blocks of 8 warps
  EXPECT_DOUBLE_EQ(of(shape(256, 32), 90).theoretical, 1);
  EXPECT_EQ(of(shape(32, 32), 90).limited_by, limit::blocks);  // 32 blocks of one warp
  EXPECT_DOUBLE_EQ(of(shape(32, 32), 90).theoretical, 0.5);
  // 128 registers · 32 = 4096 a warp; 16384 a partition: 4 warps in each of 4, so 2 blocks of 8 warps.
  EXPECT_EQ(of(shape(256, 128), 90).limited_by, limit::registers);
  EXPECT_DOUBLE_EQ(of(shape(256, 128), 90).theoretical, 0.25);
  // 100 KiB and 1 KiB of the driver: 228 ÷ 101 = 2 blocks of 4 warps.
  EXPECT_EQ(of(shape(128, 32, 100 * 1024), 90).limited_by, limit::shared_memory);
  EXPECT_DOUBLE_EQ(of(shape(128, 32, 100 * 1024), 90).theoretical, 0.125);
}

TEST(occupancy, static_and_dynamic_shared_memory_add_up) {
  varve::launch_shape s = shape(128, 32, 20 * 1024);
  s.static_shared_memory = 28 * 1024;
  EXPECT_EQ(of(s, 80).blocks, 3);  // 49 KiB of 164, as 48 KiB of dynamic memory
}

TEST(occupancy, a_part_of_a_warp_takes_a_whole_one) {
  EXPECT_EQ(of(shape(33, 32), 90).blocks, of(shape(64, 32), 90).blocks);
  EXPECT_EQ(of(shape(224, 32), 90).blocks, 9);  // 7 warps: 64 ÷ 7
  EXPECT_DOUBLE_EQ(of(shape(224, 32), 90).theoretical, 63.0 / 64);
}

TEST(occupancy, threads_of_a_block_count_in_all_directions) {
  varve::launch_shape s = shape(16, 32);
  s.block[1] = 8;
  s.block[2] = 2;
  EXPECT_EQ(of(s, 90).blocks, of(shape(256, 32), 90).blocks);
}

TEST(occupancy, waves_and_tail_follow_from_the_grid) {
  // 132 multiprocessors · 8 blocks = 1056 places.
  const varve::occupancy full = of(shape(256, 32, 0, 2112), 90, 132);
  EXPECT_DOUBLE_EQ(full.waves, 2);
  EXPECT_DOUBLE_EQ(full.tail, 0);
  EXPECT_EQ(full.limited_by, limit::warps);
  const varve::occupancy one_more = of(shape(256, 32, 0, 2113), 90, 132);
  EXPECT_DOUBLE_EQ(one_more.waves, 2113.0 / 1056);
  EXPECT_DOUBLE_EQ(one_more.tail, 1055.0 / 1056);
  const varve::occupancy small = of(shape(256, 32, 0, 264), 90, 132);  // a quarter of a wave
  EXPECT_DOUBLE_EQ(small.waves, 0.25);
  EXPECT_DOUBLE_EQ(small.tail, 0.75);
  EXPECT_EQ(small.limited_by, limit::grid);
  EXPECT_DOUBLE_EQ(small.theoretical, 1);
}

TEST(occupancy, waves_are_unknown_without_multiprocessors) {
  for (const std::int32_t unknown : {0, -1}) {
    const varve::occupancy o = of(shape(256, 32, 0, 1), 90, unknown);
    EXPECT_EQ(o.waves, 0);
    EXPECT_EQ(o.tail, 0);
    EXPECT_EQ(o.limited_by, limit::warps);
  }
}

TEST(occupancy, takes_the_largest_grid) {
  varve::launch_shape s = shape(1024, 32, 0, 0x7fffffffU);
  s.grid[1] = s.grid[2] = 65535;
  EXPECT_NEAR(of(s, 90, 132).waves, 2147483647.0 * 65535 * 65535 / 264, 1e6);
}

TEST(occupancy, there_is_none_for_what_cannot_run) {
  const auto none = [](const varve::launch_shape& s, std::int32_t cc) {
    return !varve::occupancy_of(s, cc, 100).has_value();
  };
  EXPECT_TRUE(none(shape(1025, 32), 90));
  EXPECT_TRUE(none(shape(0, 32), 90));
  EXPECT_TRUE(none(shape(256, 32, 0, 0), 90));
  EXPECT_TRUE(none(shape(256, 256), 90));   // registers of a thread
  EXPECT_TRUE(none(shape(1024, 72), 90));   // 72 · 32 · 32 warps = 73728 registers of 65536
  EXPECT_FALSE(none(shape(1024, 64), 90));  // 65536 of 65536
  EXPECT_FALSE(none(shape(128, 32, 227 * 1024), 90));
  EXPECT_TRUE(none(shape(128, 32, 227 * 1024 + 1), 90));
  EXPECT_TRUE(none(shape(128, 32, 0xffffffffU), 90));
  EXPECT_TRUE(none(shape(128, 32, 48 * 1024 + 1), 61));
  varve::launch_shape deep = shape(1, 32);
  deep.block[2] = 65;
  EXPECT_TRUE(none(deep, 90));
  varve::launch_shape wide = shape(256, 32);
  wide.grid[1] = 65536;
  EXPECT_TRUE(none(wide, 90));
}

TEST(occupancy, there_is_none_where_too_little_is_known) {
  EXPECT_FALSE(varve::occupancy_of(shape(256, 0), 90, 132));
  for (const std::int32_t unknown : {0, -1, 35, 50, 94, 130}) {
    EXPECT_FALSE(varve::occupancy_of(shape(256, 32), unknown, 132)) << unknown;
  }
}

}  // namespace
