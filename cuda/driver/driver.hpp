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
using stream = struct driver_stream*;    // CUstream
using event = struct driver_event*;      // CUevent

// Of CUresult.
inline constexpr int success = 0;
inline constexpr int not_ready = 600;
inline constexpr int capture_implicit = 906;  // the legacy stream, while another stream captures

// Of CUstreamCaptureStatus, CUstreamCaptureMode and the flags of a stream.
inline constexpr int not_capturing = 0;
inline constexpr int relaxed_capture = 2;
inline constexpr unsigned non_blocking_stream = 1;

/// Null: the driver does not have it.
struct driver {
  int (*device_get_count)(int* count);
  int (*device_get)(int* device, int ordinal);
  int (*device_get_name)(char* name, int size, int device);
  int (*device_get_attribute)(int* value, int attribute, int device);
  int (*device_total_memory)(std::size_t* bytes, int device);
  int (*context_push)(context c);
  int (*context_pop)(context* c);
  int (*context_synchronize)();
  int (*context_get_device)(int* device);
  int (*stream_create)(stream* s, unsigned flags);
  int (*stream_destroy)(stream s);
  int (*stream_get_context)(stream s, context* c);
  int (*stream_is_capturing)(stream s, int* status);
  int (*exchange_capture_mode)(int* mode);  ///< of the calling thread
  int (*event_create)(event* e, unsigned flags);
  int (*event_destroy)(event e);
  int (*event_record)(event e, stream s);
  int (*event_query)(event e);
  int (*event_elapsed)(float* milliseconds, event from, event to);

  /// Whether it has all that timing by events takes.
  [[nodiscard]] bool has_events() const noexcept {
    return context_push != nullptr && context_pop != nullptr && context_get_device != nullptr &&
           stream_create != nullptr && stream_destroy != nullptr && stream_get_context != nullptr &&
           stream_is_capturing != nullptr && exchange_capture_mode != nullptr && event_create != nullptr &&
           event_destroy != nullptr && event_record != nullptr && event_query != nullptr &&
           event_elapsed != nullptr;
  }
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
