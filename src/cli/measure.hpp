// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// What a processor reaches: bytes a second of a triad, FLOP a second of products of matrices.
#ifndef VARVE_CLI_MEASURE_HPP
#define VARVE_CLI_MEASURE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace varve::cli {

/// Rates of repeated runs, one run before them not counted.
struct measurement {
  std::string what;  ///< "triad", "sgemm"
  int threads = 0;
  std::vector<double> samples;  ///< bytes or FLOP a second
  /// The middle one, or the mean of the middle two.
  [[nodiscard]] double median() const;
  [[nodiscard]] double least() const;
  [[nodiscard]] double most() const;
  /// From the least to the most, as a share of the median.
  [[nodiscard]] double spread() const;
};

/// a[i] = b[i] + s·c[i] over three arrays of doubles that take `bytes` together, each thread on its part: 24
/// bytes a step, each element counted once as it is read or written.
measurement measure_triad(std::uint64_t bytes, int threads, std::size_t samples);

/// Products of matrices of a BLAS library. It is loaded here, and stays: linked instead, its threads would
/// start with every run of the tool.
class blas {
 public:
  /// Without a name the first of libopenblas.so.0 and libopenblas.so. Throws std::runtime_error.
  explicit blas(const std::string& library);

  /// C = A·B of square matrices, 2·order³ FLOPs, in FP32 ("sgemm") or FP64 ("dgemm"). The library's own
  /// number of threads where it takes none (sets_threads()).
  [[nodiscard]] measurement measure(bool fp64, int order, int threads, std::size_t samples) const;
  [[nodiscard]] bool sets_threads() const noexcept { return set_threads_ != nullptr; }
  /// "OpenBLAS 0.3.21 …", or the library's file.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  using sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                         float*, int);
  using dgemm = void (*)(int, int, int, int, int, int, double, const double*, int, const double*, int, double,
                         double*, int);
  sgemm sgemm_ = nullptr;
  dgemm dgemm_ = nullptr;
  void (*set_threads_)(int) = nullptr;
  int (*get_threads_)() = nullptr;
  std::string name_;
};

}  // namespace varve::cli

#endif  // VARVE_CLI_MEASURE_HPP
