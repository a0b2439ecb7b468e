// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cpu_backend.hpp"

#include "cpu_graph.hpp"
#include "cpu_kernels.hpp"
#include "cpu_stream.hpp"

#include <vector>

namespace decoder {

namespace {

class cpu_memory final : public memory {
 public:
  explicit cpu_memory(cpu_device& device) : device_{device} {}

  tensor numbers(std::int64_t rows, std::int64_t columns) override {
    return {allocate(numbers_, rows * columns), rows, columns};
  }
  id_list ids(std::int64_t count) override { return {allocate(ids_, count), count}; }

 private:
  template <class Element>
  Element* allocate(std::vector<std::vector<Element>>& blocks, std::int64_t count) {
    const varve::host_call call{device_.reporter(), varve::call_kind::allocate};
    return blocks.emplace_back(static_cast<std::size_t>(count)).data();
  }

  cpu_device& device_;
  std::vector<std::vector<float>> numbers_;
  std::vector<std::vector<std::int32_t>> ids_;
};

class cpu_backend final : public backend {
 public:
  // The streams' workers are to be the only threads that compute.
  cpu_backend() { cpu::keep_products_on_one_thread(); }

  [[nodiscard]] std::string name() const override { return "CPU"; }
  [[nodiscard]] varve::dtype type() const override { return varve::dtype::f32; }
  std::unique_ptr<memory> make_memory() override { return std::make_unique<cpu_memory>(device_); }
  std::unique_ptr<stream> make_stream() override { return std::make_unique<cpu_stream>(device_); }
  std::unique_ptr<event> make_event() override { return std::make_unique<cpu_event>(device_); }
  std::unique_ptr<executable> instantiate(const graph& from) override {
    return std::make_unique<cpu_executable>(device_, static_cast<const cpu_graph&>(from));
  }

 private:
  cpu_device device_;
};

}  // namespace

std::unique_ptr<backend> make_cpu_backend() { return std::make_unique<cpu_backend>(); }

}  // namespace decoder
