// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Kernels that a library launches in its own way, and how many only it knows.
#include <cublas_v2.h>

#include "gpu/session_test.hpp"

namespace varve_gpu {
namespace {

class gpu_cublas : public on_gpu {};

constexpr int size = 512;

void check_cublas(cublasStatus_t status) { ASSERT_EQ(status, CUBLAS_STATUS_SUCCESS); }

TEST_F(gpu_cublas, products_are_attributed_to_their_layers_eager_and_in_graphs) {
  const stream on = make_stream();
  cublasHandle_t handle = nullptr;
  check_cublas(cublasCreate(&handle));
  check_cublas(cublasSetStream(handle, on.get()));
  const device_memory workspace = allocate(std::size_t{32} << 20U);
  check_cublas(cublasSetWorkspace(handle, workspace.get(), std::size_t{32} << 20U));
  const std::size_t bytes = sizeof(float) * size * size;
  const device_memory a = allocate(bytes);
  const device_memory b = allocate(bytes);
  const device_memory c = allocate(bytes);
  const std::vector<float> ones(static_cast<std::size_t>(size) * size, 1.0F);
  check(cudaMemcpy(a.get(), ones.data(), bytes, cudaMemcpyHostToDevice));
  check(cudaMemcpy(b.get(), ones.data(), bytes, cudaMemcpyHostToDevice));

  marking_stage s;
  const float one = 1.0F;
  const float zero = 0.0F;
  const auto pass = [&] {
    for (int layer = 0; layer < 4; ++layer) {
      const in_layer l{s, layer};
      check_cublas(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one,
                               static_cast<const float*>(a.get()), size, static_cast<const float*>(b.get()),
                               size, &zero, static_cast<float*>(c.get()), size));
    }
  };
  varve::session session;
  ASSERT_TRUE(collects(session));
  {
    const in_pass p{s};
    pass();
  }
  cudaGraph_t captured = nullptr;
  {
    const in_pass p{s, true};
    check(cudaStreamBeginCapture(on.get(), cudaStreamCaptureModeGlobal));
    pass();
    check(cudaStreamEndCapture(on.get(), &captured));
  }
  const graph g{captured};
  const executable e = instantiate(g);
  replay(s, e, {}, on.get());
  check(cudaStreamSynchronize(on.get()));
  const varve::report r = varve::analyze(session.stop());

  const counts kernels = kernels_by_layer(r);
  for (int layer = 0; layer < 4; ++layer) {
    EXPECT_GE(kernels[static_cast<std::size_t>(layer)], 2) << layer;           // eager, and in the graph
    EXPECT_EQ(kernels[static_cast<std::size_t>(layer)], kernels[0]) << layer;  // all are the same product
  }
  expect_all_attributed(r, kernels);
  // varve::cublas stands before it: 2·512³ in the eager pass, and in the replayed one.
  for (int layer = 0; layer < 4; ++layer) {
    const varve::row* const row = r.find({"layer", layer, VARVE_DECODE});
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->inclusive.declared.flops, 2 * (2LL * size * size * size)) << layer;
    EXPECT_EQ(row->inclusive.unknown_work_time, 0) << layer;
  }
  float first = 0;
  check(cudaMemcpy(&first, c.get(), sizeof first, cudaMemcpyDeviceToHost));
  EXPECT_EQ(first, static_cast<float>(size));  // 512 times 1·1, exact in TF32 too
  check_cublas(cublasDestroy(handle));
}

}  // namespace
}  // namespace varve_gpu
