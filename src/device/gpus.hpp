// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Published GPUs. Rates are dense: where a sheet prints rates for sparse factors (2:4), half of it.
#ifndef VARVE_DEVICE_GPUS_HPP
#define VARVE_DEVICE_GPUS_HPP

#include <varve/device.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace varve::device {

/// What a row says, one bit each. Rates that no field stands for are derived for all rows.
enum field : std::uint32_t {
  none = 0,
  fp64 = 1U << 0U,
  fp32 = 1U << 1U,
  tf32 = 1U << 2U,
  fp16 = 1U << 3U,   ///< on tensor cores, accumulated in FP32
  acc16 = 1U << 4U,  ///< … accumulated in FP16
  bf16 = 1U << 5U,
  fp8 = 1U << 6U,
  fp4 = 1U << 7U,
  int8 = 1U << 8U,
  clocks = 1U << 9U,
  sms = 1U << 10U,
  size = 1U << 11U,
  bandwidth = 1U << 12U,
  l2 = 1U << 13U,
  nvlink = 1U << 14U,
  pcie = 1U << 15U,
  rates = fp64 | fp32 | tf32 | fp16 | acc16 | bf16 | fp8 | fp4 | int8
};

/// In all of it 0 says: unknown, or it has none. Rates are in 10^12 operations a second.
struct gpu {
  std::string_view name;
  std::string_view prints[2]{};  ///< how drivers name it, without "NVIDIA "
  struct {
    std::int32_t compute_capability = 0;
    std::int32_t multiprocessors = 0;
    double mhz = 0;         ///< highest that the driver sets
    double tensor_mhz = 0;  ///< for which rates of tensor cores are printed, where that is another
  } chip{};
  struct {
    double gib = 0;   ///< as it is sold
    double gbps = 0;  ///< 10^9 bytes a second
    double l2_mib = 0;
  } memory{};
  struct {
    double nvlink_gbps = 0;  ///< both directions
    int pcie_generation = 0;
    int pcie_lanes = 16;
  } links{};
  struct {
    double fp64 = 0;
    double fp32 = 0;
    double fp16 = 0;  ///< where it is printed
  } cores{};
  struct {
    double fp64 = 0;
    double tf32 = 0;
    double fp16 = 0;
    double fp16_acc16 = 0;
    double bf16 = 0;
    double fp8 = 0;
    double fp4 = 0;
    double int8 = 0;
  } tensor{};
  bool shares_name = false;        ///< with cards that have no row: its multiprocessors must be known
  bool capped = false;             ///< its rates do not follow the clock
  std::uint32_t derived = none;    ///< fields that are computed, or taken from a sibling
  std::uint32_t unchecked = none;  ///< fields that no source was read for
  std::string_view source;
};

struct gpu_list {
  const gpu* first;
  std::size_t size;
  [[nodiscard]] const gpu* begin() const noexcept { return first; }
  [[nodiscard]] const gpu* end() const noexcept { return first + size; }
};

/// By age and size.
[[nodiscard]] gpu_list datacentre_gpus() noexcept;
[[nodiscard]] gpu_list other_gpus() noexcept;

[[nodiscard]] ceilings ceilings_of(const gpu& g);

/// Operations a clock on one multiprocessor's cores, a multiply-add being two; 0: unknown.
struct core_rates {
  double fp16 = 0;
  double dp4a = 0;  ///< 8 on each lane for 32-bit integers
  double fp32 = 0;
};
[[nodiscard]] core_rates rates_of(std::int32_t compute_capability) noexcept;

/// What follows from what the driver tells of a device that is in no table. Nothing where neither its FP32
/// rate nor its bandwidth does.
[[nodiscard]] std::optional<ceilings> ceilings_by_attributes(const device_info& device);

}  // namespace varve::device

#endif  // VARVE_DEVICE_GPUS_HPP
