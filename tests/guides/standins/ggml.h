/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: the varve authors
 *
 * Of ggml what docs/guides/ggml.md uses; ggml_cgraph is in its ggml-impl.h, the function in its CUDA back
 * end. */
#ifndef VARVE_TESTS_GUIDES_GGML_H
#define VARVE_TESTS_GUIDES_GGML_H

#define GGML_MAX_NAME 64

struct ggml_tensor {
  char name[GGML_MAX_NAME];
};
struct ggml_cgraph {
  int n_nodes;
  ggml_tensor** nodes;
};
struct ggml_backend_cuda_context;

bool ggml_cuda_compute_forward(ggml_backend_cuda_context& ctx, ggml_tensor* dst);

#endif /* VARVE_TESTS_GUIDES_GGML_H */
