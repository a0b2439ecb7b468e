// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Where the fields of CUPTI's activity records lie. The loaded library chooses the layout, by its version;
// newer layouts only append to older ones, so a field has one offset and the version that it came with.
//
//     const std::uint64_t begin = read(record, kernel::start);
//     const bool device_launched = read(record, kernel::is_device_launched, version, std::uint8_t{0}) != 0;
#ifndef VARVE_CUDA_CUPTI_RECORDS_HPP
#define VARVE_CUDA_CUPTI_RECORDS_HPP

#include "cupti/abi.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace varve::cupti {

// Versions as cuptiGetVersion gives them.
inline constexpr std::uint32_t cuda_12_0 = 19;  ///< and 12.1; the oldest that varve reads
inline constexpr std::uint32_t cuda_12_2 = 20;
inline constexpr std::uint32_t cuda_12_3 = 21;
inline constexpr std::uint32_t cuda_12_4 = 22;
inline constexpr std::uint32_t cuda_12_5 = 23;
inline constexpr std::uint32_t cuda_12_6 = 24;
inline constexpr std::uint32_t cuda_12_8 = 26;
inline constexpr std::uint32_t cuda_12_9 = 27;
inline constexpr std::uint32_t cuda_13_0 = 130000;

template <class T>
struct field {
  std::size_t offset;
  std::uint32_t since = cuda_12_0;
};

/// A record may lie at any address.
template <class T>
[[nodiscard]] T read(const std::uint8_t* record, field<T> f) noexcept {
  T value;
  std::memcpy(&value, record + f.offset, sizeof value);
  return value;
}

/// `otherwise` where the library of `version` does not write the field.
template <class T>
[[nodiscard]] T read(const std::uint8_t* record, field<T> f, std::uint32_t version, T otherwise) noexcept {
  return version >= f.since ? read(record, f) : otherwise;
}

inline constexpr field<record_kind> kind_of{0};

/// CUPTI does not know a time: of start and end alike.
inline constexpr std::uint64_t unknown_timestamp = 0;
inline constexpr std::uint32_t unknown_correlation = 0;
inline constexpr std::uint32_t invalid_id = 0xFFFFFFFF;  ///< of contexts, streams, channels, synchronisations

enum class copy_direction : std::uint8_t {
  unknown = 0,
  host_to_device = 1,
  device_to_host = 2,
  host_to_array = 3,
  array_to_host = 4,
  array_to_array = 5,
  array_to_device = 6,
  device_to_array = 7,
  device_to_device = 8,
  host_to_host = 9,
  peer_to_peer = 10
};

/// Memory of copies and sets, 8 or 16 bits wide in their records and 32 in those of memory.
enum memory_kind : std::uint8_t {
  memory_unknown = 0,
  memory_pageable = 1,
  memory_pinned = 2,
  memory_device = 3,
  memory_array = 4,
  memory_managed = 5,
  memory_device_static = 6,
  memory_managed_static = 7
};

enum class memory_operation : std::uint32_t { invalid = 0, allocation = 1, release = 2 };

enum class launch_type : std::uint8_t {
  regular = 0,
  cooperative = 1,
  cooperative_multi_device = 2,
  command_list = 3
};

enum class channel_type : std::uint32_t { invalid = 0, compute = 1, async_memcpy = 2, decompression = 3 };

enum class overhead_kind : std::uint32_t {
  unknown = 0,
  driver_compiler = 1,
  cupti_buffer_flush = 1U << 16U,
  cupti_instrumentation = 2U << 16U,
  cupti_resource = 3U << 16U,
  runtime_triggered_module_loading = 4U << 16U,
  lazy_function_loading = 5U << 16U,
  command_buffer_full = 6U << 16U,
  activity_buffer_request = 7U << 16U,
  uvm_activity_init = 8U << 16U
};

/// Of what an overhead is: says which of its ids are set.
enum class object_kind : std::uint32_t {
  unknown = 0,
  process = 1,
  thread = 2,
  device = 3,
  context = 4,
  stream = 5
};

enum class synchronization_type : std::uint32_t {
  unknown = 0,
  event_synchronize = 1,
  stream_wait_event = 2,
  stream_synchronize = 3,
  context_synchronize = 4
};

/// Bit of the flags of copies and sets.
inline constexpr std::uint8_t flag_async = 1;

/// Of `concurrent_kernel` and `kernel`.
namespace kernel {
inline constexpr field<std::uint16_t> registers_per_thread{6};
inline constexpr field<std::uint64_t> start{16};
inline constexpr field<std::uint64_t> end{24};
inline constexpr field<std::uint64_t> completed{32};  ///< may be unknown: `end` is right
inline constexpr field<std::uint32_t> device_id{40};
inline constexpr field<std::uint32_t> context_id{44};
inline constexpr field<std::uint32_t> stream_id{48};
inline constexpr field<std::int32_t> grid_x{52};
inline constexpr field<std::int32_t> grid_y{56};
inline constexpr field<std::int32_t> grid_z{60};
inline constexpr field<std::int32_t> block_x{64};
inline constexpr field<std::int32_t> block_y{68};
inline constexpr field<std::int32_t> block_z{72};
inline constexpr field<std::int32_t> static_shared_memory{76};
inline constexpr field<std::int32_t> dynamic_shared_memory{80};
inline constexpr field<std::uint32_t> local_memory_per_thread{84};
inline constexpr field<std::uint32_t> correlation_id{92};
inline constexpr field<std::int64_t> grid_id{96};
inline constexpr field<const char*> name{104};  ///< mangled, CUPTI's storage: copy it at once
inline constexpr field<std::uint64_t> queued{120};
inline constexpr field<std::uint64_t> submitted{128};
inline constexpr field<launch_type> launch{136};
inline constexpr field<std::uint32_t> shared_memory_executed{140};
inline constexpr field<std::uint64_t> graph_node_id{144};  ///< 0: not of a graph
inline constexpr field<std::uint32_t> graph_id{156};
inline constexpr field<std::uint32_t> channel_id{168};
inline constexpr field<channel_type> channel{172};
inline constexpr field<std::uint32_t> cluster_x{176};
inline constexpr field<std::uint32_t> cluster_y{180};
inline constexpr field<std::uint32_t> cluster_z{184};
inline constexpr field<std::uint64_t> local_memory_total{192};
inline constexpr field<std::uint32_t> max_potential_cluster_size{200};
inline constexpr field<std::uint32_t> max_active_clusters{204};
inline constexpr field<std::uint8_t> is_device_launched{208, cuda_13_0};
}  // namespace kernel

namespace copy {
inline constexpr field<copy_direction> direction{4};
inline constexpr field<std::uint8_t> source_kind{5};       ///< a memory_kind
inline constexpr field<std::uint8_t> destination_kind{6};  ///< a memory_kind
inline constexpr field<std::uint8_t> flags{7};
inline constexpr field<std::uint64_t> bytes{8};
inline constexpr field<std::uint64_t> start{16};
inline constexpr field<std::uint64_t> end{24};
inline constexpr field<std::uint32_t> device_id{32};
inline constexpr field<std::uint32_t> context_id{36};
inline constexpr field<std::uint32_t> stream_id{40};
inline constexpr field<std::uint32_t> correlation_id{44};
inline constexpr field<std::uint64_t> graph_node_id{64};
inline constexpr field<std::uint32_t> graph_id{72};
inline constexpr field<std::uint32_t> channel_id{76};
inline constexpr field<channel_type> channel{80};
inline constexpr field<std::uint8_t> is_device_launched{84, cuda_13_0};
inline constexpr field<std::uint64_t> copy_count{88, cuda_12_8};  ///< copies of a batch in this record
}  // namespace copy

namespace peer_copy {
inline constexpr field<copy_direction> direction{4};
inline constexpr field<std::uint8_t> source_kind{5};
inline constexpr field<std::uint8_t> destination_kind{6};
inline constexpr field<std::uint8_t> flags{7};
inline constexpr field<std::uint64_t> bytes{8};
inline constexpr field<std::uint64_t> start{16};
inline constexpr field<std::uint64_t> end{24};
inline constexpr field<std::uint32_t> device_id{32};
inline constexpr field<std::uint32_t> context_id{36};
inline constexpr field<std::uint32_t> stream_id{40};
inline constexpr field<std::uint32_t> source_device_id{44};
inline constexpr field<std::uint32_t> source_context_id{48};
inline constexpr field<std::uint32_t> destination_device_id{52};
inline constexpr field<std::uint32_t> destination_context_id{56};
inline constexpr field<std::uint32_t> correlation_id{60};
inline constexpr field<std::uint64_t> graph_node_id{72};
inline constexpr field<std::uint32_t> graph_id{80};
inline constexpr field<std::uint32_t> channel_id{84};
inline constexpr field<channel_type> channel{88};
}  // namespace peer_copy

namespace set {
inline constexpr field<std::uint32_t> value{4};
inline constexpr field<std::uint64_t> bytes{8};
inline constexpr field<std::uint64_t> start{16};
inline constexpr field<std::uint64_t> end{24};
inline constexpr field<std::uint32_t> device_id{32};
inline constexpr field<std::uint32_t> context_id{36};
inline constexpr field<std::uint32_t> stream_id{40};
inline constexpr field<std::uint32_t> correlation_id{44};
inline constexpr field<std::uint16_t> flags{48};
inline constexpr field<std::uint16_t> kind{50};  ///< a memory_kind
inline constexpr field<std::uint64_t> graph_node_id{64};
inline constexpr field<std::uint32_t> graph_id{72};
inline constexpr field<std::uint32_t> channel_id{76};
inline constexpr field<channel_type> channel{80};
inline constexpr field<std::uint8_t> is_device_launched{84, cuda_13_0};
}  // namespace set

namespace memory {
inline constexpr field<memory_operation> operation{4};
inline constexpr field<std::uint32_t> kind{8};  ///< a memory_kind
inline constexpr field<std::uint32_t> correlation_id{12};
inline constexpr field<std::uint64_t> address{16};
inline constexpr field<std::uint64_t> bytes{24};
inline constexpr field<std::uint64_t> timestamp{32};
inline constexpr field<std::uint32_t> process_id{48};
inline constexpr field<std::uint32_t> device_id{52};
inline constexpr field<std::uint32_t> context_id{56};
inline constexpr field<std::uint32_t> stream_id{60};  ///< invalid_id unless asynchronous
inline constexpr field<const char*> name{64};         ///< may be null
inline constexpr field<std::uint32_t> is_async{72};
inline constexpr field<std::uint64_t> pool_size{104};
inline constexpr field<std::uint64_t> pool_used{112};
}  // namespace memory

namespace overhead {
inline constexpr field<overhead_kind> what{4};
inline constexpr field<object_kind> object{8};
inline constexpr field<std::uint32_t> process_id{12};  ///< of processes and threads
inline constexpr field<std::uint32_t> thread_id{16};
inline constexpr field<std::uint32_t> device_id{12};  ///< of devices, contexts and streams
inline constexpr field<std::uint32_t> context_id{16};
inline constexpr field<std::uint32_t> stream_id{20};
inline constexpr field<std::uint64_t> start{24};
inline constexpr field<std::uint64_t> end{32};
inline constexpr field<std::uint32_t> correlation_id{40, cuda_12_2};
inline constexpr field<void*> data{48, cuda_12_4};  ///< to be freed by who reads it
}  // namespace overhead

namespace graph_trace {
inline constexpr field<std::uint32_t> correlation_id{4};
inline constexpr field<std::uint64_t> start{8};
inline constexpr field<std::uint64_t> end{16};
inline constexpr field<std::uint32_t> device_id{24};
inline constexpr field<std::uint32_t> graph_id{28};
inline constexpr field<std::uint32_t> context_id{32};
inline constexpr field<std::uint32_t> stream_id{36};
inline constexpr field<std::uint32_t> end_device_id{48, cuda_12_3};
inline constexpr field<std::uint32_t> end_context_id{52, cuda_12_3};
}  // namespace graph_trace

/// Of `runtime`, `driver` and `internal_launch_api`.
namespace api {
inline constexpr field<std::uint32_t> callback_id{4};
inline constexpr field<std::uint64_t> start{8};
inline constexpr field<std::uint64_t> end{16};
inline constexpr field<std::uint32_t> process_id{24};
inline constexpr field<std::uint32_t> thread_id{28};
inline constexpr field<std::uint32_t> correlation_id{32};
inline constexpr field<std::uint32_t> return_value{36};
}  // namespace api

namespace external_correlation {
inline constexpr field<external_correlation_kind> kind{4};
inline constexpr field<std::uint64_t> external_id{8};
inline constexpr field<std::uint32_t> correlation_id{16};
}  // namespace external_correlation

namespace synchronization {
inline constexpr field<synchronization_type> type{4};
inline constexpr field<std::uint64_t> start{8};
inline constexpr field<std::uint64_t> end{16};
inline constexpr field<std::uint32_t> correlation_id{24};
inline constexpr field<std::uint32_t> context_id{28};
inline constexpr field<std::uint32_t> stream_id{32};
inline constexpr field<std::uint32_t> event_id{36};
inline constexpr field<std::uint64_t> event_sync_id{40, cuda_12_8};
inline constexpr field<std::uint32_t> return_value{48, cuda_12_8};
}  // namespace synchronization

/// Bytes of a record as the library of `version` lays it out, as far as we know: a later layout of the same
/// kind is at least as long. 0 for kinds that are not read.
[[nodiscard]] constexpr std::size_t size_of(record_kind kind, std::uint32_t version) noexcept {
  switch (kind) {
    case record_kind::kernel:
    case record_kind::concurrent_kernel:
      return version >= cuda_13_0 ? 216 : 208;
    case record_kind::memcpy:
      return version >= cuda_12_8 ? 96 : 88;
    case record_kind::memcpy_p2p:
      return 96;
    case record_kind::memset:
      return 88;
    case record_kind::memory:
      return version >= cuda_12_6 ? 128 : 120;
    case record_kind::overhead:
      return version >= cuda_12_4 ? 56 : version >= cuda_12_2 ? 48 : 40;
    case record_kind::graph_trace:
      return version >= cuda_12_3 ? 56 : 48;
    case record_kind::runtime:
    case record_kind::driver:
    case record_kind::internal_launch_api:
      return 40;
    case record_kind::external_correlation:
      return 24;
    case record_kind::synchronization:
      return version >= cuda_12_8 ? 56 : 40;
    default:
      return 0;
  }
}

}  // namespace varve::cupti

#endif  // VARVE_CUDA_CUPTI_RECORDS_HPP
