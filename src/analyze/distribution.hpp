// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#ifndef VARVE_ANALYZE_DISTRIBUTION_HPP
#define VARVE_ANALYZE_DISTRIBUTION_HPP

#include <varve/report.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

/// Makes distributions of times that are not negative. Holds scratch space only. All results are exact and
/// do not depend on the order of the values, save a deviation of values that span years.
class summariser {
 public:
  using values = std::span<const time_ns>;

  /// Of the values in all of `parts`, and of `zeros` zeros besides.
  [[nodiscard]] distribution summarise(std::span<const values> parts, std::int64_t zeros = 0);
  [[nodiscard]] distribution summarise(values all, std::int64_t zeros = 0) {
    return summarise(std::span{&all, 1}, zeros);
  }

 private:
  void find_ranks(std::span<const values> parts, std::span<const std::int64_t> ranks, std::span<time_ns> out);

  std::vector<std::uint32_t> histogram_;
  std::vector<time_ns> scratch_;
};

/// Values of many rows, those of one row side by side, in the order of the rows.
class grouped_values {
 public:
  explicit grouped_values(std::size_t rows) : next_(rows + 1, 0) {}

  /// First all rows are counted, then all values added.
  void count(std::size_t row, std::size_t values = 1) noexcept { next_[row + 1] += values; }
  void allocate();
  void add(std::size_t row, time_ns value) noexcept { values_[next_[row]++] = value; }

  /// Those of rows [first, last), once all are added.
  [[nodiscard]] std::span<const time_ns> of(std::size_t first, std::size_t last) const noexcept {
    const std::size_t from = first == 0 ? 0 : next_[first - 1];
    return std::span{values_}.subspan(from, next_[last - 1] - from);
  }
  [[nodiscard]] std::span<const time_ns> of(std::size_t row) const noexcept { return of(row, row + 1); }

 private:
  std::vector<std::size_t> next_;
  std::vector<time_ns> values_;
};

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_DISTRIBUTION_HPP
