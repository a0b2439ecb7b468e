// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Which metrics of a chip tell DRAM bytes and operations, and which of them a single pass can count together.
// Needs no driver.
#ifndef VARVE_CUDA_COUNTERS_METRICS_HPP
#define VARVE_CUDA_COUNTERS_METRICS_HPP

#include "counters/abi.hpp"

#include <varve/trace.hpp>

#include <string>
#include <vector>

namespace varve::counters {

/// Something counted, as a sum of metrics that must be counted in the same pass.
struct quantity {
  struct term {
    std::string metric;  ///< "dram__bytes_read.sum"
    double weight = 1;
  };
  count_kind what = count_kind::dram_read;
  math_pipe pipe = math_pipe::unknown;
  std::uint8_t part = 0;
  std::vector<term> terms;
};

/// CUPTI's object for a chip. Not thread safe.
class host {
 public:
  /// `availability`: what cuptiProfilerGetCounterAvailability gave, as long as the object lives; null: all
  /// counters of the chip are held to be there.
  host(const functions& call, const std::string& chip, const std::uint8_t* availability = nullptr);
  host(const host&) = delete;
  host& operator=(const host&) = delete;
  ~host();

  [[nodiscard]] result error() const noexcept { return error_; }  ///< success: it may be used
  [[nodiscard]] std::vector<std::string> base_metrics() const;
  /// Adds metrics, once: the image that counts them, or empty where one is not known for the chip; sets
  /// `passes`.
  [[nodiscard]] std::vector<std::uint8_t> config(const std::vector<std::string>& metrics,
                                                 std::size_t& passes) const;
  /// Passes that it takes to count them; 0 where one is not known.
  [[nodiscard]] std::size_t passes(const std::vector<std::string>& metrics) const;
  /// Of a range in an image that these metrics were counted in; false where they cannot be told.
  [[nodiscard]] bool evaluate(const std::vector<std::uint8_t>& image, std::size_t range,
                              const std::vector<std::string>& metrics, std::vector<double>& values) const;

 private:
  [[nodiscard]] host_object open(result& error) const noexcept;

  const functions& call_;
  std::string chip_;
  const std::uint8_t* availability_;
  host_object object_ = nullptr;
  result error_ = result::success;
};

/// What the chip can count: DRAM bytes first, then, if wanted, operations, the commonest pipes first.
[[nodiscard]] std::vector<quantity> quantities_of(const host& h, bool operations);

/// Quantities that one pass counts together.
struct turn {
  std::vector<quantity> counts;
  std::vector<std::string> metrics;  ///< of all of them, once each
};

/// As few as a simple packing finds, DRAM bytes in each in which there is room. What no single pass can count
/// is left out.
[[nodiscard]] std::vector<turn> plan(const host& h, const std::vector<quantity>& wanted);

}  // namespace varve::counters

#endif  // VARVE_CUDA_COUNTERS_METRICS_HPP
