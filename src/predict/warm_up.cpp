// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "predict/warm_up.hpp"

#include "predict/peers.hpp"
#include "predict/robust.hpp"

#include "formats/table/units.hpp"

#include <varve/varve.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <tuple>

namespace varve {
inline namespace v0 {
namespace predict {

namespace {

using table::duration;

constexpr double least_cold_excess = 0.2;  ///< of the median: what a cold pass takes longer
constexpr double least_share = 0.01;       ///< of the time of all passes: what the cold ones take longer

}  // namespace

void find_warm_ups(const report& r, std::vector<finding>& found) {
  const auto key = [](const phase_row& p) { return std::tie(p.phase, p.model, p.batch); };
  std::set<std::tuple<const std::string&, const std::string&, const std::string&>> told;
  for (std::uint32_t p = 0; p < r.phases.size(); ++p) {
    const phase_row& phase = r.phases[p];
    const std::vector<double> steps{phase.samples.step.begin(), phase.samples.step.end()};
    if (!is_of_interest(phase) || steps.size() < fewest_passes || told.count(key(phase)) != 0) {
      continue;
    }
    const double middle = median(steps);
    const double limit =
        middle + std::max(score_limit * deviations_in_median * median_deviation(steps, middle),
                          least_cold_excess * middle);
    const auto warm = std::find_if(steps.begin(), steps.end(), [&](double s) { return s <= limit; });
    const auto count = static_cast<double>(warm - steps.begin());
    const double time = std::accumulate(steps.begin(), warm, 0.0);
    const double excess = time - count * middle;
    if (count == 0 || middle <= 0 ||
        excess < least_share * std::accumulate(steps.begin(), steps.end(), 0.0)) {
      continue;
    }
    told.insert(key(phase));
    const auto stride = static_cast<double>(std::max<std::int64_t>(phase.samples.stride, 1));
    const bool one = count * stride == 1;
    found.push_back({finding::kind::warming_up, p, none, time / count / middle, limit / middle,
                     phase.phase + " warms up: " + (stride > 1 ? "about " : "") + "its first " +
                         (one ? "pass takes " : table::count(count * stride) + " passes take ") +
                         duration(time / count) + (one ? "" : " on average") + " against a median of " +
                         duration(middle) + ", beyond " + duration(limit) + ": " + duration(excess * stride) +
                         " more in all",
                     "run these passes before the session starts, or mark them as " VARVE_WARM_UP
                     "; --steady sets ramps apart"});
  }
}

}  // namespace predict
}  // namespace v0
}  // namespace varve
