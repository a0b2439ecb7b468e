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
inline constexpr int not_initialised = 3;
inline constexpr int not_found = 500;
inline constexpr int not_ready = 600;
inline constexpr int capture_implicit = 906;  // the legacy stream, while another stream captures
/// Whether a call is refused on account of a capture.
constexpr bool is_of_capture(int result) noexcept { return result >= 900 && result <= 908; }

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
  int (*device_get_pci_bus_id)(char* id, int size, int device);  ///< "0000:3b:00.0"
  int (*context_push)(context c);
  int (*context_pop)(context* c);
  int (*context_synchronize)();
  int (*context_get_current)(context* c);
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

/// Whether the program has initialised it, as far as it tells. May wait for the end of its initialisation.
bool is_initialised(const driver& d) noexcept;

/// Whether this process has a device file of CUDA open, as it has from the driver's initialisation on; also
/// where it cannot tell. Asks the system alone: the driver may be in its initialisation, and on this very
/// thread.
bool has_devices_open() noexcept;

/// All devices that the process sees, by ordinal, as far as the driver has been initialised.
std::vector<device_info> devices(const driver& d);

/// Around calls of the driver, or of who uses it: calls that are forbidden during captures for what they
/// might do, such as allocating, are nothing to captures that are under way. Waiting for a context still is.
class outside_captures {
 public:
  explicit outside_captures(const driver& d) noexcept : outside_captures{&d} {}
  /// Null: nothing is done.
  explicit outside_captures(const driver* d) noexcept
      : driver_{d},
        result_{d != nullptr && d->exchange_capture_mode != nullptr ? d->exchange_capture_mode(&mode_)
                                                                    : not_found} {}
  outside_captures(const outside_captures&) = delete;
  outside_captures& operator=(const outside_captures&) = delete;
  ~outside_captures() {
    if (result_ == success) {
      driver_->exchange_capture_mode(&mode_);
    }
  }
  [[nodiscard]] int result() const noexcept { return result_; }

 private:
  const driver* driver_;
  int mode_ = relaxed_capture;
  int result_;
};

/// While it lives, `c` is the calling thread's context; unless the context is gone.
class in_context {
 public:
  in_context(const driver& d, context c) noexcept : driver_{d}, result_{d.context_push(c)} {}
  in_context(const in_context&) = delete;
  in_context& operator=(const in_context&) = delete;
  ~in_context() {
    if (result_ == success) {
      context popped = nullptr;
      driver_.context_pop(&popped);
    }
  }
  [[nodiscard]] int result() const noexcept { return result_; }

 private:
  const driver& driver_;
  int result_;
};

/// Waits for all work of `c`. What the driver answers; is_of_capture() where a blocking stream captures in
/// it, which is left whole. A capture of a stream that doesn't block is not seen, and the driver makes it
/// invalid.
int synchronize(const driver& d, context c) noexcept;

}  // namespace varve::cuda

#endif  // VARVE_CUDA_DRIVER_DRIVER_HPP
