// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What is measured: bytes a second of a copy, a triad and reads, FLOP a second of products of matrices.
#ifndef VARVE_CUDA_CEILINGS_MEASURE_HPP
#define VARVE_CUDA_CEILINGS_MEASURE_HPP

#include "ceilings/gpu.hpp"
#include "ceilings/rates.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace varve::ceilings_of_gpu {

/// A copy (two arrays of `bytes`), a triad (three) and reads of all three alone, each element counted once as
/// it is read or written.
[[nodiscard]] std::vector<measurement> measure_streams(const gpu& device, std::int64_t bytes, int samples);

/// Products of square matrices by cuBLAS in FP16, BF16, TF32, FP32 and FP8, summed in FP32; of the ways that
/// cuBLAS proposes the fastest. What the device has not is left out, and `notes` says so.
[[nodiscard]] std::vector<measurement> measure_products(const gpu& device, std::int64_t order, int samples,
                                                        std::string& notes);

}  // namespace varve::ceilings_of_gpu

#endif  // VARVE_CUDA_CEILINGS_MEASURE_HPP
