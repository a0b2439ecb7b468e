// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "nvml/library.hpp"

#include <dlfcn.h>

namespace varve::nvml {

namespace {

template <class Function>
bool find(void* handle, const char* name, Function& to) noexcept {
  to = reinterpret_cast<Function>(::dlsym(handle, name));
  return to != nullptr;
}

}  // namespace

library load(const std::string& path) {
  library out;
  const char* const name = path.empty() ? "libnvidia-ml.so.1" : path.c_str();
  // Kept loaded: it may have started threads.
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* const why = ::dlerror();
    out.error =
        "no clocks, temperature and power of GPUs: " +
        std::string{why != nullptr ? why : "libnvidia-ml was not found"} +
        ". It comes with the NVIDIA driver: install one, in a container give it the driver's utility "
        "libraries (NVIDIA_DRIVER_CAPABILITIES=compute,utility), or set gauge_options::gpu_period to 0";
    return out;
  }
  functions& call = out.call;
  const bool needed = find(handle, "nvmlInit_v2", call.init) &&
                      find(handle, "nvmlDeviceGetHandleByPciBusId_v2", call.device_get_handle);
  if (!needed) {
    out.error = std::string{name} + " is no NVML that varve can use: it has no nvmlInit_v2 or " +
                "nvmlDeviceGetHandleByPciBusId_v2. Name the driver's own libnvidia-ml.so.1";
    return out;
  }
  find(handle, "nvmlShutdown", call.shutdown);
  find(handle, "nvmlErrorString", call.error_string);
  find(handle, "nvmlSystemGetNVMLVersion", call.system_get_version);
  find(handle, "nvmlDeviceGetClockInfo", call.device_get_clock);
  if (!find(handle, "nvmlDeviceGetCurrentClocksEventReasons", call.device_get_clocks_event_reasons)) {
    find(handle, "nvmlDeviceGetCurrentClocksThrottleReasons", call.device_get_clocks_event_reasons);
  }
  find(handle, "nvmlDeviceGetTemperature", call.device_get_temperature);
  find(handle, "nvmlDeviceGetPowerUsage", call.device_get_power);
  find(handle, "nvmlDeviceGetMemoryInfo", call.device_get_memory);
  return out;
}

}  // namespace varve::nvml
