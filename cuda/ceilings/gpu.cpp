// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "ceilings/gpu.hpp"

#include <algorithm>
#include <array>

namespace varve::ceilings_of_gpu {

namespace {

std::string text_of(cudaError_t error) {
  return std::string{cudaGetErrorString(error)} + " (" + cudaGetErrorName(error) + ')';
}

/// Throws no_gpu where there is none of this number.
void look_for_device(int ordinal) {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess && ordinal < devices) {
    return;
  }
  if (error == cudaSuccess && devices > 0) {
    throw no_gpu{"there is no GPU " + std::to_string(ordinal) + ": the driver shows " +
                 std::to_string(devices) + ", which count from 0"};
  }
  int driver = 0;
  (void)cudaDriverGetVersion(&driver);  // 0 where there is none
  if (driver == 0) {
    throw no_gpu{
        "there is no NVIDIA driver on this machine, so no GPU to measure; varve calibrate measures the "
        "processor, varve devices lists what is published of GPUs"};
  }
  if (error == cudaErrorNoDevice || error == cudaSuccess) {
    throw no_gpu{
        "the NVIDIA driver shows no GPU: see what nvidia-smi -L lists and whether CUDA_VISIBLE_DEVICES hides "
        "it"};
  }
  throw no_gpu{"no GPU can be used: cudaGetDeviceCount failed: " + text_of(error) +
               "; see what nvidia-smi says, and whether the driver is as new as CUDA " +
               std::to_string(CUDART_VERSION / 1000) + '.' + std::to_string(CUDART_VERSION % 1000 / 10)};
}

std::int32_t attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, ordinal), "cudaDeviceGetAttribute");
  return value;
}

}  // namespace

void check(cudaError_t error, const char* call) {
  if (error != cudaSuccess) {
    throw std::runtime_error{std::string{call} + " failed: " + text_of(error)};
  }
}

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error{std::string{call} + " failed: cuBLAS status " + std::to_string(status)};
  }
}

device_memory allocate(std::int64_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, static_cast<std::size_t>(bytes)), "cudaMalloc");
  return device_memory{memory};
}

gpu::gpu(int ordinal) {
  look_for_device(ordinal);
  check(cudaSetDevice(ordinal), "cudaSetDevice");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  about_.name = properties.name;
  about_.multiprocessors = attribute(cudaDevAttrMultiProcessorCount, ordinal);
  about_.compute_capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor, ordinal) +
                              attribute(cudaDevAttrComputeCapabilityMinor, ordinal);
  about_.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  about_.l2_bytes = attribute(cudaDevAttrL2CacheSize, ordinal);
  std::array<char, 32> place{};
  check(cudaDeviceGetPCIBusId(place.data(), static_cast<int>(place.size()), ordinal),
        "cudaDeviceGetPCIBusId");
  clock_.emplace(place.data());
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  stream_.reset(stream);
  for (auto* const event : {&begin_, &end_}) {
    cudaEvent_t made = nullptr;
    check(cudaEventCreate(&made), "cudaEventCreate");
    event->reset(made);
  }
}

std::int64_t gpu::free_bytes() const {
  std::size_t free = 0;
  std::size_t all = 0;
  check(cudaMemGetInfo(&free, &all), "cudaMemGetInfo");
  return static_cast<std::int64_t>(free);
}

double gpu::elapsed() const {
  check(cudaEventSynchronize(end_.get()), "cudaEventSynchronize");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()), "cudaEventElapsedTime");
  constexpr double shortest = 1e-9;  // a clock may stand still
  return std::max(static_cast<double>(milliseconds) / 1000, shortest);
}

}  // namespace varve::ceilings_of_gpu
