// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cuda_backend.hpp"

#include "cuda_error.hpp"
#include "cuda_stream.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace decoder {

namespace {

using cuda::check;

class cuda_memory final : public memory {
 public:
  explicit cuda_memory(const cuda_state& state) : state_{state} {}

  tensor numbers(std::int64_t rows, std::int64_t columns) override {
    return {allocate(static_cast<std::size_t>(rows * columns) * state_.number_size()), rows, columns};
  }
  id_list ids(std::int64_t count) override {
    return {allocate(static_cast<std::size_t>(count) * sizeof(std::int32_t)), count};
  }

 private:
  void* allocate(std::size_t bytes) {
    const std::size_t size = std::max<std::size_t>(bytes, 1);
    void* block = nullptr;
    check(cudaMalloc(&block, size), ("cudaMalloc of " + std::to_string(size) + " bytes").c_str());
    blocks_.emplace_back(block);
    check(cudaMemset(block, 0, size), "cudaMemset");
    // The engine's streams don't wait for the one that sets.
    check(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize");
    return block;
  }

  const cuda_state& state_;
  std::vector<cuda::device_block> blocks_;
};

std::string device_name() {
  int device = 0;
  cudaDeviceProp properties{};
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return properties.name;
}

class cuda_backend final : public backend {
 public:
  explicit cuda_backend(varve::dtype type) : state_{type}, device_{device_name()} { check_kernels(); }

  [[nodiscard]] std::string name() const override {
    const varve::dtype t = state_.type();
    return "CUDA (" + device_ + ", " +
           (t == varve::dtype::f32    ? "FP32"
            : t == varve::dtype::bf16 ? "BF16"
                                      : "FP16") +
           ")";
  }
  [[nodiscard]] varve::dtype type() const override { return state_.type(); }
  std::unique_ptr<memory> make_memory() override { return std::make_unique<cuda_memory>(state_); }
  std::unique_ptr<stream> make_stream() override { return std::make_unique<cuda_stream>(state_); }
  std::unique_ptr<event> make_event() override { return std::make_unique<cuda_event>(state_); }
  std::unique_ptr<executable> instantiate(const graph& from) override {
    return std::make_unique<cuda_executable>(static_cast<const cuda_graph&>(from));
  }

 private:
  cuda_state state_;
  std::string device_;
};

}  // namespace

std::unique_ptr<backend> make_cuda_backend(varve::dtype type) {
  if (type != varve::dtype::f32 && type != varve::dtype::f16 && type != varve::dtype::bf16) {
    throw std::invalid_argument{"the CUDA back end stores numbers as f32, f16 or bf16"};
  }
  int devices = 0;
  int driver = 0;
  int runtime = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  (void)cudaDriverGetVersion(&driver);  // 0 where there is none
  (void)cudaRuntimeGetVersion(&runtime);
  if (const std::string reason = cuda::why_no_device(error, devices, driver, runtime); !reason.empty()) {
    throw no_device{reason};
  }
  return std::make_unique<cuda_backend>(type);
}

}  // namespace decoder
