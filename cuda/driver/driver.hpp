// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The few functions of the CUDA driver that varve calls itself, found at run time.
#ifndef VARVE_CUDA_DRIVER_DRIVER_HPP
#define VARVE_CUDA_DRIVER_DRIVER_HPP

#include <varve/trace.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace varve::cuda {

using context = struct driver_context*;  // CUcontext

/// CUresult 0 is success. Null: the driver does not have it.
struct driver {
  int (*device_get_count)(int* count);
  int (*device_get)(int* device, int ordinal);
  int (*device_get_name)(char* name, int size, int device);
  int (*device_get_attribute)(int* value, int attribute, int device);
  int (*device_total_memory)(std::size_t* bytes, int device);
  int (*context_push)(context c);
  int (*context_pop)(context* c);
  int (*context_synchronize)();
};

/// The driver of this process; loads it where `load`, else finds it only if the program has done so. nullptr
/// where there is none. Thread safe.
const driver* find_driver(bool load) noexcept;

/// All devices that the process sees, by ordinal, as far as the driver has been initialised.
std::vector<device_info> devices(const driver& d);

/// Waits for all work of `c`. False when that failed.
bool synchronize(const driver& d, context c) noexcept;

}  // namespace varve::cuda

#endif  // VARVE_CUDA_DRIVER_DRIVER_HPP
