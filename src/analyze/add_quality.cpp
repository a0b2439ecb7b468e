// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "analyze/add_quality.hpp"

#include "analyze/numbers.hpp"
#include "analyze/steady.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace varve {
inline namespace v0 {
namespace analysis {

namespace {

constexpr std::int64_t report_quality::*summed_counts[] = {&report_quality::activities,
                                                           &report_quality::matched,
                                                           &report_quality::unmatched,
                                                           &report_quality::unmatched_kernels,
                                                           &report_quality::event_spans,
                                                           &report_quality::untimed,
                                                           &report_quality::negative_delays,
                                                           &report_quality::duplicate_correlations,
                                                           &report_quality::unlabelled_nodes,
                                                           &report_quality::stale_nodes,
                                                           &report_quality::lent_nodes,
                                                           &report_quality::inferred_nodes,
                                                           &report_quality::positioned_nodes,
                                                           &report_quality::graph_launches_without_kernels,
                                                           &report_quality::graph_launches_short,
                                                           &report_quality::graph_launches_short_by_look,
                                                           &report_quality::clipped_ranges,
                                                           &report_quality::calls_by_operator,
                                                           &report_quality::calls_by_forward,
                                                           &report_quality::calls_backward,
                                                           &report_quality::calls_by_pass,
                                                           &report_quality::activities_by_operator,
                                                           &report_quality::activities_by_flow,
                                                           &report_quality::inferred_prefills,
                                                           &report_quality::ramp_passes,
                                                           &report_quality::own_overhead};

void add_loss(std::vector<loss>& to, std::string_view what, std::string_view where, std::uint64_t count) {
  const auto same =
      std::find_if(to.begin(), to.end(), [&](const loss& l) { return l.what == what && l.where == where; });
  if (same == to.end()) {
    to.push_back({std::string{what}, std::string{where}, count});
  } else {
    same->count += std::min(count, std::numeric_limits<std::uint64_t>::max() - same->count);
  }
}

double mean_of(double a, double here, double b, double there) noexcept {
  return here + there > 0 ? (a * here + b * there) / (here + there) : a;
}

}  // namespace

quality_weights weigh(const report& r) {
  quality_weights out;
  for (const row& one : r.layers) {
    out.activities += static_cast<double>(one.exclusive.activity_time);
    out.working +=
        static_cast<double>(one.exclusive.activity_time) - static_cast<double>(one.exclusive.collective_time);
  }
  return out;
}

void add_window(report_quality& to, const quality_weights& here, const report_quality& next,
                const quality_weights& there) {
  to.attributed = mean_of(to.attributed, here.activities, next.attributed, there.activities);
  for (std::size_t k = 0; k < work_sources; ++k) {
    to.work_known[k] = mean_of(to.work_known[k], here.working, next.work_known[k], there.working);
  }
  for (const auto count : summed_counts) {
    add_to(to.*count, next.*count);
  }
  to.inferred_passes = std::max(to.inferred_passes, next.inferred_passes);
  to.steady = to.steady || next.steady;
  for (const std::string& name : next.unsized_names) {
    if (std::find(to.unsized_names.begin(), to.unsized_names.end(), name) == to.unsized_names.end() &&
        to.unsized_names.size() < most_named) {
      to.unsized_names.push_back(name);
    }
  }
  to.unsized_kinds =
      std::max({to.unsized_kinds, next.unsized_kinds, static_cast<std::int64_t>(to.unsized_names.size())});
  to.captures_given = to.captures_given || next.captures_given;
  to.live_cpu = to.live_cpu || next.live_cpu;
  for (const loss& l : next.losses) {
    add_loss(to.losses, l.what, l.where, l.count);
  }
  to.collectors = next.collectors.empty() ? to.collectors : next.collectors;
  to.clock = next.clock.empty() ? to.clock : next.clock;
  to.clock_error = std::max(to.clock_error, next.clock_error);
}

void lose(report_quality& q, std::string_view what, std::uint64_t count) {
  if (count != 0) {
    add_loss(q.losses, what, "add_report", count);
  }
}

}  // namespace analysis
}  // namespace v0
}  // namespace varve
