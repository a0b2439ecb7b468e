// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// How graphs are made: captured, node by node, of other graphs.
#include "gpu/scenarios.hpp"

namespace varve_gpu {
namespace {

void graph_capture(stage& s) {
  const stream on = make_stream();
  const std::vector<int> order{0, 1, 1, 2, 2, 2};
  const graph g = capture_layers(s, order, on.get());
  const executable e = instantiate(g);
  for (int pass = 0; pass < 3; ++pass) {
    replay(s, e, count(order), on.get());
  }
  check(cudaStreamSynchronize(on.get()));
}

void graph_capture_fork(stage& s) {
  const stream on = make_stream();
  const stream side = make_stream();
  const gpu_event forked = make_event();
  const gpu_event joined = make_event();
  cudaGraph_t captured = nullptr;
  {
    const in_pass p{s, true};
    check(cudaStreamBeginCapture(on.get(), cudaStreamCaptureModeGlobal));
    run_layers(s, {0}, on.get());
    check(cudaEventRecord(forked.get(), on.get()));
    check(cudaStreamWaitEvent(side.get(), forked.get(), 0));
    run_layers(s, {1, 1}, side.get());
    run_layers(s, {2, 2, 2}, on.get());
    check(cudaEventRecord(joined.get(), side.get()));
    check(cudaStreamWaitEvent(on.get(), joined.get(), 0));
    run_layers(s, {3}, on.get());
    check(cudaStreamEndCapture(on.get(), &captured));
  }
  const graph g{captured};
  const executable e = instantiate(g);
  replay(s, e, count({0, 1, 1, 2, 2, 2, 3}), on.get());
  replay(s, e, count({0, 1, 1, 2, 2, 2, 3}), on.get());
  check(cudaStreamSynchronize(on.get()));
}

/// A graph built node by node, each after the one before.
class chain {
 public:
  chain() {
    cudaGraph_t made = nullptr;
    check(cudaGraphCreate(&made, 0));
    graph_.reset(made);
  }

  template <class Add>
  void add(Add&& add_node) {
    cudaGraphNode_t added = nullptr;
    check(add_node(&added, graph_.get(), last_ == nullptr ? nullptr : &last_, last_ == nullptr ? 0U : 1U));
    last_ = added;
  }

  void add_kernel(int layer, const work& w) {
    work copy = w;
    void* arguments[] = {&copy};
    cudaKernelNodeParams params{};
    params.func = const_cast<void*>(layer_symbol(layer));
    params.gridDim = params.blockDim = dim3{1, 1, 1};
    params.kernelParams = arguments;
    add([&](auto... where) { return cudaGraphAddKernelNode(where..., &params); });
  }

  [[nodiscard]] const graph& get() const { return graph_; }

 private:
  graph graph_;
  cudaGraphNode_t last_ = nullptr;
};

void graph_nodes(stage& s) {
  const stream on = make_stream();
  const gpu_event recorded = make_event();
  const device_memory there = allocate(4096);
  std::atomic<int> called{0};
  chain c;
  {
    const in_pass p{s, true};
    {
      const in_layer l{s, 0};
      c.add_kernel(0, s.some_work());
    }
    {
      const in_layer l{s, 1};
      cudaMemsetParams params{};
      params.dst = there.get();
      params.elementSize = 1;
      params.width = 4096;
      params.height = 1;
      c.add([&](auto... where) { return cudaGraphAddMemsetNode(where..., &params); });
      c.add_kernel(1, s.some_work());
    }
    {
      const in_layer l{s, 2};
      c.add([&](auto... where) {
        return cudaGraphAddMemcpyNode1D(where..., there.get(), s.some_work().data, 4096,
                                        cudaMemcpyDeviceToDevice);
      });
      c.add_kernel(2, s.some_work());
      c.add_kernel(2, s.some_work());
    }
    {
      const in_layer l{s, 3};
      cudaHostNodeParams params{};
      params.fn = [](void* count) { ++*static_cast<std::atomic<int>*>(count); };
      params.userData = &called;
      c.add([&](auto... where) { return cudaGraphAddHostNode(where..., &params); });
      c.add([&](auto... where) { return cudaGraphAddEventRecordNode(where..., recorded.get()); });
      c.add([&](auto... where) { return cudaGraphAddEmptyNode(where...); });
      c.add_kernel(3, s.some_work());
    }
  }
  const executable e = instantiate(c.get());
  replay(s, e, count({0, 1, 2, 2, 3}), on.get());
  replay(s, e, count({0, 1, 2, 2, 3}), on.get());
  check(cudaStreamSynchronize(on.get()));
  s.step("host nodes run: " + std::to_string(called));
}

void graph_child(stage& s) {
  const stream on = make_stream();
  graph child = capture_layers(s, {4, 5, 5}, on.get());
  chain c;
  {
    const in_pass p{s, true};
    const in_layer l{s, 0};
    c.add_kernel(0, s.some_work());
  }
  for (int twice = 0; twice < 2; ++twice) {
    s.step("adds the child");
    c.add([&](auto... where) { return cudaGraphAddChildGraphNode(where..., child.get()); });
  }
  child.reset();
  const executable e = instantiate(c.get());
  replay(s, e, count({0, 4, 5, 5, 4, 5, 5}), on.get());
  replay(s, e, count({0, 4, 5, 5, 4, 5, 5}), on.get());
  check(cudaStreamSynchronize(on.get()));
}

void graph_clone(stage& s) {
  const stream on = make_stream();
  const std::vector<int> order{0, 1, 1};
  graph original = capture_layers(s, order, on.get());
  cudaGraph_t cloned = nullptr;
  check(cudaGraphClone(&cloned, original.get()));
  const graph g{cloned};
  s.step("destroys the original");
  original.reset();
  const executable e = instantiate(g);
  replay(s, e, count(order), on.get());
  replay(s, e, count(order), on.get());
  check(cudaStreamSynchronize(on.get()));
}

/// Two captures at once on one thread, their kernels in turns, and their replays too.
void graph_interleaved(stage& s) {
  const stream streams[] = {make_stream(), make_stream()};
  cudaGraph_t captured[2] = {};
  {
    const in_pass p{s, true};
    for (const stream& on : streams) {
      check(cudaStreamBeginCapture(on.get(), cudaStreamCaptureModeThreadLocal));
    }
    for (const int layer : {0, 1, 2}) {
      run_layers(s, {layer}, streams[0].get());
      run_layers(s, {layer + 3, layer + 3}, streams[1].get());
    }
    for (int i = 0; i < 2; ++i) {
      check(cudaStreamEndCapture(streams[i].get(), &captured[i]));
    }
  }
  const graph graphs[] = {graph{captured[0]}, graph{captured[1]}};
  const executable executables[] = {instantiate(graphs[0]), instantiate(graphs[1])};
  for (int pass = 0; pass < 3; ++pass) {
    replay(s, executables[0], count({0, 1, 2}), streams[0].get());
    replay(s, executables[1], count({3, 3, 4, 4, 5, 5}), streams[1].get());
  }
  check(cudaDeviceSynchronize());
}

}  // namespace

std::vector<scenario> graph_scenarios() {
  return {{"graph_capture", graph_capture}, {"graph_capture_fork", graph_capture_fork},
          {"graph_nodes", graph_nodes},     {"graph_child", graph_child},
          {"graph_clone", graph_clone},     {"graph_interleaved", graph_interleaved}};
}

}  // namespace varve_gpu
