// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Our declarations of NVML against NVIDIA's header: checked while this compiles.
#include "nvml/abi.hpp"

#include <nvml.h>

#include <cstddef>
#include <type_traits>

namespace {

using namespace varve::nvml;

#define VARVE_SAME(ours, theirs) \
  static_assert(static_cast<unsigned long long>(ours) == static_cast<unsigned long long>(theirs))

VARVE_SAME(result::success, NVML_SUCCESS);
VARVE_SAME(result::not_supported, NVML_ERROR_NOT_SUPPORTED);
VARVE_SAME(result::no_permission, NVML_ERROR_NO_PERMISSION);
VARVE_SAME(result::driver_not_loaded, NVML_ERROR_DRIVER_NOT_LOADED);
VARVE_SAME(result::gpu_is_lost, NVML_ERROR_GPU_IS_LOST);
VARVE_SAME(result::version_mismatch, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
VARVE_SAME(clock_sm, NVML_CLOCK_SM);
VARVE_SAME(clock_memory, NVML_CLOCK_MEM);
VARVE_SAME(temperature_gpu, NVML_TEMPERATURE_GPU);
VARVE_SAME(clocks_event::idle, nvmlClocksThrottleReasonGpuIdle);
VARVE_SAME(clocks_event::application_clocks, nvmlClocksThrottleReasonApplicationsClocksSetting);
VARVE_SAME(clocks_event::power_cap, nvmlClocksThrottleReasonSwPowerCap);
VARVE_SAME(clocks_event::hardware_slowdown, nvmlClocksThrottleReasonHwSlowdown);
VARVE_SAME(clocks_event::sync_boost, nvmlClocksThrottleReasonSyncBoost);
VARVE_SAME(clocks_event::thermal, nvmlClocksThrottleReasonSwThermalSlowdown);
VARVE_SAME(clocks_event::hardware_thermal, nvmlClocksThrottleReasonHwThermalSlowdown);
VARVE_SAME(clocks_event::power_brake, nvmlClocksThrottleReasonHwPowerBrakeSlowdown);
VARVE_SAME(clocks_event::display, nvmlClocksThrottleReasonDisplayClockSetting);

static_assert(sizeof(memory) == sizeof(nvmlMemory_t));
static_assert(offsetof(memory, used) == offsetof(nvmlMemory_t, used));

// What our declarations call by other names: handles are pointers, enumerations ints.
template <class T>
struct plain {
  using type = std::conditional_t<std::is_enum_v<T>, int, T>;
};
template <>
struct plain<nvmlDevice_t> {
  using type = device;
};
template <>
struct plain<nvmlDevice_t*> {
  using type = device*;
};
template <>
struct plain<nvmlMemory_t*> {
  using type = memory*;
};
template <class Function>
struct as_ours;
template <class Result, class... Arguments>
struct as_ours<Result (*)(Arguments...)> {
  using type = typename plain<Result>::type (*)(typename plain<Arguments>::type...);
};
static_assert(sizeof(nvmlReturn_t) == sizeof(int) && sizeof(nvmlClockType_t) == sizeof(int) &&
              sizeof(nvmlTemperatureSensors_t) == sizeof(int));

#define VARVE_SAME_FUNCTION(ours, theirs) \
  static_assert(std::is_same_v<decltype(functions::ours), as_ours<decltype(&(theirs))>::type>)

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
VARVE_SAME_FUNCTION(init, nvmlInit_v2);
VARVE_SAME_FUNCTION(shutdown, nvmlShutdown);
VARVE_SAME_FUNCTION(error_string, nvmlErrorString);
VARVE_SAME_FUNCTION(system_get_version, nvmlSystemGetNVMLVersion);
VARVE_SAME_FUNCTION(device_get_handle, nvmlDeviceGetHandleByPciBusId_v2);
VARVE_SAME_FUNCTION(device_get_clock, nvmlDeviceGetClockInfo);
VARVE_SAME_FUNCTION(device_get_clocks_event_reasons, nvmlDeviceGetCurrentClocksThrottleReasons);
VARVE_SAME_FUNCTION(device_get_temperature, nvmlDeviceGetTemperature);
VARVE_SAME_FUNCTION(device_get_power, nvmlDeviceGetPowerUsage);
VARVE_SAME_FUNCTION(device_get_memory, nvmlDeviceGetMemoryInfo);

}  // namespace
