// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Modules and passes for docs/guides/libtorch.md.
#include <iostream>
#include <vector>

#include "device.hpp"
#include "libtorch_guide.hpp"

torch::Tensor block::attend(const torch::Tensor& x) {
  launch("flash_fwd_kernel");
  return x;
}
torch::Tensor block::feed_forward(const torch::Tensor& x) {
  launch("cutlass_gemm");
  return x;
}
void at::cuda::CUDAGraph::capture_begin() {}
void at::cuda::CUDAGraph::capture_end() {}
void at::cuda::CUDAGraph::replay() { launch("graph"); }

int main() {
  std::vector<block> blocks(2);
  at::cuda::CUDAGraph graph;
  capture(graph, blocks, {});
  varve::session session;
  prefill(blocks, {}, 5);
  decode_step(graph, 2, 12);
  const varve::report report = varve::analyze(session.stop());
  std::cout << report;
  const varve::row* mlp = report.find({"mlp", {}, varve::prefill});
  const bool right = mlp != nullptr && mlp->inclusive.launches == 1 &&
                     report.select({"mlp", {}, varve::prefill}).size() == 2 &&
                     report.phases.back().tokens() == 2;
  return right ? 0 : 1;
}
