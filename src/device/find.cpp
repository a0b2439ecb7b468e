// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The row of a device that a trace names.
#include "device/gpus.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

namespace varve {

namespace {

using device::gpu;

/// "1g.10gb", "1c.3g.20gb", "1g.12gb+me": slices of compute, and GB of memory; 0 when not told.
struct profile {
  int compute = 0;
  int slices = 0;
  double gigabytes = 0;
};

profile profile_of(std::string_view text) noexcept {
  profile out;
  while (!text.empty()) {
    int number = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (wrong != std::errc{} || number <= 0) {
      break;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.substr(0, 2) == "c.") {
      out.compute = number;
    } else if (text.substr(0, 2) == "g.") {
      out.slices = number;
    } else if (text.substr(0, 2) == "gb") {
      out.gigabytes = number;
      break;
    }
    text.remove_prefix(std::min<std::size_t>(2, text.size()));
  }
  return out;
}

/// Takes " MIG 1g.10gb" off a name.
bool cut_instance(std::string_view& name, profile& of) noexcept {
  constexpr std::string_view word = " MIG ";
  const std::size_t at = name.find(word);
  if (at == std::string_view::npos) {
    return false;
  }
  of = profile_of(name.substr(at + word.size()));
  name = name.substr(0, at);
  return true;
}

/// The part of a whole GPU that an instance is.
void scale(ceilings& c, const gpu& whole, const profile& of, std::int32_t multiprocessors) {
  constexpr int compute_slices = 7;
  constexpr double memory_slices = 8;
  const int slices = of.compute > 0 ? of.compute : of.slices;
  double compute = 1;
  if (multiprocessors > 0) {
    compute = std::min(1.0, static_cast<double>(multiprocessors) / whole.chip.multiprocessors);
    c.multiprocessors = multiprocessors;
  } else if (slices > 0) {
    compute = std::min(1.0, static_cast<double>(slices) / compute_slices);
    c.multiprocessors = static_cast<std::int32_t>(whole.chip.multiprocessors * compute);
  }
  for (double& rate : c.flops) {
    rate *= compute;
  }
  double memory = 1;
  if (of.gigabytes > 0 && whole.memory.gib > 0) {
    memory = std::clamp(std::round(of.gigabytes / whole.memory.gib * memory_slices), 1.0, memory_slices) /
             memory_slices;
  }
  c.bandwidth *= memory;
  c.l2_bytes *= memory;
  c.link_bandwidth = 0;  // instances cannot reach other devices
  c.source += "; scaled to an instance: " + std::to_string(c.multiprocessors) + " of " +
              std::to_string(whole.chip.multiprocessors) + " SMs, " +
              std::to_string(static_cast<int>(memory * memory_slices)) + "/8 of memory";
}

/// Of rows of one name those whose memory is nearest to what the device has.
void keep_nearest(std::vector<const gpu*>& rows, std::int64_t memory_bytes) {
  constexpr double gibi = 1024.0 * 1024.0 * 1024.0;
  const auto distance = [&](const gpu* g) {
    return std::abs(std::log(static_cast<double>(memory_bytes) / (g->memory.gib * gibi)));
  };
  const gpu* const nearest = *std::min_element(
      rows.begin(), rows.end(), [&](const gpu* a, const gpu* b) { return distance(a) < distance(b); });
  const double least = distance(nearest);
  rows.erase(std::remove_if(rows.begin(), rows.end(), [&](const gpu* g) { return distance(g) > least; }),
             rows.end());
}

}  // namespace

inline namespace v0 {

std::optional<ceilings> find_ceilings(const device_info& device) {
  std::string_view name = device.name;
  constexpr std::string_view vendor = "NVIDIA ";
  if (name.substr(0, vendor.size()) == vendor) {
    name.remove_prefix(vendor.size());
  }
  profile part;
  const bool instance = cut_instance(name, part);
  if (name.empty()) {
    return instance ? std::nullopt : device::ceilings_by_attributes(device);
  }
  std::vector<const gpu*> rows;
  for (const device::gpu_list list : {device::datacentre_gpus(), device::other_gpus()}) {
    for (const gpu& g : list) {
      const bool named = std::find(std::begin(g.prints), std::end(g.prints), name) != std::end(g.prints);
      const bool other_chip = device.compute_capability != 0 && g.chip.compute_capability != 0 &&
                              device.compute_capability != g.chip.compute_capability;
      const bool other_size = instance ? device.multiprocessors > g.chip.multiprocessors
                              : device.multiprocessors == 0
                                  ? g.shares_name
                                  : device.multiprocessors != g.chip.multiprocessors;
      if (named && !other_chip && !other_size) {
        rows.push_back(&g);
      }
    }
  }
  if (rows.size() > 1 && device.memory_bytes > 0) {
    keep_nearest(rows, device.memory_bytes);
  }
  if (rows.size() != 1) {  // of an instance's memory the driver tells the whole GPU's clock and bus
    return instance ? std::nullopt : device::ceilings_by_attributes(device);
  }
  ceilings out = device::ceilings_of(*rows.front());
  if (instance) {
    scale(out, *rows.front(), part, device.multiprocessors);
    out.name += device.name.substr(device.name.find(" MIG "));
  }
  return out;
}

}  // namespace v0
}  // namespace varve
