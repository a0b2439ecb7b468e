// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// occupancy_of() against the calculator of the CUDA toolkit, which is told the devices' properties.
#include <varve/device.hpp>

#include <gtest/gtest.h>

#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>

#include <array>
#include <cstddef>

namespace {

struct properties {
  int major, minor;
  int threads;     // of a multiprocessor
  int shared_kib;  // of a multiprocessor
  int opt_in_kib;  // of a block
  int reserved;    // bytes
};

// CUDA programming guide, tables of compute capabilities; the driver tells the same.
constexpr properties devices[] = {
    {6, 0, 2048, 64, 48, 0},       {6, 1, 2048, 96, 48, 0},       {7, 0, 2048, 96, 96, 0},
    {7, 5, 1024, 64, 64, 0},       {8, 0, 2048, 164, 163, 1024},  {8, 6, 1536, 100, 99, 1024},
    {8, 7, 1536, 164, 163, 1024},  {8, 9, 1536, 100, 99, 1024},   {9, 0, 2048, 228, 227, 1024},
    {10, 0, 2048, 228, 227, 1024}, {10, 3, 2048, 228, 227, 1024}, {11, 0, 1536, 228, 227, 1024},
    {12, 0, 1536, 100, 99, 1024},  {12, 1, 1536, 100, 99, 1024},
};

/// Blocks on a multiprocessor; 0 where the launch cannot run.
int calculated(const properties& p, int threads, int registers, std::size_t fixed, std::size_t dynamic) {
  cudaOccDeviceProp device;
  device.computeMajor = p.major;
  device.computeMinor = p.minor;
  device.maxThreadsPerBlock = 1024;
  device.maxThreadsPerMultiprocessor = p.threads;
  device.regsPerBlock = device.regsPerMultiprocessor = 65536;
  device.warpSize = 32;
  device.sharedMemPerBlock = 48 * 1024;
  device.sharedMemPerMultiprocessor = static_cast<std::size_t>(p.shared_kib) * 1024;
  device.numSms = 1;
  device.sharedMemPerBlockOptin = static_cast<std::size_t>(p.opt_in_kib) * 1024;
  device.reservedSharedMemPerBlock = static_cast<std::size_t>(p.reserved);
  cudaOccFuncAttributes function;
  function.maxThreadsPerBlock = 1024;
  function.numRegs = registers;
  function.sharedSizeBytes = fixed;
  function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  function.maxDynamicSharedSizeBytes = dynamic;
  function.numBlockBarriers = 1;
  const cudaOccDeviceState state;
  cudaOccResult result{};
  EXPECT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, threads, dynamic),
            CUDA_OCC_SUCCESS);
  return result.activeBlocksPerMultiprocessor;
}

int ours(const properties& p, int threads, int registers, std::size_t fixed, std::size_t dynamic) {
  varve::launch_shape s;
  s.grid[0] = s.grid[1] = s.grid[2] = 1;
  s.block[0] = static_cast<std::uint32_t>(threads);
  s.block[1] = s.block[2] = 1;
  s.registers = static_cast<std::uint32_t>(registers);
  s.static_shared_memory = static_cast<std::uint32_t>(fixed);
  s.dynamic_shared_memory = static_cast<std::uint32_t>(dynamic);
  const auto o = varve::occupancy_of(s, p.major * 10 + p.minor, 0);
  return o ? o->blocks : 0;
}

TEST(occupancy_calculator, gives_the_same_blocks_for_every_device) {
  constexpr std::array<std::size_t, 4> fixed{0, 1, 1024, 16 * 1024};
  int compared = 0;
  int ran = 0;
  for (const properties& p : devices) {
    for (int threads = 1; threads <= 1024; threads += threads < 64 ? 21 : 67) {
      for (int registers = 1; registers <= 255; registers += 11) {
        for (std::size_t i = 0; i < fixed.size(); ++i) {
          for (std::size_t dynamic = 0; dynamic <= 240 * 1024; dynamic += 23'333) {
            const int expected = calculated(p, threads, registers, fixed[i], dynamic);
            ASSERT_EQ(ours(p, threads, registers, fixed[i], dynamic), expected)
                << "cc " << p.major << '.' << p.minor << ", " << threads << " threads, " << registers
                << " registers, " << fixed[i] << " + " << dynamic << " bytes";
            ++compared;
            ran += expected > 0 ? 1 : 0;
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 200'000);
  EXPECT_GT(ran, compared / 4);  // they are no comparison of nothing with nothing
}

TEST(occupancy_calculator, gives_the_same_blocks_at_the_edges) {
  for (const properties& p : devices) {
    for (const int threads : {1, 31, 32, 33, 96, 128, 129, 992, 993, 1024}) {
      for (const int registers : {1, 8, 9, 31, 32, 33, 64, 65, 168, 248, 255}) {
        const auto most = static_cast<std::size_t>(p.opt_in_kib) * 1024;
        for (const std::size_t dynamic : {std::size_t{48 * 1024 - 1}, std::size_t{48 * 1024},
                                          std::size_t{48 * 1024 + 1}, most - 1, most, most + 1}) {
          ASSERT_EQ(ours(p, threads, registers, 0, dynamic), calculated(p, threads, registers, 0, dynamic))
              << "cc " << p.major << '.' << p.minor << ", " << threads << " threads, " << registers
              << " registers, " << dynamic << " bytes";
        }
      }
    }
  }
}

}  // namespace

#else

TEST(occupancy_calculator, gives_the_same_blocks_for_every_device) {
  GTEST_SKIP() << "cuda_occupancy.h was not found: install a CUDA toolkit to compare with it";
}

#endif
