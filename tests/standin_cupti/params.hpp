// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What callback_data::function_params points to, for the functions whose parameters say something that no
// other callback does. names_test.cpp compares them with the toolkit's.
#ifndef VARVE_TESTS_STANDIN_CUPTI_PARAMS_HPP
#define VARVE_TESTS_STANDIN_CUPTI_PARAMS_HPP

#include "cupti/abi.hpp"

#include <cstddef>

namespace standin::params {

namespace cupti = varve::cupti;

struct launch_kernel {  ///< cudaLaunchKernel, cudaLaunchCooperativeKernel
  const void* function;
  std::uint32_t grid[3];
  std::uint32_t block[3];
  void** arguments;
  std::size_t dynamic_shared;
  cupti::stream_handle stream;
};

struct driver_launch_kernel {  ///< cuLaunchKernel
  const void* function;
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t dynamic_shared;
  cupti::stream_handle stream;
  void** arguments;
  void** extra;
};

struct instantiate {  ///< cudaGraphInstantiate, cuGraphInstantiateWithFlags
  cupti::graph_exec_handle* exec;
  cupti::graph_handle graph;
  unsigned long long flags;
};

struct update {  ///< cudaGraphExecUpdate, cuGraphExecUpdate_v2
  cupti::graph_exec_handle exec;
  cupti::graph_handle graph;
  void* info;
};

struct graph_launch {  ///< cudaGraphLaunch, cuGraphLaunch
  cupti::graph_exec_handle exec;
  cupti::stream_handle stream;
};

struct exec_set_kernel {  ///< cudaGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2
  cupti::graph_exec_handle exec;
  cupti::graph_node_handle node;
  const void* params;
};

struct set_kernel {  ///< cudaGraphKernelNodeSetParams, cuGraphKernelNodeSetParams_v2
  cupti::graph_node_handle node;
  const void* params;
};

struct event_on_stream {  ///< cudaEventRecord, cuEventRecord
  void* event;
  cupti::stream_handle stream;
};

struct of_stream {  ///< cudaStreamSynchronize, cuStreamSynchronize
  cupti::stream_handle stream;
};

}  // namespace standin::params

#endif  // VARVE_TESTS_STANDIN_CUPTI_PARAMS_HPP
