// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The stand-in's callback ids and parameters are those of the toolkit's headers: this compiles or it doesn't.
#include "standin_cupti/names.hpp"
#include "standin_cupti/params.hpp"

#include <cuda.h>
#include <cupti.h>
#include <gtest/gtest.h>

#include <cstddef>

namespace {

#define SAME_RUNTIME_ID(constant, id, name) static_assert(CUPTI_RUNTIME_TRACE_CBID_##name == (id), #name);
#define SAME_DRIVER_ID(constant, id, name) static_assert(CUPTI_DRIVER_TRACE_CBID_##name == (id), #name);
STANDIN_RUNTIME_IDS(SAME_RUNTIME_ID)
STANDIN_DRIVER_IDS(SAME_DRIVER_ID)

#define SAME_PARAMS(ours, our_last, theirs, their_last)                    \
  static_assert(sizeof(standin::params::ours) == sizeof(theirs), #theirs); \
  static_assert(offsetof(standin::params::ours, our_last) == offsetof(theirs, their_last), #theirs);

SAME_PARAMS(launch_kernel, stream, cudaLaunchKernel_v7000_params, stream)
SAME_PARAMS(launch_kernel, dynamic_shared, cudaLaunchCooperativeKernel_v9000_params, sharedMem)
SAME_PARAMS(driver_launch_kernel, stream, cuLaunchKernel_params, hStream)
SAME_PARAMS(instantiate, graph, cudaGraphInstantiate_v12000_params, graph)
SAME_PARAMS(instantiate, graph, cuGraphInstantiateWithFlags_params, hGraph)
SAME_PARAMS(update, graph, cudaGraphExecUpdate_v10020_params, hGraph)
SAME_PARAMS(update, graph, cuGraphExecUpdate_v2_params, hGraph)
SAME_PARAMS(graph_launch, stream, cudaGraphLaunch_v10000_params, stream)
SAME_PARAMS(graph_launch, stream, cuGraphLaunch_params, hStream)
SAME_PARAMS(exec_set_kernel, node, cudaGraphExecKernelNodeSetParams_v10010_params, node)
SAME_PARAMS(exec_set_kernel, node, cuGraphExecKernelNodeSetParams_v2_params, hNode)
SAME_PARAMS(set_kernel, params, cudaGraphKernelNodeSetParams_v10000_params, pNodeParams)
SAME_PARAMS(set_kernel, params, cuGraphKernelNodeSetParams_v2_params, nodeParams)
SAME_PARAMS(event_on_stream, stream, cudaEventRecord_v3020_params, stream)
SAME_PARAMS(event_on_stream, stream, cuEventRecord_params, hStream)
SAME_PARAMS(of_stream, stream, cudaStreamSynchronize_v3020_params, stream)
SAME_PARAMS(of_stream, stream, cuStreamSynchronize_params, hStream)

TEST(standin_names, are_the_toolkits) { SUCCEED() << "compared when compiled"; }

}  // namespace
