// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "gpu/scenarios.hpp"

namespace varve_gpu {
namespace {

constexpr std::uint32_t floats = 1U << 16U;

std::vector<scenario> all() {
  std::vector<scenario> out;
  for (const auto part :
       {stream_scenarios, launch_scenarios, graph_scenarios, update_scenarios, conditional_scenarios}) {
    const std::vector<scenario> some = part();
    out.insert(out.end(), some.begin(), some.end());
  }
  return out;
}

}  // namespace

void stage::expect(const counts& kernels) {
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    expected_[i] += kernels[i];
  }
}

counts stage::expected() const {
  counts out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = expected_[i];
  }
  return out;
}

void stage::prepare() { data_ = allocate(floats * sizeof(float)); }

work stage::some_work(std::uint32_t microseconds) const {
  return {static_cast<float*>(data_.get()), floats, microseconds};
}

const std::vector<scenario>& scenarios() {
  static const std::vector<scenario> list = all();
  return list;
}

std::string why_not(const scenario& s) {
  if (std::string reason = why_no_device(); !reason.empty()) {
    return reason;
  }
  int devices = 0;
  int driver = 0;
  check(cudaGetDeviceCount(&devices));
  check(cudaDriverGetVersion(&driver));
  if (devices < s.devices) {
    return "it needs " + std::to_string(s.devices) + " devices";
  }
  if (driver < s.driver) {
    return "it needs a driver for CUDA " + std::to_string(s.driver / 1000) + "." +
           std::to_string(s.driver % 1000 / 10);
  }
  if (capability() < s.capability) {
    return "it needs compute capability " + std::to_string(s.capability / 10) + "." +
           std::to_string(s.capability % 10);
  }
  return {};
}

void run_layers(stage& s, const std::vector<int>& order, cudaStream_t on, std::uint32_t microseconds) {
  for (const int layer : order) {
    const in_layer l{s, layer};
    launch(way::chevrons, layer, s.some_work(microseconds), on);
  }
}

counts count(const std::vector<int>& order) {
  counts out{};
  for (const int layer : order) {
    ++out[static_cast<std::size_t>(layer)];
  }
  return out;
}

graph capture_layers(stage& s, const std::vector<int>& order, cudaStream_t on, std::uint32_t microseconds) {
  const in_pass pass{s, true};
  check(cudaStreamBeginCapture(on, cudaStreamCaptureModeThreadLocal));
  run_layers(s, order, on, microseconds);
  cudaGraph_t captured = nullptr;
  check(cudaStreamEndCapture(on, &captured));
  return graph{captured};
}

void replay(stage& s, const executable& e, const counts& kernels, cudaStream_t on) {
  const in_pass pass{s};
  check(cudaGraphLaunch(e.get(), on));
  s.expect(kernels);
}

}  // namespace varve_gpu
