// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The engine on an NVIDIA GPU: products by cuBLAS, all else by kernels of its own. What varve sees of it
// comes from CUPTI alone.
#ifndef DECODER_CUDA_BACKEND_HPP
#define DECODER_CUDA_BACKEND_HPP

#include "backend.hpp"

#include <memory>
#include <stdexcept>

namespace decoder {

/// There is no GPU to run on; the text says why, and what to do.
class no_device : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A back end on the first visible GPU, with numbers of this type (f32, f16 or bf16) in memory; products and
/// all else are summed in FP32. It lives longer than what it makes. Throws no_device.
std::unique_ptr<backend> make_cuda_backend(varve::dtype type);

}  // namespace decoder

#endif  // DECODER_CUDA_BACKEND_HPP
