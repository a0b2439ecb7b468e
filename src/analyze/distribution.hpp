// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
//
// Exact distributions of millions of values of many rows, and of rows taken together.
#ifndef VARVE_ANALYZE_DISTRIBUTION_HPP
#define VARVE_ANALYZE_DISTRIBUTION_HPP

#include "analyze/numbers.hpp"

#include <varve/report.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace varve {
inline namespace v0 {
namespace analysis {

__extension__ using wide = unsigned __int128;

/// Sums of values that are not negative; equal for the same values in any order.
struct value_sums {
  std::int64_t count = 0;
  wide sum = 0;
  wide squares = 0;         ///< of values below `huge`
  double huge_squares = 0;  ///< of the others: rounded
  time_ns min = std::numeric_limits<time_ns>::max();
  time_ns max = 0;

  static constexpr time_ns huge = time_ns{1} << 48;  ///< three days

  void add(std::span<const time_ns> values) noexcept;
  void add(const value_sums& other) noexcept;
};

/// Those of time_bucket, within 1.6 % of one another.
class buckets {
 public:
  static constexpr std::size_t count = 58 << 6;

  static std::size_t of(time_ns value) noexcept {
    const auto v = static_cast<std::uint64_t>(value);
    const auto shift = static_cast<unsigned>(57 - __builtin_clzll(v | 64));
    return (std::size_t{shift} << 6) + (v >> shift);
  }
  /// The time in the middle of a bucket, at most 1/128 off from any other in it.
  static time_ns middle(std::size_t bucket) noexcept {
    const std::size_t shift = bucket < 128 ? 0 : bucket / 64 - 1;
    const std::uint64_t first = (bucket - (shift << 6)) << shift;
    return static_cast<time_ns>(first + ((std::uint64_t{1} << shift) >> 1));
  }
};

/// Takes every value twice. First add() all and settle(); then want() what is to be known, of one row or
/// several; then collect() all once more; then get() it. The second time only values near a percentile stay.
class row_statistics {
 public:
  /// `most`: of each row, how many values it has at most.
  explicit row_statistics(const std::vector<std::size_t>& most, bool keep_histograms = false);
  row_statistics(row_statistics&&) = default;  // vectors keep their place when they move

  void add(std::size_t row, time_ns value) noexcept {
    cursor& c = cursors_[row];
    *c.next++ = value;
    if (c.next == c.limit) {
      drain(row);
    }
  }
  /// Ends the adding.
  void settle();
  [[nodiscard]] std::int64_t count(std::size_t row) const noexcept { return rows_[row].sums.count; }

  /// Asks for the distribution of all values of `rows` and of `zeros` zeros besides; returns its number.
  std::size_t want(std::span<const std::uint32_t> rows, std::int64_t zeros = 0);
  std::size_t want(std::uint32_t row, std::int64_t zeros = 0) { return want(std::span{&row, 1}, zeros); }

  void collect(std::size_t row, time_ns value) {
    const std::size_t b = buckets::of(value);
    if ((wanted_[wanted_by_[row] + b / 64] >> (b % 64) & 1) != 0) {
      keep(row, b, value);
    }
  }

  [[nodiscard]] distribution get(std::size_t number);

 private:
  static constexpr std::size_t npos = ~std::size_t{0};
  struct target {
    std::size_t bucket;
    std::size_t kept;  // in kept_
  };
  /// Where a row's next value goes in values_. Of a row with many, they stay there until it is full.
  struct cursor {
    time_ns* next = nullptr;
    const time_ns* limit = nullptr;
  };
  struct row_values {
    value_sums sums;
    std::size_t first = 0;         // in values_
    std::size_t histogram = npos;  // in histograms_; npos: few values
    std::vector<target> targets;
  };
  struct wanted_distribution {
    distribution known;
    std::array<std::size_t, 3> kept{};   // where each percentile's bucket is collected
    std::array<std::int64_t, 3> rank{};  // and which of it: below 0 when the percentile is known already
  };

  void drain(std::size_t row) noexcept;
  void keep(std::size_t row, std::size_t bucket, time_ns value);
  std::size_t collect_bucket(std::span<const std::uint32_t> rows, std::size_t bucket);
  void find_buckets(std::span<const std::uint32_t> rows, std::span<const std::uint32_t> histogram,
                    const std::array<std::int64_t, 3>& ranks, wanted_distribution& want);

  std::vector<cursor> cursors_;
  std::vector<row_values> rows_;
  std::vector<time_ns> values_;
  std::vector<std::uint32_t> histograms_;
  std::vector<std::uint32_t> merged_;
  std::vector<std::size_t> wanted_by_;  // by row: its bits in wanted_, the first of which are none
  std::vector<std::uint64_t> wanted_;   // by bucket: whether a percentile lies in it
  std::vector<std::vector<time_ns>> kept_;
  std::vector<wanted_distribution> wants_;
  bool keep_histograms_ = false;
};

/// Of a few values, at once.
[[nodiscard]] distribution summarise(std::vector<time_ns> values, bool histogram = false);

/// Puts the times of `next` to those of `total`. False: some are in no histogram, so that the percentiles are
/// of the others, or of the larger side where neither has one.
bool add_distribution(distribution& total, const distribution& next);

}  // namespace analysis
}  // namespace v0
}  // namespace varve

#endif  // VARVE_ANALYZE_DISTRIBUTION_HPP
