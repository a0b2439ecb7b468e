// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "compare/change.hpp"

#include "compare/resample.hpp"
#include "compare/student.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace varve {
inline namespace v0 {
namespace comparing {

namespace {

/// An estimate of a logarithm and its uncertainty: what a resample is off, and how much more that is for
/// few passes and such as depend on each other.
struct estimate {
  double value = 0;
  double below = 0;  ///< distance to the interval's ends
  double above = 0;
  double freedom = 1;
};

class estimator {
 public:
  estimator(const compare_options& options, bool single)
      : alpha_{1 - options.confidence},
        normal_{student_quantile(alpha_, 1e9)},
        up_{single ? std::log1p(options.noise) : 0},
        down_{single ? -std::log1p(-options.noise) : 0} {}

  /// Of resamples whose spread stands for `stretch` times their variance.
  [[nodiscard]] estimate of_resamples(double value, std::vector<double> drawn, double stretch,
                                      double freedom) const {
    std::sort(drawn.begin(), drawn.end());
    const auto at = [&](double share) {
      return drawn[static_cast<std::size_t>(std::lround(share * static_cast<double>(drawn.size() - 1)))];
    };
    const double factor = student_quantile(alpha_, freedom) / normal_ * std::sqrt(stretch);
    return {value, std::max(0.0, value - at(alpha_ / 2)) * factor,
            std::max(0.0, at(1 - alpha_ / 2) - value) * factor, freedom};
  }
  [[nodiscard]] estimate of_error(double value, double error, double freedom) const {
    const double arm = error * student_quantile(alpha_, freedom);
    return {value, arm, arm, freedom};
  }

  /// How likely so large a change is where there is none, or none beyond the noise of single runs.
  [[nodiscard]] double chance(const estimate& e) const {
    const double beyond = e.value > 0 ? e.value - up_ : -e.value - down_;
    if (!(beyond > 0)) {
      return 1;
    }
    const double arm = e.value > 0 ? e.below : e.above;
    return arm > 0 ? student_two_sided(beyond / arm * student_quantile(alpha_, e.freedom), e.freedom) : 0;
  }

 private:
  double alpha_;
  double normal_;
  double up_;
  double down_;
};

/// What one side's resamples say: their spread, and what stretches it.
struct spread {
  std::vector<double> logs;
  double variance = 0;
  double stretch = 1;
  double freedom = 1;
};

spread spread_of(std::vector<double> drawn, std::size_t passes, double inflation) {
  spread out;
  out.logs = std::move(drawn);
  for (double& v : out.logs) {
    v = std::log(std::max(v, 0.5));  // half a nanosecond stands for nothing
  }
  out.variance = variance_of(out.logs);
  const auto n = static_cast<double>(passes);
  out.stretch = inflation * n / (n - 1);  // resamples vary by (n − 1) / n too little
  out.freedom = std::max(1.0, n / inflation - 1);
  return out;
}

/// The two sides were not recorded pass by pass together.
estimate apart(const estimator& by, double value, const spread& base, const spread& fresh) {
  std::vector<double> logs = fresh.logs;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    logs[i] -= base.logs[i];
  }
  const double of_base = base.variance * base.stretch;
  const double of_fresh = fresh.variance * fresh.stretch;
  if (!(of_base + of_fresh > 0)) {
    return by.of_resamples(value, std::move(logs), 1, std::min(base.freedom, fresh.freedom));
  }
  // Welch and Satterthwaite's degrees of freedom.
  const double freedom = (of_base + of_fresh) * (of_base + of_fresh) /
                         (of_base * of_base / base.freedom + of_fresh * of_fresh / fresh.freedom);
  return by.of_resamples(value, std::move(logs), (of_base + of_fresh) / (base.variance + fresh.variance),
                         freedom);
}

void set(time_change& to, const estimator& by, const estimate& median, const estimate& mean) {
  to.has_interval = true;
  to.relative = std::expm1(median.value);
  to.low = std::expm1(median.value - median.below);
  to.high = std::expm1(median.value + median.above);
  const double centre = std::log1p(to.mean_relative);  // of all passes, not of the sampled ones alone
  to.mean_low = std::expm1(centre - mean.below);
  to.mean_high = std::expm1(centre + mean.above);
  to.p = by.chance(median);
  to.mean_p = by.chance(mean);
}

std::size_t passes_that_ran(const std::vector<double>& of) {
  return static_cast<std::size_t>(std::count_if(of.begin(), of.end(), [](double v) { return v > 0; }));
}

void withhold(time_change& of, std::size_t passes) {
  if (passes < static_cast<std::size_t>(fewest_passes_to_tell)) {
    of.p = of.mean_p = 1;
  }
}

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

/// One run against another.
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

/// Of what runs in few passes, or in other ones, the mean is known, with the zeros in it.
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

namespace {

/// Of two tests, among which chance is divided: most to the median, which tells more. Where both tell, each
/// may take all of it (Simes' inequality, weighted).
double chance(const time_change& c) {
  constexpr double of_median = 0.8;
  return std::min({c.p / of_median, c.mean_p / (1 - of_median), std::max(c.p, c.mean_p)});
}

/// A tail that grew, or a few slow passes, show in the mean alone.
bool is_within(const time_change& c, double noise) {
  const bool median = c.has_interval ? c.low >= -noise && c.high <= noise : std::fabs(c.relative) <= noise;
  return median && std::fabs(c.mean_relative) <= noise;
}

outcome direction(const time_change& c, double level) {
  if (std::max(c.p, c.mean_p) <= level && (c.relative > 0) != (c.mean_relative > 0)) {
    return outcome::inconclusive;  // they contradict each other
  }
  return (c.mean_p < c.p ? c.mean_relative : c.relative) > 0 ? outcome::worse : outcome::better;
}

}  // namespace

void judge(const std::vector<time_change*>& family, const compare_options& options) {
  std::vector<time_change*> tested;
  for (time_change* const c : family) {
    if (c->has_interval) {
      tested.push_back(c);
    }
  }
  std::stable_sort(tested.begin(), tested.end(),
                   [](const time_change* a, const time_change* b) { return chance(*a) < chance(*b); });
  double least = 1;
  for (std::size_t i = tested.size(); i-- > 0;) {
    least =
        std::min(least, chance(*tested[i]) * static_cast<double>(tested.size()) / static_cast<double>(i + 1));
    tested[i]->q = least;
  }
  for (time_change* const c : family) {
    const bool known = c->base_mean > 0 && c->fresh_mean > 0;
    const double level = 1 - options.confidence;
    const bool differs = known && c->has_interval && c->q <= level;
    c->verdict = is_within(*c, options.noise) && (known || c->base_mean == c->fresh_mean) ? outcome::same
                 : differs ? direction(*c, level)
                           : outcome::inconclusive;
  }
}

}  // namespace comparing
}  // namespace v0
}  // namespace varve
