// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Ceilings by what a driver tells of a device, for those that no table has.
#include "device/gpus.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace varve::device {

// CUDA programming guide, throughput of arithmetic instructions. FP32 lanes of Blackwell (10.x, 12.x) are
// what the printed rates of the table's rows divide to; of the rest no source was read.
core_rates rates_of(std::int32_t compute_capability) noexcept {
  switch (compute_capability) {
    case 60:
      return {256, 0, 128};
    case 61:
      return {4, 1024, 256};
    case 70:
    case 75:
      return {256, 512, 128};
    case 80:
      return {512, 512, 128};
    case 86:
    case 87:
    case 89:
      return {256, 512, 256};
    case 90:
      return {512, 512, 256};
    case 100:
    case 103:
    case 120:
    case 121:
      return {0, 0, 256};
    default:
      return {};
  }
}

std::optional<ceilings> ceilings_by_attributes(const device_info& device) {
  ceilings out;
  const auto megahertz = [](std::int64_t hertz) {
    return std::to_string(std::llround(static_cast<double>(hertz) / 1e6)) + " MHz";
  };
  const core_rates rates = rates_of(device.compute_capability);
  const std::string capability =
      std::to_string(device.compute_capability / 10) + '.' + std::to_string(device.compute_capability % 10);
  if (rates.fp32 > 0 && device.multiprocessors > 0 && device.clock > 0) {
    const double clocks = static_cast<double>(device.multiprocessors) * static_cast<double>(device.clock);
    const auto set = [&](math_pipe pipe, double rate) {
      out.flops[static_cast<std::size_t>(pipe)] = rate * clocks;
    };
    set(math_pipe::fp32, rates.fp32);
    set(math_pipe::fp16, rates.fp16);
    set(math_pipe::int8_dp4a, rates.dp4a);
    out.top_clock = static_cast<double>(device.clock);
    out.source = std::to_string(device.multiprocessors) + " SMs × " +
                 std::to_string(std::llround(rates.fp32 / 2)) + " FP32 lanes (compute capability " +
                 capability + ") × 2 × " + megahertz(device.clock);
  }
  if (device.memory_bus > 0 && device.memory_clock > 0) {
    constexpr double bits = 8;
    out.bandwidth = device.memory_bus / bits * 2 * static_cast<double>(device.memory_clock);
    out.source += std::string{out.source.empty() ? "" : "; "} + "memory of " +
                  std::to_string(device.memory_bus) + " bits × 2 × " + megahertz(device.memory_clock);
  }
  if (out.source.empty()) {
    return std::nullopt;
  }
  out.source = "from attributes that the driver tells: " + out.source + "; rates of tensor cores unknown";
  out.name = !device.name.empty() ? device.name : "GPU of compute capability " + capability;
  out.l2_bytes = static_cast<double>(std::max<std::int64_t>(device.l2_bytes, 0));
  out.multiprocessors = device.multiprocessors;
  out.compute_capability = device.compute_capability;
  return out;
}

}  // namespace varve::device
