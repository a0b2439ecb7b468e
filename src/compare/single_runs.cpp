// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/single_runs.hpp"

#include "compare/estimate.hpp"
#include "compare/resample.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace varve {
inline namespace v0 {
namespace comparing {

namespace {

std::vector<double> ratios_of(const std::vector<double>& base, const std::vector<double>& fresh) {
  std::vector<double> logs(base.size());
  for (std::size_t i = 0; i < logs.size(); ++i) {
    logs[i] = std::log(fresh[i] / base[i]);
  }
  return logs;
}

/// Whether as many passes differ less from each other than what they vary by; a few that were held up, on
/// either side, say nothing of that.
bool rise_together(const std::vector<double>& base, const std::vector<double>& fresh) {
  if (!all_positive(base) || !all_positive(fresh)) {
    return false;
  }
  const std::vector<double> ones(base.size(), 1);
  constexpr std::size_t few = 8;  // of which some rise together by chance
  const double most = base.size() < few ? 0.05 : 0.5;
  return variance_of(cut_far(ratios_of(base, fresh))) <=
         most * (variance_of(cut_far(ratios_of(ones, base))) + variance_of(cut_far(ratios_of(ones, fresh))));
}

}  // namespace

void compare_passes(time_change& out, const run_times& base_run, const run_times& fresh_run,
                    const compare_options& options, resampler& draws) {
  const std::vector<double>& base = base_run.samples;
  const std::vector<double>& fresh = fresh_run.samples;
  const estimator by{options, true};
  const std::size_t n = base.size();
  out.paired = of_same_passes(base_run, fresh_run) && rise_together(base, fresh);
  if (out.paired) {
    const std::vector<double> logs = ratios_of(base, fresh);
    out.inflation = inflation_of(logs);
    const resampler::indices_ptr indices = draws.indices(n, 0);
    const auto passes = static_cast<double>(n);
    const auto resampled = [&](double value, std::vector<double> drawn, double inflation) {
      return by.of_resamples(value, std::move(drawn), inflation * passes / (passes - 1),
                             std::max(1.0, passes / inflation - 1));
    };
    const double base_mean = mean_of(base);
    const double fresh_mean = mean_of(fresh);
    std::vector<double> off(n);  // what each pass adds to the logarithm of the means' ratio
    for (std::size_t i = 0; i < n; ++i) {
      off[i] = fresh[i] / fresh_mean - base[i] / base_mean;
    }
    std::vector<double> means = resampled_means(fresh, *indices);
    const std::vector<double> base_means = resampled_means(base, *indices);
    for (std::size_t i = 0; i < means.size(); ++i) {
      means[i] = std::log(means[i] / base_means[i]);
    }
    set(out, by, resampled(median_of(logs), resampled_medians(logs, *indices), out.inflation),
        resampled(std::log(fresh_mean / base_mean), std::move(means), inflation_of_mean(off)));
    withhold(out, n);
    return;
  }
  const double base_inflation = inflation_of(base);
  const double fresh_inflation = inflation_of(fresh);
  out.inflation = std::max(base_inflation, fresh_inflation);
  const resampler::indices_ptr base_draws = draws.indices(n, 0);
  const resampler::indices_ptr fresh_draws = draws.indices(fresh.size(), 1);
  const auto both = [&](double value, auto resampled, double of_base, double of_fresh) {
    return apart(by, value, spread_of(resampled(base, *base_draws), n, of_base),
                 spread_of(resampled(fresh, *fresh_draws), fresh.size(), of_fresh));
  };
  set(out, by, both(std::log(out.fresh / out.base), resampled_medians, base_inflation, fresh_inflation),
      both(std::log(mean_of(fresh) / mean_of(base)), resampled_means, inflation_of_mean(base),
           inflation_of_mean(fresh)));
  withhold(out, std::min(n, fresh.size()));
}

void compare_means(time_change& out, const std::vector<double>& base, const std::vector<double>& fresh,
                   const compare_options& options, resampler& draws) {
  const double base_inflation = inflation_of(base);
  const double fresh_inflation = inflation_of(fresh);
  out.inflation = std::max(base_inflation, fresh_inflation);
  const estimator by{options, true};
  const auto drawn = [&](const std::vector<double>& of, int side, double inflation) {
    return spread_of(resampled_means(of, *draws.indices(of.size(), side)), of.size(), inflation);
  };
  const estimate mean = apart(by, std::log(mean_of(fresh) / mean_of(base)), drawn(base, 0, base_inflation),
                              drawn(fresh, 1, fresh_inflation));
  set(out, by, mean, mean);
  withhold(out, std::min(passes_that_ran(base), passes_that_ran(fresh)));
}

}  // namespace comparing
}  // namespace v0
}  // namespace varve
