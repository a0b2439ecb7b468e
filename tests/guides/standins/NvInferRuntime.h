/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: the varve authors
 *
 * Of TensorRT and CUDA what docs/guides/tensorrt.md uses. */
#ifndef VARVE_TESTS_GUIDES_NV_INFER_RUNTIME_H
#define VARVE_TESTS_GUIDES_NV_INFER_RUNTIME_H

struct CUstream_st;
typedef CUstream_st* cudaStream_t;

namespace nvinfer1 {

class IExecutionContext {
 public:
  virtual ~IExecutionContext() noexcept = default;
  bool enqueueV3(cudaStream_t stream) noexcept;
};

}  // namespace nvinfer1

#endif /* VARVE_TESTS_GUIDES_NV_INFER_RUNTIME_H */
