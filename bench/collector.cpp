// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What the CUPTI collector adds to a call of CUDA, how fast it decodes records against a memcpy of them, and
// what it keeps (goal 4). CUPTI is the stand-in of the tests: what CUPTI itself costs is not in here.
#include "cupti/decode.hpp"
#include "cupti/library.hpp"
#include "record/recording.hpp"
#include "standin_cupti/control.hpp"

#include <varve/varve.hpp>

#include <benchmark/benchmark.h>

#include <dlfcn.h>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "goals.hpp"

namespace {

namespace cupti = varve::cupti;

constexpr const char* standin_library = "libcupti.so.13";  // loaded already, since this program links it
constexpr std::uint32_t launch_id = 211;                   // cudaLaunchKernel_v7000
constexpr std::uint32_t driver_launch_id = 307;            // cuLaunchKernel

void pairs_alone(std::size_t pairs) {
  standin::call_back(cupti::callback_domain::runtime_api, launch_id, pairs);
}

/// A call of the driver inside each of the runtime, with an id of its own.
void pairs_nested(std::size_t pairs) { standin::call_back_nested(launch_id, driver_launch_id, pairs / 2); }

double nanoseconds_a_pair(void (*call_back)(std::size_t), std::size_t pairs) {
  const auto begin = std::chrono::steady_clock::now();
  call_back(pairs);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / static_cast<double>(pairs);
}

void nothing(void* /*data*/, cupti::callback_domain /*domain*/, std::uint32_t /*id*/, const void* /*what*/) {}

/// The callbacks of launches with a session, less the same with a subscriber that does nothing.
void callbacks(benchmark::State& state, void (*call_back)(std::size_t), std::size_t pairs_a_launch) {
  constexpr std::size_t pairs = 100'000;
  const cupti::library& lib = *cupti::load(standin_library).loaded;
  double own = 0;
  for (auto _ : state) {
    standin::reset();
    cupti::subscriber_handle subscriber = nullptr;
    lib.call.subscribe(&subscriber, nothing, nullptr);
    lib.call.enable_callback(1, subscriber, cupti::callback_domain::runtime_api, launch_id);
    lib.call.enable_callback(1, subscriber, cupti::callback_domain::driver_api, driver_launch_id);
    nanoseconds_a_pair(call_back, pairs);
    const double bare = nanoseconds_a_pair(call_back, pairs);
    lib.call.unsubscribe(subscriber);

    varve::session_options options;
    options.gpu.cupti_library = standin_library;
    varve::session session{options};
    const varve::phase pass{varve::decode};
    nanoseconds_a_pair(call_back, pairs);
    own = nanoseconds_a_pair(call_back, pairs) - bare;
    const varve::trace t = session.stop();
    if (t.calls.size() != 2 * pairs / pairs_a_launch || !t.losses.empty()) {
      state.SkipWithError("calls were lost");
    }
  }
  state.counters["ns/pair"] = own;
}

/// Buffers full of kernels in the layout of 13.0, as a decode step launches them.
class kernel_buffers {
 public:
  static constexpr std::size_t bytes = std::size_t{4} << 20U;
  static constexpr std::size_t record =
      cupti::size_of(cupti::record_kind::concurrent_kernel, cupti::cuda_13_0);

  explicit kernel_buffers(std::size_t kernels) {
    static const char* const names[] = {"_Z4gemmPKfS0_Pf", "_Z7rmsnormPKfPf", "_Z9attentionPKfS0_S0_Pf",
                                        "_Z4ropePfi", "_Z4siluPf"};
    std::uint64_t at = 1'700'000'000'000'000'000;
    for (std::size_t i = 0; i < kernels; ++i) {
      if (all_.empty() || all_.back().size() + record > bytes) {
        all_.emplace_back().reserve(bytes);
      }
      std::vector<std::uint8_t>& buffer = all_.back();
      buffer.resize(buffer.size() + record);
      std::uint8_t* const r = buffer.data() + buffer.size() - record;
      const auto put = [&](std::size_t offset, auto value) { std::memcpy(r + offset, &value, sizeof value); };
      put(0, cupti::record_kind::concurrent_kernel);
      put(cupti::kernel::registers_per_thread.offset, std::uint16_t{64});
      put(cupti::kernel::start.offset, at);
      put(cupti::kernel::end.offset, at + 3000 + i % 10 * 100);
      put(cupti::kernel::stream_id.offset, std::uint32_t{7});
      put(cupti::kernel::grid_x.offset, static_cast<std::int32_t>(1 + i % 10));
      put(cupti::kernel::grid_y.offset, 1);
      put(cupti::kernel::grid_z.offset, 1);
      put(cupti::kernel::block_x.offset, 256);
      put(cupti::kernel::block_y.offset, 1);
      put(cupti::kernel::block_z.offset, 1);
      put(cupti::kernel::correlation_id.offset, static_cast<std::uint32_t>(i + 1));
      put(cupti::kernel::name.offset, names[i % std::size(names)]);
      at += 5000;
    }
  }
  std::vector<std::vector<std::uint8_t>>& all() { return all_; }

 private:
  std::vector<std::vector<std::uint8_t>> all_;
};

constexpr std::size_t kernels = 1'000'000;

void decode(benchmark::State& state) {
  kernel_buffers buffers{kernels};
  const cupti::library& lib = *cupti::load(standin_library).loaded;
  standin::reset();
  cupti::decoder decoder{lib};
  std::size_t decoded = 0;
  for (auto _ : state) {
    decoder.open(2 * kernels);
    varve::trace batch;
    decoded = 0;
    for (auto& buffer : buffers.all()) {
      decoder.read(buffer.data(), buffer.size());
      decoder.hand_over(batch, false);
      decoded += batch.activities.size();
      batch.activities.resize(0);
    }
  }
  if (decoded != kernels) {
    state.SkipWithError("kernels were lost");
  }
  state.counters["bytes/s"] = benchmark::Counter(static_cast<double>(kernels * kernel_buffers::record),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

/// As who keeps the buffers as they are, in memory that is there already.
void copy(benchmark::State& state) {
  kernel_buffers buffers{kernels};
  auto to = buffers.all();
  for (auto _ : state) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      std::memcpy(to[i].data(), buffers.all()[i].data(), to[i].size());
      benchmark::ClobberMemory();
    }
  }
  state.counters["bytes/s"] = benchmark::Counter(static_cast<double>(kernels * kernel_buffers::record),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

/// Activities arrive in any order.
template <class T>
std::vector<T> sorted(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values;
}

template <class... Columns>
std::size_t bytes_of(const Columns&... columns) {
  return (... + (columns.size() * sizeof(columns[0])));
}

void memory(benchmark::State& state, standin::nested_correlation ids) {
  constexpr std::size_t launches = 20'000;
  double kept = 0;
  double waiting = 0;
  for (auto _ : state) {
    standin::config settings;
    settings.correlation = ids;
    standin::reset(settings);
    varve::session_options options;
    options.gpu.cupti_library = standin_library;
    varve::session session{options};
    const standin::stream s = standin::create_stream();
    {
      const varve::phase pass{varve::decode};
      for (std::size_t i = 0; i < launches; ++i) {
        standin::launch(s, "gemm");
      }
    }
    static_cast<void>(session.snapshot());  // reads all
    waiting = static_cast<double>(varve::record::size_of_recording().aliases);
    const varve::trace t = session.stop();
    const varve::call_columns& c = t.calls;
    const varve::activity_columns& a = t.activities;
    if (c.size() != launches || sorted(a.correlation) != sorted(c.correlation)) {
      state.SkipWithError("records were lost");
    }
    kept = static_cast<double>(
        bytes_of(c.begin, c.end, c.correlation, c.range, c.thread, c.kind, c.captured) +
        bytes_of(a.begin, a.end, a.correlation, a.name, a.node, a.detail, a.stream, a.kind));
  }
  state.counters["bytes"] = kept / launches;
  state.counters["for two minutes"] = waiting / launches;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("callback pair", callbacks, pairs_alone, 1)->Iterations(1)->Repetitions(7);
  benchmark::RegisterBenchmark("callback pair, nested", callbacks, pairs_nested, 2)
      ->Iterations(1)
      ->Repetitions(7);
  benchmark::RegisterBenchmark("decode", decode)->Repetitions(5)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("memcpy", copy)->Repetitions(5)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("memory", memory, standin::nested_correlation::shared)
      ->Iterations(1)
      ->Repetitions(1);
  benchmark::RegisterBenchmark("memory, nested", memory, standin::nested_correlation::inner)
      ->Iterations(1)
      ->Repetitions(1);
  return varve_bench::run(
      argc, argv,
      {{"4 own share of a pair of callbacks (ns)", "callback pair", "", "ns/pair", 100},
       {"4 the same, nested", "callback pair, nested", "", "ns/pair", 100},
       {"4 decoding against memcpy, 1M kernels (bytes/s)", "decode", "memcpy", "bytes/s", 0.5, true},
       {"4 bytes kept for a launch and its kernel", "memory", "", "bytes", 64},
       {"4 the same, nested", "memory, nested", "", "bytes", 64},
       {"4 bytes beside for up to two minutes, nested", "memory, nested", "", "for two minutes", 16}});
}
