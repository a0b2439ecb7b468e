// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/distribution.hpp"

#include "analyze/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

__extension__ using wide = unsigned __int128;

constexpr std::size_t small = 512;  // fewer values are sorted out without a histogram

// Buckets that double in width every 64: below 64 exact, then within 1.6 %.
constexpr unsigned step_bits = 6;
constexpr std::uint64_t steps = 1U << step_bits;

unsigned magnitude(std::uint64_t value) noexcept {
  return 63U - static_cast<unsigned>(__builtin_clzll(value));
}

std::size_t bucket_of(time_ns value) noexcept {
  const auto v = static_cast<std::uint64_t>(value);
  if (v < steps) {
    return v;
  }
  const unsigned m = magnitude(v);
  return (std::size_t{m - step_bits + 1} << step_bits) + (v >> (m - step_bits) & (steps - 1));
}

constexpr std::size_t bucket_count = (62 - step_bits + 2) << step_bits;

struct bucket_range {
  std::uint64_t least;
  std::uint64_t width;
};

bucket_range range_of(std::size_t bucket) noexcept {
  if (bucket < steps) {
    return {bucket, 1};
  }
  const unsigned shift = static_cast<unsigned>(bucket >> step_bits) - 1;
  return {(steps + (bucket & (steps - 1))) << shift, std::uint64_t{1} << shift};
}

// The population's: √(Σ(v−least)²/n − (Σ(v−least)/n)²), in whole numbers up to the root where they fit.
double deviation_of(std::span<const summariser::values> parts, std::int64_t zeros, const distribution& d,
                    wide sum) {
  const auto n = static_cast<std::uint64_t>(d.count);
  const auto least = static_cast<std::uint64_t>(d.min);
  const std::uint64_t spread = static_cast<std::uint64_t>(d.max) - least;
  std::uint64_t limit = 0;
  if (__builtin_mul_overflow(spread, n, &limit)) {
    const double mean = d.mean;
    double squares = static_cast<double>(zeros) * mean * mean;
    for (const summariser::values& part : parts) {
      for (const time_ns v : part) {
        squares += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean);
      }
    }
    return std::sqrt(squares / static_cast<double>(n));
  }
  wide squares = 0;  // of the zeros too: with any, the least is 0
  for (const summariser::values& part : parts) {
    for (const time_ns v : part) {
      const std::uint64_t above = static_cast<std::uint64_t>(v) - least;
      squares += static_cast<wide>(above) * above;
    }
  }
  const wide above = sum - static_cast<wide>(least) * n;
  const wide scaled = squares * n - above * above;  // n² times the variance
  return std::sqrt(static_cast<double>(scaled)) / static_cast<double>(n);
}

}  // namespace

distribution summariser::summarise(std::span<const values> parts, std::int64_t zeros) {
  distribution d;
  d.count = zeros;
  d.min = zeros > 0 ? 0 : std::numeric_limits<time_ns>::max();
  wide sum = 0;
  for (const values& part : parts) {
    d.count += static_cast<std::int64_t>(part.size());
    for (const time_ns v : part) {
      sum += static_cast<std::uint64_t>(v);
      d.min = std::min(d.min, v);
      d.max = std::max(d.max, v);
    }
  }
  if (d.count == 0) {
    return {};
  }
  constexpr auto most = static_cast<wide>(std::numeric_limits<std::int64_t>::max());
  d.total = static_cast<std::int64_t>(std::min(sum, most));
  d.mean = static_cast<double>(sum) / static_cast<double>(d.count);
  d.deviation = deviation_of(parts, zeros, d, sum);

  // Nearest rank: the ⌈p·n⌉-th smallest. The zeros come first.
  const auto rank = [&](std::int64_t percent) {
    return d.count / 100 * percent + (d.count % 100 * percent + 99) / 100 - 1 - zeros;
  };
  const std::array ranks{rank(50), rank(95), rank(99)};
  std::array<time_ns, 3> found{};
  find_ranks(parts, ranks, found);
  d.p50 = found[0];
  d.p95 = found[1];
  d.p99 = found[2];
  return d;
}

// The values of the given ranks, which ascend; a negative rank is one of the zeros.
void summariser::find_ranks(std::span<const values> parts, std::span<const std::int64_t> ranks,
                            std::span<time_ns> out) {
  std::size_t total = 0;
  for (const values& part : parts) {
    total += part.size();
  }
  if (total <= small) {
    scratch_.clear();
    for (const values& part : parts) {
      scratch_.insert(scratch_.end(), part.begin(), part.end());
    }
    std::sort(scratch_.begin(), scratch_.end());
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      out[k] = ranks[k] < 0 ? 0 : scratch_[static_cast<std::size_t>(ranks[k])];
    }
    return;
  }
  histogram_.assign(bucket_count, 0);
  for (const values& part : parts) {
    for (const time_ns v : part) {
      ++histogram_[bucket_of(v)];
    }
  }
  std::size_t bucket = 0;
  std::int64_t below = 0;
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    if (ranks[k] < 0) {
      out[k] = 0;
      continue;
    }
    const std::size_t before = bucket;
    for (; below + histogram_[bucket] <= ranks[k]; ++bucket) {
      below += histogram_[bucket];
    }
    if (scratch_.empty() || bucket != before || k == 0 || ranks[k - 1] < 0) {
      const bucket_range in = range_of(bucket);
      scratch_.clear();
      for (const values& part : parts) {
        for (const time_ns v : part) {
          if (static_cast<std::uint64_t>(v) - in.least < in.width) {
            scratch_.push_back(v);
          }
        }
      }
    }
    const auto nth = scratch_.begin() + (ranks[k] - below);
    std::nth_element(scratch_.begin(), nth, scratch_.end());
    out[k] = *nth;
  }
}

void grouped_values::allocate() {
  std::partial_sum(next_.begin(), next_.end(), next_.begin());
  values_.resize(next_.back());
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
