// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What becomes of executable graphs: updated, changed, made again, destroyed.
#include "gpu/scenarios.hpp"

namespace varve_gpu {
namespace {

const std::vector<int> first_order{0, 1, 1, 2, 2, 2};

/// Whether the executable took the graph. A refusal is no error here.
bool update(stage& s, const executable& e, const graph& g) {
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t error = cudaGraphExecUpdate(e.get(), g.get(), &info);
  s.step(std::string{"the update: "} + cudaGetErrorName(error) + ", result " + std::to_string(info.result));
  if (error != cudaErrorGraphExecUpdateFailure) {
    check(error);
  }
  (void)cudaGetLastError();
  return error == cudaSuccess;
}

/// As ggml does: the source is destroyed, captured anew, and the executable updated from it.
void graph_update(stage& s) {
  const stream on = make_stream();
  graph g = capture_layers(s, first_order, on.get());
  const executable e = instantiate(g);
  replay(s, e, count(first_order), on.get());
  for (std::uint32_t round = 1; round <= 3; ++round) {
    s.step("destroys the graph and captures it anew");
    g.reset();
    g = capture_layers(s, first_order, on.get(), 10 + round);
    if (!update(s, e, g)) {
      return;
    }
    replay(s, e, count(first_order), on.get());
  }
  check(cudaStreamSynchronize(on.get()));
}

/// The same number of nodes in the same shape, but of other layers and kernels.
void graph_update_other_layers(stage& s) {
  const stream on = make_stream();
  const std::vector<int> other_order{3, 4, 4, 5, 5, 5};
  graph g = capture_layers(s, first_order, on.get());
  const executable e = instantiate(g);
  replay(s, e, count(first_order), on.get());
  g.reset();
  g = capture_layers(s, other_order, on.get());
  replay(s, e, update(s, e, g) ? count(other_order) : count(first_order), on.get());
  check(cudaStreamSynchronize(on.get()));
}

/// A graph of another shape: the update fails, and the executable is made again.
void graph_update_refused(stage& s) {
  const stream on = make_stream();
  const std::vector<int> longer_order{0, 1, 1, 2, 2, 2, 3};
  graph g = capture_layers(s, first_order, on.get());
  executable e = instantiate(g);
  replay(s, e, count(first_order), on.get());
  g.reset();
  g = capture_layers(s, longer_order, on.get());
  if (!update(s, e, g)) {
    replay(s, e, count(first_order), on.get());
    s.step("destroys the executable and instantiates another");
    e.reset();
    e = instantiate(g);
  }
  replay(s, e, count(longer_order), on.get());
  check(cudaStreamSynchronize(on.get()));
}

/// Arguments of one kernel changed in the executable, another kernel switched off and on.
void graph_set_params(stage& s) {
  const stream on = make_stream();
  cudaGraph_t made = nullptr;
  check(cudaGraphCreate(&made, 0));
  const graph g{made};
  work w = s.some_work();
  void* arguments[] = {&w};
  cudaKernelNodeParams params{};
  params.gridDim = params.blockDim = dim3{1, 1, 1};
  params.kernelParams = arguments;
  cudaGraphNode_t nodes[2] = {};
  {
    const in_pass p{s, true};
    for (int layer = 0; layer < 2; ++layer) {
      const in_layer l{s, layer};
      params.func = const_cast<void*>(layer_symbol(layer));
      check(cudaGraphAddKernelNode(&nodes[layer], g.get(), nullptr, 0, &params));
    }
  }
  const executable e = instantiate(g);
  replay(s, e, count({0, 1}), on.get());
  for (std::uint32_t round = 1; round <= 2; ++round) {
    w.microseconds = 10 + round;
    params.gridDim.x = 1 + round;
    check(cudaGraphExecKernelNodeSetParams(e.get(), nodes[1], &params));
    replay(s, e, count({0, 1}), on.get());
  }
  for (const bool enabled : {false, true}) {
    s.step(enabled ? "switches the first kernel on" : "switches the first kernel off");
    check(cudaGraphNodeSetEnabled(e.get(), nodes[0], enabled ? 1 : 0));
    replay(s, e, enabled ? count({0, 1}) : count({1}), on.get());
  }
  check(cudaStreamSynchronize(on.get()));
}

/// Three executables of one graph, the first destroyed while another is in use.
void graph_reinstantiate(stage& s) {
  const stream on = make_stream();
  const graph g = capture_layers(s, first_order, on.get());
  executable first = instantiate(g);
  const executable second = instantiate(g);
  replay(s, first, count(first_order), on.get());
  replay(s, second, count(first_order), on.get());
  check(cudaStreamSynchronize(on.get()));
  s.step("destroys the first executable");
  first.reset();
  const executable third = instantiate(g);
  check(cudaGraphUpload(third.get(), on.get()));
  replay(s, second, count(first_order), on.get());
  replay(s, third, count(first_order), on.get());
  check(cudaStreamSynchronize(on.get()));
}

/// The graph is destroyed before its executable runs, the executable while it does.
void graph_destroy_order(stage& s) {
  const stream on = make_stream();
  graph g = capture_layers(s, {0, 1, 1}, on.get(), 500);
  executable e = instantiate(g);
  s.step("destroys the graph");
  g.reset();
  replay(s, e, count({0, 1, 1}), on.get());
  s.step("destroys the executable while it runs");
  e.reset();
  s.step("another graph, whose handles may be the old ones");
  const graph next = capture_layers(s, {2, 3, 3}, on.get());
  const executable other = instantiate(next);
  replay(s, other, count({2, 3, 3}), on.get());
  check(cudaStreamSynchronize(on.get()));
}

}  // namespace

std::vector<scenario> update_scenarios() {
  return {{"graph_update", graph_update},
          {"graph_update_other_layers", graph_update_other_layers},
          {"graph_update_refused", graph_update_refused},
          {"graph_set_params", graph_set_params},
          {"graph_reinstantiate", graph_reinstantiate},
          {"graph_destroy_order", graph_destroy_order}};
}

}  // namespace varve_gpu
