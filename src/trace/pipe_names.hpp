// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Math pipes as people read them.
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

}  // namespace varve

#endif  // VARVE_TRACE_PIPE_NAMES_HPP
