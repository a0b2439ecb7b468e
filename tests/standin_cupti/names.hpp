// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The callback ids that the stand-in uses, with CUPTI's values and names (names_test.cpp compares them with
// the toolkit's headers and with the real library).
#ifndef VARVE_TESTS_STANDIN_CUPTI_NAMES_HPP
#define VARVE_TESTS_STANDIN_CUPTI_NAMES_HPP

#include "cupti/abi.hpp"

#include <cstdint>
#include <string_view>

// clang-format off
#define STANDIN_RUNTIME_IDS(ID) \
  ID(get_last_error, 10, cudaGetLastError_v3020) \
  ID(malloc, 20, cudaMalloc_v3020) \
  ID(free, 22, cudaFree_v3020) \
  ID(memcpy, 31, cudaMemcpy_v3020) \
  ID(memcpy_async, 41, cudaMemcpyAsync_v3020) \
  ID(memset_async, 51, cudaMemsetAsync_v3020) \
  ID(stream_synchronize, 131, cudaStreamSynchronize_v3020) \
  ID(event_create_with_flags, 134, cudaEventCreateWithFlags_v3020) \
  ID(event_record, 135, cudaEventRecord_v3020) \
  ID(event_destroy, 136, cudaEventDestroy_v3020) \
  ID(event_synchronize, 137, cudaEventSynchronize_v3020) \
  ID(event_query, 138, cudaEventQuery_v3020) \
  ID(stream_wait_event, 147, cudaStreamWaitEvent_v3020) \
  ID(memcpy_peer_async, 161, cudaMemcpyPeerAsync_v4000) \
  ID(device_synchronize, 165, cudaDeviceSynchronize_v3020) \
  ID(stream_create_with_flags, 198, cudaStreamCreateWithFlags_v5000) \
  ID(stream_destroy, 201, cudaStreamDestroy_v5050) \
  ID(launch_kernel, 211, cudaLaunchKernel_v7000) \
  ID(launch_kernel_ptsz, 214, cudaLaunchKernel_ptsz_v7000) \
  ID(memcpy_async_ptsz, 225, cudaMemcpyAsync_ptsz_v7000) \
  ID(launch_cooperative, 269, cudaLaunchCooperativeKernel_v9000) \
  ID(launch_cooperative_ptsz, 270, cudaLaunchCooperativeKernel_ptsz_v9000) \
  ID(launch_cooperative_multi_device, 272, cudaLaunchCooperativeKernelMultiDevice_v9000) \
  ID(launch_host_func, 284, cudaLaunchHostFunc_v10000) \
  ID(graph_create, 286, cudaGraphCreate_v10000) \
  ID(graph_set_kernel, 288, cudaGraphKernelNodeSetParams_v10000) \
  ID(graph_add_kernel, 289, cudaGraphAddKernelNode_v10000) \
  ID(graph_add_child, 298, cudaGraphAddChildGraphNode_v10000) \
  ID(graph_add_empty, 300, cudaGraphAddEmptyNode_v10000) \
  ID(graph_clone, 301, cudaGraphClone_v10000) \
  ID(graph_launch, 311, cudaGraphLaunch_v10000) \
  ID(graph_launch_ptsz, 312, cudaGraphLaunch_ptsz_v10000) \
  ID(graph_exec_destroy, 313, cudaGraphExecDestroy_v10000) \
  ID(graph_destroy, 314, cudaGraphDestroy_v10000) \
  ID(stream_begin_capture, 315, cudaStreamBeginCapture_v10000) \
  ID(stream_is_capturing, 317, cudaStreamIsCapturing_v10000) \
  ID(stream_end_capture, 319, cudaStreamEndCapture_v10000) \
  ID(graph_exec_set_kernel, 326, cudaGraphExecKernelNodeSetParams_v10010) \
  ID(graph_exec_update, 335, cudaGraphExecUpdate_v10020) \
  ID(graph_upload, 348, cudaGraphUpload_v10000) \
  ID(malloc_async, 373, cudaMallocAsync_v11020) \
  ID(free_async, 375, cudaFreeAsync_v11020) \
  ID(graph_instantiate_with_flags, 418, cudaGraphInstantiateWithFlags_v11040) \
  ID(launch_kernel_ex, 430, cudaLaunchKernelExC_v11060) \
  ID(launch_kernel_ex_ptsz, 431, cudaLaunchKernelExC_ptsz_v11060) \
  ID(graph_instantiate, 443, cudaGraphInstantiate_v12000) \
  ID(graph_add_node, 445, cudaGraphAddNode_v12020) \
  ID(stream_begin_capture_to_graph, 452, cudaStreamBeginCaptureToGraph_v12030) \
  ID(launch_kernel_13, 505, __cudaLaunchKernel_v13000) \
  ID(launch_kernel_13_ptsz, 506, __cudaLaunchKernel_ptsz_v13000)

#define STANDIN_DRIVER_IDS(ID) \
  ID(ctx_synchronize, 17, cuCtxSynchronize) \
  ID(event_create, 118, cuEventCreate) \
  ID(event_record, 119, cuEventRecord) \
  ID(event_query, 120, cuEventQuery) \
  ID(event_synchronize, 121, cuEventSynchronize) \
  ID(stream_create, 124, cuStreamCreate) \
  ID(stream_synchronize, 126, cuStreamSynchronize) \
  ID(memset_d32_async, 220, cuMemsetD32Async) \
  ID(mem_alloc, 243, cuMemAlloc_v2) \
  ID(mem_free, 245, cuMemFree_v2) \
  ID(memcpy_htod_async, 277, cuMemcpyHtoDAsync_v2) \
  ID(memcpy_dtoh_async, 279, cuMemcpyDtoHAsync_v2) \
  ID(memcpy_dtod_async, 281, cuMemcpyDtoDAsync_v2) \
  ID(stream_wait_event, 295, cuStreamWaitEvent) \
  ID(memcpy_async, 306, cuMemcpyAsync) \
  ID(launch_kernel, 307, cuLaunchKernel) \
  ID(memcpy_peer_async, 319, cuMemcpyPeerAsync) \
  ID(event_destroy, 325, cuEventDestroy_v2) \
  ID(stream_destroy, 326, cuStreamDestroy_v2) \
  ID(launch_kernel_ptsz, 442, cuLaunchKernel_ptsz) \
  ID(launch_cooperative, 477, cuLaunchCooperativeKernel) \
  ID(launch_cooperative_ptsz, 478, cuLaunchCooperativeKernel_ptsz) \
  ID(launch_cooperative_multi_device, 480, cuLaunchCooperativeKernelMultiDevice) \
  ID(stream_end_capture, 497, cuStreamEndCapture) \
  ID(graph_create, 501, cuGraphCreate) \
  ID(graph_launch, 514, cuGraphLaunch) \
  ID(graph_launch_ptsz, 515, cuGraphLaunch_ptsz) \
  ID(graph_exec_destroy, 516, cuGraphExecDestroy) \
  ID(graph_destroy, 517, cuGraphDestroy) \
  ID(graph_clone, 523, cuGraphClone) \
  ID(graph_add_child, 525, cuGraphAddChildGraphNode) \
  ID(graph_add_empty, 526, cuGraphAddEmptyNode) \
  ID(launch_host_func, 527, cuLaunchHostFunc) \
  ID(stream_begin_capture, 539, cuStreamBeginCapture_v2) \
  ID(graph_upload, 580, cuGraphUpload) \
  ID(mem_alloc_async, 598, cuMemAllocAsync) \
  ID(mem_free_async, 600, cuMemFreeAsync) \
  ID(graph_instantiate, 643, cuGraphInstantiateWithFlags) \
  ID(launch_kernel_ex, 652, cuLaunchKernelEx) \
  ID(launch_kernel_ex_ptsz, 653, cuLaunchKernelEx_ptsz) \
  ID(graph_add_kernel, 689, cuGraphAddKernelNode_v2) \
  ID(graph_set_kernel, 691, cuGraphKernelNodeSetParams_v2) \
  ID(graph_exec_set_kernel, 692, cuGraphExecKernelNodeSetParams_v2) \
  ID(graph_exec_update, 696, cuGraphExecUpdate_v2) \
  ID(graph_add_node, 712, cuGraphAddNode) \
  ID(stream_begin_capture_to_graph, 720, cuStreamBeginCaptureToGraph)

// clang-format on

#define STANDIN_CONSTANT(constant, id, name) inline constexpr std::uint32_t constant = id;
namespace standin::runtime {
STANDIN_RUNTIME_IDS(STANDIN_CONSTANT)
}
namespace standin::driver {
STANDIN_DRIVER_IDS(STANDIN_CONSTANT)
}
#undef STANDIN_CONSTANT

namespace standin {

/// Null beyond the last id of the configured version; "INVALID" for ids that the stand-in does not use.
const char* callback_name(varve::cupti::callback_domain domain, std::uint32_t id);
void reset_names();

}  // namespace standin

#endif  // VARVE_TESTS_STANDIN_CUPTI_NAMES_HPP
