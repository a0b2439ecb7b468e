// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The few declarations of NVML that varve needs, its own: checked against nvml.h where there is one.
#ifndef VARVE_CUDA_NVML_ABI_HPP
#define VARVE_CUDA_NVML_ABI_HPP

#include <cstdint>

namespace varve::nvml {

using device = struct nvml_device*;  // nvmlDevice_t

namespace result {  // of nvmlReturn_t
inline constexpr int success = 0;
inline constexpr int not_supported = 3;
inline constexpr int no_permission = 4;
inline constexpr int driver_not_loaded = 9;
inline constexpr int gpu_is_lost = 15;
inline constexpr int version_mismatch = 18;
}  // namespace result

inline constexpr int clock_sm = 1;
inline constexpr int clock_memory = 2;
inline constexpr int temperature_gpu = 0;

namespace clocks_event {  // of nvmlClocksEventReasons
inline constexpr unsigned long long idle = 0x1;
inline constexpr unsigned long long application_clocks = 0x2;
inline constexpr unsigned long long power_cap = 0x4;
inline constexpr unsigned long long hardware_slowdown = 0x8;
inline constexpr unsigned long long sync_boost = 0x10;
inline constexpr unsigned long long thermal = 0x20;
inline constexpr unsigned long long hardware_thermal = 0x40;
inline constexpr unsigned long long power_brake = 0x80;
inline constexpr unsigned long long display = 0x100;
}  // namespace clocks_event

struct memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

/// Null: the library does not have it.
struct functions {
  int (*init)();
  int (*shutdown)();
  const char* (*error_string)(int result);
  int (*system_get_version)(char* version, unsigned length);
  int (*device_get_handle)(const char* pci_bus_id, device* d);
  int (*device_get_clock)(device d, int which, unsigned* megahertz);
  int (*device_get_clocks_event_reasons)(device d, unsigned long long* reasons);
  int (*device_get_temperature)(device d, int sensor, unsigned* celsius);
  int (*device_get_power)(device d, unsigned* milliwatts);
  int (*device_get_memory)(device d, memory* m);
};

}  // namespace varve::nvml

#endif  // VARVE_CUDA_NVML_ABI_HPP
