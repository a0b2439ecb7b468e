// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_CUDA_COUNTERS_LIBRARY_HPP
#define VARVE_CUDA_COUNTERS_LIBRARY_HPP

#include "counters/abi.hpp"

#include <string>

namespace varve::counters {

struct load_result {
  functions call{};
  std::uint32_t version = 0;  ///< of the libcupti
  std::string error;          ///< why there are none, and what to do; empty: all are there
};

/// Of the libcupti that cupti::load() finds, whose rules hold. Throws nothing but std::bad_alloc.
[[nodiscard]] load_result load(const std::string& path);

}  // namespace varve::counters

#endif  // VARVE_CUDA_COUNTERS_LIBRARY_HPP
