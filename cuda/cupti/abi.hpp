// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What varve uses of CUPTI's binary interface, declared anew so that no CUDA header is needed to build it.
// tests/cuda/abi_test.cpp compares every value, layout and signature with the toolkit's headers.
// The records of activity buffers are in records.hpp.
#ifndef VARVE_CUDA_CUPTI_ABI_HPP
#define VARVE_CUDA_CUPTI_ABI_HPP

#include <cstddef>
#include <cstdint>

namespace varve::cupti {

enum class result : std::uint32_t {
  success = 0,
  invalid_parameter = 1,
  invalid_device = 2,
  invalid_context = 3,
  invalid_operation = 7,
  out_of_memory = 8,
  hardware = 9,
  parameter_size_not_sufficient = 10,
  api_not_implemented = 11,
  max_limit_reached = 12,  ///< the end of a buffer
  not_ready = 13,
  not_compatible = 14,
  not_initialized = 15,
  queue_empty = 18,
  invalid_handle = 19,
  invalid_stream = 20,
  invalid_kind = 21,
  disabled = 23,
  invalid_module = 24,
  hardware_busy = 26,
  not_supported = 27,
  cdp_tracing_not_supported = 32,
  virtualized_device_not_supported = 33,
  cuda_compiler_not_compatible = 34,
  insufficient_privileges = 35,
  old_profiler_api_initialized = 36,
  legacy_profiler_not_supported = 38,
  multiple_subscribers_not_supported = 39,
  virtualized_device_insufficient_privileges = 40,
  confidential_computing_not_supported = 41,
  cmp_device_not_supported = 42,
  mig_device_not_supported = 43,
  sli_device_not_supported = 44,
  wsl_device_not_supported = 45,
  unknown = 999
};

/// CUpti_ActivityKind.
enum class record_kind : std::uint32_t {
  invalid = 0,
  memcpy = 1,
  memset = 2,
  kernel = 3,  ///< serialises kernels: only ever read, never enabled
  driver = 4,
  runtime = 5,
  device = 8,
  context = 9,
  concurrent_kernel = 10,
  name = 11,
  marker = 12,
  marker_data = 13,
  overhead = 17,
  memcpy_p2p = 22,  ///< CUPTI's MEMCPY2
  stream = 37,
  synchronization = 38,
  external_correlation = 39,
  internal_launch_api = 48,
  memory = 49,  ///< CUPTI's MEMORY2
  memory_pool = 50,
  graph_trace = 51,
  device_graph_trace = 53
};

enum class callback_domain : std::uint32_t {
  invalid = 0,
  driver_api = 1,
  runtime_api = 2,
  resource = 3,
  synchronize = 4,
  nvtx = 5,
  state = 6
};

enum class callback_site : std::uint32_t { enter = 0, exit = 1 };

/// Callback ids of the domain `resource`.
enum class resource_event : std::uint32_t {
  context_created = 1,
  context_destroy_starting = 2,
  stream_created = 3,
  stream_destroy_starting = 4,
  cu_init_finished = 5,  ///< comes with null data
  module_loaded = 6,
  module_unload_starting = 7,
  module_profiled = 8,
  graph_created = 9,
  graph_destroy_starting = 10,
  graph_cloned = 11,
  graph_node_create_starting = 12,
  graph_node_created = 13,
  graph_node_destroy_starting = 14,
  graph_node_dependency_created = 15,
  graph_node_dependency_destroy_starting = 16,
  graph_exec_create_starting = 17,
  graph_exec_created = 18,
  graph_exec_destroy_starting = 19,
  graph_node_cloned = 20,
  stream_attribute_changed = 21,
  graph_node_updated = 22,    ///< from 13.0
  graph_node_set_params = 23  ///< from 13.0
};

/// Callback ids of the domain `state`.
enum class state_event : std::uint32_t { fatal_error = 1, error = 2, warning = 3 };

/// CUgraphNodeType.
enum class graph_node_type : std::uint32_t {
  kernel = 0,
  memcpy = 1,
  memset = 2,
  host = 3,
  graph = 4,  ///< a child graph
  empty = 5,
  wait_event = 6,
  event_record = 7,
  external_semaphores_signal = 8,
  external_semaphores_wait = 9,
  memory_allocate = 10,
  memory_free = 11,
  batch_memory_operation = 12,
  conditional = 13
};

enum class attribute : std::uint32_t {
  device_buffer_size = 0,
  device_buffer_pool_limit = 2,
  zeroed_out_activity_buffer = 5,
  device_buffer_pre_allocate_value = 6,
  mem_allocation_type_host_pinned = 8,
  per_thread_activity_buffer = 9
};

enum class thread_id_type : std::uint32_t { pthread = 0, system = 1 };

enum class external_correlation_kind : std::uint32_t { unknown = 1, custom0 = 3, custom1 = 4, custom2 = 5 };

/// For activity_flush_all.
inline constexpr std::uint32_t flush_forced = 1;
/// What buffers and records are aligned to.
inline constexpr std::size_t record_alignment = 8;

// Handles of CUDA and CUPTI. Nothing behind them is ever read.
using context_handle = struct cuda_context*;
using stream_handle = struct cuda_stream*;
using graph_handle = struct cuda_graph*;
using graph_node_handle = struct cuda_graph_node*;
using graph_exec_handle = struct cuda_graph_exec*;
using subscriber_handle = struct cupti_subscriber*;

/// What callbacks of the domains `driver_api` and `runtime_api` get.
struct callback_data {
  callback_site site;
  const char* function_name;
  const void* function_params;
  void* function_return_value;  ///< at exit, a CUresult or cudaError_t: 0 is success
  const char* symbol_name;      ///< of launches: the kernel's name, may be null
  context_handle context;       ///< may be null
  std::uint32_t context_uid;
  std::uint64_t* correlation_data;  ///< kept from enter to exit
  std::uint32_t correlation_id;
};

/// What callbacks of the domain `resource` get, but cu_init_finished.
struct resource_data {
  context_handle context;
  stream_handle stream;  ///< valid for stream events only
  void* descriptor;      ///< of graph events: a graph_data*
};

/// Handles that an event does not concern are undefined, but by the event's own documentation.
struct graph_data {
  graph_handle graph;
  graph_handle original_graph;
  graph_node_handle node;
  graph_node_handle original_node;
  graph_node_type node_type;
  graph_node_handle dependency;
  graph_exec_handle graph_exec;
};

/// What callbacks of the domain `state` get.
struct state_data {
  result code;
  const char* message;  ///< may be null
};

using callback_function = void (*)(void* user_data, callback_domain domain, std::uint32_t id,
                                   const void* data);
using buffer_requested_function = void (*)(std::uint8_t** buffer, std::size_t* size,
                                           std::size_t* max_records);
using buffer_completed_function = void (*)(context_handle context, std::uint32_t stream, std::uint8_t* buffer,
                                           std::size_t size, std::size_t valid_size);

/// CUPTI's functions, each under its own name without the prefix. Null: the library does not have it.
struct functions {
  result (*get_version)(std::uint32_t* version);
  result (*get_result_string)(result code, const char** text);
  result (*get_timestamp)(std::uint64_t* timestamp);
  result (*get_callback_name)(callback_domain domain, std::uint32_t id, const char** name);
  result (*set_thread_id_type)(thread_id_type type);
  result (*subscribe)(subscriber_handle* subscriber, callback_function function, void* user_data);
  result (*unsubscribe)(subscriber_handle subscriber);
  result (*enable_callback)(std::uint32_t enable, subscriber_handle subscriber, callback_domain domain,
                            std::uint32_t id);
  result (*enable_domain)(std::uint32_t enable, subscriber_handle subscriber, callback_domain domain);
  result (*get_graph_id)(graph_handle graph, std::uint32_t* id);
  result (*get_graph_node_id)(graph_node_handle node, std::uint64_t* id);
  result (*get_stream_id_ex)(context_handle context, stream_handle stream, std::uint8_t per_thread,
                             std::uint32_t* id);
  result (*finalize)();
  result (*activity_register_callbacks)(buffer_requested_function requested,
                                        buffer_completed_function completed);
  result (*activity_enable)(record_kind kind);
  result (*activity_disable)(record_kind kind);
  result (*activity_enable_runtime_api)(std::uint32_t id, std::uint8_t enable);
  result (*activity_enable_driver_api)(std::uint32_t id, std::uint8_t enable);
  result (*activity_flush_all)(std::uint32_t flag);
  result (*activity_flush_period)(std::uint32_t milliseconds);
  result (*activity_get_next_record)(std::uint8_t* buffer, std::size_t valid_size, std::uint8_t** record);
  result (*activity_get_num_dropped_records)(context_handle context, std::uint32_t stream,
                                             std::size_t* dropped);
  result (*activity_set_attribute)(attribute what, std::size_t* size, void* value);
  result (*activity_get_attribute)(attribute what, std::size_t* size, void* value);
  result (*activity_push_external_correlation_id)(external_correlation_kind kind, std::uint64_t id);
  result (*activity_pop_external_correlation_id)(external_correlation_kind kind, std::uint64_t* last);
};

}  // namespace varve::cupti

#endif  // VARVE_CUDA_CUPTI_ABI_HPP
