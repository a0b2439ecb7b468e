// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// The ceilings that tests of roofs reckon with: 1000 TFLOP/s on BF16 tensor cores, 50 in FP32, 2 TB/s.
#ifndef VARVE_TESTS_ANALYZE_ON_GPU_HPP
#define VARVE_TESTS_ANALYZE_ON_GPU_HPP

#include <varve/report.hpp>

#include <cstddef>

namespace varve_test {

inline const varve::analyze_options on_gpu = [] {
  varve::analyze_options o;
  o.ceilings.emplace();
  o.ceilings->name = "GPU";
  o.ceilings->flops[static_cast<std::size_t>(varve::math_pipe::bf16_tensor)] = 1e15;
  o.ceilings->flops[static_cast<std::size_t>(varve::math_pipe::fp32)] = 5e13;
  o.ceilings->bandwidth = 2e12;
  return o;
}();

}  // namespace varve_test

#endif  // VARVE_TESTS_ANALYZE_ON_GPU_HPP
