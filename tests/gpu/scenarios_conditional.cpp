// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Graphs with conditional nodes, from CUDA 12.4.
#include "gpu/scenarios.hpp"

namespace varve_gpu {

#if CUDART_VERSION >= 12040

namespace {

cudaError_t add_node(cudaGraphNode_t* added, cudaGraph_t to, const cudaGraphNode_t* after,
                     std::size_t how_many, cudaGraphNodeParams* params) {
#if CUDART_VERSION >= 13000
  return cudaGraphAddNode(added, to, after, nullptr, how_many, params);
#else
  return cudaGraphAddNode(added, to, after, how_many, params);
#endif
}

/// Captures into a graph that is there, after its nodes `after`.
template <class Body>
void capture_to(cudaGraph_t to, cudaStream_t on, Body&& body) {
  check(cudaStreamBeginCaptureToGraph(on, to, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal));
  body();
  cudaGraph_t same = nullptr;
  check(cudaStreamEndCapture(on, &same));
}

/// A graph with a conditional node, and its body.
struct conditional {
  graph whole;
  cudaGraphConditionalHandle handle{};
  cudaGraph_t body = nullptr;

  conditional(cudaGraphConditionalNodeType type, unsigned at_launch) {
    cudaGraph_t made = nullptr;
    check(cudaGraphCreate(&made, 0));
    whole.reset(made);
    check(cudaGraphConditionalHandleCreate(&handle, made, at_launch, cudaGraphCondAssignDefault));
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = 1;
    cudaGraphNode_t node = nullptr;
    check(add_node(&node, made, nullptr, 0, &params));
    body = params.conditional.phGraph_out[0];
  }
};

void graph_if(stage& s) {
  const stream on = make_stream();
  for (const bool holds : {true, false}) {
    s.step(holds ? "a condition that holds" : "a condition that does not hold");
    const conditional c{cudaGraphCondTypeIf, holds ? 1U : 0U};
    {
      const in_pass p{s, true};
      capture_to(c.body, on.get(), [&] { run_layers(s, {1, 2, 2}, on.get()); });
    }
    const executable e = instantiate(c.whole);
    replay(s, e, holds ? count({1, 2, 2}) : counts{}, on.get());
    replay(s, e, holds ? count({1, 2, 2}) : counts{}, on.get());
    check(cudaStreamSynchronize(on.get()));
  }
}

void graph_while(stage& s) {
  const stream on = make_stream();
  const device_memory left = allocate(sizeof(std::uint32_t));
  const conditional c{cudaGraphCondTypeWhile, 1};
  {
    const in_pass p{s, true};
    capture_to(c.body, on.get(), [&] {
      run_layers(s, {3}, on.get());
      const in_layer l{s, 4};
      cudaGraphConditionalHandle handle = c.handle;
      void* counter = left.get();
      void* arguments[] = {&handle, &counter};
      check(cudaLaunchKernel(decide_symbol(), dim3{1, 1, 1}, dim3{1, 1, 1}, arguments, 0, on.get()));
    });
  }
  const executable e = instantiate(c.whole);
  for (const std::uint32_t again : {0U, 2U}) {
    {
      const in_pass p{s};
      const in_layer l{s, 5};
      check(cudaMemcpyAsync(left.get(), &again, sizeof again, cudaMemcpyHostToDevice, on.get()));
      check(cudaStreamSynchronize(on.get()));
    }
    counts kernels{};  // the body runs once, and again while some are left
    kernels[3] = kernels[4] = static_cast<int>(again) + 1;
    replay(s, e, kernels, on.get());
    check(cudaStreamSynchronize(on.get()));
  }
}

}  // namespace

std::vector<scenario> conditional_scenarios() {
  return {{"graph_if", graph_if, 0, 12040}, {"graph_while", graph_while, 0, 12040}};
}

#else

std::vector<scenario> conditional_scenarios() { return {}; }

#endif

}  // namespace varve_gpu
