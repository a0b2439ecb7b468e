// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "ceilings/measure.hpp"
#include "ceilings/streams.hpp"

#include <cstring>
#include <numeric>
#include <stdexcept>

namespace varve::ceilings_of_gpu {

namespace {

[[noreturn]] void fail() {
  throw std::runtime_error{"memory does not hold what is written: nothing can be measured here"};
}

void expect(const gpu& device, const float* array, std::int64_t bytes, float value) {
  for (const std::int64_t at : {std::int64_t{0}, bytes / static_cast<std::int64_t>(sizeof(float)) - 1}) {
    float there = 0;
    check(cudaMemcpyAsync(&there, array + at, sizeof there, cudaMemcpyDeviceToHost, device.stream()),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(device.stream()), "cudaStreamSynchronize");
    if (there != value) {
      fail();
    }
  }
}

/// What the words of an array of one value add up to, as launch_read() has it.
std::uint32_t sum_of(float value, std::int64_t bytes) {
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  return word * static_cast<std::uint32_t>(bytes / static_cast<std::int64_t>(sizeof word));
}

/// All words of `from`, where `expected` is their sum.
measurement measure_reads(const gpu& device, const void* from, std::int64_t bytes, int samples,
                          std::uint32_t expected) {
  const int all = device.about().multiprocessors;
  std::vector<std::uint32_t> sums(static_cast<std::size_t>(reading_threads(all)));
  const auto size = static_cast<std::int64_t>(sums.size() * sizeof(std::uint32_t));
  const device_memory there = allocate(size);
  measurement out = device.measure("read", math_pipe::unknown, static_cast<double>(bytes), samples, [&] {
    check(launch_read(static_cast<std::uint32_t*>(there.get()), from, bytes, all, device.stream()),
          "the kernel that reads");
  });
  check(cudaMemcpyAsync(sums.data(), there.get(), static_cast<std::size_t>(size), cudaMemcpyDeviceToHost,
                        device.stream()),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(device.stream()), "cudaStreamSynchronize");
  if (std::accumulate(sums.begin(), sums.end(), std::uint32_t{0}) != expected) {
    fail();
  }
  return out;
}

}  // namespace

std::vector<measurement> measure_streams(const gpu& device, std::int64_t bytes, int samples) {
  const device_memory memory = allocate(3 * bytes);
  auto* const a = static_cast<float*>(memory.get());
  float* const b = a + bytes / static_cast<std::int64_t>(sizeof(float));
  float* const c = b + bytes / static_cast<std::int64_t>(sizeof(float));
  const int all = device.about().multiprocessors;
  for (const auto& [array, value] : {std::pair{a, 0.0F}, {b, 1.0F}, {c, 2.0F}}) {
    check(launch_set(array, value, bytes, all, device.stream()), "the kernel that sets");
  }
  const auto size = static_cast<double>(bytes);
  std::vector<measurement> out;
  out.push_back(device.measure("copy", math_pipe::unknown, 2 * size, samples, [&] {
    check(launch_copy(a, b, bytes, all, device.stream()), "the kernel that copies");
  }));
  expect(device, a, bytes, 1);
  out.push_back(device.measure("triad", math_pipe::unknown, 3 * size, samples, [&] {
    check(launch_triad(a, b, c, bytes, all, device.stream()), "the triad's kernel");
  }));
  expect(device, a, bytes, 7);  // 1 + 3 · 2
  out.push_back(
      measure_reads(device, a, 3 * bytes, samples, sum_of(7, bytes) + sum_of(1, bytes) + sum_of(2, bytes)));
  return out;
}

}  // namespace varve::ceilings_of_gpu
