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
  double clock = 0;                     ///< of the multiprocessors meanwhile, the median, in Hz; 0: unknown

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

/// Before samples of a kind: so long that clocks have settled.
inline constexpr double warm_up_seconds = 0.5;

/// How a kind is sampled.
struct schedule {
  int calls = 1;  ///< of a sample
  int samples = 1;
};
/// Samples of 0.1 s each, or less where many are asked for, yet 20 ms at least and one call; no more than
/// take 2.5 s together, but three. `one` is what a call takes, in seconds.
[[nodiscard]] schedule schedule_of(double one, int asked);

/// Of readings, of which 0 are none; 0 of none.
[[nodiscard]] double median_of_known(std::vector<double> readings);

/// The medians as ceilings of the device; of several kinds of streams over memory the best, and `source` says
/// after `how` what each reached. `clock` is the median over the kinds of tensor cores, `top_clock` that of
/// FP32, where they are known.
[[nodiscard]] ceilings ceilings_from(const std::vector<measurement>& all, const device_info& device,
                                     const std::string& name, const std::string& how);

/// What was measured, beside what is published.
[[nodiscard]] std::string to_table(const ceilings& measured, const std::vector<measurement>& all,
                                   const std::optional<ceilings>& published);

/// The ceilings as JSON (`ceilings_json`, as to_json() has it) with all samples beside them.
[[nodiscard]] std::string with_samples(std::string ceilings_json, const std::vector<measurement>& all);

}  // namespace varve::ceilings_of_gpu

#endif  // VARVE_CUDA_CEILINGS_RATES_HPP
