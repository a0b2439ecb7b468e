// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "gpu/tape/cases.hpp"

#include <stdexcept>

namespace varve_tape {
namespace {

using varve_gpu::check;

const varve_gpu::scenario& scenario_named(const std::string& name) {
  for (const varve_gpu::scenario& s : varve_gpu::scenarios()) {
    if (s.name == name) {
      return s;
    }
  }
  throw std::logic_error("no scenario " + name);
}

/// The recorder starts before CUDA does.
void record_scenario(recorder& r, const varve_gpu::scenario& s) {
  r.start();
  r.prepare();
  s.play(r);
  r.stop();
}

/// CUDA, a stream and an executable graph are there before the recorder starts.
void record_late(recorder& r) {
  r.prepare();
  const varve_gpu::stream on = varve_gpu::make_stream();
  const varve_gpu::graph g = varve_gpu::capture_layers(r, {0, 1, 1}, on.get());
  const varve_gpu::executable old = varve_gpu::instantiate(g);
  r.start();
  r.step("replays an executable of before the start");
  varve_gpu::replay(r, old, varve_gpu::count({0, 1, 1}), on.get());
  r.step("instantiates a graph of before the start");
  const varve_gpu::executable fresh = varve_gpu::instantiate(g);
  varve_gpu::replay(r, fresh, varve_gpu::count({0, 1, 1}), on.get());
  r.stop();
}

/// Ids start again after a subscriber has gone; an executable outlives it.
void record_twice(recorder& r) {
  r.start();
  r.prepare();
  const varve_gpu::stream on = varve_gpu::make_stream();
  const varve_gpu::graph g = varve_gpu::capture_layers(r, {0, 1, 1}, on.get());
  const varve_gpu::executable e = varve_gpu::instantiate(g);
  varve_gpu::replay(r, e, varve_gpu::count({0, 1, 1}), on.get());
  r.stop();
  r.step("starts again");
  r.start();
  varve_gpu::replay(r, e, varve_gpu::count({0, 1, 1}), on.get());
  r.stop();
}

/// What a flush by force does to a kernel that runs, and to one that waits behind it.
void record_forced_flush(recorder& r) {
  r.start();
  r.prepare();
  const varve_gpu::stream on = varve_gpu::make_stream();
  const varve_gpu::pinned_memory memory = varve_gpu::allocate_pinned(sizeof(int));
  auto* const flag = static_cast<volatile int*>(memory.get());
  *flag = 0;
  void* pointer = memory.get();
  void* arguments[] = {&pointer};
  {
    const varve_gpu::in_pass p{r};
    varve_gpu::run_layers(r, {0}, on.get());
    check(cudaStreamSynchronize(on.get()));
    {
      const varve_gpu::in_layer l{r, 1};
      check(cudaLaunchKernel(varve_gpu::wait_symbol(), dim3{1, 1, 1}, dim3{1, 1, 1}, arguments, 0, on.get()));
    }
    varve_gpu::run_layers(r, {2}, on.get());
  }
  r.expect(varve_gpu::count({0, 1, 2}));
  r.flush(false);
  r.flush(true);
  r.step("lets the kernel end");
  *flag = 1;
  check(cudaStreamSynchronize(on.get()));
  r.stop();
}

void on_nothing(void* /*user*/, CUpti_CallbackDomain /*domain*/, CUpti_CallbackId /*id*/,
                const void* /*data*/) {}

/// What a second subscriber is told, and the first one after it.
void record_second_subscriber(recorder& r) {
  r.start();
  r.prepare();
  CUpti_SubscriberHandle second = nullptr;
  r.step("a second cuptiSubscribe returned " + std::to_string(cuptiSubscribe(&second, on_nothing, nullptr)));
  scenario_named("launch_chevrons").play(r);
  r.stop();
}

/// Records of calls beside callbacks, with ids of our own around each layer.
void record_external_ids(recorder& r) {
  r.start();
  r.prepare();
  const varve_gpu::stream on = varve_gpu::make_stream();
  {
    const varve_gpu::in_pass p{r};
    for (const int layer : {0, 1, 1}) {
      const auto id = static_cast<std::uint64_t>(layer) + 100;
      (void)cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, id);
      varve_gpu::run_layers(r, {layer}, on.get());
      (void)cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, nullptr);
    }
  }
  r.expect(varve_gpu::count({0, 1, 1}));
  r.stop();
}

}  // namespace

std::vector<tape_case> cases() {
  std::vector<tape_case> out;
  const auto add_scenario = [&out](const varve_gpu::scenario& s, const std::string& suffix,
                                   const listener_options& options) {
    out.push_back({s.name + suffix, [&s](recorder& r) { record_scenario(r, s); }, options, s});
  };
  for (const varve_gpu::scenario& s : varve_gpu::scenarios()) {
    add_scenario(s, "", {});
  }

  listener_options whole_graphs;
  whole_graphs.kinds.push_back(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  for (const char* name : {"graph_capture", "graph_child", "graph_update"}) {
    add_scenario(scenario_named(name), "_whole", whole_graphs);
  }
  listener_options small_buffers;
  small_buffers.buffer_size = 1024;
  add_scenario(scenario_named("graph_capture"), "_small_buffers", small_buffers);
  add_scenario(scenario_named("threads"), "_small_buffers", small_buffers);

  listener_options with_calls;
  for (const CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION}) {
    with_calls.kinds.push_back(kind);
  }
  out.push_back({"external_ids", record_external_ids, with_calls, {}});
  out.push_back({"late_start", record_late, {}, {}});
  out.push_back({"second_start", record_twice, {}, {}});
  out.push_back({"forced_flush", record_forced_flush, {}, {}});
  out.push_back({"second_subscriber", record_second_subscriber, {}, {}});
  return out;
}

}  // namespace varve_tape
