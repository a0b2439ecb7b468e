// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cuda_error.hpp"

#include <stdexcept>

namespace decoder::cuda {

namespace {

std::string version(int number) {
  return std::to_string(number / 1000) + '.' + std::to_string(number % 1000 / 10);
}

std::string text_of(cudaError_t error) {
  return std::string{cudaGetErrorString(error)} + " (" + cudaGetErrorName(error) + ')';
}

}  // namespace

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) {
    return;
  }
  std::string what = std::string{call} + " failed: " + text_of(error);
  if (error == cudaErrorMemoryAllocation) {
    what += "; give smaller sizes, or end what else uses the GPU";
  } else if (error == cudaErrorNoKernelImageForDevice) {
    what += "; configure with VARVE_CUDA_ARCHITECTURES=native on this machine";
  }
  throw std::runtime_error{what};
}

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) {
    return;
  }
  std::string what = std::string{call} + " failed: " + cublasGetStatusString(status) + " (" +
                     cublasGetStatusName(status) + ')';
  if (status == CUBLAS_STATUS_NOT_INITIALIZED || status == CUBLAS_STATUS_ALLOC_FAILED) {
    what += "; the GPU's memory may be full: give smaller sizes, or end what else uses it";
  } else if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ARCH_MISMATCH) {
    what += "; this GPU has no such product: try another --dtype";
  }
  throw std::runtime_error{what};
}

std::string why_no_device(cudaError_t error, int devices, int driver, int runtime) {
  if (error == cudaSuccess && devices > 0) {
    return {};
  }
  if (driver == 0) {
    return "no NVIDIA driver on this machine: install one (nvidia-smi then lists the GPUs), or run with "
           "--backend cpu";
  }
  if (error == cudaErrorInsufficientDriver) {
    return "the NVIDIA driver knows CUDA " + version(driver) + ", this program is built with " +
           version(runtime) + ": update the driver, or build with an older CUDA Toolkit";
  }
  if (error == cudaErrorNoDevice || error == cudaSuccess) {
    return "the NVIDIA driver shows no GPU: see what nvidia-smi -L lists and whether CUDA_VISIBLE_DEVICES "
           "hides "
           "it";
  }
  return "no GPU can be used: cudaGetDeviceCount failed: " + text_of(error) + "; see what nvidia-smi says";
}

}  // namespace decoder::cuda
