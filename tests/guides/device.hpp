// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// In place of a GPU: a device that does a moment's work on the calling thread for each launch.
#ifndef VARVE_TESTS_GUIDES_DEVICE_HPP
#define VARVE_TESTS_GUIDES_DEVICE_HPP

#include <varve/collector.hpp>
#include <varve/varve.hpp>

inline void launch(const char* kernel) {
  static varve::host_device device{{0, "calling thread"}, true};
  const varve::host_call call{device, varve::call_kind::launch};
  const std::uint64_t begin = varve::clock_ticks();
  volatile int spins = 20000;
  while (spins > 0) {
    spins = spins - 1;
  }
  device.report({0, call.correlation(), kernel, begin, varve::clock_ticks()});
}

#endif  // VARVE_TESTS_GUIDES_DEVICE_HPP
