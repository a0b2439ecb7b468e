// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/repeated_runs.hpp"

#include "compare/estimate.hpp"
#include "compare/resample.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace varve {
inline namespace v0 {
namespace comparing {

namespace {

/// Logarithms of one figure of each run of a side.
struct run_values {
  std::vector<double> logs;
  double within = 0;  ///< variance of their mean by what passes vary inside of runs

  [[nodiscard]] double mean() const { return mean_of(logs); }
  [[nodiscard]] double freedom() const { return static_cast<double>(logs.size()) - 1; }
};

enum class figure : std::uint8_t { median, mean };

/// Of runs of the same passes, each run's passes over its figure, less what is the same pass by pass in all
/// of them: a context that grows is no noise. Empty where there are fewer than three runs or of other passes.
std::vector<std::vector<double>> off_profile(const side_times& side, figure of) {
  if (side.size() < 3 || !std::all_of(side.begin(), side.end(), [&](const run_times& run) {
        return of_same_passes(run, side[0]) && run.samples.size() > 1 && all_positive(run.samples);
      })) {
    return {};
  }
  std::vector<std::vector<double>> out;
  std::vector<double> profile(side[0].samples.size());
  const auto runs = static_cast<double>(side.size());
  for (const run_times& run : side) {
    const double level = of == figure::median ? median_of(run.samples) : mean_of(run.samples);
    std::vector<double>& shares = out.emplace_back(run.samples);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      shares[i] /= level;
      profile[i] += shares[i] / runs;
    }
  }
  // The profile takes a share of each run's own noise with it.
  const double whole = std::sqrt(runs / (runs - 1));
  for (std::vector<double>& shares : out) {
    for (std::size_t i = 0; i < shares.size(); ++i) {
      shares[i] = (shares[i] - profile[i]) * whole;
    }
  }
  return out;
}

/// Variance of a run's figure by what its passes vary.
double variance_within(const std::vector<double>& passes, figure of, bool logs, resampler& draws) {
  const resampler::indices_ptr indices = draws.indices(passes.size(), 0);
  std::vector<double> drawn =
      of == figure::median ? resampled_medians(passes, *indices) : resampled_means(passes, *indices);
  const double inflation = of == figure::median ? inflation_of(passes) : inflation_of_mean(passes);
  const double variance = logs ? spread_of(drawn, passes.size(), 1).variance : variance_of(drawn);
  const auto n = static_cast<double>(passes.size());
  return variance * inflation * n / (n - 1);
}

run_values values_of(const side_times& side, figure of, bool sampled, resampler& draws) {
  run_values out;
  const std::vector<std::vector<double>> off = off_profile(side, of);
  for (const std::vector<double>& passes : off) {
    out.within += variance_within(passes, of, false, draws);
  }
  for (const run_times& run : side) {
    out.logs.push_back(std::log(of == figure::median && sampled ? median_of(run.samples) : run.mean));
    if (off.empty() && run.samples.size() > 1 && all_positive(run.samples)) {
      out.within += variance_within(run.samples, of, true, draws);
    }
  }
  const auto runs = static_cast<double>(side.size());
  out.within /= runs * runs;
  return out;
}

/// Runs differ by more than their passes tell, so each counts as one observation (Kalibera and Jones, 2013).
estimate between(const estimator& by, const run_values& base, const run_values& fresh) {
  const auto base_runs = static_cast<double>(base.logs.size());
  const auto fresh_runs = static_cast<double>(fresh.logs.size());
  double error = 0;
  double freedom = 0;
  const double of_base = variance_of(base.logs);
  const double of_fresh = variance_of(fresh.logs);
  const double base_part = of_base / base_runs;
  const double fresh_part = of_fresh / fresh_runs;
  if (base.freedom() < 1 || fresh.freedom() < 1 || !(base_part + fresh_part > 0)) {
    freedom = base.freedom() + fresh.freedom();  // a single run varies as those of the other side do
    error =
        (of_base * base.freedom() + of_fresh * fresh.freedom()) / freedom * (1 / base_runs + 1 / fresh_runs);
  } else {
    error = base_part + fresh_part;
    freedom =
        error * error / (base_part * base_part / base.freedom() + fresh_part * fresh_part / fresh.freedom());
  }
  return by.of_error(fresh.mean() - base.mean(), std::sqrt(std::max(error, base.within + fresh.within)),
                     freedom);
}

}  // namespace

void compare_runs(time_change& out, const side_times& base, const side_times& fresh,
                  const compare_options& options, resampler& draws, bool sampled) {
  // One run may be off by more than the spread of normal ones, and nothing on its side shows that.
  const bool single = base.size() == 1 || fresh.size() == 1;
  const estimator by{options, single};
  const run_values base_medians = values_of(base, figure::median, sampled, draws);
  const run_values fresh_medians = values_of(fresh, figure::median, sampled, draws);
  out.base = std::exp(base_medians.mean());
  out.fresh = std::exp(fresh_medians.mean());
  set(out, by, between(by, base_medians, fresh_medians),
      between(by, values_of(base, figure::mean, sampled, draws),
              values_of(fresh, figure::mean, sampled, draws)));
  if (single) {
    withhold(out, passes_that_ran((base.size() == 1 ? base : fresh)[0].samples));
  }
}

}  // namespace comparing
}  // namespace v0
}  // namespace varve
