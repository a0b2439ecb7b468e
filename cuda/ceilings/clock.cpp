// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "ceilings/clock.hpp"

namespace varve::ceilings_of_gpu {

sm_clock::sm_clock(const std::string& pci_bus_id, const std::string& library)
    : library_{nvml::load(library)} {
  const nvml::functions& call = library_.call;
  if (!library_.error.empty() || call.device_get_clock == nullptr) {
    error_ = "libnvidia-ml, which comes with the driver, is not there or of no use";
    return;
  }
  int result = call.init();
  initialised_ = result == nvml::result::success;
  const char* what = "nvmlInit";
  if (initialised_) {
    what = "nvmlDeviceGetHandleByPciBusId";
    result = call.device_get_handle(pci_bus_id.c_str(), &device_);
  }
  unsigned megahertz = 0;
  if (result == nvml::result::success) {
    what = "nvmlDeviceGetClockInfo";
    result = call.device_get_clock(device_, nvml::clock_sm, &megahertz);
  }
  if (result != nvml::result::success) {
    const char* const text = call.error_string != nullptr ? call.error_string(result) : nullptr;
    error_ = std::string{what} + " failed: " + (text != nullptr ? text : "NVML error") + " (" +
             std::to_string(result) + ')';
  }
}

sm_clock::~sm_clock() {
  if (initialised_ && library_.call.shutdown != nullptr) {
    library_.call.shutdown();
  }
}

double sm_clock::hertz() const noexcept {
  constexpr double mega = 1e6;
  unsigned megahertz = 0;
  const bool read = error_.empty() && library_.call.device_get_clock(device_, nvml::clock_sm, &megahertz) ==
                                          nvml::result::success;
  return read ? mega * megahertz : 0;
}

}  // namespace varve::ceilings_of_gpu
