// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a running report costs its thread: taking a window from the session, analyzing it and adding it up,
// for a thousand kernels. Windows are of an engine of 32 layers with ten kernels each, one launch a kernel.
#include <varve/collector.hpp>
#include <varve/varve.hpp>

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "goals.hpp"

namespace {

constexpr int layers = 32;
constexpr int kernels = 10;

using clock = std::chrono::steady_clock;

double seconds(clock::time_point from, clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

void decode(varve::host_device& device) {
  varve::phase pass{varve::decode};
  pass.decode_tokens(16);
  for (int i = 0; i < layers; ++i) {
    varve::layer layer{"layer", i};
    layer.work([] { return varve::work{1'000'000, 1'000'000, 0, 0}; });
    for (int k = 0; k < kernels; ++k) {
      const varve::host_call call{device, varve::call_kind::launch};
      const std::uint64_t now = varve::clock_ticks();
      device.report({0, call.correlation(), "gemm", now, now + 10});
    }
  }
}

/// Microseconds a thousand kernels, of each step.
void take(benchmark::State& state) {
  static varve::host_device device{{0, "device"}};
  varve::session_options options;
  options.gpu.enabled = false;
  options.marker_memory = std::size_t{64} << 20U;
  varve::session session{options};
  varve::report total;
  double taking = 0;
  double analyzing = 0;
  double adding = 0;
  double taken = 0;
  while (state.KeepRunning()) {
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      decode(device);
    }
    const clock::time_point begin = clock::now();
    const varve::trace t = session.take();
    const clock::time_point has_it = clock::now();
    const varve::report r = varve::analyze(t, {.histograms = true});
    const clock::time_point knows = clock::now();
    varve::add_report(total, r);
    const clock::time_point done = clock::now();
    taking += seconds(begin, has_it);
    analyzing += seconds(has_it, knows);
    adding += seconds(knows, done);
    taken += static_cast<double>(t.activities.size());
    state.SetIterationTime(seconds(begin, done));
  }
  if (!total.quality.losses.empty() || taken == 0) {
    state.SkipWithError("records were lost");
    return;
  }
  const double per = 1e9 / taken;  // µs a thousand kernels
  state.counters["take"] = taking * per;
  state.counters["analyze"] = analyzing * per;
  state.counters["add"] = adding * per;
  state.counters["all"] = (taking + analyzing + adding) * per;
}
BENCHMARK(take)
    ->Name("take of 100 passes")
    ->Arg(100)
    ->Iterations(20)
    ->Repetitions(3)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  using varve_bench::no_goal;
  const std::string name = "take of 100 passes";
  return varve_bench::run(argc, argv,
                          {{"  take, analyze and add up: us a thousand kernels", name, "", "all", no_goal},
                           {"  take", name, "", "take", no_goal},
                           {"  analyze", name, "", "analyze", no_goal},
                           {"  add up", name, "", "add", no_goal}});
}
