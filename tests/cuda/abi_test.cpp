// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Our declarations of CUPTI against the toolkit's headers: checked while this compiles. What differs
// between toolkits is checked against those that the headers still declare.
#include "cupti/abi.hpp"

#include <cuda.h>
#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace {

using namespace varve::cupti;

#define VARVE_SAME(ours, theirs) static_assert(static_cast<unsigned>(ours) == static_cast<unsigned>(theirs))

VARVE_SAME(result::success, CUPTI_SUCCESS);
VARVE_SAME(result::invalid_parameter, CUPTI_ERROR_INVALID_PARAMETER);
VARVE_SAME(result::invalid_device, CUPTI_ERROR_INVALID_DEVICE);
VARVE_SAME(result::invalid_context, CUPTI_ERROR_INVALID_CONTEXT);
VARVE_SAME(result::invalid_operation, CUPTI_ERROR_INVALID_OPERATION);
VARVE_SAME(result::out_of_memory, CUPTI_ERROR_OUT_OF_MEMORY);
VARVE_SAME(result::hardware, CUPTI_ERROR_HARDWARE);
VARVE_SAME(result::parameter_size_not_sufficient, CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
VARVE_SAME(result::api_not_implemented, CUPTI_ERROR_API_NOT_IMPLEMENTED);
VARVE_SAME(result::max_limit_reached, CUPTI_ERROR_MAX_LIMIT_REACHED);
VARVE_SAME(result::not_ready, CUPTI_ERROR_NOT_READY);
VARVE_SAME(result::not_compatible, CUPTI_ERROR_NOT_COMPATIBLE);
VARVE_SAME(result::not_initialized, CUPTI_ERROR_NOT_INITIALIZED);
VARVE_SAME(result::queue_empty, CUPTI_ERROR_QUEUE_EMPTY);
VARVE_SAME(result::invalid_handle, CUPTI_ERROR_INVALID_HANDLE);
VARVE_SAME(result::invalid_stream, CUPTI_ERROR_INVALID_STREAM);
VARVE_SAME(result::invalid_kind, CUPTI_ERROR_INVALID_KIND);
VARVE_SAME(result::disabled, CUPTI_ERROR_DISABLED);
VARVE_SAME(result::invalid_module, CUPTI_ERROR_INVALID_MODULE);
VARVE_SAME(result::hardware_busy, CUPTI_ERROR_HARDWARE_BUSY);
VARVE_SAME(result::not_supported, CUPTI_ERROR_NOT_SUPPORTED);
VARVE_SAME(result::cdp_tracing_not_supported, CUPTI_ERROR_CDP_TRACING_NOT_SUPPORTED);
VARVE_SAME(result::virtualized_device_not_supported, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
VARVE_SAME(result::cuda_compiler_not_compatible, CUPTI_ERROR_CUDA_COMPILER_NOT_COMPATIBLE);
VARVE_SAME(result::insufficient_privileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
VARVE_SAME(result::old_profiler_api_initialized, CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED);
VARVE_SAME(result::legacy_profiler_not_supported, CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED);
VARVE_SAME(result::multiple_subscribers_not_supported, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
VARVE_SAME(result::virtualized_device_insufficient_privileges,
           CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
VARVE_SAME(result::confidential_computing_not_supported, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
VARVE_SAME(result::cmp_device_not_supported, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED);
VARVE_SAME(result::mig_device_not_supported, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
VARVE_SAME(result::sli_device_not_supported, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED);
VARVE_SAME(result::wsl_device_not_supported, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
VARVE_SAME(result::unknown, CUPTI_ERROR_UNKNOWN);

VARVE_SAME(record_kind::invalid, CUPTI_ACTIVITY_KIND_INVALID);
VARVE_SAME(record_kind::memcpy, CUPTI_ACTIVITY_KIND_MEMCPY);
VARVE_SAME(record_kind::memset, CUPTI_ACTIVITY_KIND_MEMSET);
VARVE_SAME(record_kind::kernel, CUPTI_ACTIVITY_KIND_KERNEL);
VARVE_SAME(record_kind::driver, CUPTI_ACTIVITY_KIND_DRIVER);
VARVE_SAME(record_kind::runtime, CUPTI_ACTIVITY_KIND_RUNTIME);
VARVE_SAME(record_kind::device, CUPTI_ACTIVITY_KIND_DEVICE);
VARVE_SAME(record_kind::context, CUPTI_ACTIVITY_KIND_CONTEXT);
VARVE_SAME(record_kind::concurrent_kernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
VARVE_SAME(record_kind::name, CUPTI_ACTIVITY_KIND_NAME);
VARVE_SAME(record_kind::marker, CUPTI_ACTIVITY_KIND_MARKER);
VARVE_SAME(record_kind::marker_data, CUPTI_ACTIVITY_KIND_MARKER_DATA);
VARVE_SAME(record_kind::overhead, CUPTI_ACTIVITY_KIND_OVERHEAD);
VARVE_SAME(record_kind::memcpy_p2p, CUPTI_ACTIVITY_KIND_MEMCPY2);
VARVE_SAME(record_kind::stream, CUPTI_ACTIVITY_KIND_STREAM);
VARVE_SAME(record_kind::synchronization, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
VARVE_SAME(record_kind::external_correlation, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
VARVE_SAME(record_kind::internal_launch_api, CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API);
VARVE_SAME(record_kind::memory, CUPTI_ACTIVITY_KIND_MEMORY2);
VARVE_SAME(record_kind::memory_pool, CUPTI_ACTIVITY_KIND_MEMORY_POOL);
VARVE_SAME(record_kind::graph_trace, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
#if CUPTI_API_VERSION >= 130000
VARVE_SAME(record_kind::device_graph_trace, CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE);
#endif

VARVE_SAME(callback_domain::invalid, CUPTI_CB_DOMAIN_INVALID);
VARVE_SAME(callback_domain::driver_api, CUPTI_CB_DOMAIN_DRIVER_API);
VARVE_SAME(callback_domain::runtime_api, CUPTI_CB_DOMAIN_RUNTIME_API);
VARVE_SAME(callback_domain::resource, CUPTI_CB_DOMAIN_RESOURCE);
VARVE_SAME(callback_domain::synchronize, CUPTI_CB_DOMAIN_SYNCHRONIZE);
VARVE_SAME(callback_domain::nvtx, CUPTI_CB_DOMAIN_NVTX);
VARVE_SAME(callback_domain::state, CUPTI_CB_DOMAIN_STATE);
VARVE_SAME(callback_site::enter, CUPTI_API_ENTER);
VARVE_SAME(callback_site::exit, CUPTI_API_EXIT);

VARVE_SAME(resource_event::context_created, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
VARVE_SAME(resource_event::context_destroy_starting, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
VARVE_SAME(resource_event::stream_created, CUPTI_CBID_RESOURCE_STREAM_CREATED);
VARVE_SAME(resource_event::stream_destroy_starting, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING);
VARVE_SAME(resource_event::cu_init_finished, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
VARVE_SAME(resource_event::module_loaded, CUPTI_CBID_RESOURCE_MODULE_LOADED);
VARVE_SAME(resource_event::module_unload_starting, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
VARVE_SAME(resource_event::module_profiled, CUPTI_CBID_RESOURCE_MODULE_PROFILED);
VARVE_SAME(resource_event::graph_created, CUPTI_CBID_RESOURCE_GRAPH_CREATED);
VARVE_SAME(resource_event::graph_destroy_starting, CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING);
VARVE_SAME(resource_event::graph_cloned, CUPTI_CBID_RESOURCE_GRAPH_CLONED);
VARVE_SAME(resource_event::graph_node_create_starting, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING);
VARVE_SAME(resource_event::graph_node_created, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
VARVE_SAME(resource_event::graph_node_destroy_starting, CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING);
VARVE_SAME(resource_event::graph_node_dependency_created, CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED);
VARVE_SAME(resource_event::graph_node_dependency_destroy_starting,
           CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING);
VARVE_SAME(resource_event::graph_exec_create_starting, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING);
VARVE_SAME(resource_event::graph_exec_created, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED);
VARVE_SAME(resource_event::graph_exec_destroy_starting, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING);
VARVE_SAME(resource_event::graph_node_cloned, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
#if CUPTI_API_VERSION >= 130000
VARVE_SAME(resource_event::stream_attribute_changed, CUPTI_CBID_RESOURCE_STREAM_ATTRIBUTE_CHANGED);
VARVE_SAME(resource_event::graph_node_updated, CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED);
VARVE_SAME(resource_event::graph_node_set_params, CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS);
#endif
VARVE_SAME(state_event::fatal_error, CUPTI_CBID_STATE_FATAL_ERROR);
VARVE_SAME(state_event::error, CUPTI_CBID_STATE_ERROR);
VARVE_SAME(state_event::warning, CUPTI_CBID_STATE_WARNING);

VARVE_SAME(graph_node_type::kernel, CU_GRAPH_NODE_TYPE_KERNEL);
VARVE_SAME(graph_node_type::memcpy, CU_GRAPH_NODE_TYPE_MEMCPY);
VARVE_SAME(graph_node_type::memset, CU_GRAPH_NODE_TYPE_MEMSET);
VARVE_SAME(graph_node_type::host, CU_GRAPH_NODE_TYPE_HOST);
VARVE_SAME(graph_node_type::graph, CU_GRAPH_NODE_TYPE_GRAPH);
VARVE_SAME(graph_node_type::empty, CU_GRAPH_NODE_TYPE_EMPTY);
VARVE_SAME(graph_node_type::wait_event, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
VARVE_SAME(graph_node_type::event_record, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
VARVE_SAME(graph_node_type::external_semaphores_signal, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL);
VARVE_SAME(graph_node_type::external_semaphores_wait, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
VARVE_SAME(graph_node_type::memory_allocate, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
VARVE_SAME(graph_node_type::memory_free, CU_GRAPH_NODE_TYPE_MEM_FREE);
VARVE_SAME(graph_node_type::batch_memory_operation, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
#if CUDA_VERSION >= 12030
VARVE_SAME(graph_node_type::conditional, CU_GRAPH_NODE_TYPE_CONDITIONAL);
#endif

VARVE_SAME(attribute::device_buffer_size, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE);
VARVE_SAME(attribute::device_buffer_pool_limit, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT);
VARVE_SAME(attribute::zeroed_out_activity_buffer, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
VARVE_SAME(attribute::device_buffer_pre_allocate_value, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE);
VARVE_SAME(attribute::mem_allocation_type_host_pinned, CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED);
#if CUPTI_API_VERSION >= 130000
VARVE_SAME(attribute::per_thread_activity_buffer, CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
#endif
VARVE_SAME(thread_id_type::pthread, CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT);
VARVE_SAME(thread_id_type::system, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
VARVE_SAME(external_correlation_kind::unknown, CUPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN);
VARVE_SAME(external_correlation_kind::custom0, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0);
VARVE_SAME(external_correlation_kind::custom1, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1);
VARVE_SAME(external_correlation_kind::custom2, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2);
VARVE_SAME(flush_forced, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
VARVE_SAME(record_alignment, ACTIVITY_RECORD_ALIGNMENT);

// Two types are passed alike: pointers to alike things, or things of one size that are integers or enums.
// Handles and void point to what nobody looks at.
template <class Ours, class Theirs>
struct alike : std::bool_constant<sizeof(Ours) == sizeof(Theirs) && !std::is_pointer_v<Theirs>> {};
template <class Ours, class Theirs>
struct alike<Ours*, Theirs*> : alike<std::remove_cv_t<Ours>, std::remove_cv_t<Theirs>> {};
template <class Theirs>
struct alike<void, Theirs> : std::is_void<Theirs> {};
#define VARVE_OPAQUE(ours, theirs) \
  template <>                      \
  struct alike<ours, theirs> : std::true_type {}
VARVE_OPAQUE(cuda_context, CUctx_st);
VARVE_OPAQUE(cuda_stream, CUstream_st);
VARVE_OPAQUE(cuda_graph, CUgraph_st);
VARVE_OPAQUE(cuda_graph_node, CUgraphNode_st);
VARVE_OPAQUE(cuda_graph_exec, CUgraphExec_st);
VARVE_OPAQUE(cupti_subscriber, CUpti_Subscriber_st);
VARVE_OPAQUE(std::uint8_t, CUpti_Activity);  // a record
template <class R, class... A, class S, class... B>
struct alike<R(A...), S(B...)> : std::conjunction<alike<R*, S*>, alike<A, B>...> {};

#define VARVE_MEMBER(ours, member, theirs, their_member)                   \
  static_assert(offsetof(ours, member) == offsetof(theirs, their_member)); \
  static_assert(                                                           \
      alike<decltype(std::declval<ours>().member), decltype(std::declval<theirs>().their_member)>::value)

VARVE_MEMBER(callback_data, site, CUpti_CallbackData, callbackSite);
VARVE_MEMBER(callback_data, function_name, CUpti_CallbackData, functionName);
VARVE_MEMBER(callback_data, function_params, CUpti_CallbackData, functionParams);
VARVE_MEMBER(callback_data, function_return_value, CUpti_CallbackData, functionReturnValue);
VARVE_MEMBER(callback_data, symbol_name, CUpti_CallbackData, symbolName);
VARVE_MEMBER(callback_data, context, CUpti_CallbackData, context);
VARVE_MEMBER(callback_data, context_uid, CUpti_CallbackData, contextUid);
VARVE_MEMBER(callback_data, correlation_data, CUpti_CallbackData, correlationData);
VARVE_MEMBER(callback_data, correlation_id, CUpti_CallbackData, correlationId);
static_assert(sizeof(callback_data) == sizeof(CUpti_CallbackData));

VARVE_MEMBER(resource_data, context, CUpti_ResourceData, context);
VARVE_MEMBER(resource_data, stream, CUpti_ResourceData, resourceHandle.stream);
VARVE_MEMBER(resource_data, descriptor, CUpti_ResourceData, resourceDescriptor);
static_assert(sizeof(resource_data) == sizeof(CUpti_ResourceData));

VARVE_MEMBER(graph_data, graph, CUpti_GraphData, graph);
VARVE_MEMBER(graph_data, original_graph, CUpti_GraphData, originalGraph);
VARVE_MEMBER(graph_data, node, CUpti_GraphData, node);
VARVE_MEMBER(graph_data, original_node, CUpti_GraphData, originalNode);
VARVE_MEMBER(graph_data, node_type, CUpti_GraphData, nodeType);
VARVE_MEMBER(graph_data, dependency, CUpti_GraphData, dependency);
VARVE_MEMBER(graph_data, graph_exec, CUpti_GraphData, graphExec);
static_assert(sizeof(graph_data) == sizeof(CUpti_GraphData));

VARVE_MEMBER(state_data, code, CUpti_StateData, notification.result);
VARVE_MEMBER(state_data, message, CUpti_StateData, notification.message);
static_assert(sizeof(state_data) == sizeof(CUpti_StateData));

#define VARVE_FUNCTION(ours, theirs) \
  static_assert(alike<decltype(functions::ours), decltype(&(theirs))>::value)

VARVE_FUNCTION(get_version, cuptiGetVersion);
VARVE_FUNCTION(get_result_string, cuptiGetResultString);
VARVE_FUNCTION(get_timestamp, cuptiGetTimestamp);
VARVE_FUNCTION(get_callback_name, cuptiGetCallbackName);
VARVE_FUNCTION(set_thread_id_type, cuptiSetThreadIdType);
VARVE_FUNCTION(subscribe, cuptiSubscribe);
VARVE_FUNCTION(unsubscribe, cuptiUnsubscribe);
VARVE_FUNCTION(enable_callback, cuptiEnableCallback);
VARVE_FUNCTION(enable_domain, cuptiEnableDomain);
VARVE_FUNCTION(get_graph_id, cuptiGetGraphId);
VARVE_FUNCTION(get_graph_node_id, cuptiGetGraphNodeId);
VARVE_FUNCTION(get_stream_id_ex, cuptiGetStreamIdEx);
VARVE_FUNCTION(finalize, cuptiFinalize);
VARVE_FUNCTION(activity_register_callbacks, cuptiActivityRegisterCallbacks);
VARVE_FUNCTION(activity_enable, cuptiActivityEnable);
VARVE_FUNCTION(activity_disable, cuptiActivityDisable);
VARVE_FUNCTION(activity_enable_runtime_api, cuptiActivityEnableRuntimeApi);
VARVE_FUNCTION(activity_enable_driver_api, cuptiActivityEnableDriverApi);
VARVE_FUNCTION(activity_flush_all, cuptiActivityFlushAll);
VARVE_FUNCTION(activity_flush_period, cuptiActivityFlushPeriod);
VARVE_FUNCTION(activity_get_next_record, cuptiActivityGetNextRecord);
VARVE_FUNCTION(activity_get_num_dropped_records, cuptiActivityGetNumDroppedRecords);
VARVE_FUNCTION(activity_set_attribute, cuptiActivitySetAttribute);
VARVE_FUNCTION(activity_get_attribute, cuptiActivityGetAttribute);
VARVE_FUNCTION(activity_push_external_correlation_id, cuptiActivityPushExternalCorrelationId);
VARVE_FUNCTION(activity_pop_external_correlation_id, cuptiActivityPopExternalCorrelationId);
static_assert(alike<callback_function, CUpti_CallbackFunc>::value);
static_assert(alike<buffer_requested_function, CUpti_BuffersCallbackRequestFunc>::value);
static_assert(alike<buffer_completed_function, CUpti_BuffersCallbackCompleteFunc>::value);
static_assert(!alike<std::uint32_t*, unsigned long*>::value);
static_assert(!alike<void*, std::uint8_t*>::value);

}  // namespace
