// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Math pipes and types of elements as people read them.
#ifndef VARVE_TRACE_PIPE_NAMES_HPP
#define VARVE_TRACE_PIPE_NAMES_HPP

#include <varve/work.hpp>

#include <array>
#include <cstddef>

namespace varve {

/// By math_pipe. Where they do not say it, factors of tensor cores are summed up in FP32.
inline constexpr std::array<const char*, math_pipes> pipe_names{
    "unknown",     "mixed",       "FP64",
    "FP64 tensor", "FP32",        "FP16",
    "TF32 tensor", "FP16 tensor", "FP16 tensor (FP16 sums)",
    "BF16 tensor", "FP8 tensor",  "FP4 tensor",
    "INT8 tensor", "INT8 dp4a"};

/// By dtype.
inline constexpr std::array<const char*, 9> dtype_names{"FP64", "FP32", "TF32", "BF16", "FP16",
                                                        "FP8",  "INT8", "INT4", "FP4"};

}  // namespace varve

#endif  // VARVE_TRACE_PIPE_NAMES_HPP
