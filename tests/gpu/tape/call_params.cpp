// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "gpu/tape/call_params.hpp"

namespace varve_tape {
namespace {

std::size_t of_runtime(CUpti_CallbackId id) noexcept {
  switch (id) {
    case CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000:
    case CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000:
      return sizeof(cudaGraphLaunch_v10000_params);
    case CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecUpdate_v10020:
      return sizeof(cudaGraphExecUpdate_v10020_params);
    case CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecKernelNodeSetParams_v10010:
      return sizeof(cudaGraphExecKernelNodeSetParams_v10010_params);
    case CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiate_v12000:
      return sizeof(cudaGraphInstantiate_v12000_params);
    case CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiateWithFlags_v11040:
      return sizeof(cudaGraphInstantiateWithFlags_v11040_params);
    case CUPTI_RUNTIME_TRACE_CBID_cudaGraphClone_v10000:
      return sizeof(cudaGraphClone_v10000_params);
    case CUPTI_RUNTIME_TRACE_CBID_cudaGraphDestroy_v10000:
      return sizeof(cudaGraphDestroy_v10000_params);
    case CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecDestroy_v10000:
      return sizeof(cudaGraphExecDestroy_v10000_params);
    case CUPTI_RUNTIME_TRACE_CBID_cudaStreamBeginCapture_v10000:
      return sizeof(cudaStreamBeginCapture_v10000_params);
    case CUPTI_RUNTIME_TRACE_CBID_cudaStreamEndCapture_v10000:
      return sizeof(cudaStreamEndCapture_v10000_params);
    default:
      return 0;
  }
}

std::size_t of_driver(CUpti_CallbackId id) noexcept {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
      return sizeof(cuGraphLaunch_params);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2:
      return sizeof(cuGraphExecUpdate_v2_params);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2:
      return sizeof(cuGraphExecKernelNodeSetParams_v2_params);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags:
      return sizeof(cuGraphInstantiateWithFlags_params);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphClone:
      return sizeof(cuGraphClone_params);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphDestroy:
      return sizeof(cuGraphDestroy_params);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy:
      return sizeof(cuGraphExecDestroy_params);
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2:
      return sizeof(cuStreamBeginCapture_v2_params);
    case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture:
      return sizeof(cuStreamEndCapture_params);
    default:
      return 0;
  }
}

}  // namespace

std::size_t params_size(CUpti_CallbackDomain domain, CUpti_CallbackId id) noexcept {
  return domain == CUPTI_CB_DOMAIN_RUNTIME_API ? of_runtime(id) : of_driver(id);
}

}  // namespace varve_tape
