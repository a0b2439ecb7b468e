// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "device/gpus.hpp"

#include <iterator>
#include <string>

namespace varve {

namespace device {

namespace {

constexpr double tera = 1e12;
constexpr double giga = 1e9;
constexpr double mega = 1e6;
constexpr double mebi = 1024.0 * 1024.0;

/// One direction, bytes a second.
double pcie_bandwidth(int generation, int lanes) noexcept {
  constexpr double transfers = 2.5 * giga;  // a second and lane, doubled from the second to each further one
  constexpr double coding = 128.0 / 130.0;  // the third's to the fifth's
  constexpr double flits = 242.0 / 256.0;   // the sixth's
  if (generation < 3) {
    return 0;
  }
  const double rate = transfers * 3.2 * (1U << static_cast<unsigned>(generation - 3));
  return rate * lanes / 8 * (generation < 6 ? coding : flits);
}

std::string names_of(std::uint32_t fields) {
  if ((fields & rates) == rates) {
    const std::string others = names_of(fields & ~static_cast<std::uint32_t>(rates));
    return others.empty() ? "rates" : "rates, " + others;
  }
  constexpr const char* names[] = {
      "FP64",   "FP32", "TF32",  "FP16", "FP16 accumulated in FP16", "BF16",      "FP8",
      "FP4",    "INT8", "clock", "SMs",  "size of memory",           "bandwidth", "L2",
      "NVLink", "PCIe"};
  std::string out;
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if ((fields >> i & 1U) != 0) {
      (out += out.empty() ? "" : ", ") += names[i];
    }
  }
  return out;
}

/// With what is derived in a row, and what rests on no source that was read.
std::string source_of(const gpu& g, bool cores_derived) {
  std::string out{g.source};
  std::string derived = names_of(g.derived);
  if (cores_derived) {
    (derived += derived.empty() ? "" : ", ") += "FP16 and dp4a of CUDA cores";
  }
  if (!derived.empty()) {
    out += "; derived: " + derived;
  }
  if (g.unchecked != none) {
    out += "; not checked: " + names_of(g.unchecked);
  }
  return out;
}

}  // namespace

ceilings ceilings_of(const gpu& g) {
  ceilings out;
  out.name = g.name;
  const auto set = [&](math_pipe pipe, double teraops) {
    out.flops[static_cast<std::size_t>(pipe)] = teraops * tera;
  };
  const core_rates cores = g.capped ? core_rates{} : rates_of(g.chip.compute_capability);
  const double clocks = g.chip.multiprocessors * g.chip.mhz * mega / tera;
  set(math_pipe::fp64, g.cores.fp64);
  set(math_pipe::fp64_tensor, g.tensor.fp64);
  set(math_pipe::fp32, g.cores.fp32);
  set(math_pipe::fp16, g.cores.fp16 > 0 ? g.cores.fp16 : cores.fp16 * clocks);
  set(math_pipe::tf32_tensor, g.tensor.tf32);
  set(math_pipe::fp16_tensor, g.tensor.fp16);
  set(math_pipe::fp16_tensor_fp16, g.tensor.fp16_acc16);
  set(math_pipe::bf16_tensor, g.tensor.bf16);
  set(math_pipe::fp8_tensor, g.tensor.fp8);
  set(math_pipe::fp4_tensor, g.tensor.fp4);
  set(math_pipe::int8_tensor, g.tensor.int8);
  set(math_pipe::int8_dp4a, cores.dp4a * clocks);
  out.bandwidth = g.memory.gbps * giga;
  out.l2_bytes = g.memory.l2_mib * mebi;
  out.link_bandwidth = g.links.nvlink_gbps * giga;
  out.host_bandwidth = pcie_bandwidth(g.links.pcie_generation, g.links.pcie_lanes);
  out.multiprocessors = g.chip.multiprocessors;
  out.compute_capability = g.chip.compute_capability;
  if (!g.capped) {
    out.top_clock = g.chip.mhz * mega;
    out.clock = g.chip.tensor_mhz > 0 ? g.chip.tensor_mhz * mega : out.top_clock;
  }
  out.source = source_of(g, (cores.fp16 > 0 && g.cores.fp16 == 0) || cores.dp4a > 0);
  return out;
}

}  // namespace device

inline namespace v0 {

std::vector<ceilings> all_ceilings() {
  std::vector<ceilings> out;
  for (const device::gpu_list list : {device::datacentre_gpus(), device::other_gpus()}) {
    for (const device::gpu& g : list) {
      out.push_back(device::ceilings_of(g));
    }
  }
  return out;
}

ceilings at_clock(const ceilings& device, double hertz) {
  ceilings out = device;
  if (!(hertz > 0)) {
    return out;
  }
  for (std::size_t i = 0; i < math_pipes; ++i) {
    const auto pipe = static_cast<math_pipe>(i);
    const bool on_cores = pipe == math_pipe::fp64 || pipe == math_pipe::fp32 || pipe == math_pipe::fp16 ||
                          pipe == math_pipe::int8_dp4a;
    const double base = on_cores ? device.top_clock : device.clock;
    if (base > 0) {
      out.flops[i] = device.flops[i] * (hertz / base);
    }
  }
  out.clock = device.clock > 0 ? hertz : 0;
  out.top_clock = device.top_clock > 0 ? hertz : 0;
  return out;
}

}  // namespace v0
}  // namespace varve
