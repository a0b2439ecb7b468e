// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/change.hpp"

#include "compare/repeated_runs.hpp"
#include "compare/resample.hpp"
#include "compare/single_runs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace varve {
inline namespace v0 {
namespace comparing {

namespace {

double side_mean(const side_times& side) {
  double sum = 0;
  for (const run_times& run : side) {
    sum += run.mean;
  }
  return side.empty() ? 0 : sum / static_cast<double>(side.size());
}

double ratio(double base, double fresh) { return base > 0 && fresh > 0 ? fresh / base - 1 : 0; }

void count(const side_times& side, std::int64_t& runs, std::int64_t& passes) {
  for (const run_times& run : side) {
    runs += run.samples.empty() ? 0 : 1;
    passes += static_cast<std::int64_t>(run.samples.size());
  }
}

bool is_usable(const run_times& run) { return run.samples.size() > 1 && median_of(run.samples) > 0; }

bool has_passes(const run_times& run) { return run.samples.size() > 1 && mean_of(run.samples) > 0; }

bool are_usable(const side_times& side) { return std::all_of(side.begin(), side.end(), is_usable); }

bool have_means(const side_times& side) {
  return std::all_of(side.begin(), side.end(), [](const run_times& r) { return r.mean > 0; });
}

/// Of a layer that runs in some passes alone, in the same on both sides: only these.
std::pair<run_times, run_times> passes_in_common(const run_times& base, const run_times& fresh) {
  std::pair<run_times, run_times> out{base, fresh};
  const std::size_t n = base.samples.size();
  if (!of_same_passes(base, fresh)) {
    return out;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if ((base.samples[i] > 0) != (fresh.samples[i] > 0)) {
      return {base, fresh};
    }
    if (base.samples[i] > 0) {
      out.first.samples[kept] = base.samples[i];
      out.second.samples[kept++] = fresh.samples[i];
    }
  }
  out.first.samples.resize(kept);
  out.second.samples.resize(kept);
  return out;
}

}  // namespace

time_change change_of(const side_times& base, const side_times& fresh, const compare_options& options,
                      resampler& draws) {
  time_change out;
  out.base = out.base_mean = side_mean(base);
  out.fresh = out.fresh_mean = side_mean(fresh);
  out.relative = out.mean_relative = ratio(out.base_mean, out.fresh_mean);
  count(base, out.base_runs, out.base_passes);
  count(fresh, out.fresh_runs, out.fresh_passes);
  if (!(out.base_mean > 0 && out.fresh_mean > 0)) {
    return out;
  }
  if (base.size() == 1 && fresh.size() == 1) {
    const auto [of_base, of_fresh] = passes_in_common(base[0], fresh[0]);
    if (is_usable(of_base) && is_usable(of_fresh)) {
      out.base = median_of(of_base.samples);
      out.fresh = median_of(of_fresh.samples);
      compare_passes(out, of_base, of_fresh, options, draws);
    } else if (has_passes(of_base) && has_passes(of_fresh)) {
      compare_means(out, of_base.samples, of_fresh.samples, options, draws);
    }
  } else if (have_means(base) && have_means(fresh)) {
    compare_runs(out, base, fresh, options, draws, are_usable(base) && are_usable(fresh));
  }
  return out;
}

}  // namespace comparing
}  // namespace v0
}  // namespace varve
