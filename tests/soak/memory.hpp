// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_TESTS_SOAK_MEMORY_HPP
#define VARVE_TESTS_SOAK_MEMORY_HPP

#include <cstdlib>
#include <fstream>
#include <string>

namespace soak {

/// Bytes of this process, as its status says: "VmRSS:", "VmHWM:".
inline double memory(const std::string& what) {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, what.size(), what) == 0) {
      return std::strtod(line.c_str() + what.size(), nullptr) * 1024;
    }
  }
  return 0;
}

}  // namespace soak

#endif  // VARVE_TESTS_SOAK_MEMORY_HPP
