// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

constexpr std::size_t many = 1024;  // fewer values of a row are kept as they are
constexpr std::size_t batch = 64;
constexpr std::array<std::int64_t, 3> percents{50, 95, 99};

// √(Σv²/n − (Σv/n)²), in whole numbers up to the root where they fit.
double deviation_of(const value_sums& s) {
  const auto n = static_cast<std::uint64_t>(s.count);
  std::uint64_t limit = 0;
  if (s.max < value_sums::huge && !__builtin_mul_overflow(static_cast<std::uint64_t>(s.max), n, &limit)) {
    const wide scaled = s.squares * n - s.sum * s.sum;  // n² times the variance
    return std::sqrt(static_cast<double>(scaled)) / static_cast<double>(n);
  }
  const auto count = static_cast<long double>(n);
  const long double mean = static_cast<long double>(s.sum) / count;
  const long double squares = static_cast<long double>(s.squares) + static_cast<long double>(s.huge_squares);
  return static_cast<double>(std::sqrt(std::max(0.0L, squares / count - mean * mean)));
}

// All but the percentiles.
distribution describe(const value_sums& s) {
  constexpr auto most = static_cast<wide>(std::numeric_limits<std::int64_t>::max());
  distribution d;
  d.count = s.count;
  d.total = static_cast<std::int64_t>(std::min(s.sum, most));
  d.min = s.min;
  d.max = s.max;
  d.mean = static_cast<double>(s.sum) / static_cast<double>(s.count);
  d.deviation = deviation_of(s);
  return d;
}

// Nearest rank, counted from 0: the ⌈p·n⌉-th smallest.
std::array<std::int64_t, 3> ranks_of(std::int64_t n) {
  std::array<std::int64_t, 3> ranks{};
  std::transform(percents.begin(), percents.end(), ranks.begin(),
                 [&](std::int64_t p) { return n / 100 * p + (n % 100 * p + 99) / 100 - 1; });
  return ranks;
}

time_ns& percentile(distribution& d, std::size_t k) { return k == 0 ? d.p50 : k == 1 ? d.p95 : d.p99; }

/// Of values in order.
std::vector<time_bucket> histogram_of(std::int64_t zeros, std::span<const time_ns> values) {
  std::vector<time_bucket> out;
  if (zeros > 0) {
    out.push_back({0, zeros});
  }
  for (const time_ns v : values) {
    const auto bucket = static_cast<std::int32_t>(buckets::of(v));
    if (out.empty() || out.back().bucket != bucket) {
      out.push_back({bucket, 0});
    }
    ++out.back().count;
  }
  return out;
}

std::vector<time_bucket> histogram_of(std::int64_t zeros, std::span<const std::uint32_t> counts) {
  std::vector<time_bucket> out;
  for (std::size_t b = 0; b < counts.size(); ++b) {
    if (const std::int64_t count = counts[b] + (b == 0 ? zeros : 0); count > 0) {
      out.push_back({static_cast<std::int32_t>(b), count});
    }
  }
  return out;
}

}  // namespace

void value_sums::add(std::span<const time_ns> values) noexcept {
  count += static_cast<std::int64_t>(values.size());
  wide total = 0;
  wide total_squares = 0;
  time_ns least = min;
  time_ns most = max;
  for (const time_ns value : values) {
    const auto v = static_cast<std::uint64_t>(value);
    total += v;
    least = std::min(least, value);
    most = std::max(most, value);
    if (value < huge) {
      total_squares += static_cast<wide>(v) * v;
    } else {
      huge_squares += static_cast<double>(v) * static_cast<double>(v);
    }
  }
  sum += total;
  squares += total_squares;
  min = least;
  max = most;
}

void value_sums::add(const value_sums& other) noexcept {
  count += other.count;
  sum += other.sum;
  squares += other.squares;
  huge_squares += other.huge_squares;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
}

row_statistics::row_statistics(const std::vector<std::size_t>& most, bool keep_histograms)
    : cursors_(most.size()), rows_(most.size()), keep_histograms_{keep_histograms} {
  std::size_t values = 0;
  std::size_t histograms = 0;
  for (std::size_t r = 0; r < most.size(); ++r) {
    rows_[r].first = values;
    values += std::min(most[r], most[r] >= many ? batch : many);
    if (most[r] >= many) {
      rows_[r].histogram = histograms;
      histograms += buckets::count;
    }
  }
  values_.resize(values);
  histograms_.resize(histograms);
  wanted_.resize(buckets::count / 64);
  wanted_by_.resize(most.size(), 0);
  for (std::size_t r = 0; r < most.size(); ++r) {
    cursors_[r].next = values_.data() + rows_[r].first;
    cursors_[r].limit = rows_[r].histogram != npos ? cursors_[r].next + batch : nullptr;
  }
}

void row_statistics::drain(std::size_t row) noexcept {
  row_values& r = rows_[row];
  time_ns* const first = values_.data() + r.first;
  const std::span<const time_ns> values{first, cursors_[row].next};
  r.sums.add(values);
  if (r.histogram != npos) {
    std::uint32_t* const histogram = histograms_.data() + r.histogram;
    for (const time_ns v : values) {
      ++histogram[buckets::of(v)];
    }
    cursors_[row].next = first;
  }
}

void row_statistics::settle() {
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    drain(r);
  }
}

std::size_t row_statistics::want(std::span<const std::uint32_t> rows, std::int64_t zeros) {
  wanted_distribution& w = wants_.emplace_back();
  w.rank.fill(-1);
  value_sums sums;
  bool few = true;
  for (const std::uint32_t r : rows) {
    sums.add(rows_[r].sums);
    few = few && rows_[r].histogram == npos;
  }
  if (zeros > 0) {
    sums.count += zeros;
    sums.min = 0;
  }
  if (sums.count == 0) {
    return wants_.size() - 1;
  }
  w.known = describe(sums);
  std::array<std::int64_t, 3> ranks = ranks_of(sums.count);
  for (std::int64_t& r : ranks) {
    r -= zeros;  // those come first
  }
  if (few && sums.count - zeros < static_cast<std::int64_t>(many)) {
    std::vector<time_ns> all;
    for (const std::uint32_t r : rows) {
      const auto from = values_.begin() + static_cast<std::ptrdiff_t>(rows_[r].first);
      all.insert(all.end(), from, from + rows_[r].sums.count);
    }
    std::sort(all.begin(), all.end());
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      percentile(w.known, k) = ranks[k] < 0 ? 0 : all[static_cast<std::size_t>(ranks[k])];
    }
    if (keep_histograms_) {
      w.known.histogram = histogram_of(zeros, std::span<const time_ns>{all});
    }
    return wants_.size() - 1;
  }
  std::span<const std::uint32_t> counts;
  if (rows.size() == 1 && !few) {
    counts = std::span{histograms_}.subspan(rows_[rows[0]].histogram, buckets::count);
  } else {
    merged_.assign(buckets::count, 0);
    for (const std::uint32_t r : rows) {
      if (rows_[r].histogram != npos) {
        for (std::size_t b = 0; b < buckets::count; ++b) {
          merged_[b] += histograms_[rows_[r].histogram + b];
        }
      } else {
        for (std::int64_t k = 0; k < rows_[r].sums.count; ++k) {
          ++merged_[buckets::of(values_[rows_[r].first + static_cast<std::size_t>(k)])];
        }
      }
    }
    counts = merged_;
  }
  find_buckets(rows, counts, ranks, w);
  if (keep_histograms_) {
    w.known.histogram = histogram_of(zeros, counts);
  }
  return wants_.size() - 1;
}

void row_statistics::find_buckets(std::span<const std::uint32_t> rows,
                                  std::span<const std::uint32_t> histogram,
                                  const std::array<std::int64_t, 3>& ranks, wanted_distribution& w) {
  std::size_t bucket = 0;
  std::int64_t below = 0;
  std::size_t last = buckets::count;
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    if (ranks[k] < 0) {
      continue;  // one of the zeros
    }
    while (below + histogram[bucket] <= ranks[k]) {
      below += histogram[bucket++];
    }
    w.rank[k] = ranks[k] - below;
    w.kept[k] = k > 0 && bucket == last ? w.kept[k - 1] : collect_bucket(rows, bucket);
    last = bucket;
  }
}

// A place where the values of `rows` in a bucket come together. Those of small rows are there at once.
std::size_t row_statistics::collect_bucket(std::span<const std::uint32_t> rows, std::size_t bucket) {
  const std::size_t place = kept_.size();
  kept_.emplace_back();
  for (const std::uint32_t r : rows) {
    row_values& row = rows_[r];
    if (row.histogram == npos) {
      for (std::int64_t k = 0; k < row.sums.count; ++k) {
        const time_ns v = values_[row.first + static_cast<std::size_t>(k)];
        if (buckets::of(v) == bucket) {
          kept_[place].push_back(v);
        }
      }
      continue;
    }
    if (wanted_by_[r] == 0) {
      wanted_by_[r] = wanted_.size();
      wanted_.resize(wanted_.size() + buckets::count / 64);
    }
    wanted_[wanted_by_[r] + bucket / 64] |= std::uint64_t{1} << (bucket % 64);
    row.targets.push_back({bucket, place});
  }
  return place;
}

void row_statistics::keep(std::size_t row, std::size_t bucket, time_ns value) {
  for (const target& t : rows_[row].targets) {
    if (t.bucket == bucket) {
      kept_[t.kept].push_back(value);
    }
  }
}

distribution row_statistics::get(std::size_t number) {
  wanted_distribution& w = wants_[number];
  for (std::size_t k = 0; k < w.rank.size(); ++k) {
    if (w.rank[k] >= 0) {
      std::vector<time_ns>& values = kept_[w.kept[k]];
      const auto nth = values.begin() + w.rank[k];
      std::nth_element(values.begin(), nth, values.end());
      percentile(w.known, k) = *nth;
    }
  }
  return w.known;
}

distribution summarise(std::vector<time_ns> values, bool histogram) {
  if (values.empty()) {
    return {};
  }
  value_sums sums;
  sums.add(std::span<const time_ns>{values});
  distribution d = describe(sums);
  std::sort(values.begin(), values.end());
  const std::array<std::int64_t, 3> ranks = ranks_of(d.count);
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    percentile(d, k) = values[static_cast<std::size_t>(ranks[k])];
  }
  if (histogram) {
    d.histogram = histogram_of(0, std::span<const time_ns>{values});
  }
  return d;
}

namespace {

void add_histogram(std::vector<time_bucket>& total, const std::vector<time_bucket>& next) {
  std::vector<time_bucket> sum;
  sum.reserve(total.size() + next.size());
  auto t = total.begin();
  for (const time_bucket& n : next) {
    for (; t != total.end() && t->bucket < n.bucket; ++t) {
      sum.push_back(*t);
    }
    sum.push_back(n);
    if (t != total.end() && t->bucket == n.bucket) {
      add_to(sum.back().count, t++->count);
    }
  }
  sum.insert(sum.end(), t, total.end());
  total.assign(sum.begin(), sum.end());  // no larger than it must be
}

void take_percentiles(distribution& d) {
  std::int64_t count = 0;
  for (const time_bucket& b : d.histogram) {
    add_to(count, b.count);
  }
  const std::array<std::int64_t, 3> ranks = ranks_of(count);
  std::int64_t below = 0;
  std::size_t k = 0;
  for (const time_bucket& b : d.histogram) {
    add_to(below, b.count);
    for (; k < ranks.size() && ranks[k] < below; ++k) {
      const time_ns middle = buckets::middle(static_cast<std::size_t>(b.bucket));
      percentile(d, k) = std::min(std::max(middle, d.min), d.max);  // reports of files may have min > max
    }
  }
}

}  // namespace

// Sums of squares of deviations from the mean add up, with what the means are apart.
bool add_distribution(distribution& total, const distribution& next) {
  if (next.count <= 0) {
    return true;
  }
  if (total.count <= 0) {
    total = next;  // with its percentiles
    return true;
  }
  const bool whole = !total.histogram.empty() && !next.histogram.empty();
  const bool none = total.histogram.empty() && next.histogram.empty();
  if (none && next.count > total.count) {
    total.p50 = next.p50;
    total.p95 = next.p95;
    total.p99 = next.p99;
  }
  const auto n = static_cast<double>(total.count);
  const auto m = static_cast<double>(next.count);
  const double apart = next.mean - total.mean;
  const double variance = (n * total.deviation * total.deviation + m * next.deviation * next.deviation +
                           apart * apart * n * (m / (n + m))) /
                          (n + m);
  total.mean += apart * (m / (n + m));
  total.deviation = std::sqrt(variance);
  add_to(total.count, next.count);
  add_to(total.total, next.total);
  total.min = std::min(total.min, next.min);
  total.max = std::max(total.max, next.max);
  if (!none) {
    add_histogram(total.histogram, next.histogram);
    take_percentiles(total);
  }
  return whole;
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
