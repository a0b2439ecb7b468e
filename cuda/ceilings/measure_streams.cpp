// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "ceilings/measure.hpp"
#include "ceilings/streams.hpp"

#include <stdexcept>

namespace varve::ceilings_of_gpu {

namespace {

void expect(const gpu& device, const float* array, std::int64_t bytes, float value) {
  for (const std::int64_t at : {std::int64_t{0}, bytes / static_cast<std::int64_t>(sizeof(float)) - 1}) {
    float there = 0;
    check(cudaMemcpyAsync(&there, array + at, sizeof there, cudaMemcpyDeviceToHost, device.stream()),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(device.stream()), "cudaStreamSynchronize");
    if (there != value) {
      throw std::runtime_error{"memory does not hold what is written: nothing can be measured here"};
    }
  }
}

}  // namespace

std::vector<measurement> measure_streams(const gpu& device, std::int64_t bytes, int samples) {
  const device_memory memory[] = {allocate(bytes), allocate(bytes), allocate(bytes)};
  auto* const a = static_cast<float*>(memory[0].get());
  auto* const b = static_cast<float*>(memory[1].get());
  auto* const c = static_cast<float*>(memory[2].get());
  const int all = device.about().multiprocessors;
  for (const auto& [array, value] : {std::pair{a, 0.0F}, {b, 1.0F}, {c, 2.0F}}) {
    check(launch_set(array, value, bytes, all, device.stream()), "the kernel that sets");
  }
  const auto size = static_cast<double>(bytes);
  std::vector<measurement> out;
  out.push_back({"copy", math_pipe::unknown, device.rates(2 * size, samples, [&] {
                   check(launch_copy(a, b, bytes, all, device.stream()), "the kernel that copies");
                 })});
  expect(device, a, bytes, 1);
  out.push_back({"triad", math_pipe::unknown, device.rates(3 * size, samples, [&] {
                   check(launch_triad(a, b, c, bytes, all, device.stream()), "the triad's kernel");
                 })});
  expect(device, a, bytes, 7);  // 1 + 3 · 2
  return out;
}

}  // namespace varve::ceilings_of_gpu
