// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Our offsets into CUPTI's records against the toolkit's headers: checked while this compiles, for the
// layouts of CUDA 13.0 and, since they append only, for the older ones that the headers still declare.
#include "cupti/records.hpp"

#include <cuda.h>
#include <cupti.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace varve::cupti;

#define VARVE_SAME(ours, theirs) static_assert(static_cast<unsigned>(ours) == static_cast<unsigned>(theirs))

VARVE_SAME(copy_direction::unknown, CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN);
VARVE_SAME(copy_direction::host_to_device, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
VARVE_SAME(copy_direction::device_to_host, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
VARVE_SAME(copy_direction::host_to_array, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA);
VARVE_SAME(copy_direction::array_to_host, CUPTI_ACTIVITY_MEMCPY_KIND_ATOH);
VARVE_SAME(copy_direction::array_to_array, CUPTI_ACTIVITY_MEMCPY_KIND_ATOA);
VARVE_SAME(copy_direction::array_to_device, CUPTI_ACTIVITY_MEMCPY_KIND_ATOD);
VARVE_SAME(copy_direction::device_to_array, CUPTI_ACTIVITY_MEMCPY_KIND_DTOA);
VARVE_SAME(copy_direction::device_to_device, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
VARVE_SAME(copy_direction::host_to_host, CUPTI_ACTIVITY_MEMCPY_KIND_HTOH);
VARVE_SAME(copy_direction::peer_to_peer, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
VARVE_SAME(memory_unknown, CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN);
VARVE_SAME(memory_pageable, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
VARVE_SAME(memory_pinned, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
VARVE_SAME(memory_device, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
VARVE_SAME(memory_array, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY);
VARVE_SAME(memory_managed, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
VARVE_SAME(memory_device_static, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC);
VARVE_SAME(memory_managed_static, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC);
VARVE_SAME(memory_operation::invalid, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_INVALID);
VARVE_SAME(memory_operation::allocation, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
VARVE_SAME(memory_operation::release, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
VARVE_SAME(launch_type::regular, CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR);
VARVE_SAME(launch_type::cooperative, CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE);
VARVE_SAME(launch_type::cooperative_multi_device, CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE);
VARVE_SAME(launch_type::command_list, CUPTI_ACTIVITY_LAUNCH_TYPE_CBL_COMMANDLIST);
VARVE_SAME(channel_type::invalid, CUPTI_CHANNEL_TYPE_INVALID);
VARVE_SAME(channel_type::compute, CUPTI_CHANNEL_TYPE_COMPUTE);
VARVE_SAME(channel_type::async_memcpy, CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY);
VARVE_SAME(overhead_kind::unknown, CUPTI_ACTIVITY_OVERHEAD_UNKNOWN);
VARVE_SAME(overhead_kind::driver_compiler, CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER);
VARVE_SAME(overhead_kind::cupti_buffer_flush, CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH);
VARVE_SAME(overhead_kind::cupti_instrumentation, CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION);
VARVE_SAME(overhead_kind::cupti_resource, CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE);
VARVE_SAME(object_kind::unknown, CUPTI_ACTIVITY_OBJECT_UNKNOWN);
VARVE_SAME(object_kind::process, CUPTI_ACTIVITY_OBJECT_PROCESS);
VARVE_SAME(object_kind::thread, CUPTI_ACTIVITY_OBJECT_THREAD);
VARVE_SAME(object_kind::device, CUPTI_ACTIVITY_OBJECT_DEVICE);
VARVE_SAME(object_kind::context, CUPTI_ACTIVITY_OBJECT_CONTEXT);
VARVE_SAME(object_kind::stream, CUPTI_ACTIVITY_OBJECT_STREAM);
VARVE_SAME(synchronization_type::unknown, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN);
VARVE_SAME(synchronization_type::event_synchronize, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
VARVE_SAME(synchronization_type::stream_wait_event, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT);
VARVE_SAME(synchronization_type::stream_synchronize, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
VARVE_SAME(synchronization_type::context_synchronize,
           CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE);
VARVE_SAME(flag_async, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
VARVE_SAME(flag_async, CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC);
VARVE_SAME(unknown_timestamp, CUPTI_TIMESTAMP_UNKNOWN);
VARVE_SAME(unknown_correlation, CUPTI_CORRELATION_ID_UNKNOWN);
VARVE_SAME(invalid_id, CUPTI_INVALID_CONTEXT_ID);
VARVE_SAME(invalid_id, CUPTI_INVALID_STREAM_ID);
VARVE_SAME(invalid_id, CUPTI_INVALID_CHANNEL_ID);
VARVE_SAME(invalid_id, CUPTI_SYNCHRONIZATION_INVALID_VALUE);

template <class T>
constexpr std::size_t width(field<T> /*f*/) {
  return sizeof(T);
}

#define VARVE_FIELD(ours, theirs, member)                   \
  static_assert((ours).offset == offsetof(theirs, member)); \
  static_assert(width(ours) == sizeof(theirs::member))

VARVE_FIELD(kind_of, CUpti_Activity, kind);

// All fields of a kernel that every layout from 12.0 on has.
#define VARVE_KERNEL(theirs)                                                        \
  VARVE_FIELD(kernel::registers_per_thread, theirs, registersPerThread);            \
  VARVE_FIELD(kernel::start, theirs, start);                                        \
  VARVE_FIELD(kernel::end, theirs, end);                                            \
  VARVE_FIELD(kernel::completed, theirs, completed);                                \
  VARVE_FIELD(kernel::device_id, theirs, deviceId);                                 \
  VARVE_FIELD(kernel::context_id, theirs, contextId);                               \
  VARVE_FIELD(kernel::stream_id, theirs, streamId);                                 \
  VARVE_FIELD(kernel::grid_x, theirs, gridX);                                       \
  VARVE_FIELD(kernel::grid_y, theirs, gridY);                                       \
  VARVE_FIELD(kernel::grid_z, theirs, gridZ);                                       \
  VARVE_FIELD(kernel::block_x, theirs, blockX);                                     \
  VARVE_FIELD(kernel::block_y, theirs, blockY);                                     \
  VARVE_FIELD(kernel::block_z, theirs, blockZ);                                     \
  VARVE_FIELD(kernel::static_shared_memory, theirs, staticSharedMemory);            \
  VARVE_FIELD(kernel::dynamic_shared_memory, theirs, dynamicSharedMemory);          \
  VARVE_FIELD(kernel::local_memory_per_thread, theirs, localMemoryPerThread);       \
  VARVE_FIELD(kernel::correlation_id, theirs, correlationId);                       \
  VARVE_FIELD(kernel::grid_id, theirs, gridId);                                     \
  VARVE_FIELD(kernel::name, theirs, name);                                          \
  VARVE_FIELD(kernel::queued, theirs, queued);                                      \
  VARVE_FIELD(kernel::submitted, theirs, submitted);                                \
  VARVE_FIELD(kernel::launch, theirs, launchType);                                  \
  VARVE_FIELD(kernel::shared_memory_executed, theirs, sharedMemoryExecuted);        \
  VARVE_FIELD(kernel::graph_node_id, theirs, graphNodeId);                          \
  VARVE_FIELD(kernel::graph_id, theirs, graphId);                                   \
  VARVE_FIELD(kernel::channel_id, theirs, channelID);                               \
  VARVE_FIELD(kernel::channel, theirs, channelType);                                \
  VARVE_FIELD(kernel::cluster_x, theirs, clusterX);                                 \
  VARVE_FIELD(kernel::cluster_y, theirs, clusterY);                                 \
  VARVE_FIELD(kernel::cluster_z, theirs, clusterZ);                                 \
  VARVE_FIELD(kernel::local_memory_total, theirs, localMemoryTotal_v2);             \
  VARVE_FIELD(kernel::max_potential_cluster_size, theirs, maxPotentialClusterSize); \
  VARVE_FIELD(kernel::max_active_clusters, theirs, maxActiveClusters)

VARVE_KERNEL(CUpti_ActivityKernel9);
static_assert(size_of(record_kind::concurrent_kernel, cuda_12_0) == sizeof(CUpti_ActivityKernel9));
static_assert(size_of(record_kind::concurrent_kernel, cuda_12_9) == sizeof(CUpti_ActivityKernel9));

#define VARVE_COPY(theirs)                                  \
  VARVE_FIELD(copy::direction, theirs, copyKind);           \
  VARVE_FIELD(copy::source_kind, theirs, srcKind);          \
  VARVE_FIELD(copy::destination_kind, theirs, dstKind);     \
  VARVE_FIELD(copy::flags, theirs, flags);                  \
  VARVE_FIELD(copy::bytes, theirs, bytes);                  \
  VARVE_FIELD(copy::start, theirs, start);                  \
  VARVE_FIELD(copy::end, theirs, end);                      \
  VARVE_FIELD(copy::device_id, theirs, deviceId);           \
  VARVE_FIELD(copy::context_id, theirs, contextId);         \
  VARVE_FIELD(copy::stream_id, theirs, streamId);           \
  VARVE_FIELD(copy::correlation_id, theirs, correlationId); \
  VARVE_FIELD(copy::graph_node_id, theirs, graphNodeId);    \
  VARVE_FIELD(copy::graph_id, theirs, graphId);             \
  VARVE_FIELD(copy::channel_id, theirs, channelID);         \
  VARVE_FIELD(copy::channel, theirs, channelType)

VARVE_COPY(CUpti_ActivityMemcpy5);
static_assert(size_of(record_kind::memcpy, cuda_12_6) == sizeof(CUpti_ActivityMemcpy5));

VARVE_FIELD(peer_copy::direction, CUpti_ActivityMemcpyPtoP4, copyKind);
VARVE_FIELD(peer_copy::source_kind, CUpti_ActivityMemcpyPtoP4, srcKind);
VARVE_FIELD(peer_copy::destination_kind, CUpti_ActivityMemcpyPtoP4, dstKind);
VARVE_FIELD(peer_copy::flags, CUpti_ActivityMemcpyPtoP4, flags);
VARVE_FIELD(peer_copy::bytes, CUpti_ActivityMemcpyPtoP4, bytes);
VARVE_FIELD(peer_copy::start, CUpti_ActivityMemcpyPtoP4, start);
VARVE_FIELD(peer_copy::end, CUpti_ActivityMemcpyPtoP4, end);
VARVE_FIELD(peer_copy::device_id, CUpti_ActivityMemcpyPtoP4, deviceId);
VARVE_FIELD(peer_copy::context_id, CUpti_ActivityMemcpyPtoP4, contextId);
VARVE_FIELD(peer_copy::stream_id, CUpti_ActivityMemcpyPtoP4, streamId);
VARVE_FIELD(peer_copy::source_device_id, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
VARVE_FIELD(peer_copy::source_context_id, CUpti_ActivityMemcpyPtoP4, srcContextId);
VARVE_FIELD(peer_copy::destination_device_id, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
VARVE_FIELD(peer_copy::destination_context_id, CUpti_ActivityMemcpyPtoP4, dstContextId);
VARVE_FIELD(peer_copy::correlation_id, CUpti_ActivityMemcpyPtoP4, correlationId);
VARVE_FIELD(peer_copy::graph_node_id, CUpti_ActivityMemcpyPtoP4, graphNodeId);
VARVE_FIELD(peer_copy::graph_id, CUpti_ActivityMemcpyPtoP4, graphId);
VARVE_FIELD(peer_copy::channel_id, CUpti_ActivityMemcpyPtoP4, channelID);
VARVE_FIELD(peer_copy::channel, CUpti_ActivityMemcpyPtoP4, channelType);
static_assert(size_of(record_kind::memcpy_p2p, cuda_13_0) == sizeof(CUpti_ActivityMemcpyPtoP4));

VARVE_FIELD(set::value, CUpti_ActivityMemset4, value);
VARVE_FIELD(set::bytes, CUpti_ActivityMemset4, bytes);
VARVE_FIELD(set::start, CUpti_ActivityMemset4, start);
VARVE_FIELD(set::end, CUpti_ActivityMemset4, end);
VARVE_FIELD(set::device_id, CUpti_ActivityMemset4, deviceId);
VARVE_FIELD(set::context_id, CUpti_ActivityMemset4, contextId);
VARVE_FIELD(set::stream_id, CUpti_ActivityMemset4, streamId);
VARVE_FIELD(set::correlation_id, CUpti_ActivityMemset4, correlationId);
VARVE_FIELD(set::flags, CUpti_ActivityMemset4, flags);
VARVE_FIELD(set::kind, CUpti_ActivityMemset4, memoryKind);
VARVE_FIELD(set::graph_node_id, CUpti_ActivityMemset4, graphNodeId);
VARVE_FIELD(set::graph_id, CUpti_ActivityMemset4, graphId);
VARVE_FIELD(set::channel_id, CUpti_ActivityMemset4, channelID);
VARVE_FIELD(set::channel, CUpti_ActivityMemset4, channelType);
static_assert(size_of(record_kind::memset, cuda_13_0) == sizeof(CUpti_ActivityMemset4));

#define VARVE_MEMORY(theirs)                                          \
  VARVE_FIELD(memory::operation, theirs, memoryOperationType);        \
  VARVE_FIELD(memory::kind, theirs, memoryKind);                      \
  VARVE_FIELD(memory::correlation_id, theirs, correlationId);         \
  VARVE_FIELD(memory::address, theirs, address);                      \
  VARVE_FIELD(memory::bytes, theirs, bytes);                          \
  VARVE_FIELD(memory::timestamp, theirs, timestamp);                  \
  VARVE_FIELD(memory::process_id, theirs, processId);                 \
  VARVE_FIELD(memory::device_id, theirs, deviceId);                   \
  VARVE_FIELD(memory::context_id, theirs, contextId);                 \
  VARVE_FIELD(memory::stream_id, theirs, streamId);                   \
  VARVE_FIELD(memory::name, theirs, name);                            \
  VARVE_FIELD(memory::is_async, theirs, isAsync);                     \
  VARVE_FIELD(memory::pool_size, theirs, memoryPoolConfig.pool.size); \
  VARVE_FIELD(memory::pool_used, theirs, memoryPoolConfig.utilizedSize)

VARVE_MEMORY(CUpti_ActivityMemory3);
static_assert(size_of(record_kind::memory, cuda_12_5) == sizeof(CUpti_ActivityMemory3));

#define VARVE_OVERHEAD(theirs)                                       \
  VARVE_FIELD(overhead::what, theirs, overheadKind);                 \
  VARVE_FIELD(overhead::object, theirs, objectKind);                 \
  VARVE_FIELD(overhead::process_id, theirs, objectId.pt.processId);  \
  VARVE_FIELD(overhead::thread_id, theirs, objectId.pt.threadId);    \
  VARVE_FIELD(overhead::device_id, theirs, objectId.dcs.deviceId);   \
  VARVE_FIELD(overhead::context_id, theirs, objectId.dcs.contextId); \
  VARVE_FIELD(overhead::stream_id, theirs, objectId.dcs.streamId);   \
  VARVE_FIELD(overhead::start, theirs, start);                       \
  VARVE_FIELD(overhead::end, theirs, end)

VARVE_OVERHEAD(CUpti_ActivityOverhead);
static_assert(size_of(record_kind::overhead, cuda_12_0) == sizeof(CUpti_ActivityOverhead));

#define VARVE_GRAPH_TRACE(theirs)                                  \
  VARVE_FIELD(graph_trace::correlation_id, theirs, correlationId); \
  VARVE_FIELD(graph_trace::start, theirs, start);                  \
  VARVE_FIELD(graph_trace::end, theirs, end);                      \
  VARVE_FIELD(graph_trace::device_id, theirs, deviceId);           \
  VARVE_FIELD(graph_trace::graph_id, theirs, graphId);             \
  VARVE_FIELD(graph_trace::context_id, theirs, contextId);         \
  VARVE_FIELD(graph_trace::stream_id, theirs, streamId)

VARVE_GRAPH_TRACE(CUpti_ActivityGraphTrace);
static_assert(size_of(record_kind::graph_trace, cuda_12_2) == sizeof(CUpti_ActivityGraphTrace));

VARVE_FIELD(api::callback_id, CUpti_ActivityAPI, cbid);
VARVE_FIELD(api::start, CUpti_ActivityAPI, start);
VARVE_FIELD(api::end, CUpti_ActivityAPI, end);
VARVE_FIELD(api::process_id, CUpti_ActivityAPI, processId);
VARVE_FIELD(api::thread_id, CUpti_ActivityAPI, threadId);
VARVE_FIELD(api::correlation_id, CUpti_ActivityAPI, correlationId);
VARVE_FIELD(api::return_value, CUpti_ActivityAPI, returnValue);
static_assert(size_of(record_kind::runtime, cuda_13_0) == sizeof(CUpti_ActivityAPI));

VARVE_FIELD(external_correlation::kind, CUpti_ActivityExternalCorrelation, externalKind);
VARVE_FIELD(external_correlation::external_id, CUpti_ActivityExternalCorrelation, externalId);
VARVE_FIELD(external_correlation::correlation_id, CUpti_ActivityExternalCorrelation, correlationId);
static_assert(size_of(record_kind::external_correlation, cuda_13_0) ==
              sizeof(CUpti_ActivityExternalCorrelation));

#define VARVE_SYNCHRONIZATION(theirs)                                  \
  VARVE_FIELD(synchronization::type, theirs, type);                    \
  VARVE_FIELD(synchronization::start, theirs, start);                  \
  VARVE_FIELD(synchronization::end, theirs, end);                      \
  VARVE_FIELD(synchronization::correlation_id, theirs, correlationId); \
  VARVE_FIELD(synchronization::context_id, theirs, contextId);         \
  VARVE_FIELD(synchronization::stream_id, theirs, streamId);           \
  VARVE_FIELD(synchronization::event_id, theirs, cudaEventId)

VARVE_SYNCHRONIZATION(CUpti_ActivitySynchronization);
static_assert(size_of(record_kind::synchronization, cuda_12_6) == sizeof(CUpti_ActivitySynchronization));

#if CUPTI_API_VERSION >= 130000
VARVE_SAME(channel_type::decompression, CUPTI_CHANNEL_TYPE_DECOMP);
VARVE_SAME(overhead_kind::runtime_triggered_module_loading,
           CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING);
VARVE_SAME(overhead_kind::lazy_function_loading, CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING);
VARVE_SAME(overhead_kind::command_buffer_full, CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL);
VARVE_SAME(overhead_kind::activity_buffer_request, CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST);
VARVE_SAME(overhead_kind::uvm_activity_init, CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT);

VARVE_KERNEL(CUpti_ActivityKernel10);
VARVE_FIELD(kernel::is_device_launched, CUpti_ActivityKernel10, isDeviceLaunched);
static_assert(size_of(record_kind::concurrent_kernel, cuda_13_0) == sizeof(CUpti_ActivityKernel10));

VARVE_COPY(CUpti_ActivityMemcpy6);
VARVE_FIELD(copy::is_device_launched, CUpti_ActivityMemcpy6, isDeviceLaunched);
VARVE_FIELD(copy::copy_count, CUpti_ActivityMemcpy6, copyCount);
static_assert(size_of(record_kind::memcpy, cuda_13_0) == sizeof(CUpti_ActivityMemcpy6));
VARVE_FIELD(set::is_device_launched, CUpti_ActivityMemset4, isDeviceLaunched);

VARVE_MEMORY(CUpti_ActivityMemory4);
static_assert(size_of(record_kind::memory, cuda_13_0) == sizeof(CUpti_ActivityMemory4));

VARVE_OVERHEAD(CUpti_ActivityOverhead2);
VARVE_FIELD(overhead::correlation_id, CUpti_ActivityOverhead2, correlationId);
static_assert(size_of(record_kind::overhead, cuda_12_3) == sizeof(CUpti_ActivityOverhead2));
VARVE_OVERHEAD(CUpti_ActivityOverhead3);
VARVE_FIELD(overhead::correlation_id, CUpti_ActivityOverhead3, correlationId);
VARVE_FIELD(overhead::data, CUpti_ActivityOverhead3, overheadData);
static_assert(size_of(record_kind::overhead, cuda_13_0) == sizeof(CUpti_ActivityOverhead3));

VARVE_GRAPH_TRACE(CUpti_ActivityGraphTrace2);
VARVE_FIELD(graph_trace::end_device_id, CUpti_ActivityGraphTrace2, endDeviceId);
VARVE_FIELD(graph_trace::end_context_id, CUpti_ActivityGraphTrace2, endContextId);
static_assert(size_of(record_kind::graph_trace, cuda_13_0) == sizeof(CUpti_ActivityGraphTrace2));

VARVE_SYNCHRONIZATION(CUpti_ActivitySynchronization2);
VARVE_FIELD(synchronization::event_sync_id, CUpti_ActivitySynchronization2, cudaEventSyncId);
VARVE_FIELD(synchronization::return_value, CUpti_ActivitySynchronization2, returnValue);
static_assert(size_of(record_kind::synchronization, cuda_13_0) == sizeof(CUpti_ActivitySynchronization2));
#endif

TEST(records_test, a_record_is_read_wherever_it_lies) {
  CUpti_ActivityKernel9 theirs{};
  theirs.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  theirs.start = 1'000;
  theirs.end = 1'250;
  theirs.graphNodeId = std::uint64_t{1} << 40U;
  theirs.name = "saxpy";
  std::vector<std::uint8_t> bytes(sizeof theirs + 1);
  std::memcpy(bytes.data() + 1, &theirs, sizeof theirs);
  const std::uint8_t* const record = bytes.data() + 1;
  EXPECT_EQ(read(record, kind_of), record_kind::concurrent_kernel);
  EXPECT_EQ(read(record, kernel::end) - read(record, kernel::start), 250U);
  EXPECT_EQ(read(record, kernel::graph_node_id), std::uint64_t{1} << 40U);
  EXPECT_EQ(std::string{read(record, kernel::name)}, "saxpy");
}

TEST(records_test, a_field_that_the_library_does_not_write_is_not_read) {
  std::array<std::uint8_t, 216> record{};
  record[208] = 1;
  EXPECT_EQ(read(record.data(), kernel::is_device_launched, cuda_12_9, std::uint8_t{7}), 7);
  EXPECT_EQ(read(record.data(), kernel::is_device_launched, cuda_13_0, std::uint8_t{7}), 1);
}

}  // namespace
