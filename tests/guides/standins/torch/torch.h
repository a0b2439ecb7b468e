/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: the varve authors
 *
 * Of libtorch what docs/guides/libtorch.md uses; CUDAGraph is in its ATen/cuda/CUDAGraph.h. */
#ifndef VARVE_TESTS_GUIDES_TORCH_H
#define VARVE_TESTS_GUIDES_TORCH_H

namespace torch {

class Tensor {};
struct NoGradGuard {
  NoGradGuard() {}
  ~NoGradGuard() {}
};
namespace nn {
class Module {
 public:
  virtual ~Module() = default;
};
}  // namespace nn

}  // namespace torch

namespace at {
namespace cuda {

struct CUDAGraph {
  void capture_begin();
  void capture_end();
  void replay();
};

}  // namespace cuda
}  // namespace at

#endif /* VARVE_TESTS_GUIDES_TORCH_H */
