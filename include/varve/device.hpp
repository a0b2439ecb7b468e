// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Ceilings: what a device can do at most, and how much of it a kernel's launch can fill.
#ifndef VARVE_DEVICE_HPP
#define VARVE_DEVICE_HPP

#include <varve/trace.hpp>
#include <varve/work.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace varve {
inline namespace v0 {

/// Rates that a device can reach at most. Dense ones: rates for sparse factors are never in here.
struct ceilings {
  std::string name;                        ///< "H100 SXM5 80GB"
  std::array<double, math_pipes> flops{};  ///< by math_pipe, in FLOP a second; 0: unknown, or it has none
  double bandwidth = 0;                    ///< of the device's memory, in bytes a second
  double l2_bytes = 0;                     ///< of its last cache; 0: unknown
  double l2_bandwidth = 0;                 ///< in bytes a second; 0: unknown
  double link_bandwidth = 0;               ///< to other devices (NVLink), both directions, in bytes a second
  double host_bandwidth = 0;               ///< to the host (PCIe), one direction, in bytes a second
  std::int32_t multiprocessors = 0;
  std::int32_t compute_capability = 0;  ///< 90 for 9.0; 0 when it has none
  double clock = 0;                     ///< at which rates of tensor cores hold, in Hz; 0: unknown
  double top_clock = 0;   ///< the highest that its driver sets, at which all other rates hold; 0: unknown
  bool measured = false;  ///< on this machine, and not published
  std::string source;     ///< who says so, and what is derived

  /// FLOP a second of a pipe, 0 when unknown.
  [[nodiscard]] double peak(math_pipe pipe) const noexcept { return flops[static_cast<std::size_t>(pipe)]; }
  /// FLOPs a byte at which compute and memory take equally long; 0 when either rate is unknown.
  [[nodiscard]] double ridge(math_pipe pipe) const noexcept {
    return bandwidth > 0 ? peak(pipe) / bandwidth : 0;
  }
};

/// The row of the table of published GPUs that a device is: the one whose name it has in full, apart from
/// "NVIDIA " before it ("A10G" is no A10, "RTX 4090 Laptop GPU" no RTX 4090); of several cards of one name
/// that with its multiprocessors, then with its memory. Of an instance (" MIG 1g.10gb" at the end) compute is
/// the part that the device's multiprocessors are of all, memory and cache the part that the profile names.
/// Where no row has the name, what is known of the device says that it is another card, or several rows fit
/// and nothing tells them apart: what follows from the clocks, multiprocessors and memory bus that the driver
/// tells (docs/devices.md), and `source` says so; rates of tensor cores are unknown then. Nothing where these
/// are not known either, and for such an instance.
[[nodiscard]] VARVE_API std::optional<ceilings> find_ceilings(const device_info& device);
/// The same by what a person types: "h200", "RTX 4090", "a100-sxm4-80gb"; whatever its case and punctuation.
/// Throws std::invalid_argument, which lists the nearest names, where none or several fit.
[[nodiscard]] VARVE_API ceilings ceilings_named(std::string_view name);
/// All rows, by age and size.
[[nodiscard]] VARVE_API std::vector<ceilings> all_ceilings();

/// The same device while its multiprocessors run at `hertz`: rates of tensor cores × hertz ÷ clock, other
/// rates × hertz ÷ top_clock; memory and links stay. Peaks of some GPUs are printed for a clock below the
/// highest (H100 SXM5: 1830 of 1980 MHz), so that work can pass 100 % of them; against a measured clock it
/// cannot. Rates whose clock is unknown stay, as those of an H20, which are capped by other means. All stays
/// when `hertz` is not positive.
[[nodiscard]] VARVE_API ceilings at_clock(const ceilings& device, double hertz);

/// What of a multiprocessor one kernel's launch can fill, by the rules of CUDA's occupancy calculator.
struct occupancy {
  enum class limit : std::uint8_t { unknown, warps, blocks, registers, shared_memory, grid };
  double theoretical = 0;   ///< resident warps ÷ the most that fit, on a multiprocessor with blocks enough
  std::int32_t blocks = 0;  ///< resident on one multiprocessor
  /// What allows the fewest blocks; of several that allow as many the first of this list. The grid where it
  /// has fewer blocks than fit on all multiprocessors.
  limit limited_by = limit::unknown;
  /// Blocks of the grid ÷ blocks resident on all multiprocessors; 0 where their number is unknown.
  double waves = 0;
  double tail = 0;  ///< share of the last wave's places that stay empty; 0 when it is full
};

/// Shared memory is taken as if the L1 cache left it all that it can. Nothing when the device's compute
/// capability is not in the table, the registers are unknown (0), or the launch could not run on it.
[[nodiscard]] VARVE_API std::optional<occupancy> occupancy_of(const launch_shape& shape,
                                                              std::int32_t compute_capability,
                                                              std::int32_t multiprocessors);

}  // namespace v0
}  // namespace varve

#endif  // VARVE_DEVICE_HPP
