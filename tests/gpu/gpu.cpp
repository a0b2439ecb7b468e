// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "gpu/gpu.hpp"

#include <cuda.h>
#include <dlfcn.h>

#include <stdexcept>

namespace varve_gpu {
namespace {

/// A function of the driver, which programs that must start without one can't link.
template <class Function>
Function* driver_function(const char* name) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  auto* const function = library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) {
    throw std::runtime_error(std::string{"the driver has no "} + name);
  }
  return function;
}

CUfunction function_of(const void* symbol) {
  cudaFunction_t function = nullptr;
  check(cudaGetFuncBySymbol(&function, symbol));
  return function;
}

void check_driver(CUresult result, const char* name) {
  if (result != CUDA_SUCCESS) {
    throw std::runtime_error(std::string{name} + " failed with " + std::to_string(result));
  }
}

void launch_extended(const void* symbol, unsigned blocks, cudaLaunchAttribute* attribute, void** arguments,
                     cudaStream_t on) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3{blocks, 1, 1};
  config.blockDim = dim3{32, 1, 1};
  config.stream = on;
  config.attrs = attribute;
  config.numAttrs = attribute == nullptr ? 0 : 1;
  check(cudaLaunchKernelExC(&config, symbol, arguments));
}

}  // namespace

void check(cudaError_t error, const char* file, int line) {
  if (error != cudaSuccess) {
    const std::string path{file};
    throw std::runtime_error(path.substr(path.rfind('/') + 1) + ":" + std::to_string(line) + ": " +
                             cudaGetErrorName(error) + ": " + cudaGetErrorString(error));
  }
}

std::string why_no_device() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess && devices > 0) {
    return {};
  }
  return std::string{"no CUDA device here: "} + cudaGetErrorString(error);
}

int capability() {
  int device = 0;
  int major = 0;
  int minor = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return 10 * major + minor;
}

stream make_stream() {
  cudaStream_t handle = nullptr;
  check(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking));
  return stream{handle};
}

gpu_event make_event() {
  cudaEvent_t handle = nullptr;
  check(cudaEventCreate(&handle));
  return gpu_event{handle};
}

device_memory allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes));
  return device_memory{memory};
}

pinned_memory allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes));
  return pinned_memory{memory};
}

executable instantiate(const graph& g) {
  cudaGraphExec_t handle = nullptr;
  check(cudaGraphInstantiate(&handle, g.get(), 0));
  return executable{handle};
}

void launch(way how, int layer, const work& w, cudaStream_t on) {
  work copy = w;
  void* arguments[] = {&copy};
  const void* const symbol = layer_symbol(layer);
  cudaLaunchAttribute attribute{};
  switch (how) {
    case way::chevrons:
      launch_layer(layer, w, on);
      return check(cudaGetLastError());
    case way::symbol:
      return check(cudaLaunchKernel(symbol, dim3{1, 1, 1}, dim3{32, 1, 1}, arguments, 0, on));
    case way::extended:
      return launch_extended(symbol, 1, nullptr, arguments, on);
    case way::dependent:
      attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attribute.val.programmaticStreamSerializationAllowed = 1;
      return launch_extended(symbol, 1, &attribute, arguments, on);
    case way::cooperative:
      return check(
          cudaLaunchCooperativeKernel(cooperative_symbol(), dim3{2, 1, 1}, dim3{32, 1, 1}, arguments, 0, on));
    case way::cluster:
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim = {2, 1, 1};
      return launch_extended(cluster_symbol(), 2, &attribute, arguments, on);
    case way::driver:
      return check_driver(driver_function<decltype(cuLaunchKernel)>("cuLaunchKernel")(
                              function_of(symbol), 1, 1, 1, 32, 1, 1, 0, on, arguments, nullptr),
                          "cuLaunchKernel");
    case way::driver_extended: {
      CUlaunchConfig config{};
      config.gridDimX = config.gridDimY = config.gridDimZ = 1;
      config.blockDimX = 32;
      config.blockDimY = config.blockDimZ = 1;
      config.hStream = on;
      return check_driver(driver_function<decltype(cuLaunchKernelEx)>("cuLaunchKernelEx")(
                              &config, function_of(symbol), arguments, nullptr),
                          "cuLaunchKernelEx");
    }
  }
}

}  // namespace varve_gpu
