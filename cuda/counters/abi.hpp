// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What varve uses of CUPTI's profiler host and range profiler, declared anew, as in cupti/abi.hpp.
// tests/cuda/counters_abi_test.cpp compares it with the toolkit's headers, which have it from CUDA 12.6 on.
#ifndef VARVE_CUDA_COUNTERS_ABI_HPP
#define VARVE_CUDA_COUNTERS_ABI_HPP

#include "cupti/abi.hpp"

#include <cstddef>
#include <cstdint>

namespace varve::counters {

using cupti::result;
using host_object = struct host_object_of_cupti*;          // CUpti_Profiler_Host_Object*
using profiler_object = struct profiler_object_of_cupti*;  // CUpti_RangeProfiler_Object*

inline constexpr int range_profiler = 0;  // of CUpti_ProfilerType
inline constexpr int metric_counter = 0;  // of CUpti_MetricType
inline constexpr int user_range = 2;      // of CUpti_ProfilerRange
inline constexpr int user_replay = 3;     // of CUpti_ProfilerReplayMode

/// Every structure begins with its size, up to and with its last member, and a null pointer.
template <class Params>
[[nodiscard]] Params make_params() noexcept {
  Params p{};
  p.size = Params::bytes();
  return p;
}

struct initialize_params {
  std::size_t size;
  void* reserved;
  static constexpr std::size_t bytes() { return sizeof(initialize_params); }
};

struct chip_name_params {
  std::size_t size;
  void* reserved;
  std::size_t device;
  const char* name;  ///< out
  static constexpr std::size_t bytes() { return sizeof(chip_name_params); }
};

/// From CUDA 13.1 on it has one more member, for counters of links between devices.
struct availability_params {
  std::size_t size;
  void* reserved;
  cupti::context_handle context;
  std::size_t image_size;  ///< in and out
  std::uint8_t* image;     ///< null: only the size is asked for
  static constexpr std::size_t bytes() { return sizeof(availability_params); }
};

struct host_initialize_params {
  std::size_t size;
  void* reserved;
  int profiler_type;
  const char* chip;
  const std::uint8_t* availability;
  host_object host;  ///< out
  static constexpr std::size_t bytes() { return sizeof(host_initialize_params); }
};

struct host_deinitialize_params {
  std::size_t size;
  void* reserved;
  host_object host;
  static constexpr std::size_t bytes() { return sizeof(host_deinitialize_params); }
};

struct base_metrics_params {
  std::size_t size;
  void* reserved;
  host_object host;
  int metric_type;
  const char** names;  ///< out
  std::size_t count;   ///< out
  static constexpr std::size_t bytes() { return sizeof(base_metrics_params); }
};

struct add_metrics_params {
  std::size_t size;
  void* reserved;
  host_object host;
  const char** names;
  std::size_t count;
  static constexpr std::size_t bytes() { return sizeof(add_metrics_params); }
};

struct config_size_params {
  std::size_t size;
  void* reserved;
  host_object host;
  std::size_t config_size;  ///< out
  static constexpr std::size_t bytes() { return sizeof(config_size_params); }
};

struct config_params {
  std::size_t size;
  void* reserved;
  host_object host;
  std::size_t config_size;
  std::uint8_t* config;  ///< out
  static constexpr std::size_t bytes() { return sizeof(config_params); }
};

struct passes_params {
  std::size_t size;
  void* reserved;
  std::size_t config_size;
  std::uint8_t* config;
  std::size_t passes;  ///< out
  static constexpr std::size_t bytes() { return sizeof(passes_params); }
};

struct evaluate_params {
  std::size_t size;
  void* reserved;
  host_object host;
  const std::uint8_t* image;
  std::size_t image_size;
  std::size_t range;
  const char** names;
  std::size_t count;
  double* values;  ///< out
  static constexpr std::size_t bytes() { return sizeof(evaluate_params); }
};

struct set_config_params {
  std::size_t size;
  void* reserved;
  profiler_object profiler;
  std::size_t config_size;
  const std::uint8_t* config;
  std::size_t image_size;
  std::uint8_t* image;
  int range;
  int replay;
  std::size_t most_ranges;
  std::uint16_t nesting_levels;
  std::uint16_t first_level;
  std::size_t pass;
  std::uint16_t target_level;
  static constexpr std::size_t bytes() {
    return offsetof(set_config_params, target_level) + sizeof(std::uint16_t);
  }
};

struct enable_params {
  std::size_t size;
  void* reserved;
  cupti::context_handle context;
  profiler_object profiler;  ///< out
  static constexpr std::size_t bytes() { return sizeof(enable_params); }
};

/// Of disabling, starting and popping.
struct profiler_params {
  std::size_t size;
  void* reserved;
  profiler_object profiler;
  static constexpr std::size_t bytes() { return sizeof(profiler_params); }
};

struct stop_params {
  std::size_t size;
  void* reserved;
  profiler_object profiler;
  std::size_t pass;          ///< out
  std::size_t target_level;  ///< out
  std::uint8_t all_passes;   ///< out
  static constexpr std::size_t bytes() { return offsetof(stop_params, all_passes) + sizeof(std::uint8_t); }
};

struct push_params {
  std::size_t size;
  void* reserved;
  profiler_object profiler;
  const char* name;
  static constexpr std::size_t bytes() { return sizeof(push_params); }
};

struct decode_params {
  std::size_t size;
  void* reserved;
  profiler_object profiler;
  std::size_t dropped;  ///< out
  static constexpr std::size_t bytes() { return sizeof(decode_params); }
};

struct image_size_params {
  std::size_t size;
  void* reserved;
  profiler_object profiler;
  const char** names;
  std::size_t count;
  std::size_t most_ranges;
  std::uint32_t most_nodes;
  std::size_t image_size;  ///< out
  static constexpr std::size_t bytes() { return sizeof(image_size_params); }
};

struct image_params {
  std::size_t size;
  void* reserved;
  profiler_object profiler;
  std::size_t image_size;
  std::uint8_t* image;
  static constexpr std::size_t bytes() { return sizeof(image_params); }
};

struct image_info_params {
  std::size_t size;
  void* reserved;
  const std::uint8_t* image;
  std::size_t image_size;
  std::size_t ranges;  ///< out
  static constexpr std::size_t bytes() { return sizeof(image_info_params); }
};

struct range_info_params {
  std::size_t size;
  void* reserved;
  const std::uint8_t* image;
  std::size_t image_size;
  std::size_t range;
  const char* delimiter;
  const char* name;  ///< out
  static constexpr std::size_t bytes() { return sizeof(range_info_params); }
};

/// Each under its own name without "cuptiProfilerHost" or "cuptiRangeProfiler".
struct functions {
  result (*initialize)(initialize_params*);      // cuptiProfilerInitialize
  result (*chip_name)(chip_name_params*);        // cuptiDeviceGetChipName
  result (*availability)(availability_params*);  // cuptiProfilerGetCounterAvailability; may be null
  result (*host_initialize)(host_initialize_params*);
  result (*host_deinitialize)(host_deinitialize_params*);
  result (*base_metrics)(base_metrics_params*);
  result (*add_metrics)(add_metrics_params*);
  result (*config_size)(config_size_params*);
  result (*config)(config_params*);
  result (*passes)(passes_params*);
  result (*evaluate)(evaluate_params*);
  result (*enable)(enable_params*);
  result (*disable)(profiler_params*);
  result (*set_config)(set_config_params*);
  result (*start)(profiler_params*);
  result (*stop)(stop_params*);
  result (*push)(push_params*);
  result (*pop)(profiler_params*);
  result (*decode)(decode_params*);
  result (*image_size)(image_size_params*);
  result (*image_initialize)(image_params*);
  result (*image_info)(image_info_params*);
  result (*range_info)(range_info_params*);
};

}  // namespace varve::counters

#endif  // VARVE_CUDA_COUNTERS_ABI_HPP
