// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "predict/slow_passes.hpp"

#include "predict/peers.hpp"
#include "predict/robust.hpp"

#include "formats/table/units.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace varve {
inline namespace v0 {
namespace predict {

namespace {

using table::duration;
using table::number;
using table::percent;

constexpr double least_excess = 0.2;  ///< of the median: what a slow pass takes longer
constexpr double least_drop = 0.05;   ///< of a clock, against that of the other passes
constexpr double least_limit = 0.1;   ///< of the time, more than in the other passes
constexpr double twice = 2;           ///< against the other passes

/// What grows, in words, and how often in a pass it is worth a word.
struct event_rule {
  gauge_kind what;
  double floor;
  finding::kind is;
  const char* name;
  const char* next_step;
};
constexpr event_rule event_rules[] = {
    {gauge_kind::major_faults, 1, finding::kind::page_faults, "major page faults, which read from disk",
     "load weights before the first pass (MAP_POPULATE, mlock), and look for swapping: vmstat 1"},
    {gauge_kind::minor_faults, 100, finding::kind::page_faults, "page faults",
     "find who allocates in passes: perf record -e page-faults -g -p PID"},
    {gauge_kind::involuntary_switches, 1, finding::kind::context_switches, "involuntary context switches",
     "give the engine's threads cores of their own: taskset, cpuset; pidstat -wt 1 shows whose"},
    {gauge_kind::voluntary_switches, 10, finding::kind::context_switches,
     "waits of threads (context switches)",
     "find what they wait for: strace -f -c -e trace=futex,poll -p PID, or perf sched record"}};

/// Passes that took longer than the others.
struct slow_passes {
  std::vector<bool> is_slow;
  std::size_t count = 0;
  double mean = 0;
  double median = 0;
  double limit = 0;

  /// Means of values of each pass, in the slow ones and in the others.
  [[nodiscard]] std::pair<double, double> means(const std::vector<double>& values) const {
    double slow = 0;
    double other = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      (is_slow[i] ? slow : other) += values[i];
    }
    return {slow / static_cast<double>(count), other / static_cast<double>(is_slow.size() - count)};
  }
};

/// More than half of all cannot be out of the ordinary.
slow_passes find_slow(const std::vector<time_ns>& lengths) {
  const std::vector<double> steps{lengths.begin(), lengths.end()};
  slow_passes out;
  out.median = median(steps);
  out.limit = out.median + std::max(score_limit * deviations_in_median * median_deviation(steps, out.median),
                                    least_excess * out.median);
  for (const double step : steps) {
    out.is_slow.push_back(step > out.limit);
    out.count += out.is_slow.back() ? 1U : 0U;
    out.mean += out.is_slow.back() ? step : 0;
  }
  out.mean /= static_cast<double>(std::max<std::size_t>(out.count, 1));
  return out;
}

std::string gigahertz(double hertz) { return number(hertz / 1e9) + " GHz"; }

class explainer {
 public:
  explainer(const report& r, std::uint32_t phase, const slow_passes& slow, std::vector<finding>& found)
      : phase_{r.phases[phase]}, index_{phase}, slow_{slow}, found_{found} {}

  void explain(bool process) {
    for (const gauge_row& g : phase_.gauges) {
      if (g.per_pass.size() != slow_.is_slow.size()) {
        continue;
      }
      if (g.what == gauge_kind::sm_clock || g.what == gauge_kind::memory_clock) {
        explain_clock(g);
      }
      const auto* const rule = std::find_if(std::begin(event_rules), std::end(event_rules),
                                            [&](const event_rule& e) { return e.what == g.what; });
      if (process && rule != std::end(event_rules)) {
        explain_events(g, *rule);
      }
    }
  }

 private:
  [[nodiscard]] std::string beginning() const {
    return table::count(static_cast<double>(slow_.count)) + " of " +
           table::count(static_cast<double>(slow_.is_slow.size())) + " passes of " + phase_.phase + " took " +
           duration(slow_.mean) + (slow_.count > 1 ? " on average" : "") + " against a median of " +
           duration(slow_.median) + ", beyond " + duration(slow_.limit) + "; in " +
           (slow_.count > 1 ? "them" : "it") + ' ';
  }

  /// ", held down by power cap for 83 % of the time against 2 %": what limits clocks in slow passes most more
  /// often than in the others.
  [[nodiscard]] std::string reason() const {
    std::string out;
    double most = least_limit;
    for (const gauge_row& g : phase_.gauges) {
      if (g.what != gauge_kind::clock_limits || g.per_pass.size() != slow_.is_slow.size()) {
        continue;
      }
      const auto [slow, other] = slow_.means(g.per_pass);
      if (slow - other > most) {
        most = slow - other;
        out = ", held down by " + g.limit + " for " + percent(slow, 1) + " % of the time against " +
              percent(other, 1) + " %";
      }
    }
    return out;
  }

  void explain_clock(const gauge_row& g) {
    const auto [slow, other] = slow_.means(g.per_pass);
    const double drop = other > 0 ? 1 - slow / other : 0;
    if (drop <= least_drop) {
      return;
    }
    const char* const name = g.what == gauge_kind::sm_clock ? "the SM clock" : "the memory clock";
    found_.push_back({finding::kind::clocks_dropped, index_, none, drop, least_drop,
                      beginning() + name + " was " + gigahertz(slow) + " against " + gigahertz(other) + ", " +
                          percent(drop, 1) + " % lower and more than " + percent(least_drop, 1) + " %" +
                          reason(),
                      "nvidia-smi -q -d CLOCK,PERFORMANCE,POWER,TEMPERATURE shows limits and causes; "
                      "nvidia-smi -lgc holds the clock while you compare"});
  }

  void explain_events(const gauge_row& g, const event_rule& rule) {
    const auto [slow, other] = slow_.means(g.per_pass);
    const double threshold = std::max(rule.floor, twice * other);
    if (slow <= threshold) {
      return;
    }
    found_.push_back({rule.is, index_, none, slow, threshold,
                      beginning() + "there were " + number(slow) + ' ' + rule.name + " a pass against " +
                          number(other) + ", beyond " + number(threshold),
                      rule.next_step});
  }

  const phase_row& phase_;
  std::uint32_t index_;
  const slow_passes& slow_;
  std::vector<finding>& found_;
};

}  // namespace

void find_causes_of_slow_passes(const report& r, std::vector<finding>& found) {
  const auto key = [](const phase_row& p) { return std::tie(p.phase, p.model, p.batch); };
  std::set<std::tuple<const std::string&, const std::string&, const std::string&>> told;
  for (std::uint32_t p = 0; p < r.phases.size(); ++p) {
    const phase_row& phase = r.phases[p];
    if (phase.gauges.empty() || phase.samples.step.size() < fewest_passes) {
      continue;
    }
    const slow_passes slow = find_slow(phase.samples.step);
    if (slow.count > 0 && slow.count * 2 < slow.is_slow.size() && slow.median > 0) {
      explainer{r, p, slow, found}.explain(told.insert(key(phase)).second);
    }
  }
}

}  // namespace predict
}  // namespace v0
}  // namespace varve
