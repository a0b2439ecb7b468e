// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Drives the stand-in libnvidia-ml: GPUs by their place on the PCI bus, whose clocks drop on command. Thread
// safe.
#ifndef VARVE_TESTS_STANDIN_NVML_CONTROL_HPP
#define VARVE_TESTS_STANDIN_NVML_CONTROL_HPP

#include <cstddef>
#include <string>

#define STANDIN_EXPORT __attribute__((visibility("default")))

namespace standin_nvml {

struct gpu {
  unsigned sm_clock = 1980;  ///< MHz
  unsigned memory_clock = 2619;
  unsigned long long limits = 0;  ///< as NVML's clocks event reasons
  unsigned temperature = 55;
  unsigned power = 350'000;  ///< mW
  unsigned long long memory_used = 1'000'000;
};

/// No GPUs, nothing initialised.
STANDIN_EXPORT void reset();
/// Adds it, or changes what it shows.
STANDIN_EXPORT void set(const std::string& pci_bus_id, const gpu& shows);
/// Calls of `function` ("nvmlDeviceGetClockInfo") return `code`; 0: they work again.
STANDIN_EXPORT void fail(const std::string& function, int code);

/// How often all gauges of a GPU have been read.
STANDIN_EXPORT std::size_t rounds(const std::string& pci_bus_id);
/// Returns once `more` rounds of it have begun and ended.
STANDIN_EXPORT void wait_for_rounds(const std::string& pci_bus_id, std::size_t more);
/// nvmlInit less nvmlShutdown.
STANDIN_EXPORT int initialised();
STANDIN_EXPORT std::size_t calls();  ///< of all functions

}  // namespace standin_nvml

#endif  // VARVE_TESTS_STANDIN_NVML_CONTROL_HPP
