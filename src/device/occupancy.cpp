// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Theoretical occupancy, by the limits that the CUDA programming guide and libcu++ (arch_traits.h) publish.
#include <varve/device.hpp>

#include <algorithm>
#include <iterator>
#include <limits>

namespace varve {

namespace {

constexpr std::uint32_t kib = 1024;
constexpr std::uint32_t warp = 32;
constexpr std::uint32_t most_threads = 1024;       // in a block
constexpr std::uint32_t registers_in_all = 65536;  // of a multiprocessor, and at most of a block
constexpr std::uint32_t most_registers = 255;      // of a thread
constexpr std::uint32_t register_unit = 256;       // of a warp

/// Of one multiprocessor.
struct limits {
  std::int32_t compute_capability;
  std::uint32_t warps;
  std::uint32_t blocks;
  std::uint32_t partitions;    ///< each has its part of the registers
  std::uint32_t shared;        ///< KiB, where the L1 cache has the least
  std::uint32_t block_shared;  ///< KiB that a block may ask for
  std::uint32_t reserved;      ///< bytes of shared memory that the driver takes for each block
  std::uint32_t shared_unit;   ///< bytes
};

constexpr limits table[] = {
    {60, 64, 32, 2, 64, 48, 0, 256},       {61, 64, 32, 4, 96, 48, 0, 256},
    {70, 64, 32, 4, 96, 96, 0, 256},       {75, 32, 16, 4, 64, 64, 0, 256},
    {80, 64, 32, 4, 164, 163, 1024, 128},  {86, 48, 16, 4, 100, 99, 1024, 128},
    {87, 48, 16, 4, 164, 163, 1024, 128},  {89, 48, 24, 4, 100, 99, 1024, 128},
    {90, 64, 32, 4, 228, 227, 1024, 128},  {100, 64, 32, 4, 228, 227, 1024, 128},
    {103, 64, 32, 4, 228, 227, 1024, 128}, {110, 48, 24, 4, 228, 227, 1024, 128},
    {120, 48, 24, 4, 100, 99, 1024, 128},  {121, 48, 24, 4, 100, 99, 1024, 128},
};

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

/// Whether a device takes a grid and a block of these sizes.
bool valid(const launch_shape& s) noexcept {
  constexpr std::uint32_t most_blocks[] = {0x7fffffffU, 65535, 65535};
  constexpr std::uint32_t most_of_block[] = {1024, 1024, 64};
  for (std::size_t i = 0; i < 3; ++i) {
    if (s.grid[i] == 0 || s.grid[i] > most_blocks[i] || s.block[i] == 0 || s.block[i] > most_of_block[i]) {
      return false;
    }
  }
  return std::uint64_t{s.block[0]} * s.block[1] * s.block[2] <= most_threads;
}

/// Blocks that have registers; 0 where not even one has.
std::uint64_t blocks_by_registers(std::uint32_t registers, std::uint64_t warps,
                                  std::uint32_t partitions) noexcept {
  const std::uint64_t of_warp = round_up(std::uint64_t{registers} * warp, register_unit);
  // The device checks a launch as if each partition held as many of the block's warps. GP100, with two,
  // refuses what its siblings with four refuse.
  if (registers > most_registers || of_warp * round_up(warps, 4) > registers_in_all) {
    return 0;
  }
  return registers_in_all / partitions / of_warp * partitions / warps;
}

/// The same of shared memory.
std::uint64_t blocks_by_shared_memory(const launch_shape& s, const limits& of) noexcept {
  const std::uint64_t bytes =
      round_up(std::uint64_t{s.static_shared_memory} + s.dynamic_shared_memory + of.reserved, of.shared_unit);
  if (bytes > std::uint64_t{of.block_shared} * kib + of.reserved) {
    return 0;
  }
  return bytes == 0 ? std::numeric_limits<std::uint64_t>::max() : std::uint64_t{of.shared} * kib / bytes;
}

}  // namespace

inline namespace v0 {

std::optional<occupancy> occupancy_of(const launch_shape& shape, std::int32_t compute_capability,
                                      std::int32_t multiprocessors) {
  const auto* const of = std::find_if(std::begin(table), std::end(table), [&](const limits& l) {
    return l.compute_capability == compute_capability;
  });
  if (of == std::end(table) || shape.registers == 0 || !valid(shape)) {
    return std::nullopt;
  }
  const std::uint64_t threads = std::uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  const std::uint64_t warps = (threads + warp - 1) / warp;
  using limit = occupancy::limit;
  const struct {
    limit by;
    std::uint64_t blocks;
  } most[] = {{limit::warps, of->warps / warps},
              {limit::blocks, of->blocks},
              {limit::registers, blocks_by_registers(shape.registers, warps, of->partitions)},
              {limit::shared_memory, blocks_by_shared_memory(shape, *of)}};
  const auto* const least = std::min_element(
      std::begin(most), std::end(most), [](const auto& a, const auto& b) { return a.blocks < b.blocks; });
  if (least->blocks == 0) {
    return std::nullopt;
  }
  occupancy out;
  out.blocks = static_cast<std::int32_t>(least->blocks);
  out.theoretical = static_cast<double>(least->blocks * warps) / of->warps;
  out.limited_by = least->by;
  if (multiprocessors > 0) {
    const std::uint64_t grid = std::uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
    const std::uint64_t places = least->blocks * static_cast<std::uint64_t>(multiprocessors);
    const std::uint64_t last = grid % places;
    out.waves = static_cast<double>(grid) / static_cast<double>(places);
    out.tail = last == 0 ? 0 : static_cast<double>(places - last) / static_cast<double>(places);
    if (grid < places) {
      out.limited_by = limit::grid;
    }
  }
  return out;
}

}  // namespace v0
}  // namespace varve
