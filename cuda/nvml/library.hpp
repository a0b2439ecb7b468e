// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Finds libnvidia-ml, which comes with the driver, at run time: varve never links it.
#ifndef VARVE_CUDA_NVML_LIBRARY_HPP
#define VARVE_CUDA_NVML_LIBRARY_HPP

#include "nvml/abi.hpp"

#include <string>

namespace varve::nvml {

struct library {
  functions call{};
  std::string error;  ///< why it is of no use, and what to do; empty: it is, and stays loaded
};

/// `path`, or what the loader finds as libnvidia-ml.so.1. Throws nothing but std::bad_alloc.
[[nodiscard]] library load(const std::string& path);

}  // namespace varve::nvml

#endif  // VARVE_CUDA_NVML_LIBRARY_HPP
