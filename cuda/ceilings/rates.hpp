// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// From what was measured on a GPU to its ceilings: medians, spread, and how they compare with what is
// published.
#ifndef VARVE_CUDA_CEILINGS_RATES_HPP
#define VARVE_CUDA_CEILINGS_RATES_HPP

#include <varve/device.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace varve::ceilings_of_gpu {

/// Rates of repeated runs.
struct measurement {
  std::string what;                     ///< "triad", "FP16 tensor"
  math_pipe pipe = math_pipe::unknown;  ///< of a product; unknown: bytes of memory
  std::vector<double> samples;          ///< FLOP or bytes a second

  /// The middle one, or the mean of the middle two; 0 of none, as the others.
  [[nodiscard]] double median() const;
  [[nodiscard]] double least() const;
  [[nodiscard]] double most() const;
  /// From the least to the most, as a share of the median.
  [[nodiscard]] double spread() const;
};

/// FLOPs of a product of square matrices: a multiply-add counts two.
[[nodiscard]] constexpr double product_flops(std::int64_t order) {
  const auto n = static_cast<double>(order);
  return 2 * n * n * n;
}

/// Bytes that each array takes: what is asked for (0: nothing), else eight times the last cache and 256 MiB
/// at least, a multiple of 16; all three in a quarter of the memory that is free. 0 where that is too little.
[[nodiscard]] std::int64_t array_bytes(std::int64_t asked, std::int64_t cache, std::int64_t free);

/// Runs that take at least `wanted` seconds together, where one takes `one`: 1 to 1000.
[[nodiscard]] int repetitions(double one, double wanted);

/// The medians as ceilings of the device; of several kinds of streams over memory the best.
[[nodiscard]] ceilings ceilings_from(const std::vector<measurement>& all, const device_info& device,
                                     const std::string& name, const std::string& how);

/// What was measured, beside what is published.
[[nodiscard]] std::string to_table(const ceilings& measured, const std::vector<measurement>& all,
                                   const std::optional<ceilings>& published);

/// The ceilings as JSON (`ceilings_json`, as to_json() has it) with all samples beside them.
[[nodiscard]] std::string with_samples(std::string ceilings_json, const std::vector<measurement>& all);

}  // namespace varve::ceilings_of_gpu

#endif  // VARVE_CUDA_CEILINGS_RATES_HPP
