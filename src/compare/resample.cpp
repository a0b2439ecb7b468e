// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/resample.hpp"

#include "compare/random.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace varve {
inline namespace v0 {
namespace comparing {

double median_of(std::vector<double> values) {
  const std::size_t half = values.size() / 2;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(half);
  std::nth_element(values.begin(), middle, values.end());
  return values.size() % 2 != 0 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Of the sample, around its mean.
double variance_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double v : values) {
    sum += (v - mean) * (v - mean);
  }
  return values.size() > 1 ? sum / static_cast<double>(values.size() - 1) : 0;
}

bool all_positive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v > 0; });
}

/// Medians of resamples without sorting each: counts how often each rank was drawn.
std::vector<double> resampled_medians(const std::vector<double>& values,
                                      const std::vector<std::uint32_t>& indices) {
  const std::size_t n = values.size();
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return values[a] != values[b] ? values[a] < values[b] : a < b;
  });
  std::vector<std::uint32_t> rank(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    rank[order[i]] = i;
  }
  std::vector<double> out;
  out.reserve(indices.size() / n);
  std::vector<std::uint32_t> drawn(n);
  for (std::size_t at = 0; at < indices.size(); at += n) {
    std::fill(drawn.begin(), drawn.end(), 0U);
    for (std::size_t i = at; i < at + n; ++i) {
      ++drawn[rank[indices[i]]];
    }
    std::size_t seen = 0;
    std::size_t i = 0;
    for (; seen + drawn[i] <= (n - 1) / 2; ++i) {
      seen += drawn[i];
    }
    const double lower = values[order[i]];
    for (; seen + drawn[i] <= n / 2; ++i) {
      seen += drawn[i];
    }
    out.push_back((lower + values[order[i]]) / 2);
  }
  return out;
}

std::vector<double> resampled_means(const std::vector<double>& values,
                                    const std::vector<std::uint32_t>& indices) {
  const std::size_t n = values.size();
  std::vector<double> out;
  out.reserve(indices.size() / n);
  for (std::size_t at = 0; at < indices.size(); at += n) {
    double sum = 0;
    for (std::size_t i = at; i < at + n; ++i) {
      sum += values[indices[i]];
    }
    out.push_back(sum / static_cast<double>(n));
  }
  return out;
}

resampler::indices_ptr resampler::indices(std::size_t passes, int side) {
  constexpr std::size_t most_kept = std::size_t{1} << 24U;
  indices_ptr& known = made_[{passes, side}];
  if (known != nullptr) {
    return known;
  }
  random_index draw{seed_ + 2 * static_cast<std::uint64_t>(passes) + static_cast<std::uint64_t>(side)};
  auto made = std::make_shared<std::vector<std::uint32_t>>(passes * static_cast<std::size_t>(resamples_));
  for (std::uint32_t& i : *made) {
    i = draw(static_cast<std::uint32_t>(passes));
  }
  kept_ += made->size();
  if (kept_ > most_kept) {  // of many numbers of passes; they can be made again
    made_.clear();
    kept_ = made->size();
  }
  made_[{passes, side}] = made;
  return made;
}

std::vector<double> cut_far(std::vector<double> values) {
  const double centre = median_of(values);
  std::vector<double> off(values.size());
  std::transform(values.begin(), values.end(), off.begin(),
                 [centre](double v) { return std::fabs(v - centre); });
  const double limit = 3 * 1.4826 * median_of(std::move(off));  // three deviations, of a normal distribution
  for (double& v : values) {
    v = limit > 0 ? std::clamp(v - centre, -limit, limit) : v - centre;
  }
  return values;
}

namespace {

/// As inflation_of(), of values as they are.
double inflation(const std::vector<double>& off) {
  constexpr std::size_t fewest = 8;
  const std::size_t n = off.size();
  double most = 1 + 4 / static_cast<double>(n);  // what few passes cannot show
  if (n < fewest) {
    return most;
  }
  const double single = variance_of(off) / static_cast<double>(n);
  const auto try_blocks = [&](std::size_t length) {
    std::vector<double> means;
    for (std::size_t at = 0; at + length <= n; at += length) {
      double sum = 0;
      for (std::size_t i = at; i < at + length; ++i) {
        sum += off[i];
      }
      means.push_back(sum / static_cast<double>(length));
    }
    const auto blocks = static_cast<double>(means.size());
    const double mean = mean_of(means);
    double squares = 0;
    double products = 0;
    for (std::size_t i = 0; i < means.size(); ++i) {
      squares += (means[i] - mean) * (means[i] - mean);
      products += i > 0 ? (means[i] - mean) * (means[i - 1] - mean) : 0;
    }
    if (!(squares > 0)) {
      return;
    }
    const double raw = products / squares;
    // Less its bias (Kendall, 1954), and half of its standard error on the safe side.
    const double unbiased =
        raw + (1 + 3 * raw) / blocks + 0.5 * std::sqrt(std::max(0.0, 1 - raw * raw) / blocks);
    const double correlation = std::clamp(unbiased, 0.0, 1 - 1 / blocks);
    const double variance = squares / (blocks - 1) / blocks * (1 + correlation) / (1 - correlation);
    most = std::max(most, variance / single);
  };
  if (!(single > 0)) {
    return most;
  }
  try_blocks(1);
  if (n >= 2 * fewest) {
    try_blocks(n / std::max(fewest, static_cast<std::size_t>(std::sqrt(static_cast<double>(n)))));
  }
  return most;
}

}  // namespace

double inflation_of(const std::vector<double>& values) { return inflation(cut_far(values)); }

double inflation_of_mean(const std::vector<double>& values) {
  const std::vector<double> near = cut_far(values);
  const double all = variance_of(values);
  const double part = all > 0 ? std::min(1.0, variance_of(near) / all) : 1;
  return part * inflation(near) + (1 - part) * inflation(values);
}

}  // namespace comparing
}  // namespace v0
}  // namespace varve
