// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// An operator under Google Benchmark, timed by what the device took for it. It runs without a GPU: its device
// is the calling thread, which reports what it ran. On a GPU the loop launches kernels, and waits for them.
//
//     engine_benchmark --benchmark_counters_tabular=true
#include <varve/benchmark.hpp>
#include <varve/collector.hpp>
#include <varve/varve.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

/// y = Wx
class linear {
 public:
  explicit linear(std::size_t size) : weights_(size * size, 0.5F), in_(size, 1.0F), out_(size) {}

  void forward() {
    const varve::phase pass{varve::decode};
    varve::layer here{"linear"};
    const auto size = static_cast<std::int64_t>(in_.size());
    here.work([&] { return varve::gemm(1, size, size, varve::dtype::f32); });

    static varve::host_device device{{0, "calling thread"}, true};
    const varve::host_call call{device, varve::call_kind::launch};
    const std::uint64_t begin = varve::clock_ticks();
    for (std::size_t row = 0; row < out_.size(); ++row) {
      float sum = 0;
      for (std::size_t i = 0; i < in_.size(); ++i) {
        sum += weights_[row * in_.size() + i] * in_[i];
      }
      out_[row] = sum;
    }
    benchmark::DoNotOptimize(out_.data());
    benchmark::ClobberMemory();
    device.report({0, call.correlation(), "matvec_kernel", begin, varve::clock_ticks()});
  }

 private:
  std::vector<float> weights_;
  std::vector<float> in_;
  std::vector<float> out_;
};

void linear_forward(benchmark::State& state) {
  linear tested{static_cast<std::size_t>(state.range(0))};
  tested.forward();  // warm: what comes before the session is in no counter
  varve::benchmark_session recorded{state};
  for ([[maybe_unused]] auto _ : state) {
    tested.forward();
  }
}
BENCHMARK(linear_forward)->Arg(256)->Arg(1024)->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace
