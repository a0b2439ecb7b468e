// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Streams, copies, sets, memory, synchronisation, threads.
#include <exception>
#include <thread>

#include "gpu/scenarios.hpp"

namespace varve_gpu {
namespace {

constexpr std::size_t size = 1U << 20U;

void finish(cudaStream_t on) { check(cudaStreamSynchronize(on)); }

void single_stream(stage& s) {
  const stream on = make_stream();
  for (int pass = 0; pass < 2; ++pass) {
    const in_pass p{s};
    run_layers(s, {0, 1, 1, 2, 2, 2}, on.get());
    s.expect(count({0, 1, 1, 2, 2, 2}));
  }
  finish(on.get());
}

void default_stream(stage& s) {
  const in_pass p{s};
  run_layers(s, {0, 1, 1}, nullptr);
  run_layers(s, {2}, cudaStreamPerThread);
  s.expect(count({0, 1, 1, 2}));
  check(cudaDeviceSynchronize());
}

void several_streams(stage& s) {
  const stream streams[] = {make_stream(), make_stream(), make_stream()};
  const gpu_event forked = make_event();
  const in_pass p{s};
  run_layers(s, {0}, streams[0].get());
  check(cudaEventRecord(forked.get(), streams[0].get()));
  for (int i = 1; i < 3; ++i) {
    check(cudaStreamWaitEvent(streams[i].get(), forked.get(), 0));
    run_layers(s, {i, i}, streams[i].get());
  }
  s.expect(count({0, 1, 1, 2, 2}));
  check(cudaDeviceSynchronize());
}

void copies(stage& s) {
  const stream on = make_stream();
  const device_memory there = allocate(size);
  const device_memory other = allocate(size);
  const pinned_memory here = allocate_pinned(size);
  std::vector<char> pageable(size);
  const in_pass p{s};
  struct {
    void* to;
    const void* from;
    cudaMemcpyKind kind;
  } const directions[] = {{there.get(), here.get(), cudaMemcpyHostToDevice},
                          {here.get(), there.get(), cudaMemcpyDeviceToHost},
                          {other.get(), there.get(), cudaMemcpyDeviceToDevice},
                          {here.get(), pageable.data(), cudaMemcpyHostToHost},
                          {there.get(), pageable.data(), cudaMemcpyDefault}};
  int layer = 0;
  for (const auto& way : directions) {
    const in_layer l{s, layer++};
    s.step("copies, asynchronous, of kind " + std::to_string(way.kind));
    check(cudaMemcpyAsync(way.to, way.from, size, way.kind, on.get()));
  }
  for (const auto& way : directions) {
    const in_layer l{s, 5};
    s.step("copies of kind " + std::to_string(way.kind));
    check(cudaMemcpy(way.to, way.from, size, way.kind));
  }
  {
    const in_layer l{s, 6};
    s.step("copies rows");
    check(cudaMemcpy2DAsync(there.get(), 1024, here.get(), 512, 512, 512, cudaMemcpyHostToDevice, on.get()));
  }
  run_layers(s, {7}, on.get());
  s.expect(7, 1);
  finish(on.get());
}

void peer_copy(stage& s) {
  const stream on = make_stream();
  const device_memory here = allocate(size);
  check(cudaSetDevice(1));
  const device_memory there = allocate(size);
  check(cudaSetDevice(0));
  const in_pass p{s};
  for (const bool direct : {false, true}) {
    if (direct) {
      int possible = 0;
      check(cudaDeviceCanAccessPeer(&possible, 0, 1));
      if (possible == 0) {
        return s.step("the devices have no access to each other");
      }
      check(cudaDeviceEnablePeerAccess(1, 0));
    }
    const in_layer l{s, direct ? 1 : 0};
    s.step(direct ? "copies directly" : "copies by way of the host");
    check(cudaMemcpyPeerAsync(there.get(), 1, here.get(), 0, size, on.get()));
    check(cudaMemcpyAsync(here.get(), there.get(), size, cudaMemcpyDefault, on.get()));
    finish(on.get());
  }
}

void sets(stage& s) {
  const stream on = make_stream();
  const device_memory there = allocate(size);
  const in_pass p{s};
  {
    const in_layer l{s, 0};
    check(cudaMemsetAsync(there.get(), 1, size, on.get()));
  }
  {
    const in_layer l{s, 1};
    check(cudaMemset2DAsync(there.get(), 1024, 2, 512, 1024, on.get()));
  }
  {
    const in_layer l{s, 2};
    check(cudaMemset(there.get(), 3, size));
  }
  run_layers(s, {3}, on.get());
  s.expect(3, 1);
  finish(on.get());
}

void allocations(stage& s) {
  const stream on = make_stream();
  const in_pass p{s};
  {
    const in_layer l{s, 0};
    const device_memory there = allocate(size);
    const pinned_memory here = allocate_pinned(size);
  }
  {
    const in_layer l{s, 1};
    s.step("allocates twice from the pool of the device");
    for (int i = 0; i < 2; ++i) {
      void* memory = nullptr;
      check(cudaMallocAsync(&memory, size, on.get()));
      launch(way::chevrons, 1, {static_cast<float*>(memory), 256, 10}, on.get());
      check(cudaFreeAsync(memory, on.get()));
    }
    finish(on.get());
    s.expect(1, 2);
  }
  {
    const in_layer l{s, 2};
    s.step("gives back what the pool keeps");
    cudaMemPool_t pool = nullptr;
    check(cudaDeviceGetDefaultMemPool(&pool, 0));
    check(cudaMemPoolTrimTo(pool, 0));
  }
}

void synchronisations(stage& s) {
  const stream on = make_stream();
  const stream other = make_stream();
  const gpu_event done = make_event();
  const in_pass p{s};
  run_layers(s, {0}, on.get(), 1000);
  check(cudaEventRecord(done.get(), on.get()));
  check(cudaStreamWaitEvent(other.get(), done.get(), 0));
  s.step("asks the event: " + std::to_string(cudaEventQuery(done.get())));
  s.step("asks the stream: " + std::to_string(cudaStreamQuery(on.get())));
  check(cudaEventSynchronize(done.get()));
  finish(other.get());
  finish(on.get());
  check(cudaDeviceSynchronize());
  s.expect(0, 1);
}

void host_functions(stage& s) {
  const stream on = make_stream();
  std::atomic<int> called{0};
  const in_pass p{s};
  run_layers(s, {0}, on.get());
  {
    const in_layer l{s, 1};
    check(cudaLaunchHostFunc(
        on.get(), [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &called));
    check(cudaStreamAddCallback(
        on.get(), [](cudaStream_t, cudaError_t, void* count) { ++*static_cast<std::atomic<int>*>(count); },
        &called, 0));
  }
  run_layers(s, {2}, on.get());
  finish(on.get());
  s.expect(count({0, 2}));
  s.step("host functions called: " + std::to_string(called));
}

void threads(stage& s) {
  std::vector<std::thread> running;
  std::vector<std::exception_ptr> errors(layers);
  for (int t = 0; t < layers; ++t) {
    running.emplace_back([&s, &error = errors[static_cast<std::size_t>(t)], t] {
      try {
        const stream on = make_stream();
        const in_pass p{s};
        run_layers(s, std::vector<int>(static_cast<std::size_t>(t) + 3, t), on.get());
        finish(on.get());
        s.expect(t, t + 3);
      } catch (...) {
        error = std::current_exception();
      }
    });
  }
  for (std::thread& t : running) {
    t.join();
  }
  for (const std::exception_ptr& error : errors) {
    if (error) {
      std::rethrow_exception(error);
    }
  }
}

}  // namespace

std::vector<scenario> stream_scenarios() {
  return {{"single_stream", single_stream},     {"default_stream", default_stream},
          {"several_streams", several_streams}, {"copies", copies},
          {"peer_copy", peer_copy, 0, 0, 2},    {"sets", sets},
          {"allocations", allocations},         {"synchronisations", synchronisations},
          {"host_functions", host_functions},   {"threads", threads}};
}

}  // namespace varve_gpu
